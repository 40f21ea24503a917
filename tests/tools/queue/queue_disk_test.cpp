#include "tests/support/scratch.hpp"
#include "tools/queue/machine/queue_disk.hpp"

#include <catch2/catch.hpp>
#include <sys/stat.h>

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

TEST_CASE("queue disk: why nobody is known to fill it is said") {
  CHECK(why_nobody_fills({}, 0) == "nothing that runs here was seen to write much there");
  const std::array few{disk_use{.id = 3, .bytes = 12 * mib, .free_when_begun = 301 * mib},
                       disk_use{.id = 4, .bytes = 2 * mib, .free_when_begun = 301 * mib}};
  CHECK(why_nobody_fills(few, mib)
        == "#3 has the most of it of all that runs here, 12.0 MiB, less than half of the "
           "300.0 MiB that it has lost since #3 began");
  CHECK(
      why_nobody_fills(few, 20 * mib)
      == "#3 has the most of it of all that runs here, 12.0 MiB, not more than is left");
  const std::array alike{few[0], disk_use{.id = 5, .bytes = 12 * mib}};
  CHECK(why_nobody_fills(alike, mib)
        == "#3 has the most of it of all that runs here, 12.0 MiB, not more than all "
           "others together");
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
  CHECK(pause_between_looks(disk, 0) == 1s);
  CHECK(pause_between_looks(disk, 100 * mib) == 1s);
  CHECK(pause_between_looks(disk, 500 * mib) == 500ms);
  CHECK(pause_between_looks(disk, 80'000 * mib) == 10ms);
  CHECK_FALSE(time_until_scarce(disk, 0));
  CHECK(time_until_scarce(disk, 500 * mib)->count() == Approx(2));
}

TEST_CASE("queue disk: the folder of an entry counts, and a file that it writes once") {
  const scratch_folder folder;
  const auto its = folder.path() / "entries";
  std::filesystem::create_directories(its / "runs");
  write_text(its / "runs" / "large", std::string(3 * mib, 'x'));
  write_text(folder.path() / "beside", std::string(3 * mib, 'x'));
  const auto bytes = bytes_of_entry({}, folder.path(), its);
  CHECK(bytes >= 3 * mib);
  CHECK(bytes < 4 * mib);
  CHECK(bytes_of_entry({}, folder.path(), its / "none") == 0);
  writes_seen seen;
  struct stat file {};
  for (const auto& one : {its / "runs" / "large", folder.path() / "beside"}) {
    REQUIRE(::stat(one.c_str(), &file) == 0);
    seen.add({{.device = file.st_dev, .number = file.st_ino, .path = one}}, 0, 0);
  }
  CHECK(bytes_of_entry(seen, folder.path(), its) == 2 * bytes);
  const auto space = space_of(folder.path());
  REQUIRE(space);
  CHECK(space->free <= space->size);
  CHECK_FALSE(space_of(folder.path() / "none"));
}
