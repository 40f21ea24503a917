#include "genome/base/whole_file.hpp"
#include "tests/support/scratch.hpp"
#include "tools/queue/client/queue_tokens.hpp"

#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

using namespace clade;

namespace {

std::string line_of(const std::filesystem::path& file) {
  const auto text = read_whole_file(file, {.most_bytes = 1000});
  REQUIRE(text);
  return text->substr(0, text->find('\n'));
}

unsigned mode_of(const std::filesystem::path& file) {
  struct stat seen {};
  REQUIRE(::stat(file.c_str(), &seen) == 0);
  return seen.st_mode & 0777;
}

} // namespace

TEST_CASE("queue tokens: who serves is an admin, and users get a folder of their own") {
  const scratch_folder folder;
  queue_tokens tokens(folder.path());
  REQUIRE(tokens.prepare("root"));
  REQUIRE(tokens.prepare("somebody-else")); // It is there already.
  CHECK(tokens.find(line_of(folder.path() / token_file_name))
        == queue_user{.name = "root", .role = queue_role::admin});
  std::ofstream(folder.path() / address_file_name) << "http://127.0.0.1:1\n";
  const auto given = tokens.add({.name = "ann", .role = queue_role::viewer});
  REQUIRE(given);
  CHECK(*given == folder.path() / "users/ann");
  CHECK(line_of(*given / address_file_name) == "http://127.0.0.1:1");
  CHECK(tokens.find(line_of(*given / token_file_name))
        == queue_user{.name = "ann", .role = queue_role::viewer});
  CHECK(tokens.add({.name = "ann"}).error().kind == error_kind::conflict);
  for (const auto& file : {folder.path() / tokens_file_name,
                           folder.path() / token_file_name, *given / token_file_name})
    CHECK(mode_of(file) == 0600);
}

TEST_CASE("queue tokens: what is nobody's lets nobody in") {
  const scratch_folder folder;
  queue_tokens tokens(folder.path());
  REQUIRE(tokens.prepare("root"));
  const auto whole = line_of(folder.path() / token_file_name);
  for (const auto& wrong : {std::string(), whole + "0", whole.substr(1),
                            std::string("root"), std::string(whole.size(), '0')})
    CHECK(tokens.find(wrong).error().kind == error_kind::refused);
}

TEST_CASE(
    "queue tokens: another process's user is known at once, a deleted one no more") {
  const scratch_folder folder;
  queue_tokens server(folder.path()), other(folder.path());
  REQUIRE(server.prepare("root"));
  const auto admin = line_of(folder.path() / token_file_name);
  REQUIRE(server.find(admin));
  const auto given = other.add({.name = "ann", .role = queue_role::user});
  REQUIRE(given);
  CHECK(server.find(line_of(*given / token_file_name)));
  REQUIRE(write_private(folder.path() / tokens_file_name,
                        "user ann " + line_of(*given / token_file_name) + "\n"));
  CHECK_FALSE(server.find(admin));
}

TEST_CASE("queue tokens: a file that others may read, or that is none, is refused") {
  const scratch_folder folder;
  queue_tokens tokens(folder.path());
  REQUIRE(tokens.prepare("root"));
  const auto file = folder.path() / tokens_file_name;
  REQUIRE(::chmod(file.c_str(), 0640) == 0);
  const auto open = queue_tokens(folder.path()).find("x");
  CHECK(open.error().message
        == file.string() + " may be read by others: chmod 600 " + file.string());
  for (const char* wrong : {"owner ann 0123456789abcdef\n", "user ann short\n",
                            "user ann 0123456789abcdef more\n", "user\n"}) {
    REQUIRE(write_private(file, wrong));
    const auto e = queue_tokens(folder.path()).prepare("root").error();
    CHECK(e.kind == error_kind::invalid_input);
    CHECK_THAT(e.message, Catch::Contains(file.string() + ":1: a line is"));
  }
}

TEST_CASE("queue tokens: those of another user, or in their folder, let nobody in") {
  if (::geteuid() != 0)
    return; // Only root can give a file away.
  const scratch_folder folder;
  REQUIRE(queue_tokens(folder.path()).prepare("root"));
  const auto token = line_of(folder.path() / token_file_name);
  const auto is_refused = [&](const std::filesystem::path& given_away) {
    REQUIRE(::chown(given_away.c_str(), 12345, 12345) == 0);
    const auto found = queue_tokens(folder.path()).find(token);
    REQUIRE(::chown(given_away.c_str(), 0, 0) == 0);
    return !found;
  };
  CHECK(is_refused(folder.path() / tokens_file_name));
  CHECK(is_refused(folder.path()));
  CHECK(queue_tokens(folder.path()).find(token));
}

TEST_CASE("queue tokens: that they were lost is told") {
  const scratch_folder folder;
  CHECK(queue_tokens(folder.path()).prepare("root") == false);
  CHECK(queue_tokens(folder.path()).prepare("root") == false);
  std::filesystem::remove(folder.path() / tokens_file_name);
  CHECK(queue_tokens(folder.path()).prepare("root") == true);
}

TEST_CASE("queue tokens: a name is no path") {
  for (const char* wrong : {"", "..", "a/b", "a b", ".hidden"})
    CHECK_FALSE(check_user_name(wrong));
  CHECK(check_user_name("ann.smith-2"));
}
