#include "engine/run/steps/verify.hpp"
#include "engine/search/core/zero_cost.hpp"
#include "engine/search/strategies/registry/islands.hpp"
#include "engine/search/strategies/registry/validation.hpp"
#include "genome/genes/hash.hpp"
#include "tests/support/genomes.hpp"
#include "tests/support/small_run.hpp"
#include "tests/support/verified.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace clade;

namespace {

/// Scores that depend on the network and on the machine; some are absent.
class machine final : public zero_cost_scorer {
public:
  explicit machine(double number) : number_(number) {}

  zero_cost_scores score(const genome& g, candidate_id id) override {
    ++asked;
    const auto hash = canonical_hash(g);
    const auto part = [&](std::uint64_t bits) {
      return number_ * static_cast<double>(bits % 1000) + static_cast<double>(id);
    };
    return {.synflow = hash.low % 7 == 0 ? std::nullopt : std::optional(part(hash.low)),
            .jacob_cov = part(hash.high),
            .grad_norm = part(hash.low >> 20)};
  }

  std::size_t asked = 0;

private:
  double number_;
};

run_rules rules_with_scores() {
  run_rules rules;
  rules.evolution.strategy = "surrogate";
  rules.evolution.population = 6;
  rules.evolution.generations = 4;
  rules.evolution.in_flight = 2;
  rules.evolution.zero_cost = true;
  rules.seed = 11;
  return rules;
}

std::vector<record> records_with(const run_rules& rules, zero_cost_scorer& scorer) {
  auto run = small_run(rules, {.epochs = 2});
  run.breed = [&](const breeding& order) {
    return breed({small_space(), small_problem(), rules.evolution.mutation, rules.seed,
                  &scorer},
                 order)
        .value();
  };
  return simulate(run).records;
}

verification verify(const run_rules& rules, const std::vector<record>& records) {
  return verified(
      [&](const std::string&) {
        return replay_rules{.fold = rules,
                            .space = small_space(),
                            .problem = small_problem(),
                            .search = std::get<run_started>(records.front()).search};
      },
      records);
}

std::vector<candidate> born_in(const std::vector<record>& records) {
  std::vector<candidate> born;
  for (const auto& r : records)
    if (const auto* b = std::get_if<candidate_born>(&r))
      born.push_back(b->born);
  return born;
}

} // namespace

TEST_CASE("zero cost: scores take their place among those that are known") {
  const std::vector<zero_cost_scores> known{{.synflow = 4, .jacob_cov = -2},
                                            {.synflow = 1, .jacob_cov = -2},
                                            {.synflow = 2, .jacob_cov = -2},
                                            {.synflow = 3}};
  const zero_cost_places places(known);
  using three = std::array<double, 3>;
  CHECK(places.of({.synflow = 2.5, .jacob_cov = -2, .grad_norm = 7})
        == three{0.5, 0.5, 0.5});
  CHECK(places.of({.synflow = 9, .jacob_cov = 0}) == three{1, 1, 0.5});
  CHECK(places.of({.synflow = 1, .jacob_cov = -3}) == three{0.125, 0, 0.5});
  CHECK(places.of({}) == three{0.5, 0.5, 0.5});
}

TEST_CASE("zero cost: a network is measured once, and kept in the order of asking") {
  machine here(1);
  scoring_log log(here);
  auto g = genome{};
  auto other = genome{};
  assign(other.hyperparameters, "learning_rate", value{0.5});
  const auto first = log.score(g, 1);
  const auto second = log.score(other, 1);
  CHECK(log.score(g, 1) == first);
  CHECK(here.asked == 2);
  CHECK(log.all() == std::vector{first, second});
  recorded_scores again(log.all());
  CHECK(again.score(other, 5) == first);
  CHECK(again.score(g, 5) == second);
  CHECK(again.score(g, 5) == zero_cost_scores{});
}

