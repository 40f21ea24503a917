#pragma once

#include "engine/queue/next_entries.hpp"
#include "engine/store/queue/queue_store.hpp"
#include "genome/base/wakeable_queue.hpp"
#include "tools/queue/machine/entry_processes.hpp"
#include "tools/queue/machine/machine_state.hpp"
#include "tools/queue/machine/node_report.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <vector>

namespace clade {

struct queue_user; // queue_tokens.hpp

/// A part of a store's events, and what is the last of them all.
struct event_batch {
  std::uint64_t last = 0, checksum = 0; ///< The store's; 0: it has no events.
  std::vector<stored_event> events{};
};

/// Another machine, as the queue's server sees it.
struct queue_machine {
  std::string name{}, version{}; ///< Its clade's.
  std::size_t slots = 0;
  std::chrono::milliseconds heard{0}; ///< Since it was.
  /// The time by which its clock is ahead of the server's.
  std::chrono::milliseconds clock_ahead{0};
  machine_state state = machine_state::there;
};

struct queue_head_params {
  /// The processes of this machine; their folder is that of the queue, which is there.
  entry_processes_params processes;
  queue_rules rules{};
  /// A machine that is not heard of for so long is lost, with what runs there.
  std::chrono::milliseconds lease{60'000};
  std::string version{}; ///< The version of clade.
  /// `serve` ends when nothing has run or waited for so long; none: it does not.
  std::optional<std::chrono::milliseconds> idle{};
  /// Takes entries that fit none of the slots there are: a server that has more comes. So
  /// does a queue that has no slots of its own, for the machines that come.
  bool takes_any = false;
  /// Says why the disk of the queue has no room; none: `check_room` of the folder does.
  std::function<expected<void>()> room{};
};

/// A queue at work: its state, its store and the processes of what runs here. An event is
/// stored, folded in, and only then acted upon. Processes are this process's own and end
/// with it: what the store has as running here when the queue is opened is lost, and
/// waits again once the last process of it has ended (the former server may be stopped,
/// and not dead). Entries that run on other machines go on there, as long as they are
/// heard of within the lease.
///
/// While the disk is full, or the store cannot be written, nothing is taken and nothing
/// begins; what runs goes on, and its ends are recorded when there is room.
///
/// Any thread may call it, and one `serve`. Who changes the queue has `writing_`, and
/// `mutex_` too, but not while something is written to the disk: readers need that alone,
/// and do not wait for the disk.
class queue_head {
public:
  /// `conflict`: another process serves this folder.
  [[nodiscard]] static expected<std::unique_ptr<queue_head>>
  open(queue_head_params params);
  /// The same with a store that was opened.
  [[nodiscard]] static expected<std::unique_ptr<queue_head>>
  open(queue_head_params params, queue_store store);
  queue_head(const queue_head&) = delete;
  queue_head& operator=(const queue_head&) = delete;
  ~queue_head() { store_.when_lost(nullptr); }

  /// Stores them, all or none, and returns their numbers; that of the one that is there
  /// already for what its user has submitted under the same word (`once`).
  /// `invalid_input`: one can never run here. `io`: nothing is taken, and why.
  [[nodiscard]] expected<std::vector<entry_id>> submit(std::vector<queue_submission> all);

  /// Cancels an entry that is not over: one that runs is told to end. `conflict`: it is.
  [[nodiscard]] expected<void> cancel(entry_id id, const std::string& who);

  /// Returns what `look` returns of the state, or of it and the slots there are; nobody
  /// changes them meanwhile.
  template<class Look>
  auto look(Look look) const {
    const std::lock_guard lock(mutex_);
    if constexpr (std::is_invocable_v<Look, const queue_state&, const queue_slots&>)
      return look(state_, slots_);
    else
      return look(state_);
  }

  /// Takes in what another machine says by the token of `who`, and returns what is wanted
  /// of it: at once if that is not what it has `seen`, else when it changes or after `most`.
  /// `conflict`: another process has come for that machine, it is another user's, or it
  /// speaks another protocol.
  [[nodiscard]] expected<node_orders> report(const node_report& r, const queue_user& who,
                                             std::chrono::milliseconds most);

  /// All but those that have left.
  [[nodiscard]] std::vector<queue_machine> machines() const;

  /// Returns the folder in which that machine has the folders of entries; empty if nobody
  /// knows.
  [[nodiscard]] std::string folder_of_node(const std::string& node) const;

  /// Whether `who` may write the log of an entry that runs on that machine. `conflict`: it
  /// does not run there, was started again, or the machine is another user's. `io`: whose
  /// machine it is will be known once it has reported.
  [[nodiscard]] expected<void> check_log_of(const held_entry& e, const std::string& node,
                                            const queue_user& who) const;

  /// The processes of an entry that runs, here or as its machine said last.
  [[nodiscard]] std::vector<process_seen> processes_of(entry_id id) const;

  /// Who asks with the token of a running entry.
  struct asking_entry {
    entry_id id = 0;
    std::string user{};
  };
  /// `refused`: this token is nobody's. `conflict`: that is not known yet.
  [[nodiscard]] expected<asking_entry> user_of_entry(const std::string& token) const;

  /// Returns how often the state has changed, once that is not `seen` any more, the time
  /// is over or the queue closed.
  [[nodiscard]] std::uint64_t await_change(std::uint64_t seen,
                                           std::chrono::milliseconds most) const;

  /// Returns the events behind that one, once there are any or the time is over.
  /// `conflict`: there are fewer.
  [[nodiscard]] expected<event_batch> events_after(std::uint64_t sequence,
                                                   std::chrono::milliseconds most) const;

  /// How many events there are.
  [[nodiscard]] std::uint64_t count_events() const {
    const std::lock_guard lock(mutex_);
    return events_;
  }

