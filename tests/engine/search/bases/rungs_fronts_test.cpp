// Rungs and several objectives: who is promoted.
#include "engine/search/bases/rungs.hpp"
#include "engine/search/core/pareto.hpp"
#include "engine/search/strategies/registry/registry.hpp"
#include "tests/engine/search/toy_world.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <set>

using namespace clade;

namespace {

/// Its values are few, so that many are dominated, equal, or fail.
individual drawn(candidate_id id, std::uint32_t epochs, std::uint64_t seed) {
  auto random = derive(seed, purpose::synthetic, 0, id);
  individual i{
      .id = id, .genome = toy_genome(static_cast<std::int64_t>(id)), .epochs = epochs};
  if (random.chance(0.1))
    return i;
  const auto value = [&] { return static_cast<double>(random.below(6)); };
  i.fitness.ok = true;
  i.fitness.objectives = {value(), value()};
  i.fitness.primary = i.fitness.objectives[0];
  i.fitness.violation = random.chance(0.2) ? value() : 0;
  return i;
}

/// Whether one that is not promoted is ok and dominates this one.
bool is_passed_over(const individual& promoted, const std::vector<individual>& rung,
                    const std::set<candidate_id>& gone_on) {
  return std::ranges::any_of(rung, [&](const individual& other) {
    return !gone_on.contains(other.id) && other.fitness.ok
           && dominates(other.fitness, promoted.fitness);
  });
}

/// Runs a search in which one candidate is in flight at a time, and gives each promotion
/// and what was heard on its rung before, of the same generation or at all.
template<class Judge>
std::size_t each_promotion(const run_rules& rules, std::uint64_t seed, Judge judge) {
  const auto space = rules.space;
  const auto search = *make_strategy(rules.evolution, seed, space);
  const toy_world world;
  std::map<candidate_id, std::uint64_t> generation_of;
  std::vector<individual> heard;
  std::size_t promotions = 0;
  while (!search->finished()) {
    if (search->closing()) {
      search->close();
      continue;
    }
    const auto order = search->ask().front();
    auto c = world.breed(seed, order);
    if (order.how == breeding::kind::train_on) {
      judge(order, heard, generation_of);
      ++promotions;
    }
    search->born(c);
    generation_of[c.id] = c.generation;
    auto i = drawn(c.id, c.epochs, seed);
    i.genome = c.genome;
    heard.push_back(i);
    search->tell(i);
  }
  return promotions;
}

} // namespace

TEST_CASE("rungs: nobody is promoted before one who dominates it") {
  rc::check([](std::uint64_t seed) {
    evolution_params params{.population = 12, .rungs = {1, 3, 9}};
    params.reduction = *rc::gen::inRange<std::uint64_t>(2, 5);
    rung_ladder ladder(params);
    std::vector<individual> rung;
    std::set<candidate_id> gone_on;
    for (candidate_id id = 1; id <= 24; ++id) {
      rung.push_back(drawn(id, 1, seed));
      ladder.add(rung.back());
      while (const auto best = ladder.take_promotable(0, *params.reduction)) {
        RC_ASSERT(best->fitness.ok);
        RC_ASSERT(!is_passed_over(*best, rung, gone_on));
        RC_ASSERT(gone_on.insert(best->id).second);
      }
    }
  });
}

TEST_CASE("rungs: by one objective the order is that of fitness, whatever is drawn") {
  rc::check([](std::uint64_t seed) {
    evolution_params params{.population = 8, .rungs = {1, 3}};
    rung_ladder ladder(params);
    std::vector<individual> all;
    for (candidate_id id = 1; id <= 20; ++id) {
      auto i = drawn(id, 1, seed);
      i.fitness.objectives.clear();
      ladder.add(i);
      all.push_back(i);
      auto sorted = all;
      std::ranges::sort(sorted, fitter);
      RC_ASSERT(to_text(ladder.breeders()) == to_text(sorted));
      const auto place = std::ranges::find(sorted, i.id, &individual::id);
      RC_ASSERT(ladder.standing_of(i).better
                == static_cast<std::size_t>(place - sorted.begin()));
    }
  });
}

TEST_CASE("rungs: strategies promote nobody before one who dominates it") {
  for (const char* name : {"asha", "multi_fidelity", "successive_halving"})
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      INFO(name << ", seed " << seed);
      auto rules = toy_rules(name, seed);
      rules.evolution.population = 18;
      rules.evolution.generations = 3;
      rules.evolution.in_flight = 1;
      const bool by_generation = rules.evolution.strategy == "successive_halving";
      std::set<candidate_id> gone_on;
      // All of a generation are promoted at once: whoever goes on is known only then.
      std::vector<breeding> orders;
      std::vector<std::vector<individual>> rungs;
      const auto promotions = each_promotion(
          rules, seed,
          [&](const breeding& order, const std::vector<individual>& heard,
              const std::map<candidate_id, std::uint64_t>& generation_of) {
            const auto& promoted = order.parents.front();
            std::vector<individual> rung;
            for (const auto& i : heard)
              if (i.epochs == promoted.epochs
                  && (!by_generation
                      || generation_of.at(i.id) == generation_of.at(promoted.id)))
                rung.push_back(i);
            if (!by_generation)
              REQUIRE_FALSE(is_passed_over(promoted, rung, gone_on));
            gone_on.insert(promoted.id);
            orders.push_back(order);
            rungs.push_back(std::move(rung));
          });
      CHECK(promotions > 5);
      for (std::size_t i = 0; by_generation && i < orders.size(); ++i)
        REQUIRE_FALSE(is_passed_over(orders[i].parents.front(), rungs[i], gone_on));
    }
}
