#include "tools/queue/server/replica_routes.hpp"

#include "actors/transport/tls/stranger_guard.hpp"
#include "engine/report/base/json_parts.hpp"
#include "genome/base/json_depth.hpp"
#include "genome/base/whole_file.hpp"
#include "tools/http/answers.hpp"
#include "tools/queue/client/queue_addresses.hpp"
#include "tools/queue/head/event_batch.hpp"

#include <algorithm>
#include <functional>

namespace clade {

namespace {

constexpr std::uint64_t longest_wait_ms = 20'000;

/// A handler for an admin.
auto for_admin(queue_tokens& tokens,
               std::function<void(const httplib::Request&, httplib::Response&)> handler) {
  return [&tokens, handler = std::move(handler)](const httplib::Request& req,
                                                 httplib::Response& res) {
    if (const auto u = let_in(tokens, req, res); u && may_follow(*u, res))
      handler(req, res);
  };
}

void give_events(const queue_head& head, const httplib::Request& req,
                 httplib::Response& res) {
  const auto after = number_of(req, "after", 0), wait = number_of(req, "wait", 0);
  for (const auto* number : {&after, &wait})
    if (!*number)
      return give_error(res, 400, number->error().message);
  auto batch = head.events_after(
      *after, std::chrono::milliseconds(std::min(*wait, longest_wait_ms)));
  if (!batch)
    return give_json(res, tl::unexpected(batch.error()));
  give(res, "application/msgpack", encode(*batch));
}

void add_server(const queue_head& head, const httplib::Request& req,
                httplib::Response& res) {
  const auto said = parse_shallow<ordered_json>(req.body);
  if (!said.is_object() || !said.contains("address") || !said["address"].is_string())
    return give_error(res, 400, "write {\"address\": \"https://HOST:PORT\"}");
  const auto address = said["address"].get<std::string>();
  if (const auto good = check_advertised(address); !good)
    return give_error(res, 400, good.error().message);
  give_json(res, add_address({.folder = head.folder(), .added = address}).map([&] {
    return text_of({{"added", address}});
  }));
}

constexpr std::string_view scheme = "Bearer ";

} // namespace

bool may_follow(const queue_user& u, httplib::Response& res) {
  if (u.role != queue_role::admin)
    give_error(res, 403, u.name + " is no admin, as who follows this server is");
  return u.role == queue_role::admin;
}

bool is_token_of_entry(const httplib::Request& req) {
  const auto said = req.get_header_value("Authorization");
  return said.starts_with(scheme)
         && std::string_view(said).substr(scheme.size()).starts_with(entry_token_prefix);
}

std::optional<queue_user> let_in(queue_tokens& tokens, const httplib::Request& req,
                                 httplib::Response& res, const queue_head* head) {
  const auto said = req.get_header_value("Authorization");
  auto u = said.starts_with(scheme)
               ? tokens.find(said.substr(scheme.size()))
               : fail(error_kind::refused, "say who asks: Authorization: Bearer TOKEN");
  if (!u && head != nullptr && said.starts_with(scheme))
    u = head->user_of_entry(said.substr(scheme.size()))
            .map([](queue_head::asking_entry its) {
              return queue_user{
                  .name = std::move(its.user), .role = queue_role::user, .entry = its.id};
            });
  if (u) {
    vouch_for(req.remote_addr, static_cast<std::uint16_t>(req.remote_port));
    return *u;
  }
  if (u.error().kind == error_kind::conflict) {
    res.set_header("Retry-After", "1");
    give_error(res, 503, u.error().message);
    return std::nullopt;
  }
  const bool nobody = u.error().kind == error_kind::refused;
  if (nobody)
    res.set_header("WWW-Authenticate", "Bearer");
  // A fault of the file is for who serves, not for who asks.
  give_error(res, nobody ? 401 : 500,
             nobody ? u.error().message : "the server cannot read its tokens");
  return std::nullopt;
}

void add_replica_routes(httplib::Server& server, queue_head& head, queue_tokens& tokens) {
  server.Get("/v1/events", for_admin(tokens, [&head](const auto& req, auto& res) {
               give_events(head, req, res);
             }));
  server.Get("/v1/tokens", for_admin(tokens, [&tokens](const auto&, auto& res) {
               auto text = tokens.text();
               if (!text)
                 return give_json(res, tl::unexpected(text.error()));
               give(res, "text/plain", std::move(*text));
             }));
  server.Post("/v1/servers", for_admin(tokens, [&head](const auto& req, auto& res) {
                add_server(head, req, res);
              }));
  server.Get("/v1/server", [&head, &tokens](const auto& req, auto& res) {
    if (let_in(tokens, req, res))
      give_json(res, text_of({{"role", "serves"}, {"events", head.count_events()}}));
  });
}

} // namespace clade
