#include "engine/store/run/overview.hpp"
#include "tests/engine/store/history.hpp"
#include "tests/support/scratch.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <catch2/catch.hpp>

using namespace clade;
using namespace clade::test;

namespace {

struct told_store {
  scratch_folder folder;
  std::filesystem::path file = folder.path() / "run.db";
  store s;

  explicit told_store(const std::vector<entry>& entries, const objective& goal = {})
      : s(store::create(file, goal).value()) {
    // One transaction each: what is counted in memory goes on over them.
    for (const auto& e : entries)
      REQUIRE(s.append({&e, 1}));
  }
};

/// Calls it with a store of these entries, once for each record after which a program could
/// have stopped: another one writes the rest.
template<class Check>
void with_each_stop(std::span<const entry> entries, Check check) {
  for (std::size_t stop = 0; stop <= entries.size(); ++stop) {
    const scratch_folder folder;
    const auto file = folder.path() / "run.db";
    {
      auto s = store::create(file);
      REQUIRE(s);
      REQUIRE(s->append(entries.first(stop)));
    }
    auto s = store::open(file);
    REQUIRE(s);
    REQUIRE(s->append(entries.subspan(stop)));
    check(*s);
  }
}

} // namespace

TEST_CASE("overview: a run in numbers") {
  const told_store told(a_history());
  const auto o = told.s.overview();
  REQUIRE(o);
  CHECK(o->goal.metric == "validation.accuracy");
  CHECK(o->version == "0.1.0");
  CHECK(o->experiment == "[experiment]\nname = \"x\"\n");
  CHECK(o->seed == ~0ULL);
  CHECK(o->state == stored_state::finished);
  CHECK(o->records == 23);
  CHECK(o->generation == 1);
  CHECK(o->born == 6);
  CHECK(o->evaluated == 6);
  CHECK(o->failed == 2);
  CHECK(o->training_seconds == 2.5);
  CHECK(o->best == 5);
  CHECK(o->best_fitness == 0.9);
  CHECK(o->champion == 5);
  CHECK(o->started_ms <= o->updated_ms);
}

TEST_CASE("overview: trainings to the end are told apart from those of the search") {
  const auto plain = told_store(a_history()).s.overview().value();
  CHECK(plain.final_trainings == 0);
  CHECK(plain.search_generations == 2);
  CHECK(told_store({}).s.overview()->search_generations == 0);
  std::vector<entry> entries;
  for (candidate_id id = 1; id <= 7; ++id) {
    auto c = a_candidate(id);
    c.generation = id / 2; // The last two have the trainings to the end.
    if (c.generation >= 2)
      c.changes = {{.kind = change_kind::trained_to_end, .after = "9"}};
    entries.push_back(born(c));
  }
  const auto o = told_store(entries).s.overview().value();
  CHECK(o.born == 7);
  CHECK(o.final_trainings == 4);
  CHECK(o.search_generations == 2);
}

TEST_CASE("overview: the last model that was put together on the way is found") {
  CHECK_FALSE(told_store(a_history()).s.find_interim_model().value());
  const model_composed first{.members = {{1, 1}}},
      second{.members = {{0, 0.5}, {2, 0.5}}};
  const told_store told({{run_started{}, {}},
                         {interim_composed{first}, blob(bytes("trees"))},
                         {interim_composed{second}, blob(bytes("other trees"))},
                         {run_paused{"later"}, {}}});
  const auto found = told.s.find_interim_model();
  REQUIRE(found);
  REQUIRE(*found);
  CHECK((*found)->members == second.members);
  CHECK(**told.s.find_weights(0)->load() == "other trees");
  CHECK_FALSE(told.s.find_final_model().value());
}

TEST_CASE("overview: the state follows the records") {
  const scratch_folder folder;
  auto s = store::create(folder.path() / "run.db");
  REQUIRE(s);
  CHECK(s->overview()->state == stored_state::created);
  const auto after = [&](record r) {
    const entry e{std::move(r), {}};
    REQUIRE(s->append({&e, 1}));
    const auto o = s->overview().value();
    return to_text(o.state) + (":" + o.reason);
  };
  CHECK(after(run_started{}) == "started:");
  CHECK(after(run_paused{"interrupted"}) == "paused:interrupted");
  CHECK(after(run_resumed{}) == "started:");
  CHECK(after(run_finished{}) == "finished:");
}

