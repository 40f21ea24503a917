#include "engine/search/models/base/parameter_grid.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <set>

using namespace clade;

namespace {

std::string values_text(const parameter& p, std::size_t points) {
  std::string text;
  for (const auto& v : grid_values(p, points))
    text += (text.empty() ? "" : " ") + to_text(v);
  return text;
}

parameter list_of(std::string name, std::int64_t size) {
  choice_domain d;
  for (std::int64_t i = 0; i < size; ++i)
    d.options.emplace_back(i);
  return {.name = std::move(name), .domain = std::move(d)};
}

std::set<std::string> texts_of(const std::vector<std::vector<setting>>& points) {
  std::set<std::string> all;
  for (const auto& p : points)
    all.insert(to_text(p));
  return all;
}

} // namespace

TEST_CASE("grid: a range is cut in even steps, of its logarithm if it is one") {
  CHECK(values_text({.domain = real_domain{.low = 0, .high = 1}}, 3) == "0.0 0.5 1.0");
  CHECK(values_text({.domain = real_domain{.low = 0.001, .high = 0.1, .log = true}}, 3)
        == "0.001 0.01 0.1");
  CHECK(values_text({.domain = real_domain{.low = 0, .high = 1}}, 1) == "0.5");
  CHECK(values_text({.domain = integer_domain{.low = 1, .high = 10}}, 4) == "1 4 7 10");
  CHECK(values_text({.domain = integer_domain{.low = 1, .high = 3}}, 9) == "1 2 3");
  CHECK(values_text({.domain = integer_domain{.low = 1, .high = 256, .log = true}}, 3)
        == "1 16 256");
  CHECK(values_text(list_of("x", 5), 2) == "0 1 2 3 4");
}

TEST_CASE("grid: what does not apply makes no points") {
  const choice_domain optimizers{.options = {std::string("sgd"), std::string("adam")}};
  const std::vector<parameter> all{{.name = "optimizer", .domain = optimizers},
                                   {.name = "momentum",
                                    .domain = real_domain{.low = 0.8, .high = 0.9},
                                    .when = condition{"optimizer", {std::string("sgd")}}},
                                   list_of("batch", 2)};
  CHECK(count_grid(all, 3) == 8); // 3 of sgd and 1 of adam, each with 2 batches.
  const auto points = grid_points(all, 3, 1);
  CHECK(points.size() == 8);
  CHECK(texts_of(points).size() == 8);
  CHECK(texts_of(points).contains("batch=0, optimizer=adam"));
}

TEST_CASE("grid: a grid without end is counted at once") {
  CHECK(count_grid(std::vector<parameter>(40, list_of("x", 1000)), 3)
        == most_grid_points);
  CHECK(count_grid({}, 3) == 1);
}

TEST_CASE("grid: every combination comes once, in another order for another seed") {
  rc::check([] {
    std::vector<parameter> all;
    std::size_t product = 1;
    for (const auto size : *rc::gen::resize(
             4, rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 7)))) {
      product *= static_cast<std::size_t>(size);
      all.push_back(list_of("p" + std::to_string(all.size()), size));
    }
    const auto points = grid_points(all, 3, 1);
    RC_ASSERT(points.size() == product);
    RC_ASSERT(count_grid(all, 3) == product);
    RC_ASSERT(texts_of(points).size() == product);
    if (product > 30)
      RC_ASSERT(points != grid_points(all, 3, 2));
  });
}

TEST_CASE("grid: every beginning has about as many points of each value") {
  rc::check([] {
    std::vector<parameter> all;
    for (const auto size : *rc::gen::resize(
             4, rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 7))))
      all.push_back(list_of("p" + std::to_string(all.size()), size));
    const auto points = grid_points(all, 3, *rc::gen::arbitrary<std::uint64_t>());
    std::map<std::string, std::size_t> seen;
    for (std::size_t n = 1; n <= points.size(); ++n) {
      for (const auto& s : points[n - 1])
        ++seen[s.name + to_text(s.value)];
      for (const auto& p : all) {
        const auto& values = std::get<choice_domain>(p.domain).options;
        for (const auto& v : values) {
          const auto even = static_cast<double>(n) / static_cast<double>(values.size());
          const auto off = static_cast<double>(seen[p.name + to_text(v)]) - even;
          RC_ASSERT(std::abs(off) <= static_cast<double>(all.size()));
        }
      }
    }
  });
}
