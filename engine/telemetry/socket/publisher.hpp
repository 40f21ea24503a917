#pragma once

#include "engine/store/run/store.hpp"
#include "engine/telemetry/picture/feed.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

namespace clade {

/// The place at which viewers of other machines find a run, with keys that the authority
/// in that folder made (viewer_keys.hpp).
struct remote_place {
  std::string host; ///< In numbers: "0.0.0.0".
  /// The port of the socket "events"; "requests" has the next, "control" the one after.
  std::uint16_t port = 0;
  std::filesystem::path authority;
};
inline constexpr std::uint16_t ports_of_a_publisher = 3;

struct publisher_params {
  std::string name; ///< The experiment's.
  std::filesystem::path store_file;
  /// Who watches on this machine finds the sockets here, in a folder of mode 0700:
  /// "events", "requests" and "control". The former ones are replaced.
  std::filesystem::path folder;
  /// Obeys, or says why not; called by the publisher's thread, which waits for it. None:
  /// nothing can be told to this run.
  std::function<std::string(const operator_command&)> obey;
  std::optional<remote_place> remote = {};
  /// Gets the picture now and then, and at the end, for the store
  /// (`store::keep_picture`). From the publisher's thread, which waits for it.
  std::function<void(kept_picture)> keep = {};
  /// After so many records, which take a tenth of a second to fold.
  std::uint64_t keep_records = 50'000;
  /// Hears, a line at a time, which viewers were refused. From the publisher's thread.
  std::function<void(const std::string&)> say = {};
  /// The number of messages, of about 1 KB each, that may wait for a viewer that does not
  /// read; later ones are lost to it.
  int queued_messages = 10'000;
};

/// Records as the store has them from `first` on, all of one time.
struct recorded {
  std::uint64_t first = 0;
  std::int64_t unix_ms = 0;
  std::shared_ptr<const std::vector<entry>> entries;
};

/// Sends what happens to whoever watches, and answers what they ask (engine/telemetry/
/// wire.hpp), on a thread of its own. A viewer that does not read loses messages; nothing
/// that a viewer does is felt by who publishes. While nobody watches, it only folds.
class publisher {
public:
  /// Reads `s`, of which it shows all records; blocks until they are folded. `conflict`
  /// if the remote place cannot be had.
  [[nodiscard]] static expected<std::unique_ptr<publisher>>
  start(const publisher_params& params, const store& s);
  /// Gives the last picture to be kept.
  virtual ~publisher() = default;

  // From any thread; none of them blocks. Records must come in their order.
  virtual void publish(recorded r) = 0;
  virtual void publish(epoch_event e) = 0;
  virtual void publish(slots_view v) = 0;
  /// Whether anybody has subscribed: else epochs and slots need not be gathered.
  [[nodiscard]] virtual bool watched() const = 0;
};

} // namespace clade
