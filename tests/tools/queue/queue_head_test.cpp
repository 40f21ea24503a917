#include "tests/tools/queue/served_queue.hpp"

#include <catch2/catch.hpp>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <sstream>

using namespace clade;
using namespace clade::test;
using namespace std::chrono_literals;

namespace {

std::string log_of(const std::filesystem::path& folder, entry_id id) {
  std::ifstream in(entry_folder(folder, id) / entry_log_name);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

} // namespace

TEST_CASE("queue head: a command runs on its slots, and its end is recorded") {
  const scratch_folder folder;
  const served_queue q(folder.path());
  auto wants_two = shell("echo on $CLADE_SLOTS as $CLADE_ENTRY in $PWD");
  wants_two.slots = 2;
  const auto good = q.submit(wants_two);
  const auto bad = q.submit(shell("exit 3"));
  CHECK(q.await_end(good).state == entry_state::succeeded);
  CHECK(log_of(folder.path(), good) == "on cpu:0 cpu:1 as 1 in /tmp\n");
  const auto failed = q.await_end(bad);
  CHECK(failed.state == entry_state::failed);
  CHECK(failed.reason == "ended with status 3");
}

TEST_CASE("queue head: a program that is not there is a failed entry") {
  const scratch_folder folder;
  const served_queue q(folder.path());
  auto none = shell("");
  none.words = {"no-such-program-at-all"};
  const auto e = q.await_end(q.submit(none));
  CHECK(e.state == entry_state::failed);
  CHECK(e.reason == "there is no program no-such-program-at-all on this machine");
  auto nowhere = shell("true");
  nowhere.directory = "/no/such/folder";
  CHECK(q.await_end(q.submit(nowhere)).state == entry_state::failed);
}

TEST_CASE("queue head: an entry that is cancelled ends with all that it started") {
  const scratch_folder folder;
  const served_queue q(folder.path(), 1);
  const auto id = q.submit(shell("trap '' TERM; setsid sleep 1000 & sleep 1000; wait"));
  const auto waits = q.submit(shell("true"));
  q.await_running(id);
  REQUIRE(q->cancel(id, "ann"));
  const auto e = q.await_end(id);
  CHECK(e.state == entry_state::cancelled);
  CHECK(e.reason == "cancelled by ann");
  // Its log is locked by what it started for as long as that is there.
  CHECK(await_former(entry_folder(folder.path(), id) / entry_log_name,
                     std::chrono::steady_clock::now()));
  CHECK(q.await_end(waits).state == entry_state::succeeded);
  CHECK(q->cancel(id, "ann").error().message == "#1 has been cancelled already");
  CHECK(q->cancel(9, "ann").error().kind == error_kind::not_found);
}

TEST_CASE("queue head: what runs longer than it said is ended") {
  const scratch_folder folder;
  const served_queue q(folder.path());
  auto slow = shell("exec sleep 1000");
  slow.time = 1s;
  const auto e = q.await_end(q.submit(slow));
  CHECK(e.state == entry_state::failed);
  CHECK(e.reason == "ran longer than its 1 s; killed by signal 15 (Terminated)");
}

TEST_CASE("queue head: a higher priority takes the slot of what may be begun again") {
  const scratch_folder folder;
  const served_queue q(folder.path(), 1);
  const auto go = folder.path() / "go";
  auto low = shell("echo begun; test -e " + go.string() + " || exec sleep 1000");
  low.requeue = true;
  const auto first = q.submit(low);
  q.await_running(first);
  auto high = shell("echo > " + go.string());
  high.priority = 2;
  CHECK(q.await_end(q.submit(high)).state == entry_state::succeeded);
  const auto e = q.await_end(first);
  CHECK(e.state == entry_state::succeeded);
  CHECK(e.starts == 2);
}

TEST_CASE("queue head: the next one goes on with what waits and what ran") {
  const scratch_folder folder;
  const auto go = folder.path() / "go";
  entry_id running = 0, waiting = 0, done = 0;
  {
    const served_queue q(folder.path(), 1);
    done = q.submit(shell("true"));
    REQUIRE(q.await_end(done).state == entry_state::succeeded);
    running = q.submit(shell("test -e " + go.string() + " || exec sleep 1000"));
    q.await_running(running);
    waiting = q.submit(shell("true"));
  }
  std::ofstream(go) << "\n";
  const served_queue q(folder.path(), 1);
  CHECK(q.await_end(waiting).state == entry_state::succeeded);
  CHECK(q.await_end(running).state == entry_state::succeeded);
  CHECK(q.await_end(running).starts == 2);
  CHECK(q.await_end(done).starts == 1);
}

TEST_CASE("queue head: one without slots of its own takes what machines may run") {
  const scratch_folder folder;
  const served_queue q(folder.path(), 0);
  auto s = shell("true");
  s.slots = 2;
  s.device = "cuda";
  const auto id = q.submit(s);
  CHECK(q->look([&](const queue_state& all) { return all.entries.at(id).state; })
        == entry_state::waiting);
}

TEST_CASE(
    "queue head: while the disk is full nothing is taken and nothing begins, and what "
    "runs goes on") {
  const scratch_folder folder;
  std::atomic<bool> full = false;
  const served_queue q(folder.path(), 1, {}, 60s, [&]() -> expected<void> {
    return full ? fail(error_kind::io, "the disk is full") : expected<void>();
  });
  const auto go = (folder.path() / "go").string();
  const auto runs = q.submit(shell("until [ -e " + go + " ]; do sleep 0.01; done"));
  const auto waits = q.submit(shell("true"));
  q.await_running(runs);
  full = true;
  const auto refused = q->submit({shell("true")});
  REQUIRE_FALSE(refused);
  CHECK(refused.error() == error{error_kind::io, "the disk is full"});
  write_text(go, "");
  CHECK(q.await_end(runs).state == entry_state::succeeded);
  CHECK(q->look([&](const queue_state& s, const queue_slots& slots) {
    return why_waiting(s, {}, slots, waits);
  }) == "the disk is full");
  full = false;
  CHECK(q.await_end(waits).state == entry_state::succeeded);
  CHECK(q.await_end(q.submit(shell("true"))).state == entry_state::succeeded);
}

TEST_CASE("queue head: who fills its disk is named") {
  const scratch_folder folder;
  std::atomic<bool> full = false;
  const served_queue q(folder.path(), 2, {}, 60s, [&]() -> expected<void> {
    return full ? fail(error_kind::io, "the disk is full") : expected<void>();
  });
  const auto junk = (folder.path() / "junk").string();
  q.await_running(q.submit(shell("exec sleep 1000")));
  const auto fills =
      q.submit(shell("exec 3>" + junk + "; head -c 3000000 /dev/zero >&3; echo >" + junk
                         + ".done; exec sleep 1000",
                     "bob"));
  while (!std::filesystem::exists(junk + ".done"))
    q.await_running(fills);
  full = true;
  CHECK_THAT(q->submit({shell("true")}).error().message,
             Catch::Matches("the disk is full; #2 of bob is writing files of .* there"));
}

TEST_CASE(
    "queue head: who fills its disk is paused alone, and goes on when there is room") {
  const scratch_folder folder;
  constexpr std::uint64_t mib = 1 << 20;
  std::atomic<std::uint64_t> free = 6 * mib;
  const served_queue q(folder.path(), 2, {}, 60s, {}, [&]() -> expected<disk_space> {
    return disk_space{.size = 40 * mib, .free = free};
  });
  const auto path = [&](const char* name) { return (folder.path() / name).string(); };
  const auto fills = q.submit(shell(
      "exec 3>" + path("junk") + "; head -c 3000000 /dev/zero >&3; mkdir "
          + path("written") + "; until [ -e " + path("go") + " ]; do sleep 0.01; done",
      "bob"));
  while (!std::filesystem::exists(path("written")))
    q.await_running(fills);
  free = 2 * mib;
  const auto why_paused = [&](entry_id id) {
    return q->look([&](const queue_state&, const queue_slots& slots) {
      const auto found = slots.paused.find(id);
      return found == slots.paused.end() ? std::string() : found->second;
    });
  };
  q.await(fills, [&](const queue_entry&) { return !why_paused(fills).empty(); });
  CHECK_THAT(why_paused(fills),
             Catch::Matches("paused: it has .* on the disk of .*, which has 2.0 MiB "
                            "left; make room, and it goes on when there are .*"));
  write_text(path("go"), ""); // Who is paused does not see it.
  const auto other = q.submit(shell("true"));
  CHECK(q.await_end(other).state == entry_state::succeeded);
  CHECK(why_paused(other).empty());
  CHECK(q.await_end(q.submit(shell("true"))).state == entry_state::succeeded);
  CHECK(q->look([&](const auto& s) { return s.entries.at(fills).state; })
        == entry_state::running);
  SECTION("room") {
    free = 6 * mib;
    CHECK(q.await_end(fills).state == entry_state::succeeded);
  }
  SECTION("cancelled") {
    REQUIRE(q->cancel(fills, "bob"));
    CHECK(q.await_end(fills).state == entry_state::cancelled);
  }
}

TEST_CASE("queue head: a store that cannot be written is written when it can be") {
  const scratch_folder folder;
  const served_queue q(folder.path(), 1);
  const auto go = (folder.path() / "go").string();
  const auto runs = q.submit(
      shell("mkdir " + go + ".begun; until [ -e " + go + " ]; do sleep 0.01; done"));
  while (!std::filesystem::exists(go + ".begun"))
    q.await_running(runs);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto was = std::signal(SIGXFSZ, SIG_IGN);
  rlimit none = before;
  none.rlim_cur = 0;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &none) == 0);
  const auto refused = q->submit({shell("true")});
  // Its end cannot be recorded; it is not lost.
  std::filesystem::create_directory(go);
  const auto seen = q->await_change(0, 0ms);
  CHECK(q->await_change(seen, 300ms) >= seen);
  const auto state = q->look([&](const auto& s) { return s.entries.at(runs).state; });
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, was);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == error_kind::io);
  CHECK(state == entry_state::running);
  CHECK(q.await_end(runs).state == entry_state::succeeded);
  CHECK(q.await_end(q.submit(shell("true"))).state == entry_state::succeeded);
}

