#include "engine/search/core/selection.hpp"
#include "tests/engine/search/toy_world.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace clade;

namespace {

random_stream some_stream(std::uint64_t index) {
  return derive(1, purpose::selection, 0, index);
}

} // namespace

TEST_CASE("selection: equal fitness goes to the older genome whatever the order") {
  std::vector<individual> population{an_individual(3, 0.5), an_individual(1, 0.5),
                                     an_individual(2, 0.9)};
  sort_by_fitness(population);
  CHECK(to_text(population) == "#2=0.9 #1=0.5 #3=0.5");
}

TEST_CASE("selection: failed ones come last") {
  std::vector<individual> population{a_failed_individual(1), an_individual(2, -5),
                                     a_failed_individual(3), an_individual(4, 5)};
  sort_by_fitness(population);
  CHECK(to_text(population) == "#4=5.0 #2=-5.0 #1=failed #3=failed");
}

TEST_CASE("selection: fitness is a strict order over any individuals") {
  const auto any = [](candidate_id id) {
    individual i{id, nullptr, {}};
    i.fitness.ok = *rc::gen::arbitrary<bool>();
    if (i.fitness.ok) {
      i.fitness.primary = *rc::gen::inRange(-2, 3);
      i.fitness.secondary = *rc::gen::inRange(-2, 3);
    }
    return i;
  };
  REQUIRE(rc::check("strict, total and transitive", [&] {
    const auto a = any(1), b = any(2), c = any(3);
    RC_ASSERT(!fitter(a, a));
    RC_ASSERT(fitter(a, b) != fitter(b, a));
    if (fitter(a, b) && fitter(b, c))
      RC_ASSERT(fitter(a, c));
  }));
}

TEST_CASE("selection: a tournament of one is an even draw and a larger one presses on "
          "fitness") {
  constexpr std::size_t draws = 4000, population = 10;
  double one = 0, three = 0;
  for (std::uint64_t i = 0; i < draws; ++i) {
    auto a = some_stream(i), b = some_stream(i);
    const auto drawn = tournament(population, 1, a);
    REQUIRE(drawn < population);
    one += static_cast<double>(drawn);
    three += static_cast<double>(tournament(population, 3, b));
  }
  CHECK(one / draws == Approx(4.5).margin(0.2));
  CHECK(three / draws == Approx(2.025).margin(0.2)); // Sum over k of ((10 - k) / 10)^3.
}

TEST_CASE("selection: truncation draws from the best share rounded up") {
  std::vector<std::size_t> counts(10);
  for (std::uint64_t i = 0; i < 3000; ++i) {
    auto random = some_stream(i);
    ++counts[truncation(10, 0.25, random)];
  }
  for (std::size_t place = 0; place < 10; ++place)
    CHECK((counts[place] > 900) == (place < 3));
  auto random = some_stream(0);
  CHECK(truncation(10, 1e-9, random) == 0);
  CHECK(truncation(1, 1, random) == 0);
}
