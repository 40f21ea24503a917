#pragma once

#include "genome/base/wakeable_queue.hpp"
#include "tools/queue/client/queue_client.hpp"
#include "tools/queue/machine/entry_processes.hpp"
#include "tools/queue/machine/node_report.hpp"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace clade {

struct queue_node_params {
  std::filesystem::path queue; ///< The folder that a worker was given.
  std::string name;            ///< The name of this machine, in the queue.
  entry_processes_params processes;
  std::string version{}; ///< The version of clade.
  /// It leaves when it has had nothing to run for so long; none: it does not.
  std::optional<std::chrono::milliseconds> idle{};
};

/// The listener of a machine that serves; called by the thread that does.
struct queue_node_listener {
  std::function<void()> joined; ///< The server has answered for the first time.
  /// The server cannot be asked, or nothing can begin here, and why: once for each time.
  std::function<void(const std::string& why)> troubled;
};

/// Another machine of a queue: asks the queue's server what is to run here, and runs it.
/// Programs that run go on while the server cannot be reached; those that have ended
/// meanwhile are told later. Entries that the server no longer wants here are ended.
///
/// One thread calls it.
class queue_node {
public:
  /// `conflict`: what another process runs in that folder does not end.
  [[nodiscard]] static expected<std::unique_ptr<queue_node>>
  open(queue_node_params params);
  ~queue_node();

  /// Runs what is wanted until `stop` is true, which is looked at after signals: no signal
  /// is blocked while it waits. Then takes no more, lets the server tell what runs to end,
  /// and ends with it. `conflict`: another process has come for this machine; `refused`:
  /// the token is no worker's.
  [[nodiscard]] expected<void> serve(const std::function<bool()>& stop,
                                     const queue_node_listener& listener);

private:
  using clock = std::chrono::steady_clock;

  struct held {
    std::uint32_t start = 0;
    pid_t root = 0; ///< All its processes are below it; 0: it is about to begin.
    clock::time_point began{};
    std::string token{};
    bool removable = false; ///< Nobody wants its folder when it has ended.
    /// The places where its log begins in the file, and in the server's; how much of it
    /// was sent.
    std::uint64_t log_from = 0, log_base = 0, log_sent = 0;
    bool log_refused = false;
  };
  struct ended {
    node_report::end end{};
    held before{};
  };

  queue_node(queue_node_params params, std::string session, queue_client asks,
             queue_client tells);

  // For the thread that serves.
  void take_ends();
  void reconcile();
  void begin(const node_orders::order& o);
  [[nodiscard]] bool has_room();
  void wait_for_news() const;
  [[nodiscard]] bool take_news();
  [[nodiscard]] bool is_idle();

  // For the threads that speak with the server.
  void ask();
  void tell();
  [[nodiscard]] node_report report_now();
  [[nodiscard]] bool take_answer(const node_report& r,
                                 const expected<node_orders>& answer);
  [[nodiscard]] expected<node_orders> send(queue_client& client, const node_report& r,
                                           std::chrono::milliseconds wait) const;
  /// Sends what is new of an entry's log; false: the server is not there.
  [[nodiscard]] bool send_log(entry_id id, held& h);
  [[nodiscard]] bool send_logs();
  void send_ends();
  void share_addresses();

  queue_node_params params_;
  const std::string session_;
  entry_processes processes_;
  node_orders orders_; ///< The newest.
  std::optional<clock::time_point> idle_since_;
  bool unbegun_ = false; ///< Something ordered waits for room.

  mutable std::mutex mutex_; // The mutex of the members that follow.
  std::condition_variable changed_;
  std::map<entry_id, held> holds_;
  std::vector<ended> ended_; ///< The ends that the server has not been told.
  bool first_ = true, closed_ = false;
  bool leaves_ = false, leave_told_ = false; ///< The server knows that it leaves.
  clock::time_point heard_ = clock::now();
  expected<void> refused_;
  std::string trouble_; ///< Why the server cannot be asked; empty: it can.
  std::string full_;    ///< Why nothing begins here; empty: there is room.
  /// The server of the newest orders that are carried out, as their change.
  std::string server_;
  std::uint64_t seen_ = 0;
  std::map<entry_id, std::uint32_t> shown_; ///< Starts of which the server was told.

  wakeable_queue<node_orders> news_;
  queue_client asks_, tells_;
};

} // namespace clade
