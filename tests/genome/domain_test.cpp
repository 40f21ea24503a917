#include "genome/genes/grammar.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <map>

using namespace clade;

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
      a_parameter(real_domain{.low = 1e-5, .high = 1, .log = true}),
      a_parameter(real_domain{.low = 0.9999, .high = 0.99999}),
      a_parameter(real_domain{.low = 1e-300, .high = 1e300, .log = true}),
      a_parameter(integer_domain{.low = -7, .high = 7, .step = 3}),
      a_parameter(integer_domain{.low = 1, .high = 1000, .step = 1, .log = true}),
      a_parameter(integer_domain{.low = 8, .high = 512, .step = 8, .log = true}),
      a_parameter(integer_domain{.low = integers::min(), .high = integers::max()}),
      a_parameter(choice_domain{.options = {"a", "b", "c"}}),
      a_parameter(choice_domain{.options = {8, 16, 32, 64}, .ordered = true}),
      a_parameter(choice_domain{.options = {0.5, "half"}}),
  };
}

} // namespace

TEST_CASE("domain: what is drawn or moved lies in the domain and a move changes it") {
  const auto parameters = many_parameters();
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    CAPTURE(k);
    const parameter& p = parameters[k];
    REQUIRE(varies(p));
    random_stream random = derive(1, purpose::sample, 0, k);
    for (int i = 0; i < 2'000; ++i) {
      const value drawn = sample(p, random);
      REQUIRE(contains(p, drawn));
      const value moved = perturb(p, drawn, random);
      REQUIRE(contains(p, moved));
      REQUIRE(moved != drawn);
    }
  }
}

TEST_CASE("domain: a domain of one value has nowhere to move") {
  for (const parameter& p :
       {a_parameter(real_domain{.low = 0.5, .high = 0.5}),
        a_parameter(real_domain{.low = 0.5, .high = 0.5, .log = true}),
        a_parameter(real_domain{.low = 0, .high = 0}),
        a_parameter(integer_domain{.low = 4, .high = 6, .step = 3}),
        a_parameter(integer_domain{.low = 4, .high = 4, .log = true}),
        a_parameter(choice_domain{.options = {"a"}})}) {
    random_stream random = derive(2, purpose::sample, 0, 0);
    const value only = sample(p, random);
    CHECK_FALSE(varies(p));
    CHECK(contains(p, only));
    CHECK(perturb(p, only, random) == only);
  }
}

TEST_CASE("domain: membership is by value and by kind") {
  const auto real = a_parameter(real_domain{.low = 0, .high = 1});
  CHECK(contains(real, 1.0));
  CHECK_FALSE(contains(real, 1.5));
  CHECK_FALSE(contains(real, whole(1)));
  CHECK_FALSE(contains(real, std::nan("")));
  const auto odd = a_parameter(integer_domain{.low = 1, .high = 6, .step = 2});
  CHECK(contains(odd, whole(5)));
  CHECK_FALSE(contains(odd, whole(2)));
  CHECK_FALSE(contains(odd, whole(7)));
  CHECK_FALSE(contains(odd, whole(-1)));
  CHECK_FALSE(contains(odd, 1.0));
  const auto choice = a_parameter(choice_domain{.options = {"a", 1}});
  CHECK(contains(choice, "a"));
  CHECK(contains(choice, whole(1)));
  CHECK_FALSE(contains(choice, 1.0));
}

