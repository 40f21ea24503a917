#include "tools/queue/server/queue_listener.hpp"

#include "tools/views/web/web_answers.hpp"

#include <arpa/inet.h>

#include <chrono>

namespace clade {

namespace {

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
    return fail(error_kind::invalid_input,
                "--listen " + params.host
                    + " is not of this machine's loopback, where others would read "
                      "tokens on their way; give --certificate FILE and --key FILE "
                      "(PEM), or listen on 127.0.0.1 and let users come by ssh -L");
  queue_listener made{.server = {}, .params = params};
  if (params.certificate.empty())
    made.server = std::make_unique<httplib::Server>();
  else
    made.server = std::make_unique<httplib::SSLServer>(params.certificate.c_str(),
                                                       params.key.c_str());
  if (!made.server->is_valid())
    return fail(error_kind::invalid_input, params.certificate.string() + " and "
                                               + params.key.string()
                                               + " are no certificate and its key (PEM)");
  made.params.port = bind_own_port(*made.server, params.host, params.port);
  if (made.params.port == 0)
    return fail(error_kind::conflict,
                "port " + std::to_string(params.port) + " of " + params.host
                    + " cannot be had: it is in use, or this machine has no such "
                      "address; say another by --listen ADDRESS:PORT");
  return made;
}

answering::answering(httplib::Server& server)
    : server_(server),
      done_(std::async(std::launch::async, [&server] { server.listen_after_bind(); })) {}

answering::~answering() {
  using namespace std::chrono_literals;
  // Before it runs it cannot be stopped.
  while (!server_.is_running() && done_.wait_for(1ms) != std::future_status::ready) {
  }
  server_.stop();
  done_.get();
}

} // namespace clade
