#include "engine/search/core/pareto.hpp"
#include "genome/base/random.hpp"
#include "genome/base/text.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <cmath>
#include <limits>
#include <set>

using namespace clade;

namespace {

/// Whole numbers from 0 to `most`, so that ties are many.
std::vector<objective_point> any_points(std::size_t objectives, std::size_t count,
                                        int most) {
  const auto one = rc::gen::container<objective_point>(
      objectives,
      rc::gen::map(rc::gen::inRange(0, most + 1), [](int v) { return 1.0 * v; }));
  return *rc::gen::container<std::vector<objective_point>>(count, one);
}

std::vector<objective_point> drawn_points(std::size_t objectives, std::size_t count,
                                          int most) {
  return any_points(objectives, *rc::gen::inRange<std::size_t>(0, count + 1), most);
}

/// By the definition: what is left without dominators, again and again.
std::vector<std::vector<std::size_t>> peeled(const std::vector<objective_point>& all) {
  std::vector<std::vector<std::size_t>> found;
  std::set<std::size_t> left;
  for (std::size_t i = 0; i < all.size(); ++i)
    left.insert(i);
  while (!left.empty()) {
    std::vector<std::size_t> front;
    for (const auto i : left)
      if (std::none_of(left.begin(), left.end(),
                       [&](std::size_t j) { return dominates(all[j], all[i]); }))
        front.push_back(i);
    for (const auto i : front)
      left.erase(i);
    found.push_back(std::move(front));
  }
  return found;
}

/// Unit cubes that some point covers.
double counted(const std::vector<objective_point>& points, std::size_t objectives,
               int most) {
  std::vector<int> corner(objectives, 1);
  double cubes = 0;
  for (;;) {
    for (const auto& p : points) {
      bool covers = true;
      for (std::size_t i = 0; i < objectives; ++i)
        covers = covers && p[i] >= corner[i];
      if (covers) {
        ++cubes;
        break;
      }
    }
    std::size_t place = 0;
    while (place < objectives && ++corner[place] > most)
      corner[place++] = 1;
    if (place == objectives)
      return cubes;
  }
}

fitness a_fitness(objective_point objectives, double violation = 0) {
  return {.ok = true,
          .primary = objectives.front(),
          .objectives = objectives,
          .violation = violation};
}

struct member {
  candidate_id id = 0;
  clade::fitness fitness;
};

} // namespace

TEST_CASE("pareto: to dominate is to be no worse in all and better in one") {
  CHECK(dominates(objective_point{1, 2}, objective_point{1, 1}));
  CHECK_FALSE(dominates(objective_point{1, 2}, objective_point{1, 2}));
  CHECK_FALSE(dominates(objective_point{2, 0}, objective_point{0, 2}));
  CHECK(dominates(a_fitness({0, 0}), a_fitness({9, 9}, 0.1)));
  CHECK(dominates(a_fitness({0, 0}, 0.1), a_fitness({9, 9}, 0.2)));
  CHECK_FALSE(dominates(a_fitness({0, 0}, 0.1), a_fitness({-1, -1}, 0.1)));
  CHECK(dominates(a_fitness({0, 0}, 5), fitness{}));
  CHECK_FALSE(dominates(fitness{}, fitness{}));
}

TEST_CASE("pareto: fronts are those of the definition") {
  for (const std::size_t objectives : {1, 2, 3, 5})
    CHECK(rc::check(std::to_string(objectives) + " objectives", [&] {
      const auto all = drawn_points(objectives, 40, 6);
      RC_ASSERT(sort_into_fronts(all) == peeled(all));
    }));
}

TEST_CASE("pareto: behind the feasible come those that miss by less, then the failed") {
  const std::vector<fitness> all{a_fitness({1, 1}),      fitness{},
                                 a_fitness({9, 9}, 0.5), a_fitness({2, 0}),
                                 a_fitness({0, 0}, 0.2), a_fitness({1, 2}, 0.5)};
  CHECK(sort_into_fronts(all)
        == std::vector<std::vector<std::size_t>>{{0, 3}, {4}, {2, 5}, {1}});
}

