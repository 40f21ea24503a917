#include "engine/store/sqlite/run_folder.hpp"
#include "engine/telemetry/feeds/remote_feed.hpp"
#include "engine/telemetry/socket/publisher.hpp"
#include "tests/engine/telemetry/watched_run.hpp"
#include "tests/support/scratch.hpp"

#include <atomic>

using namespace clade;
using namespace std::chrono_literals;

namespace {

/// A stored run with a publisher that can be reached by keys.
struct published_run {
  scratch_folder folder;
  std::filesystem::path file = folder.path() / store_file_name;
  std::optional<store> writer;
  std::unique_ptr<publisher> out;
  std::uint16_t port = 0;
  std::atomic<int> refusals = 0;
  std::vector<operator_command> told;
  std::vector<entry> entries = test::entries_of(test::watched_run("random", 1).records);

  /// All but the last records.
  explicit published_run(std::size_t left = 0) {
    std::filesystem::create_directories(folder.path() / "authority");
    write_text(folder.path() / "authority" / "key.pem", "x");
    auto made = store::create(file);
    REQUIRE(made);
    writer = std::move(*made);
    REQUIRE(writer->append(std::span(entries).first(entries.size() - left)));
  }

  /// On ports that are free, or where it was.
  void publish() {
    const publisher_params params{
        .name = "watched",
        .store_file = file,
        .folder = folder.path() / live_folder_name,
        .obey =
            [this](const operator_command& t) {
              told.push_back(t);
              return std::string();
            },
        .remote = remote_place{.host = "127.0.0.1", .authority = folder.path()},
        .say = [this](const std::string&) { ++refusals; }};
    for (port = std::max<std::uint16_t>(port, 23'000); port < 32'000;
         port += ports_of_a_publisher) {
      auto here = params;
      here.remote->port = port;
      auto started = publisher::start(here, *writer);
      if (started) {
        out = std::move(*started);
        return;
      }
      REQUIRE(started.error().kind == error_kind::conflict);
    }
    FAIL("no three ports are free");
  }

  remote_head seen_by(const new_viewer& viewer) {
    const auto keys = make_viewer(folder.path(), viewer).and_then(read_viewer_bundle);
    REQUIRE(keys);
    return {.host = "127.0.0.1", .port = port, .keys = *keys};
  }
};

} // namespace

TEST_CASE("remote feed: who has a key sees the run and its candidates") {
  published_run run;
  run.publish();
  const auto opened = open_remote_feed(run.seen_by({.name = "ann"}));
  REQUIRE(opened);
  CHECK((*opened)->name() == "watched");
  CHECK((*opened)->picture().sequence == run.writer->size());
  CHECK((*opened)->candidate(1)->born.id == 1);
  CHECK((*opened)->candidates(0, 3)->size() == 3);
}

TEST_CASE("remote feed: only who has the right controls the run, under its own name") {
  published_run run;
  run.publish();
  const operator_command order{.order = {.kind = instruction_kind::hold}, .who = "root"};
  const auto bob = open_remote_feed(run.seen_by({.name = "bob"}));
  const auto ann = open_remote_feed(run.seen_by({.name = "ann", .controls = true}));
  REQUIRE(bob);
  REQUIRE(ann);
  const auto refused = (*bob)->tell(order);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == error_kind::refused);
  CHECK(run.refusals > 0);
  REQUIRE((*ann)->tell(order));
  run.out.reset();
  REQUIRE(run.told.size() == 1);
  CHECK(run.told.front().who == "ann");
}

TEST_CASE("remote feed: keys that are wrong and nobody at all are told apart") {
  published_run run;
  run.publish();
  auto unknown = run.seen_by({.name = "gone"});
  std::filesystem::remove(run.folder.path() / "authority" / "viewers" / "gone");
  CHECK(open_remote_feed(unknown).error().kind == error_kind::refused);
  CHECK(run.refusals > 0);
  auto foreign = run.seen_by({.name = "eve"});
  foreign.keys.publisher = foreign.keys.own.public_key;
  CHECK_THAT(open_remote_feed(foreign).error().message,
             Catch::Contains("these are not keys of that run's authority"));
  run.out.reset();
  CHECK(open_remote_feed(run.seen_by({.name = "late"})).error().kind
        == error_kind::not_found);
}

TEST_CASE("remote feed: it says that nothing is heard, and comes back") {
  published_run run(1);
  run.publish();
  const auto opened = open_remote_feed(run.seen_by({.name = "ann"}));
  REQUIRE(opened);
  auto& f = **opened;
  CHECK(f.showing() == feed_state::live);
  const auto wait_for = [&](feed_state showing) {
    for (int i = 0; i < 100 && f.showing() != showing; ++i)
      REQUIRE(f.wait(100ms));
    CHECK(f.showing() == showing);
  };
  run.out.reset();
  wait_for(feed_state::not_connected);
  CHECK(f.picture().sequence == run.entries.size() - 1);
  CHECK_FALSE(f.candidate(1));
  REQUIRE(run.writer->append(std::span(run.entries).last(1)));
  run.publish();
  wait_for(feed_state::finished);
  CHECK(f.picture().sequence == run.entries.size());
}
