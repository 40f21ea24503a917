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

namespace {

constexpr std::uint32_t verdict_kind = 100;

} // namespace

message_session::message_session(team& members, std::function<bytes()> give)
    : team_session(members, [this](links& l, std::uint64_t&) { return meet(l); }),
      give_(std::move(give)) {}

std::optional<position_of_others> message_session::meet(links& l) {
  if (!kept_)
    kept_ = give_();
  waiting_.clear();
  later_.clear();
  if (auto newest = find_newest(l, kept_count_, [this] { return *kept_; })) {
    kept_count_ = newest->progress;
    kept_ = std::move(newest->position);
    at_kept_ = false;
  }
  if (at_kept_)
    return std::nullopt;
  at_kept_ = true;
  return position_of_others{*kept_};
}

// Whatever was sent, or is waited for, is begun again.
template<class Work>
auto message_session::guarded(const Work& work) {
  return once([&](links& l) {
    try {
      return work(l);
    } catch (const team_broken&) {
      at_kept_ = false;
      throw;
    }
  });
}

void message_session::send(std::size_t to, message_head head, const at::Tensor& values,
                           const bytes& more) {
  head.epoch = kept_count_;
  head.values = values.defined() ? static_cast<std::uint64_t>(values.numel()) : 0;
  head.more = more.size();
  guarded([&](links& l) {
    l.send(to, std::as_bytes(std::span(&head, 1)));
    if (head.values > 0)
      l.send(to, std::as_bytes(values_of(values)));
    if (!more.empty())
      l.send(to, std::as_bytes(std::span(more)));
  });
}

message message_session::receive(links& l, std::size_t from) const {
  message m{.head = {}, .from = from, .values = {}, .more = {}};
  l.receive(from, std::as_writable_bytes(std::span(&m.head, 1)));
  m.values = at::empty({static_cast<std::int64_t>(m.head.values)}, at::kFloat);
  if (m.head.values > 0)
    l.receive(from, bytes_of(values_of(m.values)));
  m.more.resize(m.head.more);
  if (m.head.more > 0)
    l.receive(from, std::as_writable_bytes(std::span(m.more)));
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
  return guarded([&](links& l) -> std::optional<message> {
    look_for_others(l);
    for (std::size_t i = 1; i <= members(); ++i) {
      const auto from = (last_ + i) % members();
      while (from != own() && l.has_come(from, sizeof(message_head))) {
        last_ = from;
        auto m = receive(l, from);
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
  TORCH_CHECK(members() > 1, "a training alone waits for others");
  return guarded([&](links& l) {
    for (;;) {
      last_ = l.wait_for_any(sizeof(message_head), last_);
      auto m = receive(l, last_);
      if (m.head.epoch == kept_count_)
        return m;
      waiting_.push_back(std::move(m));
    }
  });
}

// Messages that were put back came before those that wait.
void message_session::begin_epoch() {
  once([](links&) {});
  at_kept_ = false;
  stopped_ = false;
  waiting_.insert(waiting_.begin(), std::make_move_iterator(later_.begin()),
                  std::make_move_iterator(later_.end()));
  later_.clear();
}

/// Keeps the present position, unless it is the one that was kept last. All members do
/// so at the same place; messages sent before are of another epoch than those after.
void message_session::keep() {
  if (at_kept_)
    return;
  kept_ = give_();
  kept_count_ += 2;
  at_kept_ = true;
}

bool message_session::out_of_time(std::chrono::steady_clock::time_point deadline) {
  if (at_kept_)
    return false;
  if (!stopped_ && std::chrono::steady_clock::now() > deadline) {
    stopped_ = true;
    for (std::size_t m = 0; m < members(); ++m)
      if (m != own())
        send(m, {.kind = stop_kind});
  }
  return stopped_;
}

// Whoever decides for all has said so once, whether or not all have heard it.
verdict message_session::agree(const std::function<verdict()>& decide) {
  once([](links&) {});
  keep();
  has_done();
  const bool known = decided_ && decided_->first == kept_count_;
  if (own() == 0) {
    if (!known)
      decided_ = {kept_count_, decide()};
    for (std::size_t m = 1; m < members(); ++m)
      send(m,
           {.kind = verdict_kind, .step = static_cast<std::uint64_t>(decided_->second)});
    return decided_->second;
  }
  for (;;) {
    auto m = wait();
    if (m.head.kind == verdict_kind) {
      decided_ = {kept_count_, static_cast<verdict>(m.head.step)};
      return decided_->second;
    }
    put_back(std::move(m));
  }
}

} // namespace clade
