#pragma once

#include "engine/store/queue/queue_store.hpp"
#include "tools/queue/client/queue_addresses.hpp"
#include "tools/queue/client/queue_tokens.hpp"

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

namespace clade {

/// How a server comes to serve a queue: at once, or when the one that serves is gone.
struct turn_params {
  std::filesystem::path folder;
  bool shared = false;  ///< The same as in queue_file_params.
  bool standby = false; ///< It waits where another one serves.
  /// It follows this queue, in a store of its own; empty: none.
  std::filesystem::path follow{};
  std::chrono::milliseconds take_over{0}; ///< The same as in queue_replica_params.
  std::chrono::seconds half_life{};
  /// The places at which it may listen, the best first.
  std::vector<queue_server_params> places;
  /// One that waits may listen elsewhere too, where no place is free: it tells the users.
  std::optional<queue_server_params> otherwise{};
};

struct serve_turn {
  queue_store store;
  std::vector<queue_server_params> places;
};

/// Waits for the turn, and answers clients meanwhile that it does; none: `stop` was true
/// before. Signals come while it waits, and at no other time.
[[nodiscard]] expected<std::optional<serve_turn>>
await_turn(const turn_params& params, queue_tokens& tokens,
           const std::function<bool()>& stop);

/// Calls `listen` with one place after another until one is free. An error: that of the
/// first.
template<class Listen>
auto listen_at_one(const std::vector<queue_server_params>& places, Listen listen)
    -> decltype(listen(places.front())) {
  auto first = listen(places.front());
  for (std::size_t i = 1; i < places.size() && !first; ++i)
    if (first.error().kind == error_kind::conflict)
      if (auto next = listen(places[i]))
        return next;
  return first;
}

} // namespace clade
