#include "engine/store/sqlite/run_lock.hpp"
#include "engine/telemetry/feeds/json.hpp"
#include "engine/telemetry/feeds/live_feed.hpp"
#include "engine/telemetry/feeds/replay_feed.hpp"
#include "engine/telemetry/picture/stored_picture.hpp"
#include "engine/telemetry/socket/publisher.hpp"
#include "engine/telemetry/socket/subscription.hpp"
#include "tests/engine/telemetry/watched_run.hpp"
#include "tests/support/scratch.hpp"

#include <nlohmann/json.hpp>

using namespace clade;
using namespace std::chrono_literals;

namespace {

/// A run's folder with a store that is written, and its publisher.
struct live_run {
  scratch_folder folder;
  std::filesystem::path file = folder.path() / "run.db";
  std::vector<record> records = test::watched_run("generational", 1).records;
  std::optional<store> writer;
  std::unique_ptr<publisher> out;
  std::size_t written = 0;
  int queued_messages = publisher_params{}.queued_messages;
  std::vector<kept_picture> kept; ///< The pictures of the publisher's thread.

  explicit live_run(std::size_t first) {
    auto made = store::create(file);
    REQUIRE(made);
    writer = std::move(*made);
    append(first);
    publish();
  }

  void publish() {
    auto started = publisher::start({.name = "watched",
                                     .store_file = file,
                                     .folder = folder.path() / live_folder_name,
                                     .keep = [this](auto p) { kept.push_back(p); },
                                     .keep_records = 10,
                                     .queued_messages = queued_messages},
                                    *writer);
    REQUIRE(started);
    out = std::move(*started);
  }

  /// Up to `last`, and shows it.
  void append(std::size_t last) {
    const auto all = test::entries_of(records);
    auto entries = std::make_shared<const std::vector<entry>>(
        all.begin() + static_cast<std::ptrdiff_t>(written),
        all.begin() + static_cast<std::ptrdiff_t>(last));
    const auto at = writer->append(*entries);
    REQUIRE(at);
    CHECK(at->sequence == written + 1);
    written = last;
    if (out)
      out->publish(recorded{at->sequence, at->unix_ms, entries});
  }
};

/// Waits until the feed has folded so many.
void await(feed& f, std::uint64_t sequence, std::vector<news>& came) {
  const auto patience = std::chrono::steady_clock::now() + 10s;
  while (f.picture().sequence < sequence && std::chrono::steady_clock::now() < patience) {
    auto more = f.wait(100ms);
    REQUIRE(more);
    std::ranges::move(*more, std::back_inserter(came));
  }
  REQUIRE(f.picture().sequence == sequence);
}

std::size_t records_in(const std::vector<news>& came) {
  return static_cast<std::size_t>(std::ranges::count_if(
      came, [](const news& n) { return std::holds_alternative<record_event>(n); }));
}

} // namespace

TEST_CASE("feed: each state has a text, by which it is known") {
  for (const auto* text :
       {"live", "not connected", "replay", "running", "stopped", "finished"})
    CHECK(to_text(parse_feed_state(text).value()) == std::string_view(text));
  CHECK_FALSE(parse_feed_state("asleep"));
  for (const auto s :
       {run_standing::running, run_standing::stopped, run_standing::finished})
    CHECK(to_text(feed_state_of(s)) == std::string_view(to_text(s)));
}

TEST_CASE("feed: it follows a head record by record, and then the store") {
  live_run run(10);
  auto opened = open_feed(run.file);
  REQUIRE(opened);
  auto& f = **opened;
  CHECK(f.showing() == feed_state::live);
  CHECK(f.name() == "watched");
  CHECK(f.picture().sequence == 10);
  std::vector<news> came;
  for (const std::size_t last : {11, 12, 40}) {
    run.append(last);
    await(f, last, came);
  }
  CHECK(records_in(came) == 30);
  const auto one = f.candidate(1);
  REQUIRE(one);
  CHECK(one->born.id == 1);
  CHECK_FALSE(f.candidate(1'000'000));
  const auto rows = f.candidates(2, 3);
  REQUIRE(rows);
  REQUIRE(rows->size() == 3);
  CHECK(rows->front().line.id == 3);
  CHECK(rows->front().born_sequence > 0);
  // The rest is never sent, because the head ends at once.
  run.out.reset();
  run.append(run.records.size());
  run.writer.reset();
  await(f, run.records.size(), came);
  CHECK(records_in(came) == run.records.size() - 10);
  CHECK(f.showing() == feed_state::finished);
  CHECK(f.candidates(0, 1000)->size() == f.picture().born);
}

