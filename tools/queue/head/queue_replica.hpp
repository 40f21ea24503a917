#pragma once

#include "engine/report/base/json_parts.hpp"
#include "engine/store/queue/queue_store.hpp"
#include "tools/queue/client/queue_client.hpp"

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace clade {

struct queue_replica_params {
  std::filesystem::path folder; ///< The replica's.
  /// The folder of the queue that is followed, or of a user of it who is an admin.
  std::filesystem::path source;
  /// The address at which the replica will serve, for the clients of the queue.
  std::string address;
  /// Take over once the queue's server has not answered for so long; 0: never.
  std::chrono::milliseconds take_over{0};
  std::chrono::seconds half_life{};
};

/// A copy of a queue's events and tokens in a store of its own, which follows the queue's
/// server. Each event is checked against the chain of checksums before it is stored. It has
/// what happened, and not the files of entries: their logs, and what runs recorded.
class queue_replica {
public:
  /// Asks the server for the first time. Errors: it does not answer, or lets us not in.
  [[nodiscard]] static expected<queue_replica> open(queue_replica_params params,
                                                    queue_store store);

  /// The listener that is told what follows: an answer for clients, and a line for people
  /// (empty: none).
  using listener =
      std::function<void(const ordered_json& answer, const std::string& line)>;
  /// Follows until `stop` is true, which it looks at every few seconds, or it is time to
  /// take over; returns whether it is. `corrupt` or `conflict`: the server has other events
  /// than the replica.
  [[nodiscard]] expected<bool> follow(const std::function<bool()>& stop,
                                      const listener& told);

  [[nodiscard]] queue_store take_store() { return std::move(store_); }

private:
  using clock = std::chrono::steady_clock;

  queue_replica(queue_replica_params params, queue_store store, queue_client client,
                queue_state state);

  /// Returns why the server does not answer, if it does not.
  [[nodiscard]] expected<std::optional<error>> ask();
  [[nodiscard]] expected<void> check_same(std::uint64_t last,
                                          std::uint64_t checksum) const;
  [[nodiscard]] expected<void> keep_tokens(const std::string& text);
  [[nodiscard]] ordered_json answer() const;
  [[nodiscard]] std::string line() const;

  queue_replica_params params_;
  queue_store store_;
  queue_client client_;
  queue_state state_;
  std::uint64_t last_ = 0; ///< The last of the server's events.
  std::string tokens_;     ///< That were copied.
  clock::time_point answered_;
  std::optional<error> silent_; ///< Why the server does not answer.
};

} // namespace clade
