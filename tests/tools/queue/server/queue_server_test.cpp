#include "genome/whole_file.hpp"
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

/// A queue without slots and its server, with an admin's token.
class answered_queue {
public:
  answered_queue() : queue(folder.path(), 0), tokens(folder.path()) {
    REQUIRE(tokens.prepare("root"));
    auto made = queue_server::listen({}, *queue, tokens);
    REQUIRE(made);
    server = std::move(*made);
    port = port_in(server->address());
    server->start();
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
