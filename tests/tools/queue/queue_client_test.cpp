#include "genome/base/unique_fd.hpp"
#include "tests/support/scratch.hpp"
#include "tools/queue/client/client_folder.hpp"
#include "tools/queue/client/queue_addresses.hpp"
#include "tools/queue/client/queue_client.hpp"
#include "tools/queue/client/queue_client_connection.hpp"
#include "tools/queue/client/queue_tokens.hpp"

#include <arpa/inet.h>
#include <catch2/catch.hpp>
#include <httplib.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <future>
#include <string>

using namespace clade;

namespace {

constexpr uid_t somebody = 12345;
const std::string token(64, 'a');

std::string at_port(int port) {
  return "http://127.0.0.1:" + std::to_string(port);
}

/// A socket that listens on a port of loopback.
unique_fd listening(int& port) {
  unique_fd made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(at);
  REQUIRE(::bind(made.get(), reinterpret_cast<sockaddr*>(&at), size) == 0);
  REQUIRE(::listen(made.get(), 5) == 0);
  REQUIRE(::getsockname(made.get(), reinterpret_cast<sockaddr*>(&at), &size) == 0);
  port = ntohs(at.sin_port);
  return made;
}

/// All that comes until the other side has closed.
std::string read_all(int descriptor) {
  std::string all;
  std::array<char, 4096> part{};
  for (ssize_t n = 0; (n = ::read(descriptor, part.data(), part.size())) > 0;)
    all.append(part.data(), static_cast<std::size_t>(n));
  return all;
}

/// Answers everything in one way.
class odd_server {
public:
  explicit odd_server(httplib::Server::Handler answer) {
    for (const char* any : {".*"}) {
      server_.Get(any, answer);
      server_.Post(any, answer);
      server_.Delete(any, answer);
    }
    port_ = server_.bind_to_any_port("127.0.0.1");
    done_ = std::async(std::launch::async, [this] { server_.listen_after_bind(); });
    while (!server_.is_running())
      std::this_thread::yield();
  }
  ~odd_server() {
    server_.stop();
    done_.wait();
  }

  [[nodiscard]] std::string address() const { return at_port(port_); }

private:
  httplib::Server server_;
  int port_ = 0;
  std::future<void> done_;
};

/// A folder as a user is given it.
queue_client client_of(const scratch_folder& folder, const std::string& address) {
  REQUIRE(write_private(folder.path() / address_file_name, address + "\n"));
  REQUIRE(write_private(folder.path() / token_file_name, token + "\n"));
  auto made = queue_client::open(folder.path(), {.impatient = true});
  REQUIRE(made);
  return std::move(*made);
}

} // namespace

TEST_CASE("queue client: what no queue's server answers is told in a sentence") {
  const scratch_folder folder;
  for (const char* odd :
       {"", "null", "[]", "{}", "\"text\"", "{\"change\":1,\"entries\":[{}]}",
        "{\"change\":-1,\"entries\":[]}", "{\"change\":1,\"entries\":{}}", "<html>"}) {
    INFO(odd);
    const odd_server server(
        [&](const auto&, auto& res) { res.set_content(odd, "application/json"); });
    auto client = client_of(folder, server.address());
    const auto answer = client.get("/v1/entries", entries_answer);
    REQUIRE_FALSE(answer);
    CHECK_THAT(answer.error().message,
               Catch::StartsWith(server.address())
                   && Catch::Contains("as a queue's server does"));
    CHECK_FALSE(client.post("/v1/entries", ordered_json::object(), ids_answer));
  }
}

TEST_CASE("queue client: what no server takes is not sent") {
  const scratch_folder folder;
  std::atomic<bool> asked{false};
  const odd_server server([&](const auto&, auto& res) {
    asked = true;
    res.set_content(R"({"ids":[1]})", "application/json");
  });
  auto client = client_of(folder, server.address());
  CHECK(client.post("/v1/entries", std::string(most_posted_bytes - 2, 'a'), ids_answer));
  CHECK(asked.exchange(false));
  const auto refused =
      client.post("/v1/entries", std::string(most_posted_bytes - 1, 'a'), ids_answer);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == error_kind::invalid_input);
  CHECK(refused.error().message
        == "this is 16777217 bytes to send, and a queue's server takes 16 MiB at once; "
           "nothing was sent");
  CHECK_FALSE(asked);
}

TEST_CASE("queue client: a packed or endless answer is not unpacked or read to its end") {
  const scratch_folder folder;
  std::atomic<bool> packed{true};
  std::atomic<std::size_t> given{0};
  const odd_server server([&](const auto&, auto& res) {
    if (packed)
      res.set_header("Content-Encoding", "gzip");
    res.set_chunked_content_provider("application/json", [&](std::size_t, auto& sink) {
      const std::string part(1 << 20, ' ');
      given += part.size();
      return sink.write(part.data(), part.size());
    });
  });
  auto client = client_of(folder, server.address());
  CHECK_THAT(client.get("/v1/entries", entries_answer).error().message,
             Catch::Contains("it is packed, or of more than 64 MiB"));
  CHECK(given < most_answer_bytes / 2);
  packed = false;
  CHECK_FALSE(client.get("/v1/entries", entries_answer));
  CHECK(given < 3 * most_answer_bytes);
}

