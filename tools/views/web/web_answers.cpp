#include "tools/views/web/web_answers.hpp"

#include "tools/views/web/web_page.hpp"

#include <nlohmann/json.hpp>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>

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
  const auto size = text.size();
  if (size == 0) // The library would ask for pieces of it without end.
    return res.set_content(std::move(text), type);
  res.set_content_provider(size, type,
                           [text = std::move(text)](std::size_t offset,
                                                    std::size_t length,
                                                    httplib::DataSink& sink) {
                             return sink.write(text.data() + offset, length);
                           });
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
  res.set_content_provider(found->gzip.size(), std::string(found->type),
                           [bytes = found->gzip](std::size_t offset, std::size_t length,
                                                 httplib::DataSink& sink) {
                             return sink.write(bytes.data() + offset, length);
                           });
  return true;
}

void refuse_range_beyond(const httplib::Request& req, httplib::Response& res) {
  // Of a number that is left out the library's range has -1.
  const auto size = static_cast<std::int64_t>(res.content_length_);
  const auto beyond = [size](const httplib::Range& range) {
    return range.first < 0 ? range.second <= 0
                           : range.first >= size || range.second >= size;
  };
  if (res.status != 206 || std::ranges::none_of(req.ranges, beyond))
    return;
  res.status = 416;
  res.content_provider_ = nullptr;
  for (const char* header : {"Content-Length", "Content-Type", "Content-Range"})
    res.headers.erase(header);
  res.set_header("Content-Range", "bytes */" + std::to_string(size));
  res.set_header("Content-Length", "0");
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
