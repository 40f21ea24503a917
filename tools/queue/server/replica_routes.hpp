#pragma once

#include "tools/queue/client/queue_tokens.hpp"
#include "tools/queue/head/queue_head.hpp"

#include <httplib.h>

#include <optional>

namespace clade {

/// Adds what the server that follows another one (queue_replica.hpp) asks that for, as an
/// admin; others are answered 403:
///
///   GET  /v1/events?after=N&wait=MS   the events behind that one (event_batch.hpp), once
///                                     there are any or the time is over
///   GET  /v1/tokens                   the file of tokens, as text
///   POST /v1/servers                  {"address": "https://lab2:4711"}: clients of this
///                                     queue are told of that server too
///
/// and for everybody who is let in:
///
///   GET  /v1/server                   {"role": "serves", "events": N}
void add_replica_routes(httplib::Server& server, queue_head& head, queue_tokens& tokens);

/// Whether the user is an admin; else it is answered (403).
[[nodiscard]] bool may_follow(const queue_user& u, httplib::Response& res);

/// Whether what a request says is the token of an entry, whoever's: it may be good or not.
[[nodiscard]] bool is_token_of_entry(const httplib::Request& req);

/// Returns the user whose token a request has; else it has been answered (401, or 503 if
/// that is not known yet). `head`: of whose running entries tokens are good too.
[[nodiscard]] std::optional<queue_user> let_in(queue_tokens& tokens,
                                               const httplib::Request& req,
                                               httplib::Response& res,
                                               const queue_head* head = nullptr);

} // namespace clade
