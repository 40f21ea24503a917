// The work of the thread that serves a queue: it takes in what has ended, sees what is
// due, and starts and ends processes. If that cannot be recorded, it is not done, and is
// tried again a moment later.
#include "engine/report/base/format.hpp"
#include "genome/base/child_process.hpp"
#include "genome/base/text.hpp"
#include "genome/base/wall_clock.hpp"
#include "tools/queue/head/entry_tokens.hpp"
#include "tools/queue/head/queue_head.hpp"
#include "tools/queue/machine/queue_disk.hpp"
#include "tools/queue/processes/entry_command.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <iterator>

namespace clade {

namespace {

/// The time for which it waits at most without a look.
constexpr std::int64_t longest_pause_ms = 60'000;
/// Between two looks at the processes of a former server.
constexpr std::int64_t look_at_formers_ms = 100;
/// Between two looks at a disk that is full.
constexpr std::int64_t look_for_room_ms = 500;

} // namespace

/// The events that these, which ran together on one machine, are lost. Only of one that was
/// alone on a machine that went down there is evidence that it was the cause.
std::vector<queue_event> queue_head::losses_of(const std::vector<entry_id>& ids,
                                               bool went_down) const {
  std::vector<queue_event> events;
  for (const auto id : ids)
    events.emplace_back(entry_lost{.id = id, .own_doing = went_down && ids.size() == 1});
  return events;
}

/// Records as lost what the former server had, once its processes have ended.
expected<void> queue_head::lose_formers() {
  if (formers_.empty())
    return {};
  std::vector<entry_id> gone;
  std::ranges::copy_if(formers_, std::back_inserter(gone), [&](entry_id id) {
    return await_former(entry_folder(folder(), id) / entry_log_name,
                        clock::time_point::min())
        .has_value();
  });
  return record(losses_of(gone, went_down_)).map([&] {
    std::erase_if(formers_,
                  [&](entry_id id) { return std::ranges::find(gone, id) != gone.end(); });
  });
}

/// Records what has ended by now, and what could not be recorded before.
expected<void> queue_head::record_ends() {
  std::ranges::copy(processes_.take_ends(), std::back_inserter(ended_));
  std::vector<queue_event> events;
  for (const auto& one : unbegun_) {
    const auto& e = state_.entries.at(one.id);
    events.emplace_back(e.stopping ? end_of(one.id, e, W_EXITCODE(0, SIGTERM), one.reason)
                                   : one);
  }
  for (const auto& [id, status] : ended_)
    events.emplace_back(end_of(id, state_.entries.at(id), status, describe_exit(status)));
  return record(events).map([this] {
    unbegun_.clear();
    ended_.clear();
  });
}

/// How long each running entry has run, as far as that is known.
entry_times queue_head::times_run() const {
  entry_times times;
  const auto now = clock::now();
  for (const auto& [id, began] : began_)
    times.emplace(id, std::chrono::duration_cast<std::chrono::milliseconds>(now - began));
  return times;
}

std::vector<queue_event> queue_head::stops(bool stopping) const {
  std::vector<queue_event> events;
  const auto ran = times_run();
  for (const auto id : state_.running) {
    const auto& e = state_.entries.at(id);
    if (e.stopping)
      continue;
    if (const auto its = ran.find(id);
        e.what.time.count() > 0 && its != ran.end() && its->second >= e.what.time)
      events.emplace_back(entry_stopping{.id = id, .cause = stop_cause::out_of_time});
    else if (const auto machine = std::string(machine_of(e.slots.front()));
             machine.empty() && stopping)
      events.emplace_back(entry_stopping{.id = id, .cause = stop_cause::server_stopped});
    else if (!machine.empty() && nodes_.at(machine).leaves)
      events.emplace_back(entry_stopping{.id = id, .cause = stop_cause::machine_left});
  }
  return events;
}

void queue_head::tell_those_stopping() {
  for (const auto id : processes_.ids())
    if (state_.entries.at(id).stopping)
      processes_.stop(id);
  processes_.tend();
  if (auto paused = processes_.paused(); paused != slots_.paused) {
    slots_.paused = std::move(paused);
    ++changes_;
    told_.notify_all();
  }
}

/// An entry that cannot begin since nothing can be written waits again; nobody is to
/// blame.
expected<void> queue_head::start(const std::vector<next_entries::start>& starts) {
  std::vector<queue_event> begun;
  for (const auto& s : starts) {
    entry_started one{.id = s.id, .slots = s.slots};
    if (const auto on = nodes_.find(std::string(machine_of(s.slots.front())));
        on != nodes_.end())
      one.worker = on->second.user;
    begun.emplace_back(std::move(one));
  }
  if (auto recorded = record(begun); !recorded)
    return recorded;
  for (const auto& s : starts) {
    began_[s.id] = clock::now();
    if (!machine_of(s.slots.front()).empty())
      continue; // Its machine is told as soon as it asks.
    const auto token = while_others_read([&] { return given_token(folder(), s.id); });
    const auto started = token.and_then([&](const std::string& its) {
      return processes_.start(s.id, state_.entries.at(s.id).what, s.slots, its);
    });
    if (!started)
      unbegun_.push_back({.id = s.id,
                          .state = is_of_full_disk(started.error()) || !room_()
                                       ? entry_state::preempted
                                       : entry_state::failed,
                          .reason = started.error().message});
  }
  return record_ends().map_error([this](error e) {
    for (auto& one : unbegun_)
      one.state = entry_state::preempted;
    return e;
  });
}

/// Names the entry that runs here and fills the queue's disk, which is full.
std::string queue_head::fullest() {
  auto uses = processes_.disk_uses();
  for (auto& one : uses)
    one.free_when_begun = 0; // Others may have filled the most of it.
  const auto fills = who_fills(uses, 0);
  if (!fills)
    return "";
  return fmt::format("; {} of {} is writing files of {} there", numbered(fills->id),
                     state_.entries.at(fills->id).what.user, size_text(fills->bytes));
}

/// Says why nothing is taken or nothing can be recorded, once for each time.
void queue_head::set_trouble(const std::string& why) {
  if (slots_.trouble.empty() == why.empty())
    return;
  slots_.trouble = why;
  if (!why.empty())
    warn({error_kind::io, why});
  ++changes_;
  told_.notify_all();
  wake(); // Entries that waited may begin.
}

/// The error that the disk is full, if it is.
expected<void> queue_head::look_for_room() {
  auto room = room_();
  if (!room && slots_.trouble.empty())
    room = fail(room.error().kind, room.error().message + fullest());
  if (!room || unwritable_.empty())
    set_trouble(room ? std::string() : room.error().message);
  return room ? room : fail(room.error().kind, slots_.trouble);
}

expected<bool> queue_head::carry_on(bool stopping, bool may_begin) {
  if (auto recorded =
          lose_formers().and_then([this] { return record_ends(); }).and_then([this] {
            return lose_silent_nodes();
          });
      !recorded)
    return tl::unexpected(recorded.error());
  auto events = stops(stopping);
  auto next = stopping || !may_begin
                  ? next_entries{}
                  : find_next(state_, rules_, slots_, unix_ms(), times_run());
  for (const auto& s : next.stops)
    if (std::ranges::none_of(events, [&](const queue_event& e) {
          return std::get<entry_stopping>(e).id == s.id;
        }))
      events.emplace_back(entry_stopping{.id = s.id,
                                         .cause = stop_cause::preempted,
                                         .who = numbered(s.for_the_sake_of)});
  if (auto recorded = record(events); !recorded)
    return tl::unexpected(recorded.error());
  const auto decided = events_;
  if (auto started = start(next.starts); !started)
    return tl::unexpected(started.error());
  // Not only what began: what has ended since then left slots to what waits.
  return events_ != decided;
}

/// One look at all there is; returns whether another one is due at once. Events that
/// could not be recorded are tried again, as long as the store is ours.
expected<bool> queue_head::step(bool stopping) {
  const changing lock(*this);
  if (auto ours = store_.check_held(); !ours)
    return tl::unexpected(ours.error());
  auto stepped = carry_on(stopping, look_for_room().has_value());
  if (!stepped) {
    if (stepped.error().kind == error_kind::internal)
      return stepped;
    if (auto ours = store_.confirm_held(); !ours)
      return tl::unexpected(ours.error());
    set_trouble(stepped.error().message);
    stepped = false;
    if (stopping) // The next server finds it lost, and it waits again.
      for (const auto id : processes_.ids())
        processes_.stop(id);
  } else if (!unwritable_.empty()) { // Nothing is left that was not recorded.
    unwritable_.clear();
    static_cast<void>(look_for_room());
  }
  tell_those_stopping();
  return stepped;
}

/// Whether nothing has run or waited for so long that it ends.
bool queue_head::is_idle() {
  if (!idle_)
    return false;
  const std::lock_guard lock(mutex_);
  if (!state_.running.empty() || !state_.waiting.empty()) {
    idle_since_.reset();
    return false;
  }
  const auto now = clock::now();
  if (!idle_since_)
    idle_since_ = now;
  return now >= *idle_since_ + *idle_;
}

int queue_head::ms_to_next_step() const {
  std::int64_t least = formers_.empty() ? longest_pause_ms : look_at_formers_ms;
  const auto now = clock::now();
  const auto consider = [&](clock::time_point due) {
    least = std::min<std::int64_t>(
        least, std::chrono::ceil<std::chrono::milliseconds>(due - now).count());
  };
  if (const auto next = processes_.next_tend())
    consider(*next);
  if (idle_since_)
    consider(*idle_since_ + *idle_);
  for (const auto& [_, n] : nodes_)
    if (!n.lost)
      consider(n.heard + lease_);
  for (const auto& [id, began] : began_)
    if (const auto& e = state_.entries.at(id); e.what.time.count() > 0 && !e.stopping)
      consider(began + e.what.time);
  // An event that is due and could not be recorded is still due.
  if (!slots_.trouble.empty())
    least = std::clamp(least, look_for_room_ms / 5, look_for_room_ms);
  return static_cast<int>(std::max<std::int64_t>(least, 0));
}

void queue_head::wait_for_news() const {
  std::vector<pollfd> files{
      {.fd = changed_.descriptor(), .events = POLLIN, .revents = 0}};
  int most = 0;
  {
    const std::lock_guard lock(mutex_);
    processes_.add_descriptors(files);
    most = ms_to_next_step();
  }
  const timespec time{.tv_sec = most / 1000, .tv_nsec = most % 1000 * 1'000'000L};
  sigset_t none;
  ::sigemptyset(&none);
  ::ppoll(files.data(), files.size(), &time, &none);
}

expected<void> queue_head::serve(const std::function<bool()>& stop) {
  expected<void> served;
  bool ends = false;
  for (bool again = true; served && !(ends && processes_.empty());) {
    if (!again)
      wait_for_news();
    static_cast<void>(changed_.take()); // It carries nothing but the wake-up.
    ends = ends || stop() || is_idle();
    const auto stepped = step(ends);
    if (!stepped)
      served = tl::unexpected(stepped.error());
    else
      again = *stepped;
    ends = ends || stop() || is_idle();
  }
  const std::lock_guard lock(mutex_);
  closed_ = true;
  told_.notify_all();
  if (served && !(ended_.empty() && unbegun_.empty()))
    return fail(error_kind::io, unwritable_);
  return served;
}

} // namespace clade
