#include "engine/search/strategies/registry/registry.hpp"
#include "engine/search/strategies/rungs/multi_fidelity.hpp"
#include "tests/engine/search/toy_world.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

using namespace clade;

namespace {

struct step {
  breeding order;
  candidate made;
};

/// So many candidates one after the other; `worth` is of a number and its epochs.
template<class Worth>
std::vector<step> play(std::size_t candidates, Worth worth,
                       std::vector<std::uint32_t> rungs = {1, 3, 9},
                       const std::string& strategy = "multi_fidelity") {
  auto rules = toy_rules(strategy);
  rules.evolution.population = 10;
  rules.evolution.generations = 100;
  rules.evolution.in_flight = 1;
  rules.evolution.rungs = std::move(rungs);
  const toy_world world;
  const auto space = std::make_shared<const search_space>(world.space());
  const auto search = *make_strategy(rules.evolution, 1, space);
  std::vector<step> steps;
  while (steps.size() < candidates) {
    if (search->closing())
      search->close();
    const auto order = search->ask().front();
    const auto c = world.breed(1, order);
    steps.push_back({order, c});
    search->born(c);
    search->tell(
        {.id = c.id,
         .genome = c.genome,
         .fitness = {.ok = true, .primary = worth(toy_number(*c.genome), c.epochs)},
         .epochs = c.epochs});
  }
  return steps;
}

bool goes_on(const step& s) {
  return s.order.how == breeding::kind::train_on;
}

double hill(std::int64_t x, std::uint32_t) {
  return -std::abs(static_cast<double>(x) - 7'500);
}

} // namespace

TEST_CASE("multi fidelity: the inverse root of what the next rung costs goes on") {
  std::map<std::uint32_t, double> trained;
  for (const auto& s : play(300, hill))
    ++trained[s.order.epochs];
  const double share = std::sqrt(1.0 / 3);
  CHECK(trained[3] <= share * trained[1]);
  CHECK(trained[9] <= share * trained[3]);
  CHECK(trained[3] >= 0.9 * share * trained[1]);
  CHECK(trained[9] >= 0.9 * share * trained[3]);
}

TEST_CASE("multi fidelity: nobody is promoted twice, and none that failed") {
  std::set<std::pair<candidate_id, std::uint32_t>> promoted;
  for (const auto& s : play(200, hill))
    if (goes_on(s)) {
      CHECK(promoted.insert({s.order.start, s.order.epochs}).second);
      CHECK(s.order.parents.front().fitness.ok);
    }
  CHECK(promoted.size() > 20);
}

TEST_CASE("multi fidelity: where the first epochs mislead, others are promoted") {
  // The choice that is best after a full training is the worst before.
  const auto against = [](std::int64_t x, std::uint32_t epochs) {
    return epochs < 200 ? -hill(x, epochs) : hill(x, epochs);
  };
  const auto best_by = [&](const char* strategy) {
    double best = -10'000;
    for (const auto& s : play(400, against, {12, 200}, strategy))
      if (goes_on(s))
        best = std::max(best, hill(toy_number(*s.made.genome), 200));
    return best;
  };
  const auto by_model = best_by("multi_fidelity"), by_rank = best_by("asha");
  CHECK(by_model > -250);
  CHECK(by_model > by_rank);
}
