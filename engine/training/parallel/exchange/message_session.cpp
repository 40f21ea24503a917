#include "engine/training/parallel/exchange/message_session.hpp"

#include "engine/collectives/collectives.hpp"
#include "engine/training/parallel/common/newest_position.hpp"
#include "engine/training/parallel/common/shares.hpp"

#include <ATen/ATen.h>

#include <algorithm>

// A message is its head, its values and its bytes. A member may be one epoch ahead of
// another, never two: to end an epoch it needs something from everybody. When the team is
// formed anew its links are new, and nothing of before is in them.

namespace clade {

message_session::message_session(team& members, handed_over state)
    : team_(members),
      state_(std::move(state)) {}

void message_session::gather_positions(links& l) {
  auto newest = find_newest(l, kept_count_, [this] { return *kept_; });
  if (!newest)
    return;
  kept_count_ = newest->progress;
  kept_ = std::move(newest->position);
  at_kept_ = false;
}

void message_session::form() {
  if (!kept_)
    kept_ = state_.give();
  waiting_.clear();
  later_.clear();
  while (links_ == nullptr) {
    try {
      auto& l = team_.form();
      gather_positions(l);
      own_ = l.own();
      first_ = own_ == 0;
      count_ = l.members();
      links_ = &l;
    } catch (const team_broken&) {
      continue;
    }
  }
  if (at_kept_)
    return;
  at_kept_ = true;
  throw position_of_others{*kept_};
}

template<class Work>
auto message_session::guarded(const Work& work) {
  try {
    return work();
  } catch (const team_broken&) {
    links_ = nullptr;
    at_kept_ = false; // Whatever was sent, or is waited for, is begun again.
    form();
    throw;
  }
}

void message_session::meet() {
  if (links_ == nullptr)
    form();
}

void message_session::send(std::size_t to, message_head head, const at::Tensor& values,
                           const bytes& more) {
  head.epoch = kept_count_;
  head.values = values.defined() ? static_cast<std::uint64_t>(values.numel()) : 0;
  head.more = more.size();
  guarded([&] {
    links_->send(to, std::as_bytes(std::span(&head, 1)));
    if (head.values > 0)
      links_->send(to, std::as_bytes(values_of(values)));
    if (!more.empty())
      links_->send(to, std::as_bytes(std::span(more)));
  });
}

message message_session::receive(std::size_t from) {
  message m{.head = {}, .from = from, .values = {}, .more = {}};
  links_->receive(from, std::as_writable_bytes(std::span(&m.head, 1)));
  m.values = at::empty({static_cast<std::int64_t>(m.head.values)}, at::kFloat);
  if (m.head.values > 0)
    links_->receive(from, bytes_of(values_of(m.values)));
  m.more.resize(m.head.more);
  if (m.head.more > 0)
    links_->receive(from, std::as_writable_bytes(std::span(m.more)));
  return m;
}

std::optional<message> message_session::from_waiting() {
  const auto found = std::ranges::find_if(
      waiting_, [&](const message& m) { return m.head.epoch == kept_count_; });
  if (found == waiting_.end())
    return std::nullopt;
  auto m = std::move(*found);
  waiting_.erase(found);
  return m;
}

std::optional<message> message_session::poll() {
  if (auto m = from_waiting())
    return m;
  return guarded([&]() -> std::optional<message> {
    look_for_others(*links_);
    for (std::size_t i = 1; i <= count_; ++i) {
      const auto from = (last_ + i) % count_;
      while (from != own_ && links_->has_come(from, sizeof(message_head))) {
        last_ = from;
        auto m = receive(from);
        if (m.head.epoch == kept_count_)
          return m;
        waiting_.push_back(std::move(m));
      }
    }
    return std::nullopt;
  });
}

message message_session::wait() {
  if (auto m = from_waiting())
    return std::move(*m);
  TORCH_CHECK(count_ > 1, "a training alone waits for others");
  return guarded([&] {
    for (;;) {
      last_ = links_->wait_for_any(sizeof(message_head), last_);
      auto m = receive(last_);
      if (m.head.epoch == kept_count_)
        return m;
      waiting_.push_back(std::move(m));
    }
  });
}

// Messages that were put back came before those that wait.
void message_session::begin_epoch() {
  at_kept_ = false;
  waiting_.insert(waiting_.begin(), std::make_move_iterator(later_.begin()),
                  std::make_move_iterator(later_.end()));
  later_.clear();
}

void message_session::keep() {
  if (at_kept_)
    return;
  kept_ = state_.give();
  kept_count_ += 2;
  at_kept_ = true;
}

} // namespace clade
