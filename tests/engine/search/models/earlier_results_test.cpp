#include "engine/search/models/base/normal_scores.hpp"
#include "engine/search/models/fitted/earlier_results.hpp"
#include "engine/search/models/fitted/fitness_model.hpp"
#include "genome/genes/hash.hpp"
#include "genome/variation/mutation.hpp"
#include "tests/support/genomes.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace clade;
using namespace clade::test;

namespace {

/// A task that likes wide layers and one learning rate.
double worth(const genome& g, double best_rate) {
  double sum = 0;
  for (const auto& node : g.nodes)
    for (const auto& s : node.settings)
      if (const auto* width = std::get_if<std::int64_t>(&s.value))
        sum += std::log(static_cast<double>(*width));
  const double rate = std::get<double>(*find(g.hyperparameters, "learning_rate"));
  return 0.3 * sum - std::fabs(std::log(rate / best_rate));
}

/// So many networks and how good they are, best first.
std::vector<earlier_result> results(std::size_t count, std::uint64_t seed,
                                    double best_rate, double sign = 1) {
  std::vector<genome> all;
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    auto random = derive(seed, purpose::sample, 0, i);
    all.push_back(sample_genome(small_grammar(), random));
    values.push_back(sign * worth(all.back(), best_rate));
  }
  const auto scores = normal_scores(values);
  std::vector<earlier_result> made;
  for (std::size_t i = 0; i < count; ++i)
    made.push_back({all[i], scores[i]});
  return made;
}

/// The correlation of what a model of six own results promises of others with their worth.
double order_of_others(std::span<const earlier_result> earlier) {
  const genome_features features(small_grammar());
  std::vector<known_fitness> known;
  for (const auto& r : results(6, 1, 0.01))
    known.push_back({features.encode(r.genome),
                     {.ok = true, .primary = r.score, .objectives = {r.score}}});
  auto random = derive(1, purpose::niches, 0, 0);
  const auto model = fitness_model::fit(known, features.blocks(), 1, random,
                                        examples_of(earlier, features));
  std::vector<double> promised, worths;
  for (const auto& r : results(100, 2, 0.01)) {
    promised.push_back(model.promise(features.encode(r.genome)));
    worths.push_back(r.score);
  }
  promised = normal_scores(promised);
  double sum = 0;
  for (std::size_t i = 0; i < promised.size(); ++i)
    sum += promised[i] * worths[i];
  return sum / static_cast<double>(promised.size());
}

} // namespace

TEST_CASE("earlier results: a text gives back the score and the network") {
  for (const auto& r : results(50, 3, 0.01)) {
    const auto again = parse_earlier_result(to_text(r));
    REQUIRE(again);
    CHECK(again->score == r.score);
    CHECK(canonical_hash(again->genome) == canonical_hash(r.genome));
  }
  CHECK(parse_earlier_result("nan\ninput\noutput <- input").error().message
        == "evolution.earlier: \"nan\" is no score");
  CHECK(parse_earlier_result("").error().message
        == "evolution.earlier: \"\" is no score");
  CHECK(parse_earlier_result("0.5\ninput\n")
            .error()
            .message.starts_with("evolution.earlier: there is no line for the output"));
}

TEST_CASE("earlier results: they say what a few results of a like task do not") {
  const double alone = order_of_others({});
  const double with_like = order_of_others(results(40, 4, 0.02));
  INFO(alone << " " << with_like);
  CHECK(with_like > alone + 0.1);
  CHECK(with_like > 0.5);
}

TEST_CASE("earlier results: the agreement says whether a task is alike") {
  const auto own = results(30, 5, 0.01);
  const auto rules = small_grammar();
  const auto like = agreement(results(40, 6, 0.02), own, rules, 1);
  const auto contrary = agreement(results(40, 6, 0.02, -1), own, rules, 1);
  REQUIRE(like);
  REQUIRE(contrary);
  CHECK(*like > 0.5);
  CHECK(*contrary < -0.5);
  CHECK_FALSE(agreement(results(3, 6, 0.02), own, rules, 1));
  CHECK_FALSE(agreement(results(40, 6, 0.02), results(3, 5, 0.01), rules, 1));
}
