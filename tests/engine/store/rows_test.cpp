#include "engine/store/run/rows.hpp"
#include "genome/variation/old_change_text.hpp"
#include "tests/engine/store/history.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>

using namespace clade;
using namespace clade::test;

namespace {

struct told_store {
  scratch_folder folder;
  std::filesystem::path file = folder.path() / "run.db";
  store s;

  told_store() : s(make(file)) {}

  static store make(const std::filesystem::path& file) {
    write_store(file, a_history());
    return store::open_to_read(file).value();
  }
};

} // namespace

TEST_CASE("rows: evaluations in the order of ids") {
  const told_store told;
  std::string text;
  REQUIRE(told.s.for_each_evaluation([&](const evaluation_row& e) {
    text += std::to_string(e.id) + (e.fitness ? "" : "!") + (e.copied ? "=" : "") + "@"
            + std::to_string(e.sequence) + " ";
  }));
  CHECK(text == "1@8 2@7 3!@9 4!@21 5@17 6=@18 ");
}

TEST_CASE("rows: children beside their fitter parents") {
  const told_store told;
  std::string text;
  REQUIRE(told.s.for_each_child([&](const child_row& c) {
    text += to_text(c.changes) + ": " + (c.fitness ? "" : "failed ")
            + std::to_string(c.parent_fitness.value()).substr(0, 3) + "\n";
  }));
  CHECK(text
        == "add dense(units=8): failed 0.7\n"
           "widen n2 16 -> 32: 0.7\n"
           "change nothing: 0.5\n");
}

TEST_CASE("rows: each candidate with each of its parents, and which seed it is") {
  auto entries = a_history();
  for (auto& e : entries)
    if (auto* birth = std::get_if<candidate_born>(&e.record);
        birth && birth->born.id == 2)
      birth->born.changes = {{.kind = change_kind::seeded, .name = "resnet"}};
  const scratch_folder folder;
  const auto file = folder.path() / "run.db";
  write_store(file, entries);
  std::string text;
  REQUIRE(store::open_to_read(file)->for_each_descent([&](const descent_row& d) {
    CHECK(d.network.size() == 32);
    text += std::to_string(d.id) + "<" + std::to_string(d.parent) + (d.fitness ? "" : "!")
            + d.seed + " ";
  }));
  CHECK(text == "1<0 2<0resnet 3<0! 4<2! 5<2 5<1 6<1 ");
}

TEST_CASE("rows: a child is compared with its parent after as many epochs") {
  const auto trained = [](candidate_id id, std::vector<candidate_id> parents,
                          const std::string& origin, std::uint32_t epochs,
                          candidate_id start) {
    auto c = a_candidate(id);
    c.parents = std::move(parents);
    c.changes = parse_old_change_text(origin);
    c.epochs = epochs;
    c.start = start;
    return born(c);
  };
  const scratch_folder folder;
  const auto file = folder.path() / "run.db";
  write_store(file, {a_history().front(), trained(1, {}, "random", 1, 0),
                     trained(2, {1}, "goes on to epoch 3", 3, 1),
                     trained(3, {2}, "widen n2 8 -> 16", 1, 0),
                     trained(4, {2}, "narrow n2 8 -> 4", 3, 0),
                     evaluated(an_evaluation(1, 0.1)), evaluated(an_evaluation(2, 0.3)),
                     evaluated(an_evaluation(3, 0.2)), evaluated(an_evaluation(4, 0.4))});
  const auto s = store::open_to_read(file).value();
  std::string text;
  REQUIRE(s.for_each_child([&](const child_row& c) {
    text += to_text(c.changes) + ": "
            + (c.parent_fitness ? std::to_string(*c.parent_fitness).substr(0, 3) : "-")
            + "\n";
  }));
  CHECK(text == "goes on to epoch 3: -\nwiden n2 8 -> 16: 0.1\nnarrow n2 8 -> 4: 0.3\n");
  const auto shown = s.find_overview(2).value();
  CHECK(shown.epochs == 3);
  CHECK(shown.start == 1);
}

TEST_CASE("rows: work of slots, without copies") {
  const told_store told;
  double seconds = 0;
  int count = 0;
  REQUIRE(told.s.for_each_work([&](const work_row& w) {
    CHECK(w.slot == "node1/cpu:0");
    CHECK(w.end_ms >= told.s.overview()->started_ms);
    seconds += w.seconds;
    ++count;
  }));
  CHECK(count == 5);
  CHECK(seconds == 2.5);
}

TEST_CASE("rows: failures alike are counted together") {
  const told_store told;
  const auto failures = told.s.failures(10).value();
  REQUIRE(failures.size() == 2);
  CHECK(failures[0].outcome == outcome::diverged);
  CHECK(failures[0].reason == "the loss is \"NaN\"");
  CHECK(failures[1].example == 4);
  CHECK(told.s.failures(1)->size() == 1);
  const auto lost = told.s.lost_attempts(10).value();
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].reason == "killed by signal 9");
  CHECK_FALSE(lost[0].outcome.has_value());
}

TEST_CASE("rows: a candidate's records as they are stored") {
  const told_store told;
  const auto records = told.s.records_of(4, 2).value();
  REQUIRE(records.size() == 2);
  CHECK(records[0].id == 4);
  CHECK(records[0].generation == 1);
  CHECK(records[0].born == encode(a_history()[13].record));
  CHECK(records[1].evaluated == encode(a_history()[16].record));
  CHECK(told.s.recorded_ms(1).value() == told.s.overview()->started_ms);
  CHECK(told.s.recorded_ms(99).error().kind == error_kind::corrupt);
}

TEST_CASE("rows: a store that is held does not move") {
  const scratch_folder folder;
  const auto file = folder.path() / "run.db";
  write_store(file, {born(a_candidate(1))});
  auto reader = store::open_to_read(file).value();
  REQUIRE(reader.hold());
  auto writer = store::open(file).value();
  const auto more = born(a_candidate(2));
  REQUIRE(writer.append({&more, 1}));
  CHECK(reader.overview()->born == 1);
  CHECK(store::open_to_read(file)->overview()->born == 2);
}
