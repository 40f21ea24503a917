#include "engine/store/queue_store.hpp"
#include "tests/support/scratch.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <catch2/catch.hpp>

#include <fstream>

using namespace clade;
using namespace clade::test;

namespace {

constexpr auto half_life = std::chrono::hours(1);

std::vector<queue_event> some_events() {
  return {entry_submitted{.id = 1, .what = {.user = "ann", .words = {"true"}}},
          entry_submitted{.id = 2, .what = {.user = "bob", .words = {"true"}}},
          entry_started{.id = 1, .slots = {"cpu:0"}},
          entry_ended{.id = 1, .state = entry_state::succeeded}};
}

queue_state opened_and_loaded(const std::filesystem::path& file) {
  auto q = queue_store::open(file);
  REQUIRE(q);
  auto state = q->load(half_life);
  REQUIRE(state);
  return *state;
}

} // namespace

TEST_CASE("queue store: what was appended is there again, folded") {
  const scratch_folder folder;
  const auto file = folder.path() / queue_file_name;
  queue_state live{.half_life = half_life};
  {
    auto q = queue_store::open(file);
    REQUIRE(q);
    REQUIRE(q->load(half_life));
    const auto events = some_events();
    for (const std::span all(events); const auto part : {all.first(2), all.subspan(2)}) {
      const auto at = q->append(part);
      REQUIRE(at);
      for (const auto& e : part)
        REQUIRE(apply(live, e, *at));
    }
    CHECK(q->size() == 4);
  }
  CHECK(opened_and_loaded(file) == live);
  CHECK(to_text(live) == "#1 ann succeeded p0 1 slot\n#2 bob waiting p0 1 slot\n");
}

TEST_CASE("queue store: one process has it") {
  const scratch_folder folder;
  const auto first = queue_store::open(folder.path() / queue_file_name);
  REQUIRE(first);
  const auto second = queue_store::open(folder.path() / queue_file_name);
  REQUIRE_FALSE(second);
  CHECK(second.error().kind == error_kind::conflict);
  CHECK(second.error().message
        == folder.path().string() + ": is served already, by process "
               + std::to_string(::getpid()));
}

TEST_CASE("queue store: a changed event and a missing one are found where they are") {
  const scratch_folder folder;
  const auto file = folder.path() / queue_file_name;
  {
    auto q = queue_store::open(file);
    REQUIRE(q);
    REQUIRE(q->append(some_events()));
  }
  const auto damage = [&](const char* sql) {
    SQLite::Database(file.string(), SQLite::OPEN_READWRITE).exec(sql);
    const auto state = queue_store::open(file)->load(half_life);
    REQUIRE_FALSE(state);
    CHECK(state.error().kind == error_kind::corrupt);
    return state.error().message;
  };
  CHECK_THAT(damage("update events set unix_ms = unix_ms + 1 where sequence = 3"),
             Catch::Contains("event 3: does not match its checksum"));
  CHECK_THAT(damage("delete from events where sequence = 2"),
             Catch::Contains("event 2: is missing"));
}

TEST_CASE("queue store: a file of something else is refused") {
  const scratch_folder folder;
  const auto file = folder.path() / queue_file_name;
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("create table t (a)");
  const auto other = queue_store::open(file);
  REQUIRE_FALSE(other);
  CHECK(other.error().kind == error_kind::corrupt);
  std::ofstream(file, std::ios::trunc)
      << "no SQLite file at all, but longer than 100 bytes" << std::string(200, 'x');
  const auto none = queue_store::open(file);
  REQUIRE_FALSE(none);
  CHECK(none.error().kind == error_kind::corrupt);
}
