#include "engine/data/columns/learning_task.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace clade;

TEST_CASE("learning task: each is found by its name, at its place") {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < learning_tasks.size(); ++i) {
    const auto& task = learning_tasks[i];
    CHECK(names.insert(task.name).second);
    REQUIRE(find_learning_task(task.name) != nullptr);
    CHECK(*find_learning_task(task.name) == task);
    CHECK(place_of(task) == i);
  }
  CHECK(find_learning_task("clustering") == nullptr);
}

TEST_CASE("learning task: places of tasks in cached data stay what they are") {
  CHECK(place_of(classification) == 0);
  CHECK(place_of(regression) == 1);
  CHECK(place_of(multilabel) == 2);
  CHECK(place_of(quantiles) == 3);
}

TEST_CASE(
    "learning task: outputs are as many as classes, or one, and mean what they are") {
  CHECK(classification.outputs(10) == 10);
  CHECK(regression.outputs(0) == 1);
  CHECK(classification.decoded(0.5, {3, 2}) == 0.5);
  CHECK(regression.decoded(0.5, {3, 2}) == 4);
  CHECK(quantiles.outputs(3) == 3);
  CHECK(quantiles.decoded(0.5, {3, 2, 0.9}) == 4);
}
