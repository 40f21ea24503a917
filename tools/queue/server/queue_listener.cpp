#include "tools/queue/server/queue_listener.hpp"

#include "genome/base/trusted_file.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <utility>

namespace clade {

namespace {

/// A request that waits for a change keeps one (queue_server.cpp, node_routes.cpp).
constexpr std::size_t threads = 64 + 32;

bool is_loopback(const std::string& host) {
  in_addr four{};
  in6_addr six{};
  if (host == "localhost")
    return true;
  if (::inet_pton(AF_INET, host.c_str(), &four) == 1)
    return (ntohl(four.s_addr) >> 24) == 127;
  return ::inet_pton(AF_INET6, host.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

} // namespace

expected<queue_listener> listen_for(const queue_server_params& params) {
  if (params.certificate.empty() != params.key.empty())
    return fail(error_kind::invalid_input,
                "TLS needs both --certificate FILE and --key FILE");
  if (params.certificate.empty() && !is_loopback(params.host))
    return fail(
        error_kind::invalid_input,
        fmt::format("--listen {} is not of this machine's loopback, where others would "
                    "read tokens on their way; give --certificate FILE and --key FILE "
                    "(PEM), or listen on 127.0.0.1 and let users come by ssh -L",
                    params.host));
  auto server = http_server::listen({.host = params.host,
                                     .port = params.port,
                                     .certificate = params.certificate,
                                     .key = params.key,
                                     .threads = threads,
                                     .most_body_bytes = most_posted_bytes});
  if (!server && server.error().kind == error_kind::conflict)
    return fail(error_kind::conflict,
                fmt::format("port {} of {} cannot be had: it is in use, or this machine "
                            "has no such address; say another by --listen ADDRESS:PORT",
                            params.port, params.host));
  if (!server)
    return tl::unexpected(server.error());
  if (!params.key.empty())
    if (auto trusted = check_trusted(params.key, {.secret = true, .group_of_root = true})
                           .and_then([&] { return check_trusted(params.certificate); });
        !trusted)
      return tl::unexpected(trusted.error());
  queue_listener made{.server = std::move(*server), .params = params};
  made.params.port = made.server->port();
  return made;
}

} // namespace clade