TEST_CASE(
    "queue head: what can never run is refused, and nothing of its batch is taken") {
  const scratch_folder folder;
  queue_rules rules;
  rules.quotas["bob"] = 1;
  const served_queue q(folder.path(), 2, rules);
  const auto refusal = [&](queue_submission s) {
    const auto taken = q->submit({shell("true"), std::move(s)});
    REQUIRE_FALSE(taken);
    CHECK(taken.error().kind == error_kind::invalid_input);
    return taken.error().message;
  };
  auto s = shell("true");
  s.slots = 3;
  CHECK(refusal(s) == "it wants 3 slots, and this server has 2");
  s.slots = 1;
  s.device = "cuda";
  CHECK(refusal(s) == "it wants 1 cuda slot, and this server has 0");
  s = shell("true", "bob");
  s.slots = 2;
  CHECK(refusal(s) == "it wants 2 slots, and bob may have 1");
  s = shell("true");
  s.after = {1};
  CHECK(refusal(s) == "there is no #1 to come after");
  s = shell("true");
  s.directory = "here";
  CHECK(refusal(s) == "the directory is no absolute path");
  s = shell("true");
  s.name = "\x1b[2J";
  CHECK(refusal(s) == "--name has a control character");
  s = {.user = "ann",
       .kind = entry_kind::run,
       .words = {"x.toml", "--slots=2"},
       .directory = "/"};
  CHECK_THAT(refusal(s), Catch::Contains("clade submit --slots N"));
  CHECK(q->look([](const queue_state& state) { return state.last_id(); }) == 0);
}

TEST_CASE("queue head: ten thousand that wait are taken and listed") {
  const scratch_folder folder;
  const served_queue q(folder.path(), 1);
  q.await_running(q.submit(shell("exec sleep 1000")));
  for (int batch = 0; batch < 10; ++batch)
    REQUIRE(q->submit(std::vector<queue_submission>(1000, shell("true"))));
  CHECK(q->look([](const queue_state& s) { return s.waiting.size(); }) == 10'000);
}

TEST_CASE("queue head: what waits of a user, and comes before an entry, has bounds") {
  const scratch_folder folder;
  const served_queue q(folder.path(), 0, {.most_waiting = 3});
  REQUIRE(q->submit(std::vector<queue_submission>(3, shell("true"))));
  CHECK(q->submit({shell("true")}).error().kind == error_kind::conflict);
  CHECK(q->submit({shell("true", "bob")}));
  auto s = shell("true", "eve");
  s.after.assign(10'001, 1);
  CHECK_THAT(q->submit({s}).error().message,
             Catch::StartsWith("it comes after 10001 entries"));
  REQUIRE(q->cancel(1, "ann"));
  CHECK(q->submit({shell("true")}));
}
