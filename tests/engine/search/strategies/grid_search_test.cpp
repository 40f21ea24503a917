#include "engine/search/strategies/registry/registry.hpp"
#include "engine/search/strategies/registry/validation.hpp"
#include "engine/search/strategies/sampling/grid_search.hpp"
#include "search_spaces/files/load_search_space.hpp"
#include "tests/engine/search/number_world.hpp"
#include "tests/support/small_space.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace clade;

namespace {

evolution_params grid_of(std::size_t points, std::size_t population,
                         std::size_t generations) {
  return {.strategy = "grid",
          .population = population,
          .generations = generations,
          .own = grid_params{.points_per_range = points}};
}

std::vector<std::string> candidates_of(const simulated& run) {
  std::vector<std::string> all;
  for (const auto& r : run.records)
    if (const auto* born = std::get_if<candidate_born>(&r))
      all.push_back(to_text(born->born.genome->hyperparameters));
  return all;
}

number_world plane() {
  return {.parameters = reals(2), .accuracy = [](const std::vector<double>& at) {
            return 1 - std::abs(at[0] - 0.5) - std::abs(at[1] - 0.5);
          }};
}

} // namespace

TEST_CASE("grid search: all points are trained, each once, whatever the seed") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto all = candidates_of(simulate(plane().run(grid_of(3, 3, 3), seed)));
    CHECK(std::set<std::string>(all.begin(), all.end()).size() == 9);
    // The first three are a Latin square's.
    std::set<std::string> x0, x1;
    for (std::size_t i = 0; i < 3; ++i) {
      x0.insert(all[i].substr(0, all[i].find(',')));
      x1.insert(all[i].substr(all[i].find(',')));
    }
    CHECK(x0.size() == 3);
    CHECK(x1.size() == 3);
  }
  CHECK(plane().best_of(grid_of(3, 3, 3), 1) == 1);
}

TEST_CASE("grid search: places beyond the grid are copies") {
  const auto run = simulate(plane().run(grid_of(2, 3, 2), 1));
  std::size_t copies = 0;
  for (const auto& r : run.records)
    if (const auto* e = std::get_if<candidate_evaluated>(&r))
      copies += e->evaluated.equal_to == 0 ? 0 : 1;
  CHECK(copies == 2);
}

TEST_CASE("grid search: a person's genome pushes the grid back") {
  const auto space = std::make_shared<const search_space>(plane().space());
  const auto search = *make_strategy(grid_of(2, 2, 3), 1, space);
  const auto names = [&] {
    std::string text;
    for (const auto& order : search->ask())
      text += order.how == breeding::kind::given ? "given " : "point ";
    return text;
  };
  CHECK(names() == "point point ");
  REQUIRE(search->give(std::make_shared<const genome>(), "mine"));
  std::set<const proposal*> points;
  for (int generation = 0; generation < 3; ++generation) {
    for (const auto& order : search->ask()) {
      points.insert(order.proposal.get());
      candidate c;
      c.id = order.id;
      search->born(c);
      search->tell({.id = order.id, .genome = std::make_shared<const genome>()});
    }
    search->close();
  }
  CHECK(points.size() == 5); // The four of the grid, and none of the given.
}

TEST_CASE("grid search: a grid too large is refused with its size and what to write") {
  const auto refused = [&](const evolution_params& p) {
    const auto ok = check_strategy(p, plane().space());
    return ok ? "" : ok.error().message;
  };
  CHECK(refused(grid_of(3, 3, 3)).empty());
  CHECK(grid_size(grid_of(3, 3, 3), plane().space()) == 9);
  CHECK(refused(grid_of(40, 24, 10))
        == "evolution.strategy is \"grid\": the grid has 1,600 points and the search "
           "makes 240 candidates; write points_per_range = 15 (225 points) or "
           "generations = 67");
  CHECK(refused(grid_of(3, 1, 0))
        == "evolution.generations is 0: it must be from 1 to "
           "1000000");
  CHECK(refused(grid_of(0, 3, 3))
        == "evolution.points_per_range is 0: it must be from 1 to 1000");
}

TEST_CASE("grid search: of a space with layers the seeds are the networks") {
  auto space = small_space();
  const auto refused = check_space("grid", space);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().message,
             Catch::Contains("layers to choose and no seeds: write the networks as "
                             "[seeds.NAME], or take \"random\""));
  space.seeds = {{.name = "plain", .layers = {}}, {.name = "other", .layers = {}}};
  CHECK(check_space("grid", space));
  const auto search =
      *make_strategy(grid_of(2, 2, 100), 1, std::make_shared<const search_space>(space));
  std::set<std::string> origins;
  for (const auto& order : search->ask()) {
    const problem p{.input = {{4}}, .outputs = 2};
    const mutation_params mutation;
    const auto made = order.proposal->make({space, p, mutation, 1}, order);
    REQUIRE(made.has_value());
    CHECK(check(space.rules, made->child).has_value());
    origins.insert(to_text(made->changes));
  }
  CHECK(origins.size() == 2);
}
