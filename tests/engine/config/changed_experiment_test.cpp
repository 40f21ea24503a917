// The changes of an experiment that a fork may make, and which changes make it another
// search.

#include "tests/engine/config/experiment_files.hpp"

#include <catch2/catch.hpp>

using namespace clade;

TEST_CASE("change: a fork has its name and its changes and else what its origin has") {
  const experiment_files files;
  const auto e = files.loaded(files.valid);
  const std::vector<std::string> changes{"evolution.population=32",
                                         "training.epochs = 20", "slots.local=cpu:3"};
  const auto changed = change_resolved(e, "other", changes);
  REQUIRE(changed);
  auto expected = e;
  expected.name = "other";
  expected.evolution.population = 32;
  expected.training.epochs = 20;
  expected.slots.local = "cpu:3";
  CHECK(to_toml(*changed) == to_toml(expected));
}

TEST_CASE("change: another seed leaves the split of the data as it was") {
  const experiment_files files;
  const auto e = files.loaded(files.valid);
  const auto once =
      change_resolved(e, "a", std::vector<std::string>{"experiment.seed=9"});
  REQUIRE(once);
  CHECK(once->seed == 9);
  CHECK(once->data.seed == e.seed);
  const auto twice =
      change_resolved(*once, "b", std::vector<std::string>{"experiment.seed=10"});
  REQUIRE(twice);
  CHECK(twice->data.seed == e.seed);
}

TEST_CASE("change: what a fork cannot have is refused in a sentence") {
  const experiment_files files;
  const auto e = files.loaded(files.valid);
  const auto refused = [&](const std::string& change, const std::string& name = "x") {
    const auto changed = change_resolved(e, name, std::vector{change});
    return changed ? "no error" : changed.error().message;
  };
  using Catch::Contains;
  CHECK_THAT(refused("data.shape=[1, 2, 2]"), Contains("data and the kind of fitness"));
  CHECK_THAT(refused("data.seed=3"), Contains("data and the kind of fitness"));
  CHECK_THAT(refused("data.limit=3"), Contains("data and the kind of fitness"));
  CHECK_THAT(refused("experiment.name=\"y\""), Contains("--as"));
  CHECK_THAT(refused("search_space.file=\"y\""), Contains("one by one"));
  CHECK_THAT(refused("evolution.popolation=3"),
             Contains("--change evolution.popolation") && Contains("did you mean"));
  CHECK_THAT(refused("evolution.population"), Contains("--change evolution.population"));
  CHECK(change_resolved(e, "x", std::vector<std::string>{"evolution.popolation=3"},
                        {.option = "--set "})
            .error()
            .message.starts_with("--set evolution.popolation"));
  CHECK_THAT(refused("evolution.population=-1"), Contains("population"));
  CHECK_THAT(refused("slots.local=cpu:1", "a/b"), Contains("name"));
}

TEST_CASE("search hash: what decides the search changes it and nothing else does") {
  const experiment_files files;
  const auto e = files.loaded(files.valid);
  const genome_hash data{1, 2};
  const auto hash = search_hash(e, data);
  const auto with = [&](auto change) {
    auto other = e;
    change(other);
    return search_hash(other, data);
  };
  CHECK(hash == with([](experiment& x) { x.slots.local = "cpu:7"; }));
  CHECK(hash == with([](experiment& x) { x.limits.wall_time = std::chrono::hours(1); }));
  CHECK(hash == with([](experiment& x) { x.name = "other"; }));
  CHECK(hash == with([](experiment& x) { x.data.file = "/elsewhere/x.csv"; }));
  CHECK(hash == with([](experiment& x) { x.space.name = "/elsewhere/vectors.toml"; }));
  CHECK(hash == search_hash(parse_resolved(to_toml(e), "x").value(), data));
  CHECK(hash != search_hash(e, {1, 3}));
  CHECK(hash != with([](experiment& x) { x.seed = 8; }));
  CHECK(hash != with([](experiment& x) { x.data.limit = 10; }));
  CHECK(hash != with([](experiment& x) { x.data.array = "x"; }));
  CHECK(hash != with([](experiment& x) { x.data.test_target_array = "x"; }));
  CHECK(hash != with([](experiment& x) { x.data.blanks = blank_rule::mean; }));
  CHECK(hash != with([](experiment& x) { x.data.categories = {"3"}; }));
  CHECK(hash != with([](experiment& x) { x.evolution.population = 13; }));
  CHECK(hash != with([](experiment& x) { x.training.epochs = 4; }));
  CHECK(hash != with([](experiment& x) {
          x.limits.evaluation_time += std::chrono::seconds(1);
        }));
  CHECK(hash != with([](experiment& x) { x.limits.evaluation_memory = 1 << 30; }));
  CHECK(hash != with([](experiment& x) { x.space.limits.max_parameters = 10; }));
  CHECK(hash != with([](experiment& x) { x.objective = {"validation.loss", false}; }));
}

TEST_CASE("search hash: it does not depend on where the repository lies") {
  const experiment_files here, there;
  REQUIRE(here.folder() != there.folder());
  CHECK(search_hash(here.loaded(here.valid), {})
        == search_hash(there.loaded(there.valid), {}));
}