TEST_CASE("overview: a state that nobody knows is damage") {
  const scratch_folder folder;
  const auto file = folder.path() / "run.db";
  REQUIRE(store::create(file));
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE)
      .exec("update progress set state = 'asleep'");
  const auto s = store::open_to_read(file);
  REQUIRE(s);
  const auto o = s->overview();
  REQUIRE_FALSE(o);
  CHECK(o.error().kind == error_kind::corrupt);
}

TEST_CASE("overview: of an objective that is lowered the lowest is the best") {
  std::vector<entry> entries;
  for (candidate_id id = 1; id <= 3; ++id) {
    entries.push_back(born(a_candidate(id)));
    entries.push_back(evaluated(an_evaluation(id, 0.25 * static_cast<double>(id))));
  }
  const told_store told(entries, {.metric = "validation.loss", .maximize = false});
  CHECK(told.s.overview()->best == 3);
  CHECK(told.s.overview()->best_fitness == 0.25);
  CHECK(told.s.overview()->goal.maximize == false);
  CHECK(told.s.generations(0, 1)->front().best_fitness == 0.25);
  // The objective is the store's.
  CHECK(store::open_to_read(told.file)->overview()->goal.metric == "validation.loss");
}

TEST_CASE("overview: the best is the same after a stop at any record") {
  // Equal fitness: the lower loss decides, then the older.
  std::vector<entry> entries{born(a_candidate(1)), born(a_candidate(2)),
                             born(a_candidate(3))};
  auto worse = an_evaluation(1, 0.5), better = an_evaluation(2, 0.5),
       late = an_evaluation(3, 0.5);
  worse.metrics[1].value = 0.4;
  better.metrics[1].value = late.metrics[1].value = 0.3;
  for (const auto& e : {worse, late, better})
    entries.push_back(evaluated(e));
  with_each_stop(entries, [](store& s) {
    CHECK(s.overview()->best == 2);
    const auto generations = s.generations(0, 10).value();
    REQUIRE(generations.size() == 1);
    CHECK(generations[0].best == 2);
    CHECK(generations[0].born == 3);
    CHECK(generations[0].evaluated == 3);
  });
}

TEST_CASE("overview: generations from one on and so many of them") {
  const told_store told(a_history());
  const auto all = told.s.generations(0, 100);
  REQUIRE(all);
  REQUIRE(all->size() == 2);
  const auto& g = all->front();
  CHECK(g.generation == 0);
  CHECK(g.born == 3);
  CHECK(g.evaluated == 3);
  CHECK(g.failed == 1);
  CHECK(g.best == 2);
  CHECK(g.best_fitness == 0.7);
  CHECK(g.median == Approx(0.6));
  CHECK(g.lower_quartile == Approx(0.55));
  CHECK(g.upper_quartile == Approx(0.65));
  CHECK(g.training_seconds == 1.5);
  CHECK(g.closed_ms.has_value());
  CHECK(g.survivors == std::vector<candidate_id>{2, 1, 3});
  CHECK(told.s.generations(1, 100)->size() == 1);
  CHECK(told.s.generations(0, 1)->size() == 1);
  CHECK(told.s.generations(2, 100)->empty());
}

TEST_CASE("overview: a generation in progress has no survivors yet") {
  const told_store told(
      {born(a_candidate(1)), born(a_candidate(2)), evaluated(an_evaluation(2, 0.5))});
  const auto all = told.s.generations(0, 100).value();
  REQUIRE(all.size() == 1);
  CHECK(all[0].born == 2);
  CHECK(all[0].evaluated == 1);
  CHECK_FALSE(all[0].closed_ms.has_value());
  CHECK(all[0].survivors.empty());
}

