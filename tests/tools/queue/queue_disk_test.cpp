#include "tests/support/scratch.hpp"
#include "tools/queue/machine/queue_disk.hpp"

#include <catch2/catch.hpp>
#include <unistd.h>

#include <array>

using namespace clade;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t mib = 1 << 20;

/// The entry that fills a disk with so much left; 0: nobody.
entry_id who(std::vector<disk_use> all, std::uint64_t free) {
  const auto found = who_fills(all, free);
  return found ? found->id : 0;
}

} // namespace

TEST_CASE("queue disk: who fills it has most of what it has lost") {
  const disk_use large{.id = 1, .bytes = 300 * mib, .free_when_begun = 400 * mib},
      small{.id = 2, .bytes = 20 * mib, .free_when_begun = 400 * mib};
  CHECK(who({large, small}, 50 * mib) == 1);
  CHECK(who({small, large}, 50 * mib) == 1);
  // Somebody else has written the rest.
  CHECK(who({small}, 10 * mib) == 0);
  // It has less than what is left.
  CHECK(who({{.id = 3, .bytes = 40 * mib, .free_when_begun = 90 * mib}}, 50 * mib) == 0);
  // None of two that write the same.
  CHECK(
      who({large, {.id = 4, .bytes = 300 * mib, .free_when_begun = 700 * mib}}, 50 * mib)
      == 0);
  CHECK(who({{.id = 5, .bytes = mib - 1, .free_when_begun = mib}}, 0) == 0);
  CHECK(who({}, 0) == 0);
}

TEST_CASE("queue disk: what failed since it was full is told from all else") {
  CHECK(is_of_full_disk(
      {error_kind::io, "q/log: cannot be written: No space left on device"}));
  CHECK(is_of_full_disk({error_kind::io, "q/1: cannot be made: Disk quota exceeded"}));
  CHECK_FALSE(
      is_of_full_disk({error_kind::io, "q/1: cannot be made: Permission denied"}));
  CHECK_FALSE(
      is_of_full_disk({error_kind::not_found, "No space left on device: no program"}));
}

TEST_CASE("queue disk: what is scarce is a part of it, within bounds") {
  CHECK(scarce_bytes({.size = 5 * mib}) == 2 * mib);
  CHECK(scarce_bytes({.size = 160 * mib}) == 10 * mib);
  CHECK(scarce_bytes({.size = 1'000'000 * mib}) == 64 * mib);
}

TEST_CASE("queue disk: it is looked at again before it is scarce") {
  const disk_space disk{.size = 10'000 * mib, .free = 1064 * mib};
  CHECK(pause_between_looks(disk, 1064 * mib, 1s) == 1s);
  CHECK(pause_between_looks(disk, 1000 * mib, 1s) == 1s); // There is more than before.
  CHECK(pause_between_looks(disk, 1564 * mib, 1s) == 500ms);
  CHECK(pause_between_looks(disk, 9064 * mib, 100ms) == 10ms);
}

TEST_CASE("queue disk: the folder of an entry counts, and a file that it writes once") {
  const scratch_folder folder;
  const auto its = folder.path() / "entries";
  std::filesystem::create_directories(its / "runs");
  write_text(its / "runs" / "large", std::string(3 * mib, 'x'));
  write_text(folder.path() / "beside", std::string(3 * mib, 'x'));
  const auto bytes = bytes_of_entry(::getpid(), read_processes(), folder.path(), its);
  CHECK(bytes >= 3 * mib);
  CHECK(bytes < 4 * mib);
  CHECK(bytes_of_entry(::getpid(), read_processes(), folder.path(), its / "none") < mib);
  const auto space = space_of(folder.path());
  REQUIRE(space);
  CHECK(space->free <= space->size);
  CHECK_FALSE(space_of(folder.path() / "none"));
}
