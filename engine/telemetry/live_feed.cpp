// A viewer subscribes before it asks for a snapshot, and folds in what is newer. Whether
// a head is there, the store's lock says; whether it lives, the messages it sends each
// second.
#include "engine/telemetry/live_feed.hpp"

#include "engine/store/run_folder.hpp"
#include "engine/store/run_lock.hpp"
#include "engine/telemetry/stored_feed.hpp"
#include "engine/telemetry/subscription.hpp"

namespace clade {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr auto answer_time = 5s;
// How often it is looked whether the head went, or came.
constexpr auto look_interval = 250ms;

class following_feed final : public feed {
public:
  explicit following_feed(std::filesystem::path store_file)
      : file_(std::move(store_file)) {}

  expected<void> begin() {
    if (writer_of(file_) && follow())
      return {};
    return rest();
  }

  std::string showing() const override { return stored_ ? stored_->showing() : "live"; }
  std::string name() const override { return stored_ ? stored_->name() : name_; }
  const run_picture& picture() const override {
    return stored_ ? stored_->picture() : picture_;
  }
  const slots_view& slots() const override { return slots_; }
  int descriptor() const override { return head_ ? head_->descriptor() : -1; }

  expected<std::vector<news>> wait(std::chrono::milliseconds most) override {
    std::vector<news> came;
    const auto until = clock::now() + most;
    do {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(until - clock::now());
      const auto step = std::clamp<std::chrono::milliseconds>(left, 0ms, look_interval);
      if (head_) {
        for (auto& p : head_->take(step))
          if (auto taken = take(std::move(p), came); !taken)
            return tl::unexpected(taken.error());
      } else if (auto waited = stored_->wait(step); !waited) {
        return waited;
      }
      if (auto looked = look(came); !looked)
        return tl::unexpected(looked.error());
    } while (came.empty() && clock::now() < until);
    return came;
  }

  expected<genome_view> candidate(candidate_id id) override {
    if (stored_)
      return stored_->candidate(id);
    return head_->ask(candidate_request{id}, answer_time).and_then([](const bytes& a) {
      return decode_candidate_answer(a);
    });
  }

  expected<std::vector<candidate_row>> candidates(candidate_id after,
                                                  std::size_t count) override {
    if (stored_)
      return stored_->candidates(after, count);
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

  expected<void> tell(const person_ordered& order) override {
    return head_ ? head_->tell(order, answer_time) : feed::tell(order);
  }

private:
  /// Goes over to the head, if it answers.
  bool follow() {
    auto head = subscription::open(file_.parent_path() / live_folder_name);
    if (!head)
      return false;
    auto shot = snapshot_of(**head);
    if (!shot)
      return false;
    head_ = std::move(*head);
    stored_.reset();
    adopt(std::move(*shot));
    return true;
  }

  expected<void> rest() {
    auto opened = open_stored_feed(file_);
    if (!opened)
      return tl::unexpected(opened.error());
    stored_ = std::move(*opened);
    head_.reset();
    slots_ = {};
    return {};
  }

  /// What the head recorded at its end and did not send any more.
  expected<void> read_rest(std::vector<news>& came) {
    auto opened = store::open_to_read(file_);
    if (!opened)
      return tl::unexpected(opened.error());
    return opened->for_each(
        [&](std::uint64_t sequence, std::int64_t unix_ms, const record& r) {
          came.emplace_back(happened{sequence, unix_ms, r});
          return apply(picture_, unix_ms, r);
        },
        picture_.sequence);
  }

  static expected<snapshot> snapshot_of(subscription& head) {
    return head.ask(snapshot_request{}, answer_time).and_then([](const bytes& a) {
      return decode_snapshot(a);
    });
  }

  void adopt(snapshot s) {
    name_ = std::move(s.name);
    picture_ = std::move(s.picture);
  }

  /// Something was lost.
  expected<void> start_anew(std::vector<news>& came) {
    auto shot = snapshot_of(*head_);
    if (!shot)
      return {}; // A head that does not answer is ending: `look` will see it.
    adopt(std::move(*shot));
    came.emplace_back(std::in_place_type<restarted>);
    return {};
  }

  expected<void> take(published p, std::vector<news>& came) {
    if (auto* h = std::get_if<happened>(&p)) {
      if (h->sequence <= picture_.sequence)
        return {};
      if (h->sequence != picture_.sequence + 1 || !apply(picture_, h->unix_ms, h->record))
        return start_anew(came);
      came.emplace_back(std::move(*h));
    } else if (auto* e = std::get_if<epoch_news>(&p)) {
      came.emplace_back(std::move(*e));
    } else if (auto* v = std::get_if<slots_view>(&p)) {
      slots_ = *v;
      came.emplace_back(std::move(*v));
    } else if (std::get<alive>(p).sequence > picture_.sequence) {
      return start_anew(came);
    }
    return {};
  }

  /// Whether there is a head now.
  expected<void> look(std::vector<news>& came) {
    const auto now = clock::now();
    if (now < next_look_)
      return {};
    next_look_ = now + look_interval;
    const bool writes = writer_of(file_).has_value();
    if (head_ && !writes) {
      if (auto rested = read_rest(came); !rested)
        return rested;
      return rest();
    }
    if (!head_ && writes && follow()) {
      came.emplace_back(std::in_place_type<restarted>);
    }
    return {};
  }

  std::filesystem::path file_;
  std::string name_;
  std::unique_ptr<subscription> head_;
  std::unique_ptr<feed> stored_;
  run_picture picture_;
  slots_view slots_;
  clock::time_point next_look_{};
};

} // namespace

expected<std::unique_ptr<feed>> open_feed(const std::filesystem::path& store_file) {
  auto made = std::make_unique<following_feed>(store_file);
  return made->begin().map([&]() -> std::unique_ptr<feed> { return std::move(made); });
}

} // namespace clade
