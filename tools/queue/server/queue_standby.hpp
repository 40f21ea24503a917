#pragma once

#include "engine/report/base/json_parts.hpp"
#include "tools/queue/client/queue_addresses.hpp"
#include "tools/queue/client/queue_tokens.hpp"

#include <memory>

namespace clade {

/// Answers in the place of a server that does not serve yet: 503 to everybody who has a
/// token, whatever they ask, so that clients ask the next one. The answer has an "error", a
/// sentence, and a "role": "waits" or "follows".
class standby_server {
public:
  /// Answers at once, in threads of its own, until it is destroyed. Errors are those of
  /// `listen_for`.
  [[nodiscard]] static expected<std::unique_ptr<standby_server>>
  listen(const queue_server_params& params, queue_tokens& tokens);
  virtual ~standby_server() = default;

  /// With the port that it has.
  [[nodiscard]] virtual const queue_server_params& params() const = 0;
  /// Sets the answer that is given from now on. Any thread.
  virtual void say(const ordered_json& answer) = 0;
};

} // namespace clade