TEST_CASE("overview: what is evaluated after its generation closed is counted in it") {
  auto entries = a_history();
  // Steady state: #3 comes late.
  std::rotate(entries.begin() + 8, entries.begin() + 9, entries.begin() + 10);
  const told_store told(entries);
  const auto all = told.s.generations(0, 1).value();
  CHECK(all[0].evaluated == 3);
  CHECK(all[0].failed == 1);
  CHECK(all[0].closed_ms.has_value());
  CHECK(all[0].survivors.size() == 3);
}

TEST_CASE("overview: the members of a generation in their order") {
  const told_store told(a_history());
  const auto members = told.s.members(1);
  REQUIRE(members);
  REQUIRE(members->size() == 3);
  const auto& failed = (*members)[0];
  CHECK(failed.id == 4);
  CHECK(failed.result == outcome::crashed);
  CHECK_FALSE(failed.fitness.has_value());
  CHECK(failed.reason == "killed two node processes");
  const auto& best = (*members)[1];
  CHECK(best.id == 5);
  CHECK(best.index == 1);
  CHECK(best.origin == "widen n2 16 -> 32");
  CHECK(best.parents == std::vector<candidate_id>{2, 1});
  CHECK(best.fitness == 0.9);
  CHECK(best.parameters == 500);
  CHECK((*members)[2].equal_to == 1);
}

TEST_CASE("overview: a candidate that is not evaluated has no result") {
  const told_store told({born(a_candidate(1))});
  const auto c = told.s.find_overview(1);
  REQUIRE(c);
  CHECK_FALSE(c->result.has_value());
  CHECK_FALSE(c->fitness.has_value());
}

TEST_CASE("overview: the nodes and what the test data said") {
  const told_store told(a_history());
  const auto nodes = told.s.nodes().value();
  REQUIRE(nodes.size() == 3);
  CHECK(nodes[2].slot == "node3/cpu:0");
  CHECK(nodes[2].reason == "connection lost");
  const auto examinations = told.s.examinations().value();
  REQUIRE(examinations.size() == 3);
  CHECK(examinations[0].subject == "champion");
  CHECK(examinations[2].metrics == std::vector<metric>{{"test.accuracy", 0.625}});
}

TEST_CASE("overview: before the end there are no examinations") {
  const told_store told({born(a_candidate(1))});
  CHECK(told.s.examinations()->empty());
}

TEST_CASE("overview: the whole objective is kept, and what it means for the best") {
  const objective goal{.metric = "validation.accuracy",
                       .others = {{"parameters", false}, {"validation.loss", false}},
                       .constraints = {{.metric = "parameters", .limit = 250},
                                       {"validation.loss", 0.1, false}}};
  std::vector<entry> entries;
  for (candidate_id id = 1; id <= 3; ++id) {
    entries.push_back(born(a_candidate(id)));
    auto e = an_evaluation(id, 0.25 * static_cast<double>(id));
    e.parameters = 100 * id;
    entries.push_back(evaluated(e));
  }
  const told_store told(entries, goal);
  CHECK(told.s.overview()->goal == goal);
  CHECK(told.s.overview()->best == 2); // #3 has too many parameters.
  CHECK(told.s.generations(0, 1)->front().best == 2);
  const auto rows = told.s.rows(0, 10);
  REQUIRE(rows.has_value());
  CHECK(rows->back().line.rank.violation == Approx(0.2));
  CHECK(rows->back().line.rank.objectives.size() == 3);
}

TEST_CASE("overview: folds are judged by other examples and are not the best") {
  auto fold = a_candidate(2);
  fold.fold = {.index = 0, .of = 2};
  const std::vector<entry> entries{
      {run_started{}, {}},   born(a_candidate(1)), evaluated(an_evaluation(1, 0.8)),
      {final_planned{}, {}}, born(fold),           evaluated(an_evaluation(2, 0.9))};
  with_each_stop(entries, [](store& s) {
    CHECK(s.overview()->best == 1);
    CHECK(s.overview()->evaluated == 2);
  });
}
