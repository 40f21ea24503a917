#include "engine/run/state/run_state.hpp"
#include "engine/search/strategies/registry/registry.hpp"
#include "engine/search/strategies/rungs/multi_fidelity.hpp"
#include "engine/search/strategies/sampling/surrogate_assisted.hpp"
#include "tests/engine/search/toy_world.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

run_rules four_a_generation(const std::string& strategy = "generational") {
  auto rules = toy_rules(strategy);
  rules.evolution.population = 4;
  return rules;
}

record start() {
  return run_started{.version = "0", .seed = 1};
}

record birth(candidate_id id) {
  return candidate_born{a_candidate(id, static_cast<std::int64_t>(id))};
}

record success(candidate_id id, double accuracy) {
  return candidate_evaluated{a_success(id, accuracy)};
}

run_state with_two_born() {
  return fold(four_a_generation(), {start(), birth(1), birth(2)});
}

/// Applies a record that does not fit, and sees that it changed nothing.
std::string refusal(run_state& state, const record& r) {
  const auto before = to_text(state) + to_text(state.digest);
  const auto applied = clade::apply(state, r);
  REQUIRE_FALSE(applied);
  CHECK(applied.error().kind == error_kind::corrupt);
  CHECK(to_text(state) + to_text(state.digest) == before);
  return applied.error().message;
}

std::string refusal(run_state&& state, const record& r) {
  return refusal(state, r);
}

record changed_birth(candidate_id id, const std::function<void(candidate&)>& change) {
  auto c = a_candidate(id, static_cast<std::int64_t>(id));
  change(c);
  return candidate_born{c};
}

} // namespace

TEST_CASE("run state: a run begins with its start and begins once") {
  CHECK_THAT(refusal(fold(four_a_generation(), {}), birth(1)),
             Catch::Contains("a run begins with its start"));
  CHECK_THAT(refusal(with_two_born(), start()), Catch::Contains("started already"));
  CHECK_THAT(
      refusal(fold(four_a_generation(), {}), run_started{.version = "0", .seed = 2}),
      Catch::Contains("the experiment has the seed 1"));
}

TEST_CASE("run state: a birth that nobody asked for is refused") {
  CHECK_THAT(refusal(with_two_born(), birth(2)), Catch::Contains("next is #3"));
  CHECK_THAT(refusal(with_two_born(), birth(4)), Catch::Contains("next is #3"));
  CHECK_THAT(
      refusal(with_two_born(), changed_birth(3, [](candidate& c) { c.index = 0; })),
      Catch::Contains("generation 0, index 2"));
  CHECK_THAT(
      refusal(with_two_born(), changed_birth(3, [](candidate& c) { c.parents = {1}; })),
      Catch::Contains("its parents are none"));
  CHECK_THAT(refusal(with_two_born(),
                     changed_birth(3, [](candidate& c) { c.genome = nullptr; })),
             Catch::Contains("no genome"));
  CHECK_THAT(
      refusal(with_two_born(), changed_birth(3, [](candidate& c) { c.network.low = 1; })),
      Catch::Contains("its network equals that of #1"));
  CHECK_THAT(
      refusal(with_two_born(), changed_birth(3, [](candidate& c) { c.equal_to = 1; })),
      Catch::Contains("no network before equals it"));
  auto full =
      fold(four_a_generation(), {start(), birth(1), birth(2), birth(3), birth(4)});
  CHECK_THAT(refusal(full, birth(5)), Catch::Contains("no candidate is asked for"));
}

TEST_CASE("run state: an evaluation counts once and only of an open candidate") {
  CHECK_THAT(refusal(with_two_born(), success(3, 0.5)), Catch::Contains("not open"));
  auto state = with_two_born();
  REQUIRE(clade::apply(state, success(1, 0.5)));
  CHECK_THAT(refusal(state, success(1, 0.6)), Catch::Contains("not open"));
  CHECK_THAT(refusal(state, candidate_evaluated{copy_for(2, a_success(1, 0.5))}),
             Catch::Contains("cannot be a copy of #1"));
}

TEST_CASE("run state: a copy before its original is refused") {
  auto equal = a_candidate(3, 2);
  equal.equal_to = 2;
  auto state =
      fold(four_a_generation(), {start(), birth(1), birth(2), candidate_born{equal}});
  CHECK_THAT(refusal(state, candidate_evaluated{copy_for(3, a_success(2, 0.5))}),
             Catch::Contains("cannot be a copy of #2"));
  REQUIRE(clade::apply(state, success(2, 0.5)));
  REQUIRE(clade::apply(state, candidate_evaluated{copy_for(3, a_success(2, 0.5))}));
}

