#include "genome/genes/unit_cube.hpp"
#include "genome/variation/mutation.hpp"
#include "tests/support/genomes.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <cmath>
#include <limits>
#include <map>

using namespace clade;
using namespace clade::test;

namespace {

using integers = std::numeric_limits<std::int64_t>;

value whole(std::int64_t v) {
  return v;
}

parameter a_parameter(decltype(parameter::domain) domain) {
  return {.name = "p", .domain = std::move(domain), .when = {}, .width = false};
}

std::vector<parameter> many_parameters() {
  return {
      a_parameter(real_domain{.low = -2, .high = 3}),
      a_parameter(real_domain{.low = 0.123456, .high = 0.456789}),
      a_parameter(real_domain{.low = 1e-5, .high = 1, .log = true}),
      a_parameter(real_domain{.low = 0.9999, .high = 0.99999}),
      a_parameter(real_domain{.low = 1e-300, .high = 1e300, .log = true}),
      a_parameter(real_domain{.low = 0.5, .high = 0.5}),
      a_parameter(integer_domain{.low = -7, .high = 7, .step = 3}),
      a_parameter(integer_domain{.low = 1, .high = 1000, .step = 1, .log = true}),
      a_parameter(integer_domain{.low = 8, .high = 517, .step = 8, .log = true}),
      a_parameter(integer_domain{.low = 3, .high = 3, .log = true}),
      a_parameter(integer_domain{.low = 0, .high = std::int64_t{1} << 49}),
      a_parameter(choice_domain{.options = {"a", "b", "c"}}),
      a_parameter(choice_domain{.options = {8, 16, 32, 64}, .ordered = true}),
      a_parameter(choice_domain{.options = {0.5}}),
  };
}

} // namespace

TEST_CASE("unit cube: a value that was drawn or moved comes back from its coordinate") {
  const auto parameters = many_parameters();
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    CAPTURE(k);
    const parameter& p = parameters[k];
    random_stream random = derive(1, purpose::sample, 0, k);
    for (int i = 0; i < 2'000; ++i) {
      const value drawn = sample(p, random);
      REQUIRE(from_unit(p, to_unit(p, drawn)) == drawn);
      const value moved = perturb(p, drawn, random);
      const double place = to_unit(p, moved);
      REQUIRE(place >= 0);
      REQUIRE(place <= 1);
      REQUIRE(from_unit(p, place) == moved);
    }
  }
}

TEST_CASE("unit cube: every point of it is a value of the domain") {
  const auto parameters = many_parameters();
  for (const parameter& p : parameters)
    for (const double place : {0.0, 1.0, -3.0, 7.0, std::nan(""), 0.3, 1 - 1e-16, 1e-300})
      CHECK(contains(p, from_unit(p, place)));
  const auto any =
      a_parameter(integer_domain{.low = integers::min(), .high = integers::max()});
  CHECK(from_unit(any, 0) == whole(integers::min()));
  CHECK(from_unit(any, 1) == whole(integers::max()));
  CHECK(from_unit(any, 0.5) == whole(0));
}

TEST_CASE("unit cube: the settings of any genome come back from their point") {
  CHECK(rc::check("for any seed", [](std::uint64_t seed) {
    const grammar rules = small_grammar();
    auto random = derive(seed, purpose::sample, 0, 0);
    const auto settings = sample(rules.hyperparameters, random);
    const auto point = to_unit(rules.hyperparameters, settings);
    RC_ASSERT(point.size() == rules.hyperparameters.size());
    RC_ASSERT(from_unit(rules.hyperparameters, point) == settings);
    RC_ASSERT(
        from_unit(rules.hyperparameters, to_unit(rules.hyperparameters, settings, random))
        == settings);
  }));
}

TEST_CASE("unit cube: any point is settings that the grammar allows") {
  CHECK(rc::check("for any coordinates", [](const std::vector<double>& drawn) {
    const grammar rules = small_grammar();
    auto point = drawn;
    point.resize(rules.hyperparameters.size());
    auto random = derive(0, purpose::sample, 0, 0);
    auto g = sample_genome(rules, random);
    g.hyperparameters = from_unit(rules.hyperparameters, point);
    RC_ASSERT(check(rules, g).has_value());
  }));
}

TEST_CASE("unit cube: an even draw in it is an even draw of the values") {
  const auto few = a_parameter(integer_domain{.low = 1, .high = 3, .log = true});
  const auto words = a_parameter(choice_domain{.options = {"a", "b", "c"}});
  random_stream random = derive(7, purpose::sample, 0, 0);
  std::map<std::int64_t, int> counts;
  std::map<std::string, int> said;
  for (int i = 0; i < 20'000; ++i) {
    ++counts[std::get<std::int64_t>(from_unit(few, random.uniform()))];
    ++said[std::get<std::string>(from_unit(words, random.uniform()))];
  }
  // ln 2, ln 3/2 and ln 4/3 of ln 4
  CHECK(std::abs(counts[1] - 10'000) < 300);
  CHECK(std::abs(counts[2] - 5'850) < 300);
  CHECK(std::abs(counts[3] - 4'150) < 300);
  for (const char* word : {"a", "b", "c"})
    CHECK(std::abs(said[word] - 6'667) < 300);
}

TEST_CASE("unit cube: neighbours in a domain are neighbours in the cube") {
  const auto rate = a_parameter(real_domain{.low = 1e-4, .high = 1, .log = true});
  CHECK(to_unit(rate, 1e-4) == 0);
  CHECK(to_unit(rate, 0.01) == Approx(0.5));
  CHECK(to_unit(rate, 1.0) == 1);
  const auto batch =
      a_parameter(choice_domain{.options = {16, 32, 64, 128}, .ordered = true});
  CHECK(to_unit(batch, whole(16)) == 0.125);
  CHECK(to_unit(batch, whole(32)) == 0.375);
  const auto odd = a_parameter(integer_domain{.low = 1, .high = 6, .step = 2});
  CHECK(to_unit(odd, whole(3)) == 0.5);
  CHECK(from_unit(odd, 0.99) == whole(5));
}

TEST_CASE("unit cube: what does not apply is in the middle, or drawn") {
  const std::vector<parameter> parameters = {
      {.name = "optimiser", .domain = choice_domain{.options = {"sgd", "adam"}}},
      {.name = "momentum",
       .domain = real_domain{.low = 0, .high = 1},
       .when = condition{"optimiser", {"sgd"}}}};
  const std::vector<setting> adam = {{"optimiser", "adam"}};
  CHECK(to_unit(parameters, adam) == std::vector{0.75, 0.5});
  CHECK(to_unit(parameters, adam, 0.1) == std::vector{0.75, 0.1});
  auto random = derive(1, purpose::sample, 0, 0);
  const auto drawn = to_unit(parameters, adam, random);
  CHECK(drawn[1] != to_unit(parameters, adam, random)[1]);
  CHECK(from_unit(parameters, drawn) == adam);
  CHECK(to_text(from_unit(parameters, std::vector{0.2, 0.9}))
        == "momentum=0.9, optimiser=sgd");
  const std::vector<setting> odd = {{"momentum", 0.5}, {"optimiser", "lion"}};
  CHECK(to_unit(parameters, odd) == std::vector{0.5, 0.5});
}
