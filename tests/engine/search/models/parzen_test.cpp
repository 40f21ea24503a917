#include "engine/search/models/base/parzen.hpp"
#include "genome/base/portable_math.hpp"
#include "tests/engine/search/real_world.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <map>

using namespace clade;

namespace {

std::vector<parameter> one_of_each() {
  choice_domain list{.options = {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}}};
  choice_domain sizes{
      .options = {std::int64_t{8}, std::int64_t{16}, std::int64_t{32}, std::int64_t{64}},
      .ordered = true};
  return {{.name = "rate", .domain = real_domain{1e-4, 1, true}, .when = {}},
          {.name = "kind", .domain = list, .when = {}},
          {.name = "size", .domain = sizes, .when = {}},
          {.name = "count", .domain = integer_domain{1, 9}, .when = {}},
          {.name = "momentum",
           .domain = real_domain{0, 1},
           .when = condition{"kind", {std::int64_t{1}}}}};
}

} // namespace

TEST_CASE("parzen: a normal density's mass is that of the tables") {
  CHECK(normal_below(0) == Approx(0.5).margin(2e-7));
  CHECK(normal_below(1.96) == Approx(0.9750021).margin(2e-7));
  CHECK(normal_below(-1) == Approx(0.1586553).margin(2e-7));
  CHECK(normal_below(-8) == Approx(0).margin(1e-12));
}

TEST_CASE("parzen: of reals, the density over the domain is one") {
  const std::vector<parameter> one{
      {.name = "x", .domain = real_domain{0, 1}, .when = {}}};
  const parzen_estimator p(one, {{0.02}, {0.5}, {0.55}, {absent}}, {1, 1, 2, 1});
  double sum = 0;
  constexpr int steps = 2000;
  for (int i = 0; i < steps; ++i)
    sum += std::exp(p.log_density({(i + 0.5) / steps})) / steps;
  // The width of the prior is part of every normaliser but for sqrt(2 pi).
  CHECK(sum / std::sqrt(2 * std::acos(-1.0)) == Approx(1).epsilon(1e-3));
}

TEST_CASE("parzen: of values, the masses sum to one, and those seen more weigh more") {
  const auto parameters = one_of_each();
  const std::vector<parameter> kind{parameters[1]}, size{parameters[2]};
  for (const auto& axis : {kind, size}) {
    const auto count = std::get<choice_domain>(axis[0].domain).options.size();
    const auto middle = [&](std::size_t n) {
      return (static_cast<double>(n) + 0.5) / static_cast<double>(count);
    };
    const parzen_estimator p(axis, {{middle(2)}, {middle(2)}, {middle(0)}}, {1, 1, 1});
    double sum = 0;
    for (std::size_t n = 0; n < count; ++n)
      sum += std::exp(p.log_density({middle(n)}));
    CHECK(sum == Approx(1));
    CHECK(p.log_density({middle(2)}) > p.log_density({middle(0)}));
    if (count == 3)
      CHECK(p.log_density({middle(0)}) > p.log_density({middle(1)}));
  }
}

TEST_CASE("parzen: without observations it is the prior") {
  const auto parameters = one_of_each();
  const std::vector<parameter> kind{parameters[1]};
  const parzen_estimator p(kind, {}, {});
  CHECK(p.log_density({0.5}) == Approx(std::log(1.0 / 3)));
}

TEST_CASE("parzen: what is drawn obeys the domains and is distributed as the density") {
  const auto space = space_of(one_of_each());
  const auto& parameters = space->rules.hyperparameters;
  std::vector<parzen_point> points;
  for (std::uint64_t i = 0; i < 12; ++i) {
    auto random = derive(7, purpose::sample, 0, i);
    points.push_back(point_of(parameters, sample(parameters, random)));
  }
  const parzen_estimator p(parameters, points, std::vector<double>(points.size(), 1.0));
  std::map<std::int64_t, double> kinds;
  auto random = derive(1, purpose::proposal, 0, 0);
  constexpr int count = 20'000;
  for (int i = 0; i < count; ++i) {
    const auto settings = p.draw(random);
    for (const auto& q : parameters) {
      const auto* v = find(settings, q.name);
      REQUIRE((v != nullptr) == applies(q, settings));
      if (v != nullptr)
        REQUIRE(contains(q, *v));
    }
    kinds[std::get<std::int64_t>(*find(settings, "kind"))] += 1.0 / count;
  }
  const std::vector<parameter> kind{parameters[1]};
  std::vector<parzen_point> of_kind;
  for (const auto& point : points)
    of_kind.push_back({point[1]});
  const parzen_estimator alone(kind, of_kind, std::vector<double>(points.size(), 1.0));
  for (std::int64_t k = 0; k < 3; ++k)
    CHECK(kinds[k]
          == Approx(std::exp(alone.log_density({(static_cast<double>(k) + 0.5) / 3})))
                 .margin(0.02));
}

TEST_CASE("parzen: what goes together in what was observed goes together when drawn") {
  const auto parameters = space_of_choices(2, 2)->rules.hyperparameters;
  std::vector<parzen_point> points;
  for (int i = 0; i < 20; ++i)
    points.push_back(i % 2 == 0 ? parzen_point{0.25, 0.25} : parzen_point{0.75, 0.75});
  const parzen_estimator p(parameters, points, std::vector<double>(20, 1.0));
  CHECK(p.log_density({0.25, 0.25}) > p.log_density({0.25, 0.75}) + 2);
  auto random = derive(1, purpose::proposal, 0, 0);
  int alike = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto drawn = p.draw(random);
    alike += drawn[0].value == drawn[1].value ? 1 : 0;
  }
  CHECK(alike > 850);
}