TEST_CASE("domain: logarithmic domains draw every decade alike") {
  const auto rate = a_parameter(real_domain{.low = 1e-4, .high = 1, .log = true});
  const auto units = a_parameter(integer_domain{.low = 1, .high = 9999, .log = true});
  random_stream random = derive(3, purpose::sample, 0, 0);
  std::map<int, int> rates, sizes;
  for (int i = 0; i < 40'000; ++i) {
    ++rates[static_cast<int>(
        std::floor(std::log10(std::get<double>(sample(rate, random)))))];
    ++sizes[static_cast<int>(
        std::log10(static_cast<double>(std::get<std::int64_t>(sample(units, random)))))];
  }
  for (int decade = 0; decade < 4; ++decade) {
    CHECK(std::abs(rates[decade - 4] - 10'000) < 500);
    CHECK(std::abs(sizes[decade] - 10'000) < 500);
  }
}

TEST_CASE("domain: the greatest of few whole numbers has its logarithmic share") {
  const auto p = a_parameter(integer_domain{.low = 1, .high = 3, .log = true});
  random_stream random = derive(7, purpose::sample, 0, 0);
  std::map<std::int64_t, int> counts;
  for (int i = 0; i < 20'000; ++i)
    ++counts[std::get<std::int64_t>(sample(p, random))];
  // ln 2, ln 3/2 and ln 4/3 of ln 4
  CHECK(std::abs(counts[1] - 10'000) < 300);
  CHECK(std::abs(counts[2] - 5'850) < 300);
  CHECK(std::abs(counts[3] - 4'150) < 300);
}

TEST_CASE("domain: reals are drawn with few digits") {
  random_stream random = derive(4, purpose::sample, 0, 0);
  const auto rate = a_parameter(real_domain{.low = 1e-4, .high = 0.1, .log = true});
  CHECK(to_text(sample(rate, random)) == "0.05075");
  CHECK(to_text(sample(rate, random)) == "0.04266");
  const auto close = a_parameter(real_domain{.low = 0.9999, .high = 0.99999});
  CHECK(to_text(sample(close, random)) == "0.9999172");
}

TEST_CASE("domain: a step goes to the neighbour in order and no further than the end") {
  const auto filters =
      a_parameter(choice_domain{.options = {8, 16, 32}, .ordered = true});
  CHECK(step(filters, whole(8), 1) == whole(16));
  CHECK(step(filters, whole(32), -1) == whole(16));
  CHECK_FALSE(step(filters, whole(32), 1).has_value());
  CHECK_FALSE(step(filters, whole(8), -1).has_value());
  CHECK_FALSE(step(filters, whole(9), 1).has_value());
  CHECK_FALSE(
      step(a_parameter(choice_domain{.options = {8, 16}}), whole(8), 1).has_value());
  const auto depth = a_parameter(integer_domain{.low = 1, .high = 6, .step = 2});
  CHECK(step(depth, whole(1), 1) == whole(3));
  CHECK(step(depth, whole(3), -1) == whole(1));
  CHECK_FALSE(step(depth, whole(5), 1).has_value());
  const auto units =
      a_parameter(integer_domain{.low = 4, .high = 100, .step = 4, .log = true});
  CHECK(step(units, whole(20), 1) == whole(40));
  CHECK(step(units, whole(60), 1) == whole(100));
  CHECK(step(units, whole(20), -1) == whole(8));
  CHECK(step(units, whole(4), 1) == whole(8));
  CHECK_FALSE(step(units, whole(100), 1).has_value());
  CHECK_FALSE(step(a_parameter(real_domain{}), 0.5, 1).has_value());
}

TEST_CASE("domain: an ordered list moves one place and others to any other") {
  random_stream random = derive(5, purpose::sample, 0, 0);
  const auto ordered =
      a_parameter(choice_domain{.options = {1, 2, 3, 4, 5}, .ordered = true});
  const auto loose = a_parameter(choice_domain{.options = {1, 2, 3, 4, 5}});
  std::map<std::int64_t, int> near, far;
  for (int i = 0; i < 4'000; ++i) {
    ++near[std::get<std::int64_t>(perturb(ordered, whole(3), random))];
    ++far[std::get<std::int64_t>(perturb(loose, whole(3), random))];
  }
  CHECK(near.size() == 2);
  CHECK(std::abs(near[2] - 2'000) < 200);
  CHECK(far.size() == 4);
  for (const std::int64_t v : {1, 2, 4, 5})
    CHECK(std::abs(far[v] - 1'000) < 150);
}

TEST_CASE("domain: what lies outside is drawn anew") {
  random_stream random = derive(6, purpose::sample, 0, 0);
  const auto p = a_parameter(integer_domain{.low = 1, .high = 3});
  CHECK(contains(p, perturb(p, whole(99), random)));
  CHECK(contains(p, perturb(p, "three", random)));
}
