#include "genome/base/trusted_file.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <unistd.h>

using namespace clade;

namespace {

constexpr uid_t somebody = 12345;

std::filesystem::path a_file(const scratch_folder& in, mode_t mode) {
  const auto file = in.path() / "file";
  write_text(file, "words");
  REQUIRE(::chmod(file.c_str(), mode) == 0);
  return file;
}

std::string said_of(const std::filesystem::path& path, const file_trust& trust = {}) {
  const auto trusted = check_trusted(path, trust);
  return trusted ? "" : trusted.error().message;
}

} // namespace

TEST_CASE("trusted file: what others may change or read is told with its cure") {
  const scratch_folder folder;
  const auto file = a_file(folder, 0600);
  CHECK(said_of(file, {.secret = true}).empty());
  const auto name = file.string();
  a_file(folder, 0644);
  CHECK(said_of(file).empty());
  CHECK(said_of(file, {.secret = true})
        == name + " may be read by others: chmod 600 " + name);
  for (const mode_t open : {0620, 0602}) {
    a_file(folder, open);
    CHECK(said_of(file) == name + " may be changed by others: chmod go-w " + name);
  }
  CHECK(check_trusted(folder.path() / "none").error().kind == error_kind::not_found);
}

TEST_CASE("trusted file: a group may read a key that root owns") {
  if (::geteuid() != 0)
    return;
  const scratch_folder folder;
  const auto file = a_file(folder, 0640);
  CHECK_FALSE(check_trusted(file, {.secret = true}));
  CHECK(check_trusted(file, {.secret = true, .group_of_root = true}));
  a_file(folder, 0644);
  CHECK_FALSE(check_trusted(file, {.secret = true, .group_of_root = true}));
}

TEST_CASE("trusted file: another user's is not believed, however closed it is") {
  if (::geteuid() != 0)
    return; // Only root can give a file away.
  const scratch_folder folder;
  const auto file = a_file(folder, 0600);
  REQUIRE(::chown(file.c_str(), somebody, ::getegid()) == 0);
  CHECK_THAT(said_of(file), Catch::Contains("belongs to user 12345"));
  CHECK(check_trusted(file, {.secret = true, .also = somebody}));
  CHECK(owner_of(file) == somebody);
}

TEST_CASE("trusted file: of a folder our own group may change what is there") {
  const scratch_folder folder;
  REQUIRE(::chmod(folder.path().c_str(), 0770) == 0);
  CHECK(check_trusted(folder.path()));
  REQUIRE(::chmod(folder.path().c_str(), 01777) == 0);
  CHECK_FALSE(check_trusted(folder.path()));
  if (::geteuid() != 0)
    return;
  REQUIRE(::chown(folder.path().c_str(), 0, ::getegid() + 1) == 0);
  REQUIRE(::chmod(folder.path().c_str(), 0770) == 0);
  CHECK_FALSE(check_trusted(folder.path()));
}
