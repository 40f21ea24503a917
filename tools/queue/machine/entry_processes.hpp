#pragma once

#include "engine/queue/queue_entry.hpp"
#include "tools/machine/slots.hpp"
#include "tools/queue/machine/queue_disk.hpp"
#include "tools/queue/processes/entry_log.hpp"
#include "tools/queue/processes/entry_process.hpp"

#include <poll.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace clade {

struct entry_processes_params {
  std::filesystem::path folder;  ///< Has the folders of entries (entry_command.hpp).
  std::filesystem::path program; ///< clade's own file, which runs are started with.
  std::vector<slot> slots;
  /// How long a run that was told to end may let what is in training finish.
  std::chrono::milliseconds run_grace{60'000};
  /// How long a command that was told to end may go on, and a run that was told twice.
  std::chrono::milliseconds grace{10'000};
  /// The space that a log may take of the disk: then its middle is freed (entry_log.hpp).
  std::uint64_t log_bytes = usual_log_bytes;
  /// The space that the folder's disk has left; none: `space_of` the folder says so.
  std::function<expected<disk_space>()> space{};
  /// Is told once of each log whose middle cannot be freed, of each entry that is paused, of
  /// each that has ended and left the disk full, and of a disk that has little left where
  /// none is paused; none: nobody is told.
  std::function<void(const error&)> warn{};
};

/// The processes of entries on this machine; they end with it. For one thread.
///
/// When the disk of their folder has little left, the entry that fills it is paused by
/// SIGSTOP, alone, and goes on when twice as much is left: the one with most of it in files
/// that are known (queue_disk.hpp), or one that has written as much as the disk has lost
/// (writes_seen.hpp), if the disk loses no more while it is stopped for a moment. Else nobody
/// is paused.
class entry_processes {
public:
  using clock = std::chrono::steady_clock;

  struct end {
    entry_id id = 0;
    int wait_status = 0;
  };

  explicit entry_processes(entry_processes_params params) : params_(std::move(params)) {}

  /// Starts an entry on slots of these names. `token`: what its process may ask the
  /// queue's server with.
  [[nodiscard]] expected<void> start(entry_id id, const queue_submission& what,
                                     const std::vector<std::string>& slots,
                                     const std::string& token);

  /// Returns the entries that have ended since the last call.
  [[nodiscard]] std::vector<end> take_ends();

  /// Tells an entry to end, if it runs and has not been told. A run drains at the first
  /// SIGTERM and stops at once at the second; what is still there after its time is killed,
  /// which `tend` sees to.
  void stop(entry_id id);
  /// Does what is due: ends what was told to end, shortens logs, and pauses what fills the
  /// disk.
  void tend();
  /// When `tend` has something to do.
  [[nodiscard]] std::optional<clock::time_point> next_tend() const;

  void kill(entry_id id);

  /// The entries that are paused, and why, for people.
  [[nodiscard]] std::map<entry_id, std::string> paused() const;

  /// Looks who writes, and returns what the entries have on the disk of their folder.
  [[nodiscard]] std::vector<disk_use> disk_uses();

  [[nodiscard]] bool empty() const { return running_.empty(); }
  [[nodiscard]] std::vector<entry_id> ids() const;
  /// The process that all others of the entry are below; 0: it does not run.
  [[nodiscard]] pid_t root_of(entry_id id) const;
  /// Adds what is readable when an entry has ended.
  void add_descriptors(std::vector<pollfd>& files) const;

  [[nodiscard]] const entry_processes_params& params() const { return params_; }

private:
  struct running_entry {
    std::unique_ptr<guarded_process> process;
    bool drains = false; ///< It is a run.
    std::optional<clock::time_point> told{};
    int times_told = 0;
    bool warned = false;       ///< That its log cannot be shortened.
    std::uint64_t log_end = 0; ///< At the last look.
    clock::time_point look_at_log = clock::now();
    clock::time_point looked = clock::now();
    std::uint64_t free_when_begun = 0; ///< The disk's free bytes.
    writes_seen writes{};
    std::string paused{};           ///< Why; empty: it is not.
    std::uint64_t paused_bytes = 0; ///< That it has on the disk.
    /// The disk went on falling while it was stopped.
    bool innocent = false;
  };

  [[nodiscard]] clock::time_point due(const running_entry& one) const;
  void tell(running_entry& one) const;
  void tend_log(entry_id id, running_entry& one, clock::time_point now) const;
  void shorten_log_of(entry_id id, running_entry& one) const;
  [[nodiscard]] expected<disk_space> space() const;
  void tend_disk(clock::time_point now);
  void look_at_writes();
  [[nodiscard]] disk_use use_seen(entry_id id, const running_entry& one) const;
  [[nodiscard]] std::vector<disk_use> uses_seen(bool paused_too) const;
  void pause_who_fills(const disk_space& disk, clock::time_point now);
  void pause(const disk_use& use, const disk_space& disk);
  [[nodiscard]] std::optional<disk_use> suspect(const disk_space& disk) const;
  void stop_for_a_moment(const disk_use& use, const disk_space& disk,
                         clock::time_point now);
  void judge(const disk_space& disk, clock::time_point now);
  void say_if_it_left_no_room(entry_id id, const running_entry& one) const;
  void say_why_nobody(const disk_space& disk, std::span<const disk_use> uses);
  static void go_on(running_entry& one);
  static void signal_all(const running_entry& one, int what);

  entry_processes_params params_;
  std::map<entry_id, running_entry> running_;
  std::uint64_t free_ = 0; ///< The disk's free bytes at the last look.
  double falls_by_ = 0;    ///< The bytes that it loses a second, over the last one.
  /// An entry that is stopped for a moment, and the disk's free bytes when that began.
  struct trial {
    disk_use use;
    std::uint64_t free = 0;
    double fell_by = 0;
    clock::time_point since, until;
  };
  std::optional<trial> trial_;
  bool told_of_nobody_ = false; ///< That none is paused, since the disk has little left.
  clock::time_point looked_ = clock::now(), look_at_disk_ = clock::now();
};

} // namespace clade