TEST_CASE("feed: it goes over to the next head") {
  live_run run(10);
  run.out.reset();
  run.writer.reset();
  auto opened = open_feed(run.file);
  REQUIRE(opened);
  auto& f = **opened;
  CHECK(f.showing() == feed_state::stopped);
  auto again = store::open(run.file);
  REQUIRE(again);
  run.writer = std::move(*again);
  run.publish();
  run.append(20);
  std::vector<news> came;
  await(f, 20, came);
  CHECK(f.showing() == feed_state::live);
}

TEST_CASE("feed: one that lost records takes the picture anew") {
  live_run run(10);
  run.out.reset();
  run.queued_messages = 1;
  run.publish();
  auto opened = open_feed(run.file);
  REQUIRE(opened);
  std::vector<news> came;
  // All at once, which is more than one.
  run.append(run.records.size());
  await(**opened, run.records.size(), came);
  CHECK(records_in(came) < run.records.size() - 10);
  CHECK(std::ranges::any_of(
      came, [](const news& n) { return std::holds_alternative<restarted>(n); }));
  digest all;
  for (const auto& r : run.records)
    all.add(r);
  CHECK((*opened)->picture().digest == all);
}

TEST_CASE("publisher: the picture is kept now and then, and at the end") {
  live_run run(10);
  auto opened = open_feed(run.file);
  REQUIRE(opened);
  std::vector<news> came;
  for (const std::size_t last : {15, 30, 31}) {
    run.append(last);
    await(**opened, last, came);
  }
  run.append(33);
  run.out.reset();
  std::vector<std::uint64_t> sequences;
  for (const auto& p : run.kept)
    sequences.push_back(p.sequence);
  CHECK(sequences == std::vector<std::uint64_t>{30, 33});
  const auto folded = read_picture(*run.writer);
  REQUIRE(folded);
  CHECK(run.kept.back().data == to_keep(*folded).data);
}

TEST_CASE("publisher: a head that adds nothing keeps nothing anew") {
  live_run run(10);
  run.out.reset();
  CHECK(run.kept.empty());
}

