#include "engine/search/core/elite_archive.hpp"
#include "tests/engine/search/toy_world.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

individual of_size(candidate_id id, double fitness, std::uint64_t parameters) {
  auto i = an_individual(id, fitness);
  i.parameters = parameters;
  return i;
}

/// A chain of so many nodes, and one that leads nowhere.
individual of_depth(candidate_id id, double fitness, std::uint64_t nodes) {
  genome g;
  g.nodes = {{input_innovation, "input", {}}, {output_innovation, "output", {}}};
  auto last = input_innovation;
  for (std::uint64_t n = 0; n < nodes; ++n) {
    g.nodes.push_back({innovation{10 + n}, "relu", {}});
    g.edges.push_back({innovation{100 + n}, last, innovation{10 + n}});
    last = innovation{10 + n};
  }
  g.edges.push_back({innovation{100 + nodes}, last, output_innovation});
  g.nodes.push_back({innovation{50}, "relu", {}});
  g.edges.push_back({innovation{200}, input_innovation, innovation{50}});
  auto i = an_individual(id, fitness);
  i.genome = std::make_shared<const genome>(std::move(g));
  return i;
}

} // namespace

TEST_CASE(
    "elite archive: a niche is a doubling of parameters and a number of live nodes") {
  const auto size = [](std::uint64_t parameters) {
    return niche_of(of_size(1, 0, parameters)).size;
  };
  CHECK(size(0) == 0);
  CHECK(size(1) == 1);
  CHECK(size(1023) == 10);
  CHECK(size(1024) == 11);
  CHECK(size(2047) == 11);
  CHECK(size(~std::uint64_t{0}) == 64);
  CHECK(niche_of(of_depth(1, 0, 3)) == niche{.size = 0, .depth = 3});
}

TEST_CASE(
    "elite archive: each niche is held by its fittest, and by the older of equals") {
  elite_archive a;
  CHECK(a.add(of_size(1, 0.5, 100)));
  CHECK_FALSE(a.add(of_size(2, 0.4, 101)));
  CHECK_FALSE(a.add(of_size(3, 0.5, 101)));
  CHECK(a.add(of_size(4, 0.1, 1000)));
  CHECK(a.add(of_depth(5, 0.3, 2)));
  CHECK(a.add(of_size(6, 0.6, 127)));
  CHECK(to_text(a.best_first()) == "#6=0.6 #5=0.3 #4=0.1");
  CHECK(a.size() == 3);
  CHECK(a[0].id == 5);
  CHECK(a[1].id == 6);
  CHECK(a[2].id == 4);
}

TEST_CASE("elite archive: the failed take no niche") {
  elite_archive a;
  CHECK_FALSE(a.add(a_failed_individual(1)));
  CHECK(a.best_first().empty());
}
