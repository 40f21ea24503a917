#include "genome/base/whole_file.hpp"
#include "tests/support/raw_http.hpp"
#include "tests/tools/queue/served_queue.hpp"
#include "tools/queue/server/queue_server.hpp"
#include "tools/queue/server/queue_standby.hpp"

#include <nlohmann/json.hpp>

using namespace clade;
using namespace clade::test;

namespace {

std::string token_in(const std::filesystem::path& folder) {
  const auto text = read_whole_file(folder / token_file_name, {.most_bytes = 1000});
  REQUIRE(text);
  return text->substr(0, text->find('\n'));
}

std::uint16_t port_in(const std::string& address) {
  return static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
}

/// A queue and its server, with an admin's token.
class answered_queue {
public:
  explicit answered_queue(unsigned slots = 0)
      : queue(folder.path(), slots),
        tokens(folder.path()) {
    REQUIRE(tokens.prepare("root"));
    auto made = queue_server::listen({}, *queue, tokens);
    REQUIRE(made);
    server = std::move(*made);
    port = port_in(server->address());
    server->start();
  }

  /// Sends the head of a request, of a body that is never sent unless it is here.
  [[nodiscard]] raw_answer ask(const std::string& line, const std::string& token,
                               const std::string& more = "",
                               const std::string& body = "") const {
    return raw_answer(exchange_raw(
        port, line + " HTTP/1.1\r\nConnection: close\r\nAuthorization: Bearer " + token
                  + "\r\n" + more + "\r\n" + body));
  }
  /// The token of a new user.
  [[nodiscard]] std::string add(const std::string& name, queue_role role) {
    const auto given = tokens.add({.name = name, .role = role});
    REQUIRE(given);
    return token_in(*given);
  }

  const scratch_folder folder;
  served_queue queue;
  queue_tokens tokens;
  std::unique_ptr<queue_server> server;
  std::uint16_t port = 0;
};

/// Asks with each kind of Range: whatever the status, the body is one value of JSON and
/// nothing else.
void check_ranges(std::uint16_t port, const std::string& line, const std::string& token) {
  for (const auto& range : all_kinds_of_ranges()) {
    const raw_answer a(exchange_raw(
        port, line + " HTTP/1.1\r\nHost: x\r\n"
                  + (token.empty() ? "" : "Authorization: Bearer " + token + "\r\n")
                  + "Range: " + range + "\r\nContent-Length: 0\r\n"
                  + "Connection: close\r\n\r\n"));
    CAPTURE(line, range, a.headers, a.body);
    CHECK(a.status != 0);
    CHECK(a.status != 206);
    CHECK(a.headers.find("Content-Range") == std::string::npos);
    CHECK(a.headers.find("\nContent-Length: " + std::to_string(a.body.size()) + "\r")
          != std::string::npos);
    if (!line.starts_with("HEAD"))
      CHECK(nlohmann::json::accept(a.body));
  }
}

} // namespace

TEST_CASE("queue server: a Range reads nothing but the answer, whatever its status") {
  const answered_queue q;
  static_cast<void>(q.queue.submit(shell("true")));
  const auto token = token_in(q.folder.path());
  for (const auto* line :
       {"GET /v1/entries", "GET /v1/entries?count=x", "GET /v1/entries/1",
        "GET /v1/entries/2", "GET /v1/nothing", "POST /v1/entries", "PUT /v1/entries",
        "DELETE /v1/entries/9", "GET /v1/openapi.json"}) {
    check_ranges(q.port, line, token);
    check_ranges(q.port, line, "");
  }
}

TEST_CASE("queue standby: a Range reads nothing but the answer, whatever its status") {
  const scratch_folder folder;
  queue_tokens tokens(folder.path());
  REQUIRE(tokens.prepare("root"));
  const auto standby = standby_server::listen({}, tokens);
  REQUIRE(standby);
  for (const auto* line : {"GET /v1/entries", "POST /v1/entries", "GET /"}) {
    check_ranges((*standby)->params().port, line, token_in(folder.path()));
    check_ranges((*standby)->params().port, line, "");
  }
}

TEST_CASE("queue server: who may not send something is refused before it is sent") {
  answered_queue q;
  const auto viewer = q.add("eve", queue_role::viewer),
             user = q.add("ann", queue_role::user),
             worker = q.add("rome", queue_role::worker);
  const std::string announced =
      "Content-Type: application/json\r\nContent-Length: 10000000\r\n";
  CHECK(q.ask("POST /v1/entries", "nobody", announced).status == 401);
  CHECK(q.ask("POST /v1/entries", viewer, announced).body
        == R"({"error":"eve may look, and not submit"})");
  CHECK(q.ask("POST /v1/entries", worker, announced).status == 403);
  CHECK(q.ask("POST /v1/nodes", user, announced).status == 403);
  CHECK(q.ask("POST /v1/nodes/log?entry=1", user, announced).status == 403);
  CHECK(q.ask("POST /v1/servers", user, announced).status == 403);
  CHECK(q.ask("POST /v1/nothing", user, "Content-Length: 0\r\n").status == 404);
  const std::string json = "Content-Type: application/json\r\n";
  CHECK(q.ask("POST /v1/entries", user, json + "Content-Length: 16777217\r\n").body
        == "{\"error\":\"the body has 16777217 bytes, and this server takes 16 MiB at "
           "most; "
           "send it in parts\"}");
  CHECK(q.ask("POST /v1/entries", user,
              json + "Content-Encoding: gzip\r\nContent-Length: 100\r\n")
            .status
        == 415);
  CHECK(q.ask("POST /v1/entries", user, "Content-Length: 100\r\n").status == 415);
}

TEST_CASE("queue server: a worker writes no log of the server's own machine") {
  answered_queue q(1);
  const auto worker = q.add("rome", queue_role::worker);
  const auto id = q.queue.submit(shell("sleep 1000"));
  q.queue.await_running(id);
  const auto at = [&](const std::string& query) {
    return q.ask("POST /v1/nodes/log?entry=" + std::to_string(id) + query, worker,
                 "Content-Length: 5\r\n", "words");
  };
  CHECK(at("&start=1&offset=0&node=").status == 409);
  CHECK(at("&start=1&offset=0").status == 409);
  CHECK(at("&start=4294967297&offset=0&node=").status == 400);
  CHECK(at("&start=1&offset=4611686018427387904&node=").status == 400);
  const auto none = q.ask("GET /v1/entries/1/log?offset=9223372036854775807",
                          token_in(q.folder.path()));
  CHECK(none.status == 200);
  CHECK(none.body.empty());
}