TEST_CASE("publisher: garbage is answered and changes nothing") {
  live_run run(10);
  auto opened = subscription::open(run.folder.path() / live_folder_name);
  REQUIRE(opened);
  const auto rows = (*opened)->ask(rows_request{.after = 0, .count = 1'000'000'000}, 5s);
  REQUIRE(rows);
  CHECK(decode_rows_answer(*rows));
  const auto unknown = (*opened)->ask(candidate_request{77'777}, 5s);
  REQUIRE(unknown);
  CHECK_THAT(decode_candidate_answer(*unknown).error().message,
             Catch::Contains("no candidate #77777"));
  CHECK_FALSE(decode_snapshot(*unknown));
}

TEST_CASE("publisher: its sockets are found in however deep a folder") {
  const scratch_folder folder;
  auto deep = folder.path();
  for (int i = 0; i < 12; ++i)
    deep /= "a-folder-with-a-long-name";
  std::filesystem::create_directories(deep);
  auto made = store::create(deep / "run.db");
  REQUIRE(made);
  REQUIRE(made->append(test::entries_of(test::watched_run("random", 1).records)));
  const auto out = publisher::start(
      {.name = "deep", .store_file = deep / "run.db", .folder = deep / live_folder_name},
      *made);
  REQUIRE(out);
  CHECK((std::filesystem::status(deep / live_folder_name).permissions()
         & std::filesystem::perms::mask)
        == std::filesystem::perms::owner_all);
  const auto f = open_feed(deep / "run.db");
  REQUIRE(f);
  CHECK((*f)->showing() == feed_state::live);
}

TEST_CASE("feed: every record and the picture are JSON") {
  live_run run(1);
  auto opened = open_feed(run.file);
  REQUIRE(opened);
  std::vector<news> came;
  run.append(run.records.size());
  await(**opened, run.records.size(), came);
  const auto& p = (*opened)->picture();
  const auto picture = nlohmann::json::parse(to_json(p, "watched", feed_state::live));
  CHECK(picture["born"] == p.born);
  CHECK(picture["generations"].size() == 6);
  std::size_t born = 0;
  for (const auto& n : came) {
    const auto one = nlohmann::json::parse(to_json(n, p));
    born += one["event"] == "born" ? 1 : 0;
  }
  CHECK(born == p.born);
  const auto rows = (*opened)->candidates(0, 10);
  REQUIRE(rows);
  const auto table = nlohmann::json::parse(to_json(*rows));
  CHECK(table["rows"].size() == 10);
  CHECK(table["rows"][0].size() == table["columns"].size());
}

TEST_CASE("replay: generations come as they came, from the one that is asked for") {
  live_run run(1);
  run.append(run.records.size());
  run.out.reset();
  run.writer.reset();
  const auto infinite = std::numeric_limits<double>::infinity();
  auto opened = open_replay_feed(run.file, {.from = 2, .to = 3, .speed = infinite});
  REQUIRE(opened);
  auto& f = **opened;
  CHECK(f.showing() == feed_state::replay);
  CHECK(f.picture().generations.size() == 2);
  CHECK(f.picture().born == 16);
  // A candidate that was not born yet is not to be seen.
  CHECK(f.candidates(0, 1000)->size() == 16);
  CHECK_FALSE(f.candidate(17));
  std::vector<news> came;
  while (f.showing() == feed_state::replay) {
    auto more = f.wait(1s);
    REQUIRE(more);
    std::ranges::move(*more, std::back_inserter(came));
  }
  CHECK(f.showing() == feed_state::finished);
  CHECK(f.picture().generations.size() == 4);
  std::vector<record> shown;
  for (const auto& n : came)
    shown.push_back(std::get<record_event>(n).record);
  const auto first = run.records.begin()
                     + static_cast<std::ptrdiff_t>(f.picture().sequence)
                     - static_cast<std::ptrdiff_t>(shown.size());
  for (std::size_t i = 0; i < shown.size(); ++i)
    CHECK(encode(shown[i]) == encode(*(first + static_cast<std::ptrdiff_t>(i))));
}

TEST_CASE("feed: a stored run takes notes and tags and no orders, and tells of them") {
  live_run run(1);
  run.append(run.records.size());
  run.out.reset();
  run.writer.reset();
  auto opened = open_feed(run.file);
  REQUIRE(opened);
  auto& f = **opened;
  CHECK_FALSE(f.takes_orders());
  REQUIRE(f.takes_annotations());
  const auto before = f.picture().digest;
  const auto tell = [&](instruction_kind kind, candidate_id id, std::string text) {
    const auto told = f.tell(
        {.order = {.kind = kind, .number = id, .text = std::move(text)}, .who = "ada"});
    return told ? "" : told.error().message;
  };
  CHECK(tell(instruction_kind::hold, 0, "") == "no head is at work on this run");
  CHECK(tell(instruction_kind::tag, 2, "good").empty());
  auto came = f.wait(0ms);
  REQUIRE(came);
  REQUIRE(records_in(*came) == 1);
  const auto told = nlohmann::json::parse(to_json(came->front(), f.picture()));
  CHECK(told["event"] == "annotated");
  CHECK(told["id"] == 2);
  CHECK(told["tags"] == nlohmann::json{"good"});
  CHECK(tell(instruction_kind::tag, 2, "good") == "#2 has the tag good already");
  CHECK(tell(instruction_kind::note, 2, std::string(1 << 20, 'x'))
            .starts_with("a note has at most 2000 bytes"));
  CHECK(f.picture().digest == before);
  // A record that another process writes is seen as well.
  {
    auto other = store::open(run.file);
    REQUIRE(other);
    const entry note{
        operator_command{{.kind = instruction_kind::note, .text = "old"}, "bob"}, {}};
    REQUIRE(other->append({&note, 1}));
  }
  REQUIRE(f.wait(0ms));
  CHECK(f.picture().annotated.at(0).who == "bob");
}