TEST_CASE("queue client: what nobody has accepted gets no token") {
  int port = 0;
  const auto listens = listening(port);
  auto connection =
      queue_client_connection::open({.address = at_port(port),
                                     .token = token,
                                     .trusted = {::geteuid()},
                                     .connect_time = std::chrono::seconds(1)});
  REQUIRE(connection);
  const auto answer = connection->ask({.path = "/v1/user"}, std::chrono::seconds(1));
  CHECK(answer.is_unsent);
  CHECK(answer.failure == "no process of this machine accepts the connection");
  const unique_fd accepted(::accept(listens.get(), nullptr, nullptr));
  REQUIRE(accepted);
  CHECK(read_all(accepted.get()).empty());
}

TEST_CASE("queue client: a server that dies before it has accepted is not waited for") {
  int port = 0;
  auto listens = listening(port);
  auto asked = std::async(std::launch::async, [&] {
    auto connection =
        queue_client_connection::open({.address = at_port(port),
                                       .token = token,
                                       .trusted = {::geteuid()},
                                       .connect_time = std::chrono::hours(1)});
    return connection.value().ask({.path = "/v1/user"}, std::chrono::seconds(1));
  });
  pollfd waits{.fd = listens.get(), .events = POLLIN, .revents = 0};
  REQUIRE(::poll(&waits, 1, -1) == 1); // It is connected, and nobody's.
  listens = {};
  CHECK(asked.get().is_unsent);
}

TEST_CASE("queue client: another user who listens at the server's port gets no token") {
  if (::geteuid() != 0)
    return; // Only root can be somebody else.
  int port = 0;
  std::array<int, 2> pipe{};
  REQUIRE(::pipe2(pipe.data(), O_CLOEXEC) == 0);
  unique_fd heard(pipe[0]), tells(pipe[1]);
  const pid_t thief = ::fork();
  if (thief == 0) {
    if (::setresuid(somebody, somebody, somebody) != 0)
      ::_exit(1);
    const auto listens = listening(port);
    static_cast<void>(::write(tells.get(), &port, sizeof port));
    const unique_fd accepted(::accept(listens.get(), nullptr, nullptr));
    const auto all = "[" + read_all(accepted.get()) + "]";
    ::_exit(write_all(tells.get(), all));
  }
  tells.reset();
  REQUIRE(::read(heard.get(), &port, sizeof port) == sizeof port);
  const scratch_folder folder;
  auto client = client_of(folder, at_port(port));
  const auto answer = client.get("/v1/user", any_answer);
  REQUIRE_FALSE(answer);
  CHECK_THAT(answer.error().message,
             Catch::Contains("user 12345 listens there, who does not serve this queue"));
  CHECK(read_all(heard.get()) == "[]");
  int status = 0;
  REQUIRE(::waitpid(thief, &status, 0) == thief);
  CHECK(status == 0);
}

TEST_CASE("queue client: who serves is written down for those who are given a folder") {
  const scratch_folder folder, other;
  REQUIRE(write_private(folder.path() / server_users_file_name,
                        "4000000 another-machine\nno number\n\n"));
  REQUIRE(write_private(folder.path() / token_file_name, token + "\n"));
  const auto trusted = users_trusted_with_token(folder.path());
  CHECK(std::ranges::find(trusted, uid_t{4000000}) == trusted.end());
  const auto own = with_own_user(folder.path());
  CHECK_THAT(own, Catch::StartsWith(std::to_string(::geteuid()) + " "));
  // A user of this machine, as the first line names it.
  const auto machine = own.substr(own.find(' '), own.find('\n') - own.find(' '));
  REQUIRE(write_private(folder.path() / server_users_file_name, "4000000" + machine));
  REQUIRE(copy_client_files(folder.path(), other.path()));
  CHECK(std::ranges::count(users_trusted_with_token(other.path()), uid_t{4000000}) == 1);
  CHECK_FALSE(std::filesystem::exists(other.path() / token_file_name));
}

TEST_CASE("queue client: a folder that others may change, or a token they may read, is "
          "not used") {
  const scratch_folder folder;
  static_cast<void>(client_of(folder, at_port(1)));
  const auto refused = [&](const char* file, mode_t mode) {
    const auto path = folder.path() / file;
    REQUIRE(::chmod(path.c_str(), mode) == 0);
    const auto opened = queue_client::open(folder.path());
    REQUIRE(::chmod(path.c_str(), 0600) == 0);
    return !opened;
  };
  CHECK(refused(token_file_name, 0644));
  CHECK(refused(address_file_name, 0666));
  CHECK_FALSE(refused(address_file_name, 0644));
  if (::geteuid() != 0)
    return;
  REQUIRE(::chown((folder.path() / address_file_name).c_str(), somebody, 0) == 0);
  CHECK_FALSE(queue_client::open(folder.path()));
  REQUIRE(::chown((folder.path() / token_file_name).c_str(), somebody, 0) == 0);
  CHECK(queue_client::open(folder.path()));
}
