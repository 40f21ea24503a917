#pragma once

#include "engine/telemetry/picture/wire.hpp"
#include "engine/telemetry/socket/viewer_keys.hpp"

#include <chrono>
#include <filesystem>
#include <memory>

namespace clade {

/// The place at which a run of another machine is watched: `remote_place` as it is
/// reached.
struct remote_head {
  std::string host;
  std::uint16_t port = 0;
  viewer_bundle keys;
};

/// A viewer's connection to a head. A thread of its own reads what is published, so that
/// little is lost when the viewer is slow. Used by one thread.
class subscription {
public:
  /// `folder` is `publisher_params::folder`. Not whether anybody is there.
  [[nodiscard]] static expected<std::unique_ptr<subscription>>
  open(const std::filesystem::path& folder);
  [[nodiscard]] static expected<std::unique_ptr<subscription>>
  connect(const remote_head& head);
  virtual ~subscription() = default;

  /// Lets its connections go and makes others.
  [[nodiscard]] virtual expected<void> connect_again() = 0;

  /// Blocks for the answer. Errors: `refused` by a head of another machine for the keys,
  /// at once or in that time; `not_found` when nobody is at that address; else `io`.
  [[nodiscard]] virtual expected<bytes> ask(const request& r,
                                            std::chrono::milliseconds most) = 0;
  /// Blocks for the answer; an error when the run refuses, or none answers.
  [[nodiscard]] virtual expected<void> tell(const operator_command& order,
                                            std::chrono::milliseconds most) = 0;
  /// Returns the messages that were published since; blocks until something is there or
  /// the time has passed.
  [[nodiscard]] virtual std::vector<published> take(std::chrono::milliseconds most) = 0;
  /// Readable when there is something to take.
  [[nodiscard]] virtual int descriptor() const = 0;
};

} // namespace clade