TEST_CASE(
    "run state: a generation closes when complete and with the survivors of selection") {
  CHECK_THAT(refusal(with_two_born(), generation_closed{0, {}}),
             Catch::Contains("generation 0 is not complete"));
  auto state =
      fold(four_a_generation(),
           {start(), birth(1), birth(2), birth(3), birth(4), success(1, 0.1),
            success(2, 0.2), success(3, 0.3), candidate_evaluated{a_failure(4)}});
  CHECK_THAT(refusal(state, generation_closed{0, {1, 2, 3}}),
             Catch::Contains("the survivors are #3 #2 #1"));
  CHECK_THAT(refusal(state, generation_closed{1, {3, 2, 1}}),
             Catch::Contains("generation 0 is next"));
  REQUIRE(clade::apply(state, generation_closed{0, {3, 2, 1}}));
  CHECK_THAT(refusal(state, generation_closed{0, {3, 2, 1}}),
             Catch::Contains("not complete"));
}

TEST_CASE("run state: the end needs a search that is over and its champion") {
  CHECK_THAT(refusal(with_two_born(), run_finished{}),
             Catch::Contains("the search is not over"));
  const auto whole = simulate(toy_simulation(toy_rules("random")));
  auto state =
      fold(toy_rules("random"), {whole.records.begin(), whole.records.end() - 1});
  CHECK_THAT(refusal(state, run_finished{}), Catch::Contains("the champion is #"));
  REQUIRE(clade::apply(state, whole.records.back()));
  CHECK_THAT(refusal(state, run_finished{}), Catch::Contains("the run is finished"));
  CHECK(clade::apply(state, run_resumed{"0"}));
}

TEST_CASE("run state: observations change neither the search nor the digest") {
  auto state = with_two_born();
  const auto before = to_text(state) + to_text(state.digest);
  for (const record& r : std::vector<record>{run_paused{"interrupted"}, run_resumed{"0"},
                                             attempt_failed{1, 1, "node1/cpu:0", "lost"},
                                             slot_changed{"node1/cpu:0", true, ""}})
    REQUIRE(clade::apply(state, r));
  CHECK(to_text(state) + to_text(state.digest) == before);
}

TEST_CASE("run state: after a resume earlier failures say nothing of what is to come") {
  std::vector<record> records{start()};
  for (candidate_id id = 1; id <= 4; ++id)
    records.push_back(birth(id));
  for (candidate_id id = 1; id <= 4; ++id)
    records.push_back(candidate_evaluated{
        {.id = id, .outcome = outcome::crashed, .reason = "no such folder"}});
  auto state = fold(four_a_generation(), records);
  CHECK(state.failures.all() == 4);
  REQUIRE(clade::apply(state, run_resumed{"0"}));
  CHECK(state.failures.all() == 0);
}

TEST_CASE("run state: its text shows counts and the best and parents and what is open") {
  auto state = fold(four_a_generation(),
                    {start(), birth(1), birth(2), birth(3), birth(4), success(2, 0.25),
                     candidate_evaluated{a_failure(4)}, success(1, 0.5), success(3, 0.75),
                     generation_closed{0, {3, 1, 2}}});
  auto child = a_candidate(5, 5);
  const auto order = state.search->ask().front();
  child.generation = 1;
  child.index = 0;
  for (const auto& p : order.parents)
    child.parents.push_back(p.id);
  REQUIRE(clade::apply(state, candidate_born{child}));
  CHECK(to_text(state)
        == "5 born, 4 evaluated, 1 failed, generation 1\n"
           "best: #3=0.75 #1=0.5 #2=0.25\n"
           "parents: #3=0.75 #1=0.5 #2=0.25\n"
           "open: #5\n");
}

TEST_CASE("run state: a generation is summed up over those that succeeded") {
  auto state = fold(four_a_generation(),
                    {start(), birth(1), birth(2), birth(3), birth(4), success(2, 0.25),
                     candidate_evaluated{a_failure(4)}, success(1, 0.5), success(3, 1.0),
                     generation_closed{0, {3, 1, 2}}});
  REQUIRE(state.generations.size() == 1);
  const auto& s = state.generations.front();
  CHECK(s.best == 3);
  CHECK(s.best_fitness == 1.0);
  CHECK(s.lower_quartile == 0.375);
  CHECK(s.median_fitness == 0.5);
  CHECK(s.upper_quartile == 0.75);
  CHECK(s.succeeded == 3);
  CHECK(s.failed == 1);
}

