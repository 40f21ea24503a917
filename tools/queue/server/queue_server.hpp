#pragma once

#include "tools/queue/client/queue_addresses.hpp"
#include "tools/queue/client/queue_tokens.hpp"
#include "tools/queue/head/queue_head.hpp"

#include <memory>
#include <string>

namespace clade {

/// Answers clients of a queue over HTTP, or HTTPS. Each request has a header
/// "Authorization: Bearer TOKEN"; one without a token that is known is not answered (401).
/// Only the page is, GET / and its files, which say nothing of the queue. openapi.json
/// beside this file says all of the following for other programs, and GET
/// /v1/openapi.json answers it.
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
///   GET    /v1/entries/ID/log?offset=N   bytes of its log from there, 1 MiB at most;
///                            ?tail=N the last ones. Header Log-Offset: of the first
///   GET    /v1/entries/ID/processes      {"machine", "processes": [{"pid", "parent",
///                            "cpu_seconds", "resident_bytes", "command"}]}; machine is
///                            null for the server's own
///   GET    /v1/machine       {"slots": [...], "users": [...]}: who has what
///   GET    /v1/user          {"user", "role"}: whose the token is
///   and what a replica asks for (replica_routes.hpp)
///
/// Paths for workers (node_report.hpp, msgpack):
///
///   POST   /v1/nodes?wait=MS a report; its orders, at once or when they change
///   POST   /v1/nodes/log?entry=ID&node=NAME&start=N&offset=N   bytes of its log
///
/// An error is {"error": SENTENCE}. A method that a path does not have is 405, with
/// "Allow". A user reads and cancels their own entries, an admin everybody's (403).
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
