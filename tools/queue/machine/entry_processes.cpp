#include "tools/queue/machine/entry_processes.hpp"

#include "engine/report/base/format.hpp"
#include "genome/base/text.hpp"
#include "tools/queue/client/client_folder.hpp"
#include "tools/queue/client/queue_client.hpp"
#include "tools/queue/client/queue_tokens.hpp"
#include "tools/queue/machine/processes_below.hpp"
#include "tools/queue/processes/entry_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <utility>

namespace clade {

namespace {

/// Whatever runs outlasts its server's absence, and so do its questions.
constexpr std::chrono::seconds queue_patience{600};
/// Between two looks at a disk that has little left.
constexpr std::chrono::seconds longest_look{1};
/// Who writes is looked at where a disk would have little left within that time, or has less
/// than so many times that little.
constexpr std::chrono::seconds time_to_look_at_writes{60};
constexpr std::uint64_t times_scarce_to_look_at_writes = 16;
/// A suspect is stopped for so long to see whether the disk goes on falling.
constexpr std::chrono::milliseconds shortest_stop{50}, longest_stop{500};
/// After an entry has begun.
constexpr std::chrono::milliseconds first_look{100};

/// Writes the folder with which the entry's programs may ask the queue's server.
expected<std::filesystem::path> give_queue(const std::filesystem::path& queue,
                                           const std::filesystem::path& folder,
                                           const std::string& token) {
  const auto given = folder / entry_queue_name;
  std::error_code failed;
  std::filesystem::create_directories(given, failed);
  if (failed)
    return fail(error_kind::io,
                fmt::format("{}: cannot be made: {}", given.string(), failed.message()));
  return copy_client_files(queue, given)
      .and_then([&] { return write_private(given / token_file_name, token + "\n"); })
      .map([&] { return given; });
}

} // namespace

expected<void> entry_processes::start(entry_id id, const queue_submission& what,
                                      const std::vector<std::string>& slots,
                                      const std::string& token) {
  const auto folder = entry_folder(params_.folder, id);
  const auto queue = give_queue(params_.folder, folder, token);
  if (!queue)
    return tl::unexpected(queue.error());
  std::vector<slot> its;
  std::ranges::copy_if(params_.slots, std::back_inserter(its), [&](const slot& one) {
    return std::ranges::find(slots, one.name) != slots.end();
  });
  return entry_command(params_.program, folder, id, what, its)
      .and_then([&](entry_process_params p) {
        p.environment.push_back("CLADE_QUEUE=" + queue->string());
        p.environment.push_back(
            fmt::format("{}={}", queue_patience_variable, queue_patience.count()));
        return start_entry_process(p);
      })
      .map([&](std::unique_ptr<guarded_process> process) {
        const auto disk = space();
        if (running_.empty() && disk) { // The last look was long ago.
          free_ = disk->free;
          looked_ = clock::now();
        }
        running_.emplace(id, running_entry{.process = std::move(process),
                                           .drains = is_resumable(what.kind),
                                           .free_when_begun = disk ? disk->free : 0});
        look_at_disk_ = std::min(look_at_disk_, clock::now() + first_look);
      });
}

std::vector<entry_processes::end> entry_processes::take_ends() {
  std::vector<end> ends;
  for (auto one = running_.begin(); one != running_.end();) {
    const auto status = one->second.process->take_end();
    if (!status) {
      ++one;
      continue;
    }
    one->second.process->end_rest();
    shorten_log_of(one->first, one->second); // It has grown since that was done last.
    say_if_it_left_no_room(one->first, one->second);
    ends.push_back({.id = one->first, .wait_status = *status});
    one = running_.erase(one);
  }
  return ends;
}

void entry_processes::stop(entry_id id) {
  if (const auto found = running_.find(id);
      found != running_.end() && !found->second.told)
    tell(found->second);
}

void entry_processes::tend() {
  const auto now = clock::now();
  for (auto& [id, one] : running_) {
    if (one.told && now >= due(one))
      tell(one);
    if (now >= one.look_at_log)
      tend_log(id, one, now);
  }
  if (now >= look_at_disk_ && !running_.empty())
    tend_disk(now);
}

expected<disk_space> entry_processes::space() const {
  return params_.space ? params_.space() : space_of(params_.folder);
}

void entry_processes::tend_disk(clock::time_point now) {
  look_at_disk_ = now + longest_look;
  const auto disk = space();
  if (!disk)
    return; // Nobody knows who fills what.
  const auto scarce = scarce_bytes(*disk);
  const double seconds = std::chrono::duration<double>(now - looked_).count();
  const double by =
      seconds > 0 ? static_cast<double>(free_ - std::min(free_, disk->free)) / seconds
                  : falls_by_;
  falls_by_ = falls_by_ == 0 ? by : std::lerp(falls_by_, by, std::min(1.0, seconds));
  // Who makes room now and then hides for a moment that the disk falls.
  const auto until_scarce = time_until_scarce(*disk, std::max(by, falls_by_));
  if (disk->free < scarce
      || (until_scarce
          && (*until_scarce < time_to_look_at_writes
              || disk->free / times_scarce_to_look_at_writes < scarce)))
    look_at_writes();
  if (disk->free >= scarce)
    look_at_disk_ = now + pause_between_looks(*disk, std::max(by, falls_by_));
  if (disk->free < scarce || trial_)
    pause_who_fills(*disk, now);
  told_of_nobody_ = told_of_nobody_ && disk->free < 2 * scarce;
  for (auto& [_, one] : running_)
    if (disk->free >= 2 * scarce) {
      go_on(one);
      one.innocent = false;
    } else if (!one.paused.empty()) { // Also what it has started meanwhile.
      signal_all(one, SIGSTOP);
    }
  free_ = disk->free;
  looked_ = now;
}

void entry_processes::look_at_writes() {
  const auto processes = read_processes();
  const bool by_calls = !counts_writes(params_.folder);
  for (auto& [_, one] : running_) {
    const auto root = one.process->guard();
    auto files = files_open_to_write(root, processes);
    // Both at the same moment: what was seen before it took its time.
    if (const auto disk = space())
      one.writes.add(std::move(files), bytes_written_below(root, processes, by_calls),
                     disk->free);
  }
}

disk_use entry_processes::use_seen(entry_id id, const running_entry& one) const {
  return {.id = id,
          .bytes = std::max(bytes_of_entry(one.writes, params_.folder,
                                           entry_folder(params_.folder, id)),
                            one.paused.empty() ? 0 : one.paused_bytes),
          .free_when_begun = one.free_when_begun};
}

std::vector<disk_use> entry_processes::uses_seen(bool paused_too) const {
  std::vector<disk_use> uses;
  for (const auto& [id, one] : running_)
    if (paused_too || (one.paused.empty() && !one.told))
      uses.push_back(use_seen(id, one));
  return uses;
}

std::vector<disk_use> entry_processes::disk_uses() {
  look_at_writes();
  return uses_seen(true);
}

void entry_processes::pause_who_fills(const disk_space& disk, clock::time_point now) {
  if (trial_)
    return judge(disk, now);
  const auto uses = uses_seen(false);
  if (const auto fills = who_fills(uses, disk.free))
    return pause(*fills, disk);
  if (const auto one = suspect(disk))
    return stop_for_a_moment(*one, disk, now);
  say_why_nobody(disk, uses);
}

void entry_processes::pause(const disk_use& use, const disk_space& disk) {
  auto& one = running_.at(use.id);
  one.paused_bytes = use.bytes;
  one.paused =
      fmt::format("paused: it has {} on the disk of {}, which has {} left; make room, "
                  "and it goes on when there are {}",
                  size_text(use.bytes), params_.folder.string(), size_text(disk.free),
                  size_text(2 * scarce_bytes(disk)));
  if (params_.warn)
    params_.warn({error_kind::io, fmt::format("{} is {}", numbered(use.id), one.paused)});
}

/// Returns who has written the most of what the disk has lost, as far as that goes together.
std::optional<disk_use> entry_processes::suspect(const disk_space& disk) const {
  std::optional<disk_use> most;
  for (const auto& [id, one] : running_) {
    const disk_use its{.id = id,
                       .bytes = one.writes.bytes_lost_by_it(),
                       .free_when_begun = one.free_when_begun};
    if (one.paused.empty() && !one.told && !one.innocent
        && who_fills(std::span(&its, 1), disk.free) && (!most || its.bytes > most->bytes))
      most = its;
  }
  return most;
}

/// Stops it for as long as the disk takes to lose half of what it has left.
void entry_processes::stop_for_a_moment(const disk_use& use, const disk_space& disk,
                                        clock::time_point now) {
  using seconds = std::chrono::duration<double>;
  const seconds until_full(static_cast<double>(disk.free) / std::max(falls_by_, 1.0));
  const auto moment =
      std::clamp<seconds>(until_full / 2, seconds(shortest_stop), seconds(longest_stop));
  trial_ = trial{.use = use,
                 .free = disk.free,
                 .fell_by = falls_by_,
                 .since = now,
                 .until = now + std::chrono::duration_cast<clock::duration>(moment)};
  signal_all(running_.at(use.id), SIGSTOP);
  look_at_disk_ = trial_->until;
}

/// It is paused if the disk loses less than a quarter of what it did before.
void entry_processes::judge(const disk_space& disk, clock::time_point now) {
  const auto found = running_.find(trial_->use.id);
  if (found == running_.end() || found->second.told)
    return trial_.reset();
  if (now < trial_->until) {
    look_at_disk_ = std::min(look_at_disk_, trial_->until);
    return;
  }
  const auto lost = static_cast<double>(trial_->free - std::min(trial_->free, disk.free));
  const auto usual =
      trial_->fell_by * std::chrono::duration<double>(now - trial_->since).count();
  const auto use = std::exchange(trial_, std::nullopt)->use;
  const bool is_still_scarce = disk.free < 2 * scarce_bytes(disk);
  if (lost < usual / 4 && disk.free >= least_room_bytes && is_still_scarce)
    return pause(use, disk);
  found->second.innocent = is_still_scarce;
  signal_all(found->second, SIGCONT);
  look_at_disk_ = now + shortest_stop; // Another one may have done it.
}

void entry_processes::signal_all(const running_entry& one, int what) {
  for (const auto pid : numbers_below(one.process->guard()))
    ::kill(pid, what);
}

/// Names an entry that has filled the disk and ended between two looks, so that it could not
/// be paused.
void entry_processes::say_if_it_left_no_room(entry_id id,
                                             const running_entry& one) const {
  const auto disk = space();
  if (!params_.warn || !disk || disk->free >= scarce_bytes(*disk))
    return;
  const auto its = use_seen(id, one);
  if (who_fills(std::span(&its, 1), disk->free))
    params_.warn({error_kind::io,
                  fmt::format("{} has ended and left {} on the disk of {}, which has {} "
                              "left; make room",
                              numbered(id), size_text(its.bytes), params_.folder.string(),
                              size_text(disk->free))});
}

/// Says once why nobody is paused, where the disk has little left and none is.
void entry_processes::say_why_nobody(const disk_space& disk,
                                     std::span<const disk_use> uses) {
  if (!params_.warn || told_of_nobody_
      || std::ranges::any_of(running_,
                             [](const auto& one) { return !one.second.paused.empty(); }))
    return;
  told_of_nobody_ = true;
  std::string tried;
  for (const auto& [id, one] : running_)
    if (one.innocent)
      tried += fmt::format("; it went on falling while {} was stopped for a moment",
                           numbered(id));
  params_.warn(
      {error_kind::io, fmt::format("the disk of {} has {} left; make room. Nobody is "
                                   "paused: {}{}",
                                   params_.folder.string(), size_text(disk.free),
                                   why_nobody_fills(uses, disk.free), tried)});
}

void entry_processes::go_on(running_entry& one) {
  if (!std::exchange(one.paused, "").empty())
    signal_all(one, SIGCONT);
}

std::map<entry_id, std::string> entry_processes::paused() const {
  std::map<entry_id, std::string> all;
  for (const auto& [id, one] : running_)
    if (!one.paused.empty())
      all.emplace(id, one.paused);
  return all;
}

/// The next look is due when the log has grown by as much as it may keep at its end, if it
/// goes on as since the last one.
void entry_processes::tend_log(entry_id id, running_entry& one,
                               clock::time_point now) const {
  shorten_log_of(id, one);
  const auto end =
      log_end(entry_folder(params_.folder, id) / entry_log_name).value_or(one.log_end);
  one.look_at_log = now
                    + pause_between_looks({.grown = end - std::min(end, one.log_end),
                                           .within = now - one.looked,
                                           .most = params_.log_bytes});
  one.log_end = end;
  one.looked = now;
}

void entry_processes::shorten_log_of(entry_id id, running_entry& one) const {
  const auto done =
      shorten_log(entry_folder(params_.folder, id) / entry_log_name, params_.log_bytes);
  if (!done && params_.warn && !std::exchange(one.warned, true))
    params_.warn(done.error());
}

void entry_processes::tell(running_entry& one) const {
  one.paused.clear();
  signal_all(one, SIGCONT); // Else it could not end by itself.
  if (one.times_told < (one.drains ? 2 : 1))
    one.process->tell_to_end();
  else
    one.process->kill();
  one.told = clock::now();
  ++one.times_told;
}

entry_processes::clock::time_point entry_processes::due(const running_entry& one) const {
  return *one.told
         + (one.drains && one.times_told < 2 ? params_.run_grace : params_.grace);
}

std::optional<entry_processes::clock::time_point> entry_processes::next_tend() const {
  if (running_.empty())
    return std::nullopt;
  auto next = look_at_disk_;
  for (const auto& [_, one] : running_)
    next = std::min({next, one.look_at_log, one.told ? due(one) : next});
  return next;
}

void entry_processes::kill(entry_id id) {
  if (const auto found = running_.find(id); found != running_.end())
    found->second.process->kill();
}

std::vector<entry_id> entry_processes::ids() const {
  std::vector<entry_id> all;
  for (const auto& [id, _] : running_)
    all.push_back(id);
  return all;
}

pid_t entry_processes::root_of(entry_id id) const {
  const auto found = running_.find(id);
  return found == running_.end() ? 0 : found->second.process->guard();
}

void entry_processes::add_descriptors(std::vector<pollfd>& files) const {
  for (const auto& [_, one] : running_)
    files.push_back({.fd = one.process->descriptor(), .events = POLLIN, .revents = 0});
}

} // namespace clade
