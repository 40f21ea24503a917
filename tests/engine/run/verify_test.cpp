#include "engine/run/steps/verify.hpp"
#include "tests/support/small_run.hpp"
#include "tests/support/verified.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

constexpr genome_hash a_search{.high = 3, .low = 4};

struct setting_of_run {
  const char* strategy;
  const char* tell_order;
};
constexpr setting_of_run settings_of_runs[]{{"random", "asked"},
                                            {"generational", "asked"},
                                            {"regularized", "asked"},
                                            {"regularized", "arrived"}};

run_rules rules_for(const setting_of_run& s) {
  run_rules rules;
  rules.evolution.strategy = s.strategy;
  rules.evolution.tell_order = s.tell_order;
  rules.evolution.population = 6;
  rules.evolution.generations = 4;
  rules.evolution.elites = 2;
  rules.evolution.in_flight = 3;
  rules.seed = 11;
  return rules;
}

/// The records of a run in which things happened in some order.
std::vector<record> records_of(const setting_of_run& s, std::uint64_t order = 1) {
  auto mixed = small_run(rules_for(s), {.diverge = 0.1, .epochs = 2});
  mixed.pick = shuffled(order);
  auto records = simulate(mixed).records;
  std::get<run_started>(records.front()).search = a_search;
  return records;
}

/// So few networks that they come up again and again.
search_space crowded_space() {
  auto space = small_space();
  space.rules.hyperparameters.clear();
  space.rules.operators.resize(1);
  space.rules.max_nodes = space.rules.initial_nodes = 1;
  space.rules.max_skips = 0;
  return space;
}

/// Returns the records of a run over that space.
std::vector<record> crowded_records(const run_rules& rules) {
  auto crowded = small_run(rules, {.epochs = 2});
  crowded.breed = [rules, space = crowded_space()](const breeding& order) {
    return breed({space, small_problem(), rules.evolution.mutation, rules.seed}, order)
        .value();
  };
  crowded.pick = shuffled(1);
  auto records = simulate(crowded).records;
  std::get<run_started>(records.front()).search = a_search;
  return records;
}

verification verify(const run_rules& rules, const std::vector<record>& records,
                    const search_space& space = small_space()) {
  return verified(
      [&](const std::string&) {
        return replay_rules{.fold = rules,
                            .space = space,
                            .problem = small_problem(),
                            .search = a_search};
      },
      records);
}

/// A way to falsify a record; false: there is no such thing in it.
struct falsification {
  const char* what;
  std::function<bool(record&)> apply;
};

template<class Kind>
falsification in(const char* what, std::function<bool(Kind&)> change) {
  return {what, [change](record& r) {
            auto* one = std::get_if<Kind>(&r);
            return one != nullptr && change(*one);
          }};
}

falsification in_birth(const char* what, std::function<void(candidate&)> change) {
  return in<candidate_born>(what, [change](candidate_born& b) {
    change(b.born);
    return true;
  });
}

/// Returns the falsification of one that was trained: copies are a law of their own.
falsification in_success(const char* what, std::function<void(evaluation&)> change) {
  return in<candidate_evaluated>(what, [change](candidate_evaluated& e) {
    const bool fits =
        e.evaluated.outcome == outcome::succeeded && e.evaluated.equal_to == 0;
    if (fits)
      change(e.evaluated);
    return fits;
  });
}

std::vector<falsification> falsifications() {
  return {in<run_started>("seed", [](run_started& r) { return ++r.seed != 0; }),
          in<run_started>("search", [](run_started& r) { return ++r.search.low != 0; }),
          in_birth("id", [](candidate& c) { ++c.id; }),
          in_birth("generation", [](candidate& c) { ++c.generation; }),
          in_birth("index", [](candidate& c) { ++c.index; }),
          in_birth("attempt", [](candidate& c) { ++c.attempt; }),
          in_birth("too many attempts", [](candidate& c) { c.attempt += 8; }),
          in_birth("genome",
                   [](candidate& c) {
                     auto other = *c.genome;
                     assign(other.hyperparameters, "another", value{std::int64_t{1}});
                     c.genome = std::make_shared<const genome>(std::move(other));
                   }),
          in_birth("network", [](candidate& c) { ++c.network.high; }),
          in_birth("parents", [](candidate& c) { c.parents.push_back(1); }),
          in_birth("origin", [](candidate& c) { c.changes.push_back({.after = "!"}); }),
          in_birth("work", [](candidate& c) { c.work += 1; }),
          in_birth("equal", [](candidate& c) { c.equal_to = c.equal_to == 0 ? 1 : 0; }),
          in_success("id of nobody", [](evaluation& e) { e.id += 100; }),
          in_success("outcome", [](evaluation& e) { e.outcome = outcome::diverged; }),
          in_success("metrics", [](evaluation& e) { e.metrics.front().value += 0.5; }),
          in_success("parameters", [](evaluation& e) { ++e.parameters; }),
          in_success("copied", [](evaluation& e) { e.equal_to = 1; }),
          in<generation_closed>("closed",
                                [](generation_closed& r) { return ++r.generation != 0; }),
          in<generation_closed>("survivors",
                                [](generation_closed& r) {
                                  std::swap(r.survivors.front(), r.survivors.back());
                                  return true;
                                }),
          in<run_finished>("champion", [](run_finished& r) { return ++r.champion != 0; }),
          in<run_finished>("tested", [](run_finished& r) {
            r.examinations.push_back({.subject = "champion",
                                      .id = r.champion + 1,
                                      .metrics = {},
                                      .parameters = 0});
            return true;
          })};
}

} // namespace