TEST_CASE("run state: a summary shows a metric to be lowered as it is") {
  auto rules = four_a_generation("random");
  rules.evolution.population = 2;
  rules.objective = {.metric = "validation.loss", .maximize = false};
  const auto lost = [](candidate_id id, double loss) {
    auto e = a_success(id, 0.5);
    e.metrics.push_back({"validation.loss", loss});
    return candidate_evaluated{e};
  };
  auto state = fold(rules, {start(), birth(1), birth(2), lost(1, 3), lost(2, 1),
                            generation_closed{0, {2, 1}}});
  const auto& s = state.generations.front();
  CHECK(s.best == 2);
  CHECK(s.best_fitness == 1);
  CHECK(s.lower_quartile == 1.5);
  CHECK(s.upper_quartile == 2.5);
}

TEST_CASE("run state: summaries do not depend on the order of results") {
  for (const auto* strategy : {"generational", "regularized", "random"}) {
    INFO(strategy);
    const auto straight = simulate(toy_simulation(toy_rules(strategy)));
    auto mixed = toy_simulation(toy_rules(strategy));
    mixed.pick = shuffled(11);
    const auto other = simulate(mixed);
    REQUIRE(straight.state.generations.size() == 6);
    for (std::size_t g = 0; g < 6; ++g) {
      const auto &a = straight.state.generations[g], &b = other.state.generations[g];
      CHECK(a.best == b.best);
      CHECK(a.median_fitness == b.median_fitness);
      CHECK(a.upper_quartile == b.upper_quartile);
      CHECK(a.failed == b.failed);
    }
    CHECK(to_text(straight.state.best) == to_text(other.state.best));
    CHECK(straight.state.best_random->id == other.state.best_random->id);
  }
}

TEST_CASE("run state: the best few are kept and copies of them are not") {
  const auto run = simulate(toy_simulation(toy_rules("generational"), {.size = 30}));
  REQUIRE(run.state.best.size() == most_final_genomes);
  std::set<std::int64_t> numbers;
  for (std::size_t i = 0; i < run.state.best.size(); ++i) {
    CHECK(numbers.insert(toy_number(*run.state.best[i].genome)).second);
    if (i > 0)
      CHECK(fitter(run.state.best[i - 1], run.state.best[i]));
  }
  CHECK(run.state.finished->champion == run.state.best.front().id);
}

TEST_CASE("run state: the best random candidate is the best of generation 0") {
  const auto run = simulate(toy_simulation(toy_rules("generational")));
  REQUIRE(run.state.best_random);
  CHECK(run.state.best_random->id == run.state.generations.front().best);
  CHECK(run.state.best_random->id <= 8);
}

TEST_CASE("run state: which random candidate is best does not depend on who ends first") {
  for (const char* strategy : {"generational", "asha", "hyperband", "multi_fidelity"}) {
    INFO(strategy);
    auto s = toy_simulation(toy_rules(strategy));
    const auto in_order = simulate(s).state.best_random;
    REQUIRE(in_order);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      s.pick = shuffled(seed);
      const auto found = simulate(s).state.best_random;
      REQUIRE(found);
      CHECK(found->id == in_order->id);
      CHECK(found->epochs == in_order->epochs);
    }
  }
}

TEST_CASE("run state: genomes of the dead are held by nobody") {
  for (const auto& strategy : strategy_names()) {
    INFO(strategy);
    auto rules = toy_rules(strategy);
    const auto rungs = rules.evolution.rungs.size();
    // More than any model remembers.
    const std::size_t modelled = strategy == "surrogate" ? surrogate_assisted::most_known
                                 : strategy == "multi_fidelity"
                                     ? multi_fidelity::most_known * rungs
                                     : 0;
    rules.evolution.generations = 50 + modelled / 8;
    auto run = simulate(toy_simulation(rules));
    std::vector<std::weak_ptr<const genome>> genomes;
    for (const auto& r : run.records)
      if (const auto* b = std::get_if<candidate_born>(&r))
        genomes.push_back(b->born.genome);
    run.records.clear();
    std::size_t held = 0;
    for (const auto& g : genomes)
      held += g.expired() ? 0 : 1;
    CHECK(genomes.size() == 8 * rules.evolution.generations);
    // The last 3 x 8 of each rung are kept, and 4 of dehb's populations.
    const auto on_rungs = rungs * (3 * 8 + 4);
    CHECK(held <= modelled + 8 + 2 + most_final_genomes + 1 + on_rungs);
    CHECK(run.state.current.empty());
    CHECK(run.state.open.empty());
    CHECK(run.state.copies.empty());
  }
}
