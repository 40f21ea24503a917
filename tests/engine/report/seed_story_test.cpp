#include "engine/report/base/json_parts.hpp"
#include "engine/report/base/seed_story.hpp"
#include "tests/engine/store/history.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <algorithm>
#include <set>

using namespace clade;
using namespace clade::test;

namespace {

candidate a_seed(candidate_id id, const std::string& name) {
  auto c = a_candidate(id);
  c.changes = {{.kind = change_kind::seeded, .name = name}};
  return c;
}

candidate a_child(candidate_id id, std::vector<candidate_id> parents) {
  auto c = a_candidate(id);
  c.generation = 1;
  c.parents = std::move(parents);
  c.changes = {{.kind = change_kind::widen, .gene = "n2", .before = "8", .after = "16"}};
  return c;
}

/// Continues the training of a candidate.
candidate trained_on(candidate_id id, const candidate& parent) {
  auto c = a_child(id, {parent.id});
  c.genome = parent.genome;
  c.network = parent.network;
  c.epochs = 9;
  c.start = parent.id;
  c.changes = {{.kind = change_kind::goes_on, .after = "9"}};
  return c;
}

std::optional<seed_story> told(const std::vector<entry>& entries) {
  const scratch_folder folder;
  const auto file = folder.path() / "run.db";
  write_store(file, entries);
  const auto story = tell_seeds(store::open_to_read(file).value());
  INFO((story ? "" : story.error().message));
  REQUIRE(story);
  return *story;
}

/// Two seeds and a random one, and their children: #4 of the second seed, #5 of the random
/// one, #6 the first seed trained on, #7 a cross of #4 and #6.
std::vector<entry> a_seeded_history() {
  return {{run_started{"0.1.0", "", 1, {}}, {}},
          born(a_seed(1, "small")),
          born(a_seed(2, "large")),
          born(a_candidate(3)),
          evaluated(an_evaluation(1, 0.5)),
          evaluated(an_evaluation(2, 0.6)),
          evaluated(an_evaluation(3, 0.4)),
          born(a_child(4, {2})),
          born(a_child(5, {3})),
          born(trained_on(6, a_seed(1, "small"))),
          evaluated(an_evaluation(4, 0.8)),
          evaluated(an_evaluation(5, 0.55)),
          evaluated(an_evaluation(6, 0.7)),
          born(a_child(7, {4, 6})),
          evaluated(an_evaluation(7, 0.9))};
}

} // namespace

TEST_CASE("seeds: the best seed, the best without one and the champion are told") {
  auto entries = a_seeded_history();
  const auto going_on = told(entries);
  REQUIRE(going_on);
  CHECK(seed_words(*going_on, "validation.accuracy")
        == "The search began with 2 seeds; 3 of 5 other candidates descend "
           "from them. The best seed itself is small (#6) with validation.accuracy "
           "0.7000; the best candidate that descends from no seed, #5, has 0.5500. The "
           "best so far, #7, descends from the seeds small and large.");
  entries.push_back({run_finished{7, {}}, {}});
  const auto finished = told(entries);
  REQUIRE(finished);
  CHECK(seed_words(*finished, "score")
            .ends_with(" The champion #7 descends from the seeds small and large."));
  const auto json = seeds_json(finished);
  CHECK(json.dump()
        == R"({"seeds":2,"descendants":3,"candidates":7,)"
           R"("best_seed":{"id":6,"name":"small","fitness":0.7},)"
           R"("best_other":{"id":5,"fitness":0.55},)"
           R"("champion":{"id":7,"is":null,"descends_from":["small","large"]}})");
}

TEST_CASE("seeds: a champion may be a seed, or have nothing to do with any") {
  auto entries = a_seeded_history();
  entries.resize(7);
  auto story = told(entries);
  REQUIRE(story);
  CHECK(seed_words(*story, "score").ends_with("The best so far, #2, is the seed large."));
  entries.push_back(born(a_child(4, {3})));
  entries.push_back(evaluated(an_evaluation(4, 0.9)));
  story = told(entries);
  REQUIRE(story);
  CHECK(seed_words(*story, "score")
            .ends_with("The best so far, #4, descends from no seed."));
  CHECK(seeds_json(story)["champion"]["descends_from"].empty());
}

TEST_CASE("seeds: a run without seeds has nothing to tell, one without results little") {
  CHECK_FALSE(told(a_history()));
  CHECK(seeds_json(told(a_history())).is_null());
  const auto story =
      told({{run_started{"0.1.0", "", 1, {}}, {}}, born(a_seed(1, "small"))});
  REQUIRE(story);
  CHECK(seed_words(*story, "score")
        == "The search began with 1 seed; 0 of 0 other candidates descend "
           "from it. No seed itself succeeded.");
  CHECK(seeds_json(story)["champion"].is_null());
}

TEST_CASE("seeds: descent is what following all parents back to the first finds") {
  REQUIRE(rc::check("any forest", [] {
    const auto count = *rc::gen::inRange<candidate_id>(1, 12);
    std::vector<entry> entries{{run_started{"0.1.0", "", 1, {}}, {}}};
    std::vector<std::set<candidate_id>> seeds_of(count + 1);
    std::uint64_t seeds = 0, descendants = 0;
    for (candidate_id id = 1; id <= count; ++id) {
      const auto parents = *rc::gen::inRange(0, id == 1 ? 1 : 3);
      if (parents == 0 && *rc::gen::arbitrary<bool>()) {
        entries.push_back(born(a_seed(id, std::to_string(id))));
        seeds_of[id].insert(id);
        ++seeds;
        continue;
      }
      std::set<candidate_id> drawn;
      for (int i = 0; i < parents; ++i)
        drawn.insert(*rc::gen::inRange<candidate_id>(1, id));
      for (const auto parent : drawn)
        seeds_of[id].insert(seeds_of[parent].begin(), seeds_of[parent].end());
      descendants += seeds_of[id].empty() ? 0 : 1;
      entries.push_back(born(a_child(id, {drawn.begin(), drawn.end()})));
    }
    // The fitness rises with the number.
    for (candidate_id id = 1; id <= count; ++id)
      entries.push_back(evaluated(an_evaluation(id, 0.01 * static_cast<double>(id))));
    const auto story = told(entries);
    RC_ASSERT(story.has_value() == (seeds > 0));
    if (!story)
      return;
    RC_ASSERT(story->seeds == seeds);
    RC_ASSERT(story->descendants == descendants);
    RC_ASSERT(story->candidates == count);
    std::vector<std::string> from;
    for (const auto seed : seeds_of[count])
      from.push_back(std::to_string(seed));
    RC_ASSERT(story->champion == count);
    RC_ASSERT(story->champion_from == from);
    candidate_id best_other = 0;
    for (candidate_id id = 1; id <= count; ++id)
      best_other = seeds_of[id].empty() ? id : best_other;
    RC_ASSERT((story->best_other ? story->best_other->id : 0) == best_other);
  }));
}

TEST_CASE("seed story: a seed that was trained to the end is no further candidate") {
  auto history = a_seeded_history();
  auto again = trained_on(8, a_seed(1, "small"));
  again.changes = {{.kind = change_kind::trained_to_end,
                    .before = "without fold 1 of 5",
                    .after = "30"}};
  const auto before = told(history);
  history.push_back(born(again));
  history.push_back(evaluated(an_evaluation(8, 0.99)));
  const auto story = told(history);
  REQUIRE(story);
  CHECK(story->candidates == before->candidates);
  REQUIRE(story->best_seed);
  CHECK(story->best_seed->id == 6);
}
