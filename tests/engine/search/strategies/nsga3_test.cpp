#include "engine/search/strategies/evolution/nsga3.hpp"
#include "tests/engine/search/pareto_problems.hpp"

#include <catch2/catch.hpp>

#include <numeric>

using namespace clade;

TEST_CASE("nsga3: reference points are shares that add up to 1, as many as fit") {
  CHECK(reference_points(1, 10) == std::vector<objective_point>{{1}});
  CHECK(reference_points(2, 5)
        == std::vector<objective_point>{
            {0, 1}, {0.25, 0.75}, {0.5, 0.5}, {0.75, 0.25}, {1, 0}});
  CHECK(reference_points(3, 91).size() == 91);
  // Three divisions fit for five objectives (35 points), all on the rim; so do the 15 of
  // two divisions inside.
  CHECK(reference_points(5, 55).size() == 50);
  for (std::size_t m = 2; m <= 6; ++m)
    for (std::size_t most = 1; most <= 200; most += 7) {
      const auto all = reference_points(m, most);
      CHECK(all.size() <= std::max(most, m));
      for (const auto& p : all) {
        CHECK(p.size() == m);
        CHECK(std::accumulate(p.begin(), p.end(), 0.0) == Approx(1));
      }
    }
}

TEST_CASE("nsga3: finds more of the front of DTLZ2 than random search, over seeds") {
  for (const std::size_t objectives : {3, 4, 5}) {
    int better = 0;
    double found = 0, random = 0;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      const auto reached = [&](const char* strategy) {
        return hypervolume_of(simulate(dtlz2(objectives).run(strategy, seed, 20, 30)),
                              objectives, 1.5);
      };
      const auto ours = reached("nsga3"), theirs = reached("random");
      found += ours / 6;
      random += theirs / 6;
      better += ours > theirs ? 1 : 0;
    }
    INFO(objectives << " objectives: nsga3 " << found << ", random " << random);
    CHECK(better == 6);
  }
}

TEST_CASE("nsga3: units of objectives leave no trace in who is bred") {
  const auto networks = [](double unit) {
    auto problem = dtlz2(3);
    problem.values = [unit, values = problem.values](const std::vector<double>& x) {
      auto f = values(x);
      f[1] *= unit;
      return f;
    };
    std::vector<genome_hash> bred;
    for (const auto& r : simulate(problem.run("nsga3", 4, 16, 6)).records)
      if (const auto* b = std::get_if<candidate_born>(&r))
        bred.push_back(b->born.network);
    return bred;
  };
  CHECK(networks(1) == networks(1024));
}

TEST_CASE("nsga3: while some are infeasible the one that misses by less breeds") {
  auto run = dtlz2(4).run("nsga3", 2, 20, 10);
  run.rules.objective.constraints = {{.metric = "f1", .limit = 0.05},
                                     {.metric = "f2", .limit = 0.05}};
  const auto searched = simulate(run);
  for (const auto& one : searched.state.search->population())
    CHECK(one.fitness.violation == 0);
}
