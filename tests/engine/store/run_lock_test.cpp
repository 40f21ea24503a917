#include "engine/store/sqlite/run_lock.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>
#include <unistd.h>

using namespace clade;

TEST_CASE("run lock: a store has one, by whatever links it is reached") {
  const scratch_folder here;
  namespace fs = std::filesystem;
  const auto run = here.path() / "run", other = here.path() / "other";
  for (const auto& folder : {run, other})
    fs::create_directory(folder);
  fs::create_symlink("run", here.path() / "link");
  fs::create_symlink("../run/run.db", other / "run.db");
  const auto file = run / "run.db";
  // Before the store is there its folder says whose it is.
  auto first = run_lock::take(here.path() / "link" / "run.db");
  REQUIRE(first);
  CHECK(run_lock::take(file).error().kind == error_kind::conflict);
  write_text(file, "");
  for (const auto& name : {file, here.path() / "link" / "run.db", other / "run.db"}) {
    INFO(name);
    const auto refused = run_lock::take(name);
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Catch::Contains(std::to_string(::getpid())));
    CHECK(writer_of(name) == ::getpid());
  }
  CHECK(fs::exists(run / "run.db.lock"));
  CHECK_FALSE(fs::exists(other / "run.db.lock"));
}