TEST_CASE("zero cost: every birth holds its own scores and those of its rivals") {
  machine here(1);
  const auto born = born_in(records_with(rules_with_scores(), here));
  REQUIRE(born.size() == 24);
  std::size_t chosen = 0;
  for (const auto& c : born) {
    machine same(1);
    CHECK(c.zero_cost == same.score(*c.genome, c.id));
    CHECK(std::ranges::find(c.looked_at, c.zero_cost) != c.looked_at.end());
    chosen += c.looked_at.size() > 1 ? 1 : 0;
    CHECK(c.looked_at.size() <= 17 * (c.attempt + 1));
  }
  CHECK(chosen > 8);
}

TEST_CASE("zero cost: a run without it holds no scores and is what it was") {
  auto rules = rules_with_scores();
  rules.evolution.zero_cost = false;
  auto plain = small_run(rules, {.epochs = 2});
  const auto born = born_in(simulate(plain).records);
  REQUIRE(born.size() == 24);
  for (const auto& c : born) {
    CHECK(c.looked_at.empty());
    CHECK(c.zero_cost == zero_cost_scores{});
  }
}

TEST_CASE(
    "zero cost: decisions are made again from the records, where nothing measures") {
  const auto rules = rules_with_scores();
  machine here(1), elsewhere(-3);
  const auto records = records_with(rules, here);
  const auto others = records_with(rules, elsewhere);
  // The scores that are measured decide.
  std::vector<genome_hash> networks, other_networks;
  for (const auto& c : born_in(records))
    networks.push_back(c.network);
  for (const auto& c : born_in(others))
    other_networks.push_back(c.network);
  CHECK(networks != other_networks);
  for (const auto* run : {&records, &others}) {
    const auto v = verify(rules, *run);
    INFO((v.first ? v.first->stored + " / " + v.first->made : ""));
    CHECK_FALSE(v.first);
    CHECK(v.candidates == 24);
  }
}

TEST_CASE("zero cost: a falsified score is found") {
  const auto rules = rules_with_scores();
  machine here(1);
  const auto records = records_with(rules, here);
  const auto falsified = [&](const std::function<void(candidate&)>& change) {
    auto changed = records;
    candidate_born* last = nullptr;
    for (auto& r : changed)
      if (auto* b = std::get_if<candidate_born>(&r))
        last = b;
    REQUIRE(last != nullptr);
    change(last->born);
    return verify(rules, changed).first.has_value();
  };
  CHECK(falsified([](candidate& c) { c.zero_cost.grad_norm = -1; }));
  CHECK(falsified([](candidate& c) { c.looked_at.pop_back(); }));
  CHECK(falsified([](candidate& c) { c.looked_at.push_back({}); }));
}

TEST_CASE("zero cost: records keep scores, and refuse what is no score") {
  candidate c;
  c.id = 3;
  c.genome = std::make_shared<const genome>(test::a_genome());
  const auto bare = encode(record{candidate_born{c}});
  c.zero_cost = {.synflow = 1.5, .grad_norm = 2};
  c.looked_at = {{.jacob_cov = -40}, c.zero_cost};
  const auto bytes = encode(record{candidate_born{c}});
  CHECK(bytes.size() > bare.size());
  const auto read = decode_record(bytes);
  REQUIRE(read);
  const auto& again = std::get<candidate_born>(*read).born;
  CHECK(again.zero_cost == c.zero_cost);
  CHECK(again.looked_at == c.looked_at);
  CHECK(encode(*read) == bytes);
  CHECK(decisive_bytes(*read) != decisive_bytes(*decode_record(bare)));
  c.looked_at[0].jacob_cov = std::numeric_limits<double>::infinity();
  CHECK_FALSE(decode_record(encode(record{candidate_born{c}})));
}

TEST_CASE("zero cost: it needs a model") {
  evolution_params params;
  params.strategy = "surrogate";
  params.zero_cost = true;
  CHECK(validate(params));
  params.strategy = "islands";
  params.own = islands_params{.strategies = {"surrogate", "regularized"}};
  CHECK(validate(params));
  params.strategy = "regularized";
  const auto refused = validate(params);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message
        == "evolution.zero_cost is true: it needs the model of strategy = \"surrogate\", "
           "and this is \"regularized\"");
}
