#include "engine/telemetry/feeds/followed_head.hpp"

#include <algorithm>

namespace clade {

namespace {

using namespace std::chrono_literals;

constexpr auto answer_time = 5s;

} // namespace

expected<followed_head> followed_head::follow(std::unique_ptr<subscription> head) {
  followed_head f(std::move(head));
  return f.adopt_snapshot().map([&] { return std::move(f); });
}

bool followed_head::take(std::chrono::milliseconds most, std::vector<news>& came) {
  auto arrived = head_->take(most);
  for (auto& p : arrived)
    take_one(std::move(p), came);
  return !arrived.empty();
}

expected<void> followed_head::connect_again() {
  anew_ = true;
  return head_->connect_again();
}

expected<genome_view> followed_head::candidate(candidate_id id) {
  return head_->ask(candidate_request{id}, answer_time).and_then([](const bytes& a) {
    return decode_candidate_answer(a);
  });
}

expected<std::vector<candidate_row>> followed_head::candidates(candidate_id after,
                                                               std::size_t count) {
  std::vector<candidate_row> all;
  while (all.size() < count) {
    const rows_request asked{.after = after,
                             .count = std::min(count - all.size(), max_rows)};
    auto rows = head_->ask(asked, answer_time).and_then([](const bytes& a) {
      return decode_rows_answer(a);
    });
    if (!rows)
      return rows;
    if (rows->empty())
      break;
    after = rows->back().line.id;
    std::ranges::move(*rows, std::back_inserter(all));
  }
  return all;
}

expected<void> followed_head::tell(const operator_command& order) {
  return head_->tell(order, answer_time);
}

expected<void> followed_head::adopt_snapshot() {
  return head_->ask(snapshot_request{}, answer_time)
      .and_then([](const bytes& a) { return decode_snapshot(a); })
      .map([this](snapshot s) {
        name_ = std::move(s.name);
        picture_ = std::move(s.picture);
        anew_ = false;
      });
}

// A head that does not answer is ending, or its link is cut: what is heard next, if
// anything is, shows the gap again.
void followed_head::start_anew(std::vector<news>& came) {
  if (adopt_snapshot())
    came.emplace_back(std::in_place_type<restarted>);
}

void followed_head::take_one(published p, std::vector<news>& came) {
  if (anew_)
    start_anew(came);
  if (auto* h = std::get_if<record_event>(&p)) {
    if (h->sequence <= picture_.sequence)
      return;
    if (h->sequence != picture_.sequence + 1 || !apply(picture_, h->unix_ms, h->record))
      start_anew(came);
    else
      came.emplace_back(std::move(*h));
  } else if (auto* e = std::get_if<epoch_event>(&p)) {
    came.emplace_back(std::move(*e));
  } else if (auto* v = std::get_if<slots_view>(&p)) {
    slots_ = *v;
    came.emplace_back(std::move(*v));
  } else if (std::get<alive>(p).sequence > picture_.sequence) {
    start_anew(came);
  }
}

} // namespace clade
