#include "genome/variation/crossover.hpp"
#include "tests/support/genomes.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace clade;
using namespace clade::test;

namespace {

genome crossed(const genome& fitter, const genome& other, std::uint64_t index,
               const grammar& rules = small_grammar()) {
  random_stream random = derive(1, purpose::crossover, 0, index);
  genome child = cross(rules, fitter, other, random);
  REQUIRE(check(rules, child).has_value());
  return child;
}

} // namespace

TEST_CASE("crossover: the child of equal parents is their equal") {
  for (std::uint64_t i = 0; i < 20; ++i)
    CHECK(crossed(a_genome(), a_genome(), i) == a_genome());
}

TEST_CASE("crossover: the child is wired as the fitter parent is") {
  const genome fitter = a_genome();
  genome other = a_chain({{{}, "dense", {{"units", std::int64_t{7}}}}});
  other.hyperparameters = fitter.hyperparameters;
  std::set<std::string> operators;
  for (std::uint64_t i = 0; i < 50; ++i) {
    const genome child = crossed(fitter, other, i);
    CHECK(child.edges == fitter.edges);
    operators.insert(to_text(child.nodes[2]));
    CHECK(child.nodes[3] == fitter.nodes[3]);
    CHECK(child.nodes[1] == fitter.nodes[1]);
  }
  // n2 is in both: operator and settings come together, from either.
  CHECK(operators
        == std::set<std::string>{"conv(filters=16, kernel=3, padding=same)",
                                 "dense(units=7)"});
}

TEST_CASE("crossover: how a node merges follows the edges that enter it") {
  genome fork = a_chain({{{}, "relu", {}}, {{}, "relu", {{"merge", "concat"}}}});
  fork.edges.push_back(an_edge(input_innovation, innovation{3}));
  fork.hyperparameters = a_genome().hyperparameters;
  fork = sorted(std::move(fork));
  genome chain = a_chain({{{}, "relu", {}}, {{}, "dense", {{"units", std::int64_t{7}}}}});
  chain.hyperparameters = fork.hyperparameters;
  for (std::uint64_t i = 0; i < 50; ++i) {
    CHECK(*find(crossed(fork, chain, i).nodes[3].settings, "merge") == value("concat"));
    CHECK(find(crossed(chain, fork, i).nodes[3].settings, "merge") == nullptr);
  }
}

TEST_CASE(
    "crossover: hyperparameters come from either and what depends on them with them") {
  const genome fitter = a_genome();
  genome other = a_genome();
  other.hyperparameters = {
      {"batch_size", std::int64_t{128}}, {"learning_rate", 0.001}, {"optimiser", "adam"}};
  std::set<std::string> texts;
  for (std::uint64_t i = 0; i < 200; ++i) {
    texts.insert(to_text(crossed(fitter, other, i).hyperparameters));
    texts.insert(to_text(crossed(other, fitter, i).hyperparameters));
  }
  std::set<std::string> all;
  for (const std::string batch : {"64", "128"})
    for (const std::string rate : {"0.01", "0.001"})
      for (const std::string rest : {"momentum=0.9, optimiser=sgd", "optimiser=adam"})
        all.insert("batch_size=" + batch + ", learning_rate=" + rate + ", " + rest);
  CHECK(texts == all);
}

TEST_CASE("crossover: a hyperparameter that neither has is drawn") {
  grammar rules = small_grammar();
  rules.hyperparameters.push_back(
      {"beta", real_domain{}, condition{"optimiser", {"adam"}}, false});
  genome sgd = a_genome(), adam = a_genome();
  adam.hyperparameters = {
      {"batch_size", std::int64_t{64}}, {"learning_rate", 0.01}, {"optimiser", "adam"}};
  const genome child = [&] {
    for (std::uint64_t i = 0;; ++i) {
      random_stream random = derive(2, purpose::crossover, 0, i);
      genome g = cross(rules, sgd, adam, random);
      if (*find(g.hyperparameters, "optimiser") == value("adam"))
        return g;
    }
  }();
  CHECK(check(rules, child).has_value());
  CHECK(find(child.hyperparameters, "beta") != nullptr);
}
