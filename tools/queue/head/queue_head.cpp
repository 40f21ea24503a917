#include "tools/queue/head/queue_head.hpp"

#include "engine/queue/submission_rules.hpp"
#include "engine/queue/waiting_limits.hpp"
#include "genome/base/text.hpp"
#include "genome/base/wall_clock.hpp"
#include "tools/queue/machine/queue_disk.hpp"
#include "tools/queue/processes/entry_command.hpp"
#include "tools/views/web/web_access.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

namespace {

/// The bytes of the events that a replica gets at a time.
constexpr std::size_t bytes_of_batch = 1 << 20;

tl::unexpected<error> refuse(const std::string& why) {
  return fail(error_kind::invalid_input, why);
}

} // namespace

queue_head::queue_head(queue_head_params params, queue_store store, queue_state state)
    : version_(std::move(params.version)),
      rules_(std::move(params.rules)),
      lease_(params.lease),
      idle_(params.idle),
      takes_any_(params.takes_any || params.processes.slots.empty()),
      room_(params.room
                ? std::move(params.room)
                : [folder = params.processes.folder] { return check_room(folder); }),
      store_(std::move(store)),
      state_(std::move(state)),
      processes_(std::move(params.processes)) {}

expected<std::unique_ptr<queue_head>> queue_head::open(queue_head_params params) {
  auto store = queue_store::open(params.processes.folder / queue_file_name);
  if (!store)
    return tl::unexpected(store.error());
  return open(std::move(params), std::move(*store));
}

expected<std::unique_ptr<queue_head>> queue_head::open(queue_head_params params,
                                                       queue_store store) {
  auto state = store.load(params.rules.half_life);
  if (!state)
    return tl::unexpected(state.error());
  std::unique_ptr<queue_head> made(
      new queue_head(std::move(params), std::move(store), std::move(*state)));
  if (!made->changed_.usable())
    return fail(error_kind::io, "no event descriptor can be had");
  auto drawn = random_token();
  if (!drawn)
    return tl::unexpected(drawn.error());
  made->server_ = std::move(*drawn);
  made->formers_ = made->running_on("");
  made->went_down_ = made->store_.found_machine_down() && made->formers_.size() == 1;
  made->events_ = made->store_.size();
  made->await_nodes();
  made->find_slots();
  // So that a client that saw another server's changes does not wait for as many.
  made->changes_ = static_cast<std::uint64_t>(unix_ms());
  made->store_.when_lost([head = made.get()] { head->wake(); });
  return made;
}

expected<void> queue_head::record(const std::vector<queue_event>& events) {
  if (events.empty())
    return {};
  const auto at = while_others_read([&] { return store_.append(events); });
  unwritable_ = at ? std::string() : at.error().message;
  if (!at)
    return tl::unexpected(at.error());
  for (const auto& e : events)
    if (auto folded = apply(state_, e, *at); !folded)
      return fail(error_kind::internal, folded.error().message);
  std::erase_if(began_,
                [&](const auto& one) { return !state_.running.contains(one.first); });
  note_changes(events);
  events_ = store_.size();
  ++changes_;
  told_.notify_all();
  return {};
}

expected<void> queue_head::check(const queue_submission& s) const {
  if (auto ok = check_submission(s).and_then([&] { return check_ranks(s); }); !ok)
    return ok;
  const auto most = most_together(slots_, s);
  if (s.slots == 0 || (most < s.slots && nodes_.empty() && !takes_any_))
    return refuse(fmt::format("it wants {}, and this server has {}",
                              slots_in_words(s.slots, s.device), most));
  if (const auto quota = rules_.quota_of(s.user); quota != 0 && s.slots > quota)
    return refuse(fmt::format("it wants {}, and {} may have {}",
                              slots_in_words(s.slots, s.device), s.user, quota));
  if (s.time.count() < 0)
    return refuse("a time is above 0");
  for (const auto before : s.after)
    if (!state_.entries.contains(before))
      return refuse(fmt::format("there is no #{} to come after", before));
  return {};
}

expected<std::vector<entry_id>> queue_head::submit(std::vector<queue_submission> all) {
  const changing lock(*this);
  if (const auto room = look_for_room(); !room)
    return tl::unexpected(room.error());
  std::vector<queue_event> events;
  std::vector<entry_id> ids;
  std::map<std::pair<std::string, std::string>, entry_id> once;
  for (auto& s : all) {
    if (auto ok = check(s); !ok)
      return tl::unexpected(ok.error());
    const auto next = state_.last_id() + events.size() + 1;
    if (!s.once.empty()) {
      const std::pair word(s.user, s.once);
      const auto known = state_.once.find(word);
      const auto [its, fresh] =
          once.try_emplace(word, known == state_.once.end() ? next : known->second);
      ids.push_back(its->second);
      if (!fresh || its->second != next)
        continue;
    } else {
      ids.push_back(next);
    }
    events.emplace_back(entry_submitted{.id = next, .what = std::move(s)});
  }
  if (auto ok = check_waiting(state_, rules_, events); !ok)
    return tl::unexpected(ok.error());
  return record(events).map([&] {
    wake();
    return std::move(ids);
  });
}

expected<void> queue_head::cancel(entry_id id, const std::string& who) {
  const changing lock(*this);
  const auto found = state_.entries.find(id);
  if (found == state_.entries.end())
    return fail(error_kind::not_found, fmt::format("there is no #{}", id));
  const auto state = found->second.state;
  if (state >= entry_state::succeeded)
    return fail(error_kind::conflict,
                fmt::format("{} has {}{} already", numbered(id),
                            state == entry_state::cancelled ? "been " : "",
                            to_text(state)));
  const auto recorded =
      state == entry_state::running
          ? record({entry_stopping{.id = id, .cause = stop_cause::cancelled, .who = who}})
          : record({entry_ended{.id = id,
                                .state = entry_state::cancelled,
                                .reason = "cancelled by " + who}});
  return recorded.map([this] { wake(); });
}

std::uint64_t queue_head::await_change(std::uint64_t seen,
                                       std::chrono::milliseconds most) const {
  std::unique_lock lock(mutex_);
  told_.wait_for(lock, most, [&] { return changes_ != seen || closed_; });
  return changes_;
}

expected<event_batch> queue_head::events_after(std::uint64_t sequence,
                                               std::chrono::milliseconds most) const {
  {
    std::unique_lock lock(mutex_);
    if (sequence > events_)
      return fail(error_kind::conflict,
                  fmt::format("it has {} events, and not {}", events_, sequence));
    told_.wait_for(lock, most, [&] { return events_ > sequence || closed_; });
  }
  const std::lock_guard lock(writing_);
  return store_.read_after(sequence, bytes_of_batch)
      .map([&](std::vector<stored_event> events) {
        return event_batch{.last = store_.size(),
                           .checksum = store_.checksum(),
                           .events = std::move(events)};
      });
}

} // namespace clade
