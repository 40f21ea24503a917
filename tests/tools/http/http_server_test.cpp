#include "tests/support/raw_http.hpp"
#include "tests/support/scratch.hpp"
#include "tools/http/answers.hpp"
#include "tools/http/http_server.hpp"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>

using namespace clade;
using namespace clade::test;

namespace {

/// A server with routes that answer in each way there is, and its number of answered
/// bodies.
class small_server {
public:
  explicit small_server(http_server_params p = {}, http_server::look first = {}) {
    auto made = http_server::listen(p);
    REQUIRE(made);
    server = std::move(*made);
    if (first)
      server->look_first(std::move(first));
    auto& routes = server->routes();
    routes.Get("/text", [](const auto&, auto& res) { give(res, "text/plain", "words"); });
    routes.Get("/empty", [](const auto&, auto& res) { give(res, "text/plain", ""); });
    routes.Get("/static",
               [](const auto&, auto& res) { give_static(res, "text/plain", "words"); });
    routes.Get("/stream", [](const auto&, auto& res) {
      give_stream(
          res, "text/plain", [] { return std::nullopt; }, [] {});
    });
    routes.Get("/throws", [](const auto&, auto&) { throw std::runtime_error("secret"); });
    routes.Post("/body", [this](const auto& req, auto& res) {
      ++bodies;
      give(res, "text/plain", std::to_string(req.body.size()));
    });
    server->start();
  }

