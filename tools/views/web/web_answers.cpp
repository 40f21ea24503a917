#include "tools/views/web/web_answers.hpp"

#include "tools/views/web/web_page.hpp"

#include <nlohmann/json.hpp>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <memory>

namespace clade {

namespace {

int status_of(error_kind kind) {
  switch (kind) {
  case error_kind::invalid_input:
    return 400;
  case error_kind::not_found:
    return 404;
  case error_kind::conflict:
    return 409;
  case error_kind::refused:
    return 503;
  default:
    return 500;
  }
}

/// Gives `bytes`, which `owner` keeps. The library asks for whatever range a request
/// names, and looks only for some answers whether it lies within them.
void give_pieces(httplib::Response& res, const std::string& type, std::string_view bytes,
                 std::shared_ptr<const std::string> owner) {
  res.set_content_provider(
      bytes.size(), type,
      [bytes, owner = std::move(owner)](std::size_t offset, std::size_t length,
                                        httplib::DataSink& sink) {
        return offset <= bytes.size() && length <= bytes.size() - offset
               && sink.write(bytes.data() + offset, length);
      });
}

} // namespace

std::uint16_t bind_own_port(httplib::Server& server, const std::string& host,
                            std::uint16_t port) {
  // Connections inherit it, so it is set before: an answer is sent in two parts, of which
  // the second would wait until the client has confirmed the first, which that puts off
  // for 40 ms.
  server.set_tcp_nodelay(true);
  // The library's own options would share the port with whoever has it.
  server.set_socket_options([](socket_t s) {
    const int yes = 1;
    ::setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  if (port != 0)
    return server.bind_to_port(host, port) ? port : 0;
  const int any = server.bind_to_any_port(host);
  return any > 0 ? static_cast<std::uint16_t>(any) : 0;
}

httplib::Headers headers_of_all() {
  return {{"Content-Security-Policy",
           "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
           "connect-src 'self'; base-uri 'none'; form-action 'none'; "
           "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types "
           "'none'"},
          {"Cache-Control", "no-store"},
          {"Referrer-Policy", "no-referrer"},
          {"X-Content-Type-Options", "nosniff"},
          {"Cross-Origin-Opener-Policy", "same-origin"},
          {"Cross-Origin-Resource-Policy", "same-origin"}};
}

void give(httplib::Response& res, const char* type, std::string text) {
  if (text.empty()) // The library would ask for pieces of it without end.
    return res.set_content(std::move(text), type);
  const auto owner = std::make_shared<const std::string>(std::move(text));
  give_pieces(res, type, *owner, owner);
}

void give_error(httplib::Response& res, int status, const std::string& message) {
  res.status = status;
  give(res, "application/json",
       nlohmann::json{{"error", message}}.dump(-1, ' ', false,
                                               nlohmann::json::error_handler_t::replace));
}

void give_json(httplib::Response& res, expected<std::string> text) {
  if (text)
    give(res, "application/json", std::move(*text));
  else
    give_error(res, status_of(text.error().kind), text.error().message);
}

bool give_page_file(httplib::Response& res, std::string_view path) {
  const auto page = web_page();
  const auto found = std::ranges::find(page, path, &web_asset::path);
  if (found == page.end())
    return false;
  res.set_header("Content-Encoding", "gzip");
  give_pieces(res, std::string(found->type), found->gzip, nullptr);
  return true;
}

void ignore_ranges(const httplib::Request& req) {
  // The library's own requests are not constant; its handlers see them so.
  const_cast<httplib::Request&>(req).ranges.clear();
}

expected<std::uint64_t> number_of(const httplib::Request& req, const std::string& name,
                                  std::uint64_t otherwise) {
  if (!req.has_param(name))
    return otherwise;
  const auto text = req.get_param_value(name);
  std::uint64_t value = 0;
  const auto [end, problem] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size())
    return fail(error_kind::invalid_input, name + " is a whole number");
  return value;
}

} // namespace clade
