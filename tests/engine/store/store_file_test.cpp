#include "engine/store/queue/queue_store.hpp"
#include "engine/store/run/store.hpp"
#include "engine/store/sqlite/run_lock.hpp"
#include "engine/store/sqlite/store_file.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>
#include <sys/stat.h>

#include <future>

using namespace clade;
namespace fs = std::filesystem;

namespace {

/// The umask of a process whose files everybody may change, until it is destroyed.
class open_umask {
public:
  open_umask() : was_(::umask(0)) {}
  open_umask(const open_umask&) = delete;
  open_umask& operator=(const open_umask&) = delete;
  ~open_umask() { ::umask(was_); }

private:
  mode_t was_;
};

/// Checks that nobody else may do anything to any file of a folder; returns how many
/// there are.
int check_all_private(const fs::path& folder) {
  int count = 0;
  for (const auto& one : fs::directory_iterator(folder)) {
    INFO(one.path());
    CHECK((one.status().permissions() & fs::perms(077)) == fs::perms::none);
    ++count;
  }
  return count;
}

std::vector<queue_event> an_event() {
  return {entry_submitted{.id = 1, .what = {.user = "ann", .words = {"true"}}}};
}

} // namespace

TEST_CASE("store file: nobody else reads a store, whatever the umask") {
  const open_umask everybody;
  const scratch_folder run, queue;
  const auto kept = store::create(run.path() / "run.db", {});
  REQUIRE(kept);
  CHECK(check_all_private(run.path()) >= 2);
  auto served = queue_store::open(queue.path() / queue_file_name);
  REQUIRE(served);
  REQUIRE(served->load(std::chrono::hours(1)));
  REQUIRE(served->append(an_event()));
  CHECK(check_all_private(queue.path()) >= 3);
}

TEST_CASE("store file: a queue that others could read is closed to them") {
  const scratch_folder folder;
  const auto file = folder.path() / queue_file_name;
  REQUIRE(queue_store::open(file));
  for (const auto& one : fs::directory_iterator(folder.path()))
    fs::permissions(one.path(), fs::perms(0644));
  const auto served = queue_store::open(file);
  REQUIRE(served);
  check_all_private(folder.path());
}

TEST_CASE("store file: by a second name a store is written by nobody") {
  const scratch_folder here;
  const auto run = here.path() / "run", other = here.path() / "other";
  for (const auto& folder : {run, other})
    fs::create_directory(folder);
  {
    auto kept = store::create(run / "run.db", {});
    REQUIRE(kept);
    fs::create_hard_link(run / "run.db", other / "run.db");
    const auto second = store::open(other / "run.db");
    REQUIRE_FALSE(second);
    CHECK(second.error().kind == error_kind::conflict);
    CHECK_THAT(second.error().message, Catch::Contains("has another name"));
  }
  fs::remove(other / "run.db");
  CHECK(store::open(run / "run.db"));
  auto served = queue_store::open(run / queue_file_name);
  REQUIRE(served);
  fs::create_hard_link(run / queue_file_name, other / queue_file_name);
  CHECK(queue_store::open(other / queue_file_name).error().kind == error_kind::conflict);
}

TEST_CASE(
    "store file: what is written to a queue that was removed is not said to be kept") {
  const scratch_folder folder;
  const auto file = folder.path() / queue_file_name;
  auto served = queue_store::open(file);
  REQUIRE(served);
  REQUIRE(served->load(std::chrono::hours(1)));
  REQUIRE(served->append(an_event()));
  fs::rename(file, folder.path() / "elsewhere");
  for (const bool replaced : {false, true}) {
    if (replaced)
      fs::copy_file(folder.path() / "elsewhere", file);
    const auto lost = served->append(an_event());
    REQUIRE_FALSE(lost);
    CHECK_THAT(lost.error().message, Catch::Contains("was removed or replaced"));
    CHECK_FALSE(served->confirm_held());
  }
  std::promise<void> told;
  served->when_lost([&, first = true]() mutable {
    if (std::exchange(first, false))
      told.set_value();
  });
  told.get_future().wait(); // By the thread that renews the lease.
  CHECK_FALSE(served->check_held());
}