  /// Starts and ends what is due until `stop` is true, which it is woken to look at by
  /// `wake` and by signals: no signal is blocked while it waits. Then what runs is told to
  /// end, and waits in the store for the next server. An error: another server has taken
  /// the store over, or it could not be written at the end.
  [[nodiscard]] expected<void> serve(const std::function<bool()>& stop);
  void wake() const { changed_.wake(); }

  [[nodiscard]] const std::filesystem::path& folder() const {
    return processes_.params().folder;
  }
  [[nodiscard]] const queue_rules& rules() const { return rules_; }
  /// Returns the version of clade.
  [[nodiscard]] const std::string& version() const { return version_; }
  /// Returns the space that a log may take of the disk.
  [[nodiscard]] std::uint64_t log_bytes() const { return processes_.params().log_bytes; }
  /// Tells whoever serves what is wrong with a log.
  void warn(const error& e) const {
    if (const auto& told = processes_.params().warn)
      told(e);
  }

private:
  using clock = std::chrono::steady_clock;

  /// Another machine.
  struct node {
    std::string session{}; ///< The session of the process there; empty: it is awaited.
    /// The user whose token it asks with; empty: that is not known yet.
    std::string user{};
    std::string folder{};
    std::vector<queue_slot> slots{};
    clock::time_point heard{};
    std::string version{};
    std::chrono::milliseconds clock_ahead{0};
    std::string machine{}; ///< `this_machine` there; empty: it is not known.
    bool lost = false, leaves = false;
    /// That ran there when this server began, and of which the machine has not said, since
    /// it knows of this server, that it has them.
    std::vector<held_entry> inherited{};
    /// The number of the latest change of what is wanted of it.
    std::uint64_t change = 1;
    std::map<entry_id, std::vector<process_seen>> processes{};
  };

  /// The means of a function that changes the queue.
  struct changing {
    explicit changing(const queue_head& head)
        : first(head.writing_),
          second(head.mutex_) {}
    std::lock_guard<std::mutex> first;
    std::unique_lock<std::mutex> second;
  };

  queue_head(queue_head_params params, queue_store store, queue_state state);

  /// Returns what `f` returns, which works on the disk and changes nothing that is read.
  /// For who has both mutexes.
  template<class F>
  auto while_others_read(F f) const {
    mutex_.unlock();
    auto result = f();
    mutex_.lock();
    return result;
  }

  [[nodiscard]] bool is_idle();
  [[nodiscard]] expected<void> check(const queue_submission& s) const;
  [[nodiscard]] expected<void> record(const std::vector<queue_event>& events);
  void note_changes(const std::vector<queue_event>& events);
  [[nodiscard]] expected<bool> step(bool stopping);
  [[nodiscard]] expected<bool> carry_on(bool stopping, bool may_begin);
  [[nodiscard]] expected<void> look_for_room();
  void set_trouble(const std::string& why);
  [[nodiscard]] std::string fullest();
  [[nodiscard]] expected<void> record_ends();
  [[nodiscard]] entry_times times_run() const;
  [[nodiscard]] std::vector<queue_event> losses_of(const std::vector<entry_id>& ids,
                                                   bool went_down) const;
  [[nodiscard]] std::vector<queue_event> stops(bool stopping) const;
  void tell_those_stopping();
  [[nodiscard]] expected<void> lose_formers();
  [[nodiscard]] expected<void> start(const std::vector<next_entries::start>& starts);
  [[nodiscard]] int ms_to_next_step() const;
  void wait_for_news() const;

  // The entries of other machines; queue_head_nodes.cpp.
  void await_nodes();
  void find_slots();
  [[nodiscard]] expected<void> lose_silent_nodes();
  [[nodiscard]] expected<const node*> take(const node_report& r, const queue_user& who);
  [[nodiscard]] bool is_of_others(const std::string& name, const node& n,
                                  const queue_user& who) const;
  [[nodiscard]] expected<void> lose_missing(const node_report& r, node& n);
  [[nodiscard]] expected<void> take_held_of(const node_report& r);
  [[nodiscard]] bool is_running_on(const held_entry& e, const std::string& node) const;
  [[nodiscard]] expected<void> take_ends_of(const node_report& r);
  [[nodiscard]] expected<node_orders> orders_for(const std::string& name,
                                                 const node& n) const;
  [[nodiscard]] std::vector<entry_id> running_on(const std::string& node) const;

  const std::string version_;
  queue_rules rules_;
  std::chrono::milliseconds lease_;
  std::optional<std::chrono::milliseconds> idle_;
  bool takes_any_;
  std::function<expected<void>()> room_;
  std::string server_; ///< Drawn when it began.
  queue_slots slots_;
  std::map<std::string, node> nodes_;
  mutable std::mutex writing_; ///< Before `mutex_`, where both are taken.
  mutable std::mutex mutex_;
  mutable std::condition_variable told_;
  queue_store store_;
  queue_state state_;
  std::uint64_t changes_ = 0, events_ = 0;
  std::string unwritable_; ///< Why the store could not be written last; empty: it could.
  /// Since when entries run, by our clock. One of another machine is not in it until the
  /// machine has said how long it has run.
  std::map<entry_id, clock::time_point> began_;
  std::optional<clock::time_point> idle_since_;
  bool closed_ = false;
  entry_processes processes_; ///< For the thread that serves.
  /// The former server's, whose processes may not have ended. For the thread that serves.
  std::vector<entry_id> formers_;
  bool went_down_ = false; ///< This machine, while the one former entry ran there alone.
  std::vector<entry_processes::end> ended_; ///< It is not recorded yet.
  std::vector<entry_ended> unbegun_;        ///< The same of what could not be started.
  wakeable_queue<char> changed_;
};

} // namespace clade
