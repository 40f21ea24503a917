// Requests with each method, route and header that the HTTP library knows, and any bytes: a
// server answers with what its handlers gave, and with nothing else of its memory, however
// often it is asked; under AddressSanitizer it reads nothing that is not its own.
#include "tests/fuzz/law.hpp"
#include "tests/support/raw_http.hpp"
#include "tools/http/answers.hpp"
#include "tools/http/http_server.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <memory>
#include <string>
#include <vector>

using namespace clade;
using namespace clade::fuzz;

namespace {

constexpr std::array methods{"GET",     "HEAD",  "POST",  "PUT", "DELETE", "CONNECT",
                             "OPTIONS", "TRACE", "PATCH", "PRI", "BREW"};
constexpr std::array routes{"/words", "/static", "/empty", "/stream", "/throws",
                            "/body",  "/401",    "/403",   "/405",    "/409",
                            "/500",   "/503",    "/none"};
constexpr std::array headers{"Range",
                             "Content-Length",
                             "Transfer-Encoding",
                             "Content-Encoding",
                             "Content-Type",
                             "Accept-Encoding",
                             "Connection",
                             "Expect",
                             "Host",
                             "Authorization",
                             "Keep-Alive",
                             "TE",
                             "Upgrade",
                             "Cookie",
                             "Accept",
                             "If-Range",
                             "REMOTE_ADDR",
                             "LOCAL_PORT",
                             "Clade-No-Room",
                             "Content-Range",
                             "Accept-Ranges",
                             "Location",
                             "Date",
                             "Trailer"};

constexpr const char* words = "the words that a handler gives";
/// Lies all over the memory of this process and in no answer.
constexpr const char* secret = "a-token-that-nobody-is-told";

/// A server with an answer of each kind, which lives as long as the process.
const http_server& server() {
  static const auto made = [] {
    auto s = http_server::listen(
        {.threads = 4, .patience = std::chrono::seconds(1), .most_body_bytes = 1000});
    hold(s, "a port can be had");
    (*s)->look_first([](const auto& req, auto& res) {
      const bool refuses =
          req.path.size() == 4 && req.path[1] >= '4' && req.path[1] <= '5';
      if (refuses)
        give_error(res, std::stoi(req.path.substr(1)), "this is refused");
      return refuses;
    });
    auto& r = (*s)->routes();
    r.Get("/words", [](const auto&, auto& res) { give(res, "text/plain", words); });
    r.Get("/static",
          [](const auto&, auto& res) { give_static(res, "text/plain", words); });
    r.Get("/empty", [](const auto&, auto& res) { give(res, "text/plain", ""); });
    r.Get("/stream", [](const auto&, auto& res) {
      auto left = std::make_shared<int>(1);
      give_stream(
          res, "text/plain",
          [left] {
            return (*left)-- > 0 ? std::optional<std::string>(words) : std::nullopt;
          },
          [] {});
    });
    r.Get("/throws", [](const auto&, auto&) { throw std::runtime_error(secret); });
    r.Post("/body", [](const auto& req, auto& res) {
      hold(req.body.size() <= 1000, "a body has its bound");
      give(res, "text/plain", std::to_string(req.body.size()));
    });
    (*s)->start();
    return std::move(*s);
  }();
  return *made;
}

/// Makes a request of bytes: a method, a route, then headers and their values, a line
/// each; the rest is the body.
std::string request_of(choices c) {
  const auto* method = methods[c.below(methods.size())];
  std::string text = std::string(method) + " " + routes[c.below(routes.size())]
                     + (c.flip() ? " HTTP/1.1\r\n" : " HTTP/1.0\r\n");
  for (auto count = c.below(8); count > 0; --count) {
    text += std::string(headers[c.below(headers.size())]) + ": ";
    for (auto b = c.byte(); b != '\n' && b != 0; b = c.byte())
      text += static_cast<char>(b);
    text += "\r\n";
  }
  text += "\r\n";
  for (auto b = c.byte(); b != 0; b = c.byte())
    text += static_cast<char>(b);
  return text;
}

/// One answer that says how long it is has nothing else behind its headers than what one of
/// the handlers gave, whole.
void hold_whole(const std::string& all) {
  const test::raw_answer a(all);
  if (all.starts_with("HTTP/1.1 100") || all.starts_with("HTTP/1.1 417")
      || a.headers.find("\r\nTransfer-Encoding: chunked\r\n") != std::string::npos)
    return;
  hold(all.empty() || a.status != 0, "what is answered is an answer");
  hold(a.headers.find("Content-Range") == std::string::npos, "no answer is a part");
  if (a.body.starts_with("{"))
    hold(nlohmann::json::accept(a.body), "an error is a sentence and nothing else");
  else
    hold(a.body.size() <= std::string_view(words).size(),
         "an answer is what its handler gave");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static std::vector<std::unique_ptr<std::string>> secrets;
  if (secrets.size() < 1000)
    secrets.push_back(std::make_unique<std::string>(secret));
  const auto port = server().port();
  choices c(data, size);
  const bool whole = c.flip();
  const auto asked =
      whole ? request_of(c) : std::string(text_of(data, size).substr(size != 0 ? 1 : 0));
  test::raw_connection connection(port);
  connection.send(asked);
  connection.end_sending();
  const auto all = connection.read_all();
  hold(asked.find(secret) != std::string::npos || all.find(secret) == std::string::npos,
       "no answer has what nobody gave it");
  if (whole && all.find("HTTP/1.1 ", 1) == std::string::npos)
    hold_whole(all);
  return 0;
}
