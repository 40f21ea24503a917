#include "engine/evaluation/process/written_bytes.hpp"
#include "tests/support/scratch.hpp"
#include "tools/queue/machine/writes_seen.hpp"

#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

using namespace clade;

namespace {

constexpr std::uint64_t mib = 1 << 20;

/// A file of a folder as it is now.
written_file written(const std::filesystem::path& path, std::size_t bytes = mib) {
  write_text(path, std::string(bytes, 'x'));
  struct stat file {};
  REQUIRE(::lstat(path.c_str(), &file) == 0);
  return {.device = file.st_dev,
          .number = file.st_ino,
          .path = path,
          .bytes = static_cast<std::uint64_t>(file.st_blocks) * 512};
}

dev_t disk_of(const std::filesystem::path& folder) {
  struct stat file {};
  REQUIRE(::stat(folder.c_str(), &file) == 0);
  return file.st_dev;
}

std::uint64_t sum(const std::vector<written_file>& files) {
  std::uint64_t bytes = 0;
  for (const auto& one : files)
    bytes += one.bytes;
  return bytes;
}

} // namespace

TEST_CASE("writes seen: who writes what the disk loses is known without its files") {
  writes_seen seen;
  std::uint64_t free = 100 * mib, written = 7 * mib;
  seen.add({}, written, free);
  const auto look = [&](std::uint64_t writes, std::uint64_t loses) {
    written += writes;
    free -= loses;
    seen.add({}, written, free);
  };
  for (int n = 0; n < 4; ++n)
    look(3 * mib, 4 * mib);
  CHECK(seen.bytes_lost_by_it() == 0); // That was seldom.
  look(10 * mib, 9 * mib);
  CHECK(seen.bytes_lost_by_it() == 22 * mib);
  SECTION("it pauses") {
    look(0, 0);
    look(0, mib / 100);
    CHECK(seen.bytes_lost_by_it() == 22 * mib);
  }
  SECTION("others write as much") {
    for (int n = 0; n < 2; ++n)
      look(0, 6 * mib);
    CHECK(seen.bytes_lost_by_it() == 0);
  }
  SECTION("it writes elsewhere as well") {
    look(30 * mib, 3 * mib);
    CHECK(seen.bytes_lost_by_it() == 0);
  }
  SECTION("as much in all, and at other times") {
    for (int n = 0; n < 10; ++n)
      look(n % 2 == 0 ? 4 * mib : 0, 2 * mib);
    CHECK(seen.bytes_lost_by_it() == 0);
  }
  SECTION("room is made") {
    free += 20 * mib;
    look(0, 0);
    CHECK(seen.bytes_lost_by_it() == 0);
    for (int n = 0; n < 5; ++n)
      look(mib, mib);
    CHECK(seen.bytes_lost_by_it() == 5 * mib);
  }
}

TEST_CASE(
    "writes seen: of the files that it was seen to write, those count that are there") {
  const scratch_folder folder;
  const auto disk = disk_of(folder.path());
  writes_seen seen;
  for (int n = 0; n < 10; ++n)
    seen.add({written(folder.path() / std::to_string(n % 5))}, 0, 0);
  CHECK(sum(seen.still_there(disk)) == 5 * mib);
  CHECK(seen.still_there(disk + 1).empty());
  std::filesystem::remove(folder.path() / "0");
  std::filesystem::rename(folder.path() / "1", folder.path() / "2");
  CHECK(sum(seen.still_there(disk)) == 2 * mib);
}

TEST_CASE("writes seen: it is read of processes, with those that have ended") {
  const scratch_folder folder;
  const auto of_all = [] {
    return bytes_written_below(::getpid(), read_processes(), true);
  };
  const auto before = of_all();
  write_text(folder.path() / "own", std::string(mib, 'x'));
  const auto own = of_all();
  CHECK(own >= before + mib);
  const auto command =
      "head -c 3000000 /dev/zero >" + (folder.path() / "theirs").string();
  REQUIRE(std::system(command.c_str()) == 0);
  CHECK(of_all() >= own + 3'000'000);
  CHECK(bytes_written_by(0) == written_bytes{});
}
