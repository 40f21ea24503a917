#pragma once

#include "tools/queue/queue_addresses.hpp"
#include "tools/queue/queue_head.hpp"
#include "tools/queue/queue_tokens.hpp"

#include <memory>
#include <string>

namespace clade {

/// Answers clients of a queue over HTTP, or HTTPS. Each request has a header
/// "Authorization: Bearer TOKEN"; one without a token that is known is not answered (401).
///
///   POST   /v1/entries       {"entries": [...]} (queue_json.hpp), as application/json:
///                            all are submitted, or none; {"ids": [...]}
///   GET    /v1/entries       {"change": N, "entries": [...]}: those that are not over,
///                            each without the keys that have no value;
///                            ?state=NAME those in it, all: of all times. ?after=ID&count=N
///                            a page. ?ids=1,2 these. ?seen=N&wait=MS answers once the
///                            queue's change is not N any more, or after that time
///   GET    /v1/entries/ID    one, with "folder" and "run"
///   DELETE /v1/entries/ID    cancels it
///   GET    /v1/entries/ID/log?offset=N   bytes of its log from there, 1 MiB at most
///   GET    /v1/machine       {"slots": [...], "users": [...]}: who has what
///   and what a replica asks for (replica_routes.hpp)
///
/// An error is {"error": SENTENCE}. A user reads and cancels their own entries, an admin
/// everybody's (403).
class queue_server {
public:
  /// Errors are those of `listen_for`.
  [[nodiscard]] static expected<std::unique_ptr<queue_server>>
  listen(const queue_server_params& params, queue_head& head, queue_tokens& tokens);
  virtual ~queue_server() = default;

  /// "http://127.0.0.1:4711"
  [[nodiscard]] virtual std::string address() const = 0;
  /// Answers, in threads of its own, until `stop`.
  virtual void start() = 0;
  virtual void stop() = 0;
};

} // namespace clade