  [[nodiscard]] std::string ask(const std::string& bytes) const {
    return exchange_raw(server->port(), bytes);
  }
  [[nodiscard]] raw_answer post(const std::string& headers,
                                const std::string& body = "") const {
    return raw_answer(ask("POST /body HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                          + headers + "\r\n" + body));
  }

  std::unique_ptr<http_server> server;
  std::atomic<int> bodies = 0;
};

std::size_t count_answers(const std::string& text) {
  std::size_t count = 0;
  for (auto at = text.find("HTTP/1.1 "); at != std::string::npos;
       at = text.find("HTTP/1.1 ", at + 1))
    ++count;
  return count;
}

/// Writes a certificate of its own and its key, both PEM.
void make_certificate(const std::filesystem::path& certificate,
                      const std::filesystem::path& key) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> pair(EVP_EC_gen("P-256"),
                                                                 EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> made(X509_new(), X509_free);
  REQUIRE((pair && made));
  X509_gmtime_adj(X509_getm_notBefore(made.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), 3600);
  X509_set_pubkey(made.get(), pair.get());
  REQUIRE(X509_sign(made.get(), pair.get(), EVP_sha256()) > 0);
  const auto write = [](const std::filesystem::path& file, auto put) {
    std::FILE* out = std::fopen(file.c_str(), "w");
    REQUIRE(out != nullptr);
    CHECK(put(out) == 1);
    std::fclose(out);
  };
  write(certificate, [&](std::FILE* out) { return PEM_write_X509(out, made.get()); });
  write(key, [&](std::FILE* out) {
    return PEM_write_PrivateKey(out, pair.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
}

/// The listening socket of this process with that port.
int listening_socket(std::uint16_t port) {
  for (int s = 0; s < 1024; ++s) {
    sockaddr_in at{};
    socklen_t size = sizeof at, flag = sizeof(int);
    int listens = 0;
    if (::getsockopt(s, SOL_SOCKET, SO_ACCEPTCONN, &listens, &flag) == 0 && listens != 0
        && ::getsockname(s, reinterpret_cast<sockaddr*>(&at), &size) == 0
        && ntohs(at.sin_port) == port)
      return s;
  }
  FAIL("no socket listens");
  return -1;
}

} // namespace

TEST_CASE("http server: a Range changes no answer, whatever its status") {
  const small_server s({}, [](const auto& req, auto& res) {
    if (req.path != "/refused")
      return false;
    give_error(res, 401, "say who asks");
    return true;
  });
  for (const auto* path :
       {"/text", "/empty", "/static", "/throws", "/refused", "/nothing", "/body"}) {
    const auto line = "GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n";
    const auto whole = s.ask(line + "Connection: close\r\n\r\n");
    CHECK(whole.find("secret") == std::string::npos);
    for (const auto& range : all_kinds_of_ranges())
      for (const auto* name : {"Range", "RANGE", "rAnGe"}) {
        CAPTURE(path, range);
        CHECK(s.ask(line + name + ": " + range + "\r\nConnection: close\r\n\r\n")
              == whole);
      }
  }
}

TEST_CASE("http server: a head has bounds, however it is made") {
  const small_server s;
  const std::string much(1 << 20, 'a');
  std::string many;
  while (many.size() < much.size())
    many += "a: b\r\n";
  for (const auto& head : {"GET /" + much, "GET / HTTP/1.1\r\nX: " + much,
                           "GET / HTTP/1.1\r\n" + many, much}) {
    const raw_answer a(s.ask(head));
    CHECK(a.status == 431);
    CHECK(a.body == R"({"error":"the headers of a request have 64 KiB at most"})");
    CHECK(a.headers.find("\nContent-Length: " + std::to_string(a.body.size()) + "\r")
          != std::string::npos);
  }
  CHECK(raw_answer(s.ask("GET /" + much.substr(0, 9000)
                         + " HTTP/1.1\r\nConnection: close\r\n\r\n"))
            .status
        == 414);
}

TEST_CASE("http server: a body is read as it is, with a length that is said before") {
  const small_server s({.most_body_bytes = 1000});
  CHECK(s.post("Content-Length: 5\r\n", "words").body == "5");
  CHECK(s.post("Content-Length: 0\r\n").body == "0");
  CHECK(s.post("Content-Encoding: identity\r\nContent-Length: 5\r\n", "words").body
        == "5");
  CHECK(s.bodies == 3);
  const std::string chunk = "5\r\nwords\r\n0\r\n\r\n";
  CHECK(s.post("Transfer-Encoding: chunked\r\n", chunk).status == 411);
  CHECK(s.post("Transfer-Encoding: gzip, chunked\r\n", chunk).status == 411);
  CHECK(s.post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", chunk).status
        == 411);
  CHECK(s.post("").status == 411);
  for (const auto* coding : {"gzip", "deflate", "br", "x-gzip"})
    CHECK(s.post("Content-Encoding: " + std::string(coding) + "\r\nContent-Length: 5\r\n",
                 "words")
              .status
          == 415);
  for (const auto* type :
       {"multipart/form-data; boundary=x", "application/x-www-form-urlencoded"})
    CHECK(
        s.post("Content-Type: " + std::string(type) + "\r\nContent-Length: 3\r\n", "a=b")
            .status
        == 415);
  for (const auto* length : {"-1", "+5", "0x5", "5, 5", "99999999999999999999999"})
    CHECK(s.post("Content-Length: " + std::string(length) + "\r\n", "words").status
          == 400);
  CHECK(s.post("Content-Length: 5\r\nContent-Length: 6\r\n", "words").status == 400);
  const auto large = s.post("Content-Length: 1001\r\n", std::string(1001, 'a'));
  CHECK(large.status == 413);
  CHECK(large.body
        == "{\"error\":\"the body has 1001 bytes, and this server takes 1000 bytes at "
           "most; send "
           "it in parts\"}");
  CHECK(s.post("Content-Length: 18446744073709551615\r\n", "words").status == 413);
  CHECK(s.bodies == 3);
}

TEST_CASE("http server: who is refused is refused before the body, which is no request") {
  const std::string inner = "GET /text HTTP/1.1\r\nHost: x\r\n\r\n";
  const auto length = "Content-Length: " + std::to_string(inner.size()) + "\r\n\r\n";
  const small_server s({}, [](const auto& req, auto& res) {
    if (req.path != "/refused")
      return false;
    give_error(res, 403, "may not");
    return true;
  });
  // The head alone is enough for an answer.
  CHECK(
      raw_answer(s.ask("POST /refused HTTP/1.1\r\nContent-Length: 60000\r\n\r\n")).status
      == 403);
  for (const auto* line : {"POST /refused", "GET /text", "GET /nothing", "HEAD /text",
                           "OPTIONS /text", "BREW /text", "DELETE /text"}) {
    CAPTURE(line);
    const auto answers = s.ask(std::string(line) + " HTTP/1.1\r\nHost: x\r\n" + length
                               + inner + "GET /text HTTP/1.0\r\n\r\n");
    CHECK(count_answers(answers) == (std::string(line) == "DELETE /text" ? 2 : 1));
  }
}

TEST_CASE("http server: requests that are sent at once are answered one after another") {
  const small_server s;
  const auto answers = s.ask("POST /body HTTP/1.1\r\nContent-Length: 5\r\n\r\nwords"
                             "GET /text HTTP/1.1\r\n\r\nGET /nothing HTTP/1.1\r\n\r\n"
                             "GET /text HTTP/1.1\r\nConnection: close\r\n\r\n");
  CHECK(count_answers(answers) == 4);
}

TEST_CASE("http server: large bodies have room for some at a time, small ones always") {
  std::promise<void> seen;
  const small_server s({.most_body_bytes = 40 << 20}, [&](const auto& req, auto&) {
    if (req.has_header("First"))
      seen.set_value();
    return false;
  });
  const std::string head = "POST /body HTTP/1.1\r\nConnection: close\r\n";
  const auto large = "Content-Length: " + std::to_string(40 << 20) + "\r\n\r\n";
  raw_connection first(s.server->port());
  first.send(head + "First: 1\r\n" + large);
  seen.get_future().wait(); // It has its room now, and keeps it.
  CHECK(raw_answer(s.ask(head + large)).status == 503);
  CHECK(s.post("Content-Length: 5\r\n", "words").body == "5");
  first.send(std::string(40 << 20, 'a'));
  CHECK(raw_answer(first.read_all()).body == std::to_string(40 << 20));
}

TEST_CASE(
    "http server: it stops whenever it is told to, also where it has ended itself") {
  for (int n = 0; n < 20; ++n) {
    small_server s;
    CHECK(s.server->stop());
    CHECK(s.server->stop());
  }
  small_server s;
  CHECK(raw_answer(s.ask("GET /text HTTP/1.1\r\nConnection: close\r\n\r\n")).status
        == 200);
  const int listening = listening_socket(s.server->port());
  ::shutdown(listening, SHUT_RDWR);
  while (::fcntl(listening, F_GETFD) != -1) // Until the library has closed it.
    std::this_thread::yield();
  CHECK_FALSE(s.server->stop());
}

TEST_CASE("http server: over TLS it answers the same, and plain text not at all") {
  const scratch_folder folder;
  const auto certificate = folder.path() / "certificate", key = folder.path() / "key";
  make_certificate(certificate, key);
  small_server s({.certificate = certificate, .key = key, .most_body_bytes = 3 << 20});
  httplib::SSLClient client("127.0.0.1", s.server->port());
  client.enable_server_certificate_verification(false);
  client.set_keep_alive(true);
  client.set_read_timeout(60);
  for (const auto& range : all_kinds_of_ranges()) {
    const auto answer = client.Get("/text", {{"Range", range}});
    REQUIRE(answer);
    CHECK(answer->status == 200);
    CHECK(answer->body == "words");
    const auto refused = client.Get("/nothing", {{"Range", range}});
    REQUIRE(refused);
    CHECK(refused->status == 404);
    CHECK(refused->body == R"({"error":"there is no GET /nothing"})");
  }
  const auto taken = client.Post("/body", std::string(3 << 20, 'a'), "text/plain");
  REQUIRE(taken);
  CHECK(taken->body == std::to_string(3 << 20));
  const auto large = client.Post("/body", std::string((3 << 20) + 1, 'a'), "text/plain");
  REQUIRE(large);
  CHECK(large->status == 413);
  CHECK(s.ask("GET /text HTTP/1.1\r\n\r\n").find("words") == std::string::npos);
  CHECK_FALSE(http_server::listen({.certificate = key, .key = key}));
  CHECK(s.server->stop());
}
