#pragma once

#include "engine/queue/next_entries.hpp"
#include "engine/store/queue_store.hpp"
#include "genome/wakeable_queue.hpp"
#include "tools/machine/slots.hpp"
#include "tools/queue/entry_process.hpp"

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace clade {

/// A part of a store's events, and what is the last of them all.
struct event_batch {
  std::uint64_t last = 0, checksum = 0; ///< The store's; 0: it has no events.
  std::vector<stored_event> events{};
};

struct queue_head_params {
  std::filesystem::path folder;  ///< Of the queue; it is there.
  std::filesystem::path program; ///< clade's own file, which runs are started with.
  std::vector<slot> slots;
  queue_rules rules{};
  /// How long a run that was told to end may let what is in training finish.
  std::chrono::milliseconds run_grace{60'000};
  /// How long a command that was told to end may go on, and a run that was told twice.
  std::chrono::milliseconds grace{10'000};
};

/// A queue at work: its state, its store and the processes of what runs. What happens is
/// stored, folded in, and only then acted upon. Processes are this process's own and end
/// with it: what the store has as running when the queue is opened is lost, and waits
/// again once the last process of it has ended (the former server may be stopped, and not
/// dead).
///
/// Any thread may call it, and one `serve`.
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

  /// Stores them, all or none, and returns their numbers. `invalid_input`: one can never
  /// run here.
  [[nodiscard]] expected<std::vector<entry_id>> submit(std::vector<queue_submission> all);

  /// Cancels an entry that is not over: one that runs is told to end. `conflict`: it is.
  [[nodiscard]] expected<void> cancel(entry_id id, const std::string& who);

  /// Returns what `look` returns of the state, which nobody changes meanwhile.
  template<class Look>
  auto look(Look look) const {
    const std::lock_guard lock(mutex_);
    return look(state_);
  }

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
    return store_.size();
  }

  /// Starts and ends what is due until `stop` is true, which it is woken to look at by
  /// `wake` and by signals: no signal is blocked while it waits. Then what runs is told to end, and waits in the store for the next server. An
  /// error: the store cannot be written, or another server has taken it over.
  [[nodiscard]] expected<void> serve(const std::function<bool()>& stop);
  void wake() const { changed_.wake(); }

  [[nodiscard]] const queue_head_params& params() const { return params_; }
  [[nodiscard]] const std::vector<queue_slot>& slots() const { return slots_; }

private:
  using clock = std::chrono::steady_clock;

  struct running_entry {
    entry_process process;
    std::optional<clock::time_point> told{}; ///< To end, the last time.
    int times_told = 0;
  };

  queue_head(queue_head_params params, queue_store store, queue_state state);

  [[nodiscard]] expected<void> check(const queue_submission& s) const;
  [[nodiscard]] expected<void> record(const std::vector<queue_event>& events);
  [[nodiscard]] expected<bool> step(bool stopping);
  [[nodiscard]] std::vector<queue_event> ends();
  [[nodiscard]] std::vector<queue_event> stops(bool stopping) const;
  void tell_those_stopping();
  [[nodiscard]] expected<void> lose_formers();
  [[nodiscard]] expected<void> start(const std::vector<next_entries::start>& starts);
  [[nodiscard]] expected<entry_process> start_one(const next_entries::start& s);
  [[nodiscard]] int ms_to_next_step() const;
  void wait_for_news() const;

  queue_head_params params_;
  std::vector<queue_slot> slots_;
  mutable std::mutex mutex_;
  mutable std::condition_variable told_;
  queue_store store_;
  queue_state state_;
  std::uint64_t changes_ = 0;
  bool closed_ = false;
  std::map<entry_id, running_entry> processes_; ///< For the thread that serves.
  /// The former server's, whose processes may not have ended. For the thread that serves.
  std::vector<entry_id> formers_;
  wakeable_queue<char> changed_;
};

} // namespace clade