TEST_CASE("verify: every decision of a run is made again and is equal") {
  for (const auto& s : settings_of_runs)
    for (std::uint64_t order = 1; order <= 3; ++order) {
      INFO(s.strategy << " " << s.tell_order << ", order " << order);
      const auto records = records_of(s, order);
      const auto v = verify(rules_for(s), records);
      REQUIRE_FALSE(v.first);
      CHECK(v.records == records.size());
      CHECK(v.candidates == 24);
      CHECK(v.decisions.places == 24);
      CHECK(v.decisions.networks >= 24);
      CHECK(v.decisions.closings == 4);
      CHECK(v.decisions.ends >= 1);
      CHECK(to_text(v.digest) == to_text(fold(rules_for(s), records).digest));
    }
}

TEST_CASE("verify: a run that is not finished is as good, wherever it stopped") {
  for (const auto& s : settings_of_runs) {
    const auto records = records_of(s);
    for (std::size_t stop = 1; stop < records.size(); stop += 3) {
      INFO(s.strategy << " " << s.tell_order << ", stopped behind record " << stop);
      const auto end = records.begin() + static_cast<std::ptrdiff_t>(stop);
      const auto v = verify(rules_for(s), {records.begin(), end});
      REQUIRE_FALSE(v.first);
      REQUIRE(v.records == stop);
    }
  }
}

TEST_CASE("verify: observations decide nothing") {
  const auto& s = settings_of_runs[1];
  auto records = records_of(s);
  const auto plain = verify(rules_for(s), records);
  records.insert(records.begin() + 5, run_paused{"interrupted"});
  records.insert(records.begin() + 6, run_resumed{"0.1.0"});
  records.insert(records.begin() + 7, slot_changed{"cpu:0", true, ""});
  records.insert(records.begin() + 8, attempt_failed{1, 1, "cpu:0", "killed"});
  const auto v = verify(rules_for(s), records);
  REQUIRE_FALSE(v.first);
  CHECK(v.digest == plain.digest);
  CHECK(v.decisions.total() == plain.decisions.total());
  CHECK(v.records == plain.records + 4);
}

TEST_CASE("verify: whatever is falsified in a record is found at that record") {
  const auto ways = falsifications();
  for (const auto& s : settings_of_runs) {
    const auto records = records_of(s);
    for (std::size_t way = 0; way < ways.size(); ++way) {
      std::size_t applied = 0;
      for (std::size_t i = 0; i < records.size(); ++i) {
        auto falsified = records;
        if (!ways[way].apply(falsified[i]))
          continue;
        ++applied;
        INFO(s.strategy << " " << s.tell_order << ": " << ways[way].what << " of "
                        << to_text(records[i]));
        const auto v = verify(rules_for(s), falsified);
        REQUIRE(v.first);
        REQUIRE(v.first->sequence == i + 1);
        REQUIRE(v.first->stored != v.first->made);
      }
      INFO(ways[way].what);
      CHECK(applied > 0);
    }
  }
}

TEST_CASE("verify: a record that was left out, or came twice, is found where it is") {
  for (const auto& s : settings_of_runs) {
    const auto records = records_of(s);
    for (std::size_t i = 0; i < records.size(); ++i) {
      auto twice = records;
      twice.insert(twice.begin() + static_cast<std::ptrdiff_t>(i), records[i]);
      INFO(s.strategy << " " << s.tell_order << ": twice " << to_text(records[i]));
      const auto v = verify(rules_for(s), twice);
      REQUIRE(v.first);
      REQUIRE(v.first->sequence == i + 2);
    }
  }
}

TEST_CASE("verify: of networks that come again, rejections and copies are made again") {
  const auto rules = rules_for(settings_of_runs[1]);
  const auto records = crowded_records(rules);
  const auto v = verify(rules, records, crowded_space());
  REQUIRE_FALSE(v.first);
  CHECK(v.decisions.copies > 0);
  CHECK(v.decisions.networks > 2 * v.candidates);

  const std::vector<falsification> ways{
      in_birth("attempt", [](candidate& c) { c.attempt = c.attempt == 0 ? 1 : 0; }),
      in<candidate_evaluated>("metrics",
                              [](candidate_evaluated& e) {
                                auto& metrics = e.evaluated.metrics;
                                return !metrics.empty()
                                       && (metrics.front().value += 0.5) != 0;
                              }),
      in<candidate_evaluated>("weights",
                              [](candidate_evaluated& e) {
                                return e.evaluated.equal_to != 0
                                       && ++e.evaluated.weights_hash != 0;
                              }),
      in<candidate_evaluated>("parameters",
                              [](candidate_evaluated& e) {
                                return e.evaluated.equal_to != 0
                                       && ++e.evaluated.parameters != 0;
                              }),
      in<candidate_evaluated>("trained", [](candidate_evaluated& e) {
        return std::exchange(e.evaluated.equal_to, 0) != 0;
      })};
  for (const auto& way : ways) {
    std::size_t applied = 0;
    for (std::size_t i = 0; i < records.size(); ++i) {
      auto falsified = records;
      if (!way.apply(falsified[i]))
        continue;
      ++applied;
      INFO(way.what << " of " << to_text(records[i]));
      const auto found = verify(rules, falsified, crowded_space());
      REQUIRE(found.first);
      REQUIRE(found.first->sequence == i + 1);
    }
    CHECK(applied > 0);
  }
}
