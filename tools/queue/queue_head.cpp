#include "tools/queue/queue_head.hpp"

#include "engine/queue/waiting_limits.hpp"
#include "genome/child_process.hpp"
#include "genome/wall_clock.hpp"
#include "tools/queue/entry_command.hpp"
#include "tools/views/web/web_access.hpp"

#include <poll.h>

#include <algorithm>
#include <csignal>

namespace clade {

namespace {

constexpr std::size_t most_word_bytes = 64 << 10;
constexpr std::size_t most_name_bytes = 200;
constexpr std::size_t most_after = 10'000;
constexpr std::int64_t most_priority = 1000;
/// As far ahead as poll counts, and the clock on the wall is trusted.
constexpr std::int64_t longest_wait_ms = 60'000;
/// Of those that a replica gets at a time.
constexpr std::size_t bytes_of_batch = 1 << 20;
/// Between two looks at the processes of a former server.
constexpr std::int64_t look_at_formers_ms = 100;

tl::unexpected<error> refuse(const std::string& why) {
  return fail(error_kind::invalid_input, why);
}

/// What can be said of a submission without the queue.
expected<void> check_words(const queue_submission& s) {
  if (s.words.empty() || s.words.front().empty())
    return refuse("the command is empty");
  std::size_t bytes = s.directory.size();
  for (const auto& w : s.words) {
    bytes += w.size() + 1;
    if (w.find('\0') != std::string::npos)
      return refuse("a word of the command has a zero byte");
    if (is_resumable(s.kind))
      for (const char* ours : {"--slots", "--runs"})
        if (w == ours || w.starts_with(std::string(ours) + "="))
          return refuse(w
                        + ": the queue says that of a run; clade submit --slots N says "
                          "how many slots it gets");
  }
  if (bytes > most_word_bytes)
    return refuse("the command has more than 64 KiB");
  if (!s.directory.starts_with('/') || s.directory.find('\0') != std::string::npos)
    return refuse("the directory is no absolute path");
  for (const auto* text : {&s.name, &s.once})
    if (text->size() > most_name_bytes
        || std::ranges::any_of(*text, [](unsigned char c) { return c < 32 || c == 127; }))
      return refuse("a name, and the word that it is submitted once under, has 200 bytes "
                    "at most, and no control characters");
  if (s.device.size() > most_name_bytes)
    return refuse("a device is cpu, cuda or the like");
  if (s.after.size() > most_after)
    return refuse("it comes after 10000 entries at most");
  if (s.priority < -most_priority || s.priority > most_priority)
    return refuse("a priority is from -1000 to 1000");
  return {};
}

} // namespace

queue_head::queue_head(queue_head_params params, queue_store store, queue_state state)
    : version_(std::move(params.version)),
      rules_(std::move(params.rules)),
      lease_(params.lease),
      idle_(params.idle),
      takes_any_(params.takes_any || params.processes.slots.empty()),
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
  made->await_nodes();
  made->find_slots();
  // So that a client that saw another server's changes does not wait for as many.
  made->changes_ = static_cast<std::uint64_t>(unix_ms());
  made->store_.when_lost([head = made.get()] { head->wake(); });
  return made;
}

/// Records as lost what the former server had, once its processes have ended.
expected<void> queue_head::lose_formers() {
  std::vector<queue_event> lost;
  std::erase_if(formers_, [&](entry_id id) {
    const auto log = entry_folder(folder(), id) / entry_log_name;
    if (!await_former(log, clock::time_point::min()))
      return false;
    lost.emplace_back(entry_lost{id});
    return true;
  });
  return record(lost);
}

expected<void> queue_head::record(const std::vector<queue_event>& events) {
  if (events.empty())
    return {};
  const auto at = store_.append(events);
  if (!at)
    return tl::unexpected(at.error());
  for (const auto& e : events)
    if (auto folded = apply(state_, e, *at); !folded)
      return fail(error_kind::internal, folded.error().message);
  note_changes(events);
  ++changes_;
  told_.notify_all();
  return {};
}

expected<void> queue_head::check(const queue_submission& s) const {
  if (auto ok = check_words(s).and_then([&] { return check_ranks(s); }); !ok)
    return ok;
  const auto most = most_together(slots_, s);
  if (s.slots == 0 || (most < s.slots && nodes_.empty() && !takes_any_))
    return refuse("it wants " + slots_in_words(s.slots, s.device)
                  + ", and this server has " + std::to_string(most));
  if (const auto quota = rules_.quota_of(s.user); quota != 0 && s.slots > quota)
    return refuse("it wants " + slots_in_words(s.slots, s.device) + ", and " + s.user
                  + " may have " + std::to_string(quota));
  if (s.time.count() < 0)
    return refuse("a time is above 0");
  for (const auto before : s.after)
    if (!state_.entries.contains(before))
      return refuse("there is no #" + std::to_string(before) + " to come after");
  return {};
}

