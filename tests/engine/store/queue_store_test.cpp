#include "engine/store/queue/queue_store.hpp"
#include "tests/support/scratch.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <catch2/catch.hpp>
#include <unistd.h>

#include <fstream>
#include <future>

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

queue_lease opened_lease(const std::filesystem::path& file) {
  auto lease = queue_lease::open({.at = {.file = file}});
  REQUIRE(lease);
  return std::move(*lease);
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

TEST_CASE("queue store: who lost the lease writes nothing, and learns who has it") {
  const scratch_folder folder;
  const auto file = folder.path() / queue_file_name;
  auto former = queue_store::open(file);
  REQUIRE(former);
  REQUIRE(former->append(some_events()));
  std::promise<void> lost;
  former->when_lost([&] { lost.set_value(); });
  CHECK(former->check_held());
  // Another one that saw no renewal for long enough takes the lease, lock or not.
  auto lease = opened_lease(file);
  const auto start = queue_lease::clock::now();
  CHECK(lease.try_take(start) == queue_lease::answer::held);
  REQUIRE(lease.try_take(start + lease.params().patience) == queue_lease::answer::taken);
  auto next = queue_store::open(std::move(lease));
  REQUIRE(next);
  REQUIRE(next->load(half_life));
  const std::vector<queue_event> more{
      entry_submitted{.id = 3, .what = {.user = "ann", .words = {"true"}}}};
  const auto refused = former->append(more);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == error_kind::io);
  CHECK_THAT(refused.error().message,
             Catch::Contains("process " + std::to_string(::getpid()))
                 && Catch::Contains("has taken this queue over"));
  REQUIRE(lost.get_future().wait_for(std::chrono::minutes(1))
          == std::future_status::ready);
  CHECK(former->check_held() == tl::unexpected(refused.error()));
  // It takes nothing from its successor as it ends.
  former = fail(error_kind::internal, "");
  CHECK(next->append(more));
  CHECK(next->size() == 5);
}

TEST_CASE("queue store: events are copied as they are, and only what follows") {
  const scratch_folder folder;
  auto from = queue_store::open(folder.path() / "from.db");
  auto to = queue_store::open(folder.path() / "to.db");
  REQUIRE(from);
  REQUIRE(to);
  REQUIRE(from->append(some_events()));
  auto live = to->load(half_life);
  REQUIRE(live);
  const auto all = from->read_after(0, SIZE_MAX);
  REQUIRE(all);
  REQUIRE(all->size() == 4);
  CHECK(from->read_after(3, SIZE_MAX)->size() == 1);
  CHECK(from->read_after(0, 1)->size() == 1);
  REQUIRE(to->append_copies(std::span(*all).first(3), *live));
  const auto refuse = [&](stored_event e, const char* why) {
    auto state = *live;
    const auto refused = to->append_copies(std::vector{(*all)[3], std::move(e)}, state);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == error_kind::corrupt);
    CHECK_THAT(refused.error().message, Catch::Contains(why));
    CHECK(to->size() == 3);
  };
  refuse((*all)[3], "event 4: is missing");
  auto changed = (*all)[2];
  changed.sequence = 5;
  refuse(changed, "event 5: does not match its checksum");
  REQUIRE(to->append_copies(std::span(*all).subspan(3), *live));
  CHECK(to->checksum() == from->checksum());
  CHECK(to->read_after(0, SIZE_MAX) == all);
  CHECK(*to->load(half_life) == *live);
  CHECK(*from->load(half_life) == *live);
}

TEST_CASE("queue store: one of the version before gets a lease") {
  const scratch_folder folder;
  const auto file = folder.path() / queue_file_name;
  {
    auto q = queue_store::open(file);
    REQUIRE(q);
    REQUIRE(q->append(some_events()));
  }
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE)
      .exec("drop table lease; pragma user_version = 1");
  CHECK(opened_and_loaded(file).entries.size() == 2);
  CHECK(opened_lease(file).try_take() == queue_lease::answer::taken);
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
  CHECK_THAT(damage("update events set unix_ms = unix_ms - 1 where sequence = 3;"
                    "update events set kind = 5 where sequence = 1"),
             Catch::Contains("event 1: is said to be of another kind"));
  CHECK_THAT(damage("update events set kind = 1 where sequence = 1;"
                    "delete from events where sequence = 2"),
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