TEST_CASE("pareto: each front of fitnesses is dominated by the one before") {
  CHECK(rc::check("by the definition with constraints", [] {
    const auto points = drawn_points(2, 30, 5);
    std::vector<fitness> all;
    for (const auto& p : points)
      all.push_back(a_fitness(p, std::max(0, *rc::gen::inRange(-3, 3))));
    const auto fronts = sort_into_fronts(all);
    for (std::size_t k = 0; k < fronts.size(); ++k)
      for (const auto i : fronts[k]) {
        for (const auto j : fronts[k])
          RC_ASSERT(!dominates(all[i], all[j]));
        if (k > 0)
          RC_ASSERT(
              std::any_of(fronts[k - 1].begin(), fronts[k - 1].end(),
                          [&](std::size_t j) { return dominates(all[j], all[i]); }));
      }
  }));
}

TEST_CASE("pareto: hypervolume is the number of unit cubes below whole points") {
  for (const std::size_t objectives : {1, 2, 3, 4, 5, 6})
    CHECK(rc::check(std::to_string(objectives) + " objectives", [&] {
      const int most = objectives < 5 ? 6 : 4;
      const auto all = drawn_points(objectives, 14, most);
      RC_ASSERT(hypervolume(all, objective_point(objectives, 0))
                == counted(all, objectives, most));
    }));
}

TEST_CASE("pareto: a point that others dominate adds no hypervolume") {
  CHECK(rc::check("nor does an equal one", [] {
    auto all = drawn_points(4, 10, 8);
    all.push_back({2, 2, 2, 2});
    const auto before = hypervolume(all, objective_point(4, -1));
    all.push_back({1, 2, 0, 2});
    all.push_back({2, 2, 2, 2});
    RC_ASSERT(hypervolume(all, objective_point(4, -1)) == before);
  }));
}

TEST_CASE("pareto: crowding is infinite at the ends and else the sum of shares") {
  const auto infinity = std::numeric_limits<double>::infinity();
  CHECK(crowding_distances(std::vector<objective_point>{{0, 10}, {5, 5}, {10, 0}, {6, 4}})
        == std::vector<double>{infinity, 1.2, infinity, 1.0});
  CHECK(crowding_distances({}).empty());
  const double most = std::numeric_limits<double>::max();
  for (const auto d : crowding_distances(std::vector<objective_point>{
           {-most, most}, {0, 0}, {most, -most}, {1, 1}, {2, 2}}))
    CHECK_FALSE(std::isnan(d));
}

TEST_CASE("pareto: the box is the first generation's, and 1 is to be its best in all") {
  const std::vector<fitness> first{a_fitness({0.5, -100}), a_fitness({0.9, -300}, 1),
                                   fitness{}};
  const auto box = box_of(first);
  REQUIRE(box.has_value());
  CHECK(box->worst == objective_point{0.5, -300});
  CHECK(box->extent == objective_point{0.4, 200});
  CHECK(hypervolume(std::vector{a_fitness({0.9, -100})}, *box) == Approx(1));
  CHECK(hypervolume(std::vector{a_fitness({0.7, -200})}, *box) == Approx(0.25));
  CHECK(hypervolume(std::vector{a_fitness({0.7, -200}, 0.1)}, *box) == 0);
  CHECK_FALSE(box_of(std::vector{fitness{}}).has_value());
  const double most = std::numeric_limits<double>::max();
  const auto wide = box_of(std::vector{a_fitness({-most, 0}), a_fitness({most, 0})});
  CHECK(std::isfinite(hypervolume(std::vector{a_fitness({most, 1})}, *wide)));
}

TEST_CASE("pareto: a front takes in what nothing in it dominates and stays small") {
  std::vector<member> front;
  candidate_id id = 0;
  const auto join = [&](const fitness& f) {
    join_front(front, {++id, f}, &member::fitness);
  };
  join(a_fitness({1, 5}));
  join(a_fitness({5, 1}));
  join(a_fitness({1, 5}));       // It is as good as the first.
  join(a_fitness({0, 0}));       // Dominated.
  join(a_fitness({9, 9}, 0.01)); // Infeasible.
  join({});
  REQUIRE(front.size() == 2);
  CHECK(front[0].id == 2);
  join(a_fitness({6, 6}));
  REQUIRE(front.size() == 1);
  auto random = derive(1, purpose::sample, 0, 0);
  for (int i = 0; i < 5000; ++i) {
    const double x = 7 + random.uniform();
    join(a_fitness({x, 15 - x}));
  }
  CHECK(front.size() == kept_front);
  for (std::size_t i = 1; i < front.size(); ++i)
    CHECK(front[i - 1].fitness.primary > front[i].fitness.primary);
  // Its ends stay.
  CHECK(front.front().fitness.primary > 7.99);
  CHECK(front.back().fitness.primary < 7.01);
}