expected<std::vector<entry_id>> queue_head::submit(std::vector<queue_submission> all) {
  const std::lock_guard lock(mutex_);
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
  const std::lock_guard lock(mutex_);
  const auto found = state_.entries.find(id);
  if (found == state_.entries.end())
    return fail(error_kind::not_found, "there is no #" + std::to_string(id));
  const auto state = found->second.state;
  if (state >= entry_state::succeeded)
    return fail(error_kind::conflict,
                "#" + std::to_string(id) + " has "
                    + (state == entry_state::cancelled ? "been " : "")
                    + std::string(to_text(state)) + " already");
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
  std::unique_lock lock(mutex_);
  if (sequence > store_.size())
    return fail(error_kind::conflict, "it has " + std::to_string(store_.size())
                                          + " events, and not "
                                          + std::to_string(sequence));
  told_.wait_for(lock, most, [&] { return store_.size() > sequence || closed_; });
  return store_.read_after(sequence, bytes_of_batch)
      .map([&](std::vector<stored_event> events) {
        return event_batch{.last = store_.size(),
                           .checksum = store_.checksum(),
                           .events = std::move(events)};
      });
}

/// What has ended by now.
std::vector<queue_event> queue_head::ends() {
  std::vector<queue_event> events;
  for (const auto& [id, status] : processes_.take_ends())
    events.emplace_back(end_of(id, state_.entries.at(id), status, describe_exit(status)));
  return events;
}

std::vector<queue_event> queue_head::stops(bool stopping) const {
  std::vector<queue_event> events;
  const auto now = unix_ms();
  for (const auto id : state_.running) {
    const auto& e = state_.entries.at(id);
    if (e.stopping)
      continue;
    const auto time = std::chrono::milliseconds(e.what.time).count();
    if (time > 0 && now >= e.started_ms + time)
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
}

expected<void> queue_head::start(const std::vector<next_entries::start>& starts) {
  std::vector<queue_event> begun, failed;
  for (const auto& s : starts)
    begun.emplace_back(entry_started{.id = s.id, .slots = s.slots});
  if (auto recorded = record(begun); !recorded)
    return recorded;
  for (const auto& s : starts) {
    if (!machine_of(s.slots.front()).empty())
      continue; // Its machine is told as soon as it asks.
    const auto started = token_of(s.id).and_then([&](const std::string& token) {
      return processes_.start(s.id, state_.entries.at(s.id).what, s.slots, token);
    });
    if (!started)
      failed.emplace_back(entry_ended{
          .id = s.id, .state = entry_state::failed, .reason = started.error().message});
  }
  return record(failed);
}

/// One look at all there is; returns whether another one is due at once.
expected<bool> queue_head::step(bool stopping) {
  const std::lock_guard lock(mutex_);
  if (auto ours = store_.check_held().and_then([this] { return lose_formers(); }); !ours)
    return tl::unexpected(ours.error());
  auto events = ends();
  if (auto recorded = record(events).and_then([this] { return lose_silent_nodes(); });
      !recorded)
    return tl::unexpected(recorded.error());
  events = stops(stopping);
  auto next = stopping ? next_entries{} : find_next(state_, rules_, slots_, unix_ms());
  for (const auto& s : next.stops)
    if (std::ranges::none_of(events, [&](const queue_event& e) {
          return std::get<entry_stopping>(e).id == s.id;
        }))
      events.emplace_back(entry_stopping{.id = s.id,
                                         .cause = stop_cause::preempted,
                                         .who = "#" + std::to_string(s.for_the_sake_of)});
  if (auto recorded = record(events); !recorded)
    return tl::unexpected(recorded.error());
  if (auto started = start(next.starts); !started)
    return tl::unexpected(started.error());
  tell_those_stopping();
  return !next.starts.empty();
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
  std::int64_t least = formers_.empty() ? longest_wait_ms : look_at_formers_ms;
  const auto wall = unix_ms();
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
  for (const auto id : state_.running)
    if (const auto& e = state_.entries.at(id); e.what.time.count() > 0 && !e.stopping)
      least = std::min(
          least, e.started_ms + std::chrono::milliseconds(e.what.time).count() - wall);
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
  return served;
}

} // namespace clade
