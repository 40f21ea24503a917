#include "engine/search/models/base/neighbours.hpp"
#include "search_spaces/operators/variation.hpp"
#include "tests/support/small_space.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace clade;

namespace {

std::vector<value> whole(std::initializer_list<std::int64_t> numbers) {
  return {numbers.begin(), numbers.end()};
}

} // namespace

TEST_CASE("neighbours: an unordered choice is next to all others") {
  const parameter p{
      .name = "c", .domain = choice_domain{whole({1, 2, 3, 4}), false}, .when = {}};
  CHECK(values_near(p, std::int64_t{3}) == whole({1, 2, 4}));
  CHECK(values_near(p, std::int64_t{9}).empty());
}

TEST_CASE("neighbours: an ordered choice is next to the ones before and behind") {
  const parameter p{
      .name = "c", .domain = choice_domain{whole({8, 16, 32}), true}, .when = {}};
  CHECK(values_near(p, std::int64_t{8}) == whole({16}));
  CHECK(values_near(p, std::int64_t{16}) == whole({8, 32}));
}

TEST_CASE("neighbours: a few whole numbers go step by step and many in leaps as well") {
  const parameter few{.name = "n", .domain = integer_domain{0, 10, 2}, .when = {}};
  CHECK(values_near(few, std::int64_t{4}) == whole({2, 6}));
  const parameter many{.name = "n", .domain = integer_domain{0, 639}, .when = {}};
  CHECK(values_near(many, std::int64_t{320}) == whole({319, 321, 240, 310, 330, 400}));
}

TEST_CASE("neighbours: reals have two near and two far, and none beyond their domain") {
  const parameter p{.name = "x", .domain = real_domain{0, 64}, .when = {}};
  CHECK(values_near(p, 32.0) == std::vector<value>{24.0, 31.0, 33.0, 40.0});
  CHECK(values_near(p, 0.0) == std::vector<value>{1.0, 8.0});
  const parameter log{.name = "x", .domain = real_domain{1, 256, true}, .when = {}};
  CHECK(values_near(log, 16.0)[0] == value{8.0});
}

TEST_CASE("neighbours: each differs in one gene and obeys the grammar") {
  const auto space = small_space();
  std::size_t seen = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    auto random = derive(seed, purpose::sample, 0, 0);
    const auto parent = sample_genome(space.rules, random);
    for (const auto& n : neighbours(space.rules, parent)) {
      const auto made = changed(space.rules, parent, n, random);
      INFO(to_text(made.changes));
      const auto fits = check(space.rules, made.child);
      INFO((fits ? "" : fits.error().message));
      CHECK(fits);
      CHECK_FALSE(made.child == parent);
      CHECK(made.child.edges == parent.edges);
      std::size_t nodes = 0;
      for (std::size_t i = 0; i < parent.nodes.size(); ++i)
        nodes += made.child.nodes[i] == parent.nodes[i] ? 0 : 1;
      CHECK(nodes + (made.child.hyperparameters == parent.hyperparameters ? 0 : 1) == 1);
      CHECK(made.changes.size() == 1);
      CHECK(made.changes.front().name == n.name);
      ++seen;
    }
  }
  CHECK(seen > 300);
}

TEST_CASE("neighbours: a value that brings settings along has them drawn") {
  const auto space = small_space();
  genome g;
  g.nodes = {{input_innovation, "input", {}}, {output_innovation, "output", {}}};
  g.edges = {{innovation{2}, input_innovation, output_innovation}};
  g.hyperparameters = {{"batch_size", std::int64_t{32}},
                       {"learning_rate", 0.01},
                       {"optimiser", std::string("adam")},
                       {"warm_up", std::int64_t{0}}};
  auto random = derive(1, purpose::proposal, 0, 0);
  const auto made =
      changed(space.rules, g, {.name = "optimiser", .to = std::string("sgd")}, random);
  CHECK(to_text(made.changes) == "optimiser adam -> sgd");
  CHECK(find(made.child.hyperparameters, "momentum") != nullptr);
}
