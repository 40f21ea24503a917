#include "engine/training/final/column_importance.hpp"
#include "tests/engine/training/on_cpu.hpp"
#include "tests/engine/training/training_data.hpp"

#include <ATen/ATen.h>
#include <catch2/catch.hpp>

using namespace clade;

namespace {

using clock = std::chrono::steady_clock;

constexpr auto no_end = clock::time_point::max();

/// 64 examples of five inputs, all in the validation part: a number, a category of three
/// inputs, and a number.
device_data a_table() {
  device_data data;
  at::manual_seed(1);
  data.features = at::randn({64, 5});
  data.validation = at::arange(64, at::kLong);
  data.columns = {{"size", 1}, {"left out", 0}, {"colour", 3}, {"", 1}};
  return data;
}

/// The mean squared distance of what is said from `meant`, of all examples.
answers_measure distance_from(const at::Tensor& meant) {
  return [meant](const at::Tensor& said, const at::Tensor& which) {
    return (said - meant.index_select(0, which)).square().mean().item<double>();
  };
}

const column_importance& of(const column_importances& all, const std::string& column) {
  for (const auto& c : all.columns)
    if (c.column == column)
      return c;
  FAIL("there is no column " + column);
  return all.columns.front();
}

} // namespace

TEST_CASE("importance: the columns matter that the model looks at, in their order") {
  const auto data = a_table();
  const auto all = data.features.rows(data.validation);
  const asked_model says = [](const at::Tensor& x, const at::Tensor&) {
    return 3 * x.select(1, 0) + x.select(1, 4);
  };
  const auto meant = says(all, data.validation);
  const auto found = importance_of_columns(data, says, distance_from(meant),
                                           "validation.loss", 7, no_end);
  REQUIRE(found);
  CHECK(found->metric == "validation.loss");
  CHECK(found->examples == 64);
  CHECK(found->times == 10);
  REQUIRE(found->columns.size() == 3);
  CHECK(found->columns[0].column == "size");
  CHECK(found->columns[1].column == "4");
  CHECK(found->columns[1].low > 0);
  CHECK(of(*found, "colour").worse == 0);
  CHECK(of(*found, "colour").high == 0);
  // The seed decides.
  CHECK(*found
        == *importance_of_columns(data, says, distance_from(meant), "validation.loss", 7,
                                  no_end));
}

TEST_CASE("importance: the inputs of a column are dealt together") {
  const auto data = a_table();
  const auto all = data.features.rows(data.validation);
  // No example has a mixture of the values of two.
  const asked_model says = [&](const at::Tensor& x, const at::Tensor&) {
    const auto colours = all.narrow(1, 1, 3);
    for (std::int64_t i = 0; i < x.size(0); ++i)
      CHECK((colours - x[i].narrow(0, 1, 3)).abs().sum(1).min().item<double>() == 0);
    return x.narrow(1, 1, 3).sum(1);
  };
  const auto meant = says(all, data.validation);
  const auto found = importance_of_columns(data, says, distance_from(meant),
                                           "validation.loss", 7, no_end);
  REQUIRE(found);
  CHECK(found->columns[0].column == "colour");
  CHECK(found->columns[0].low > 0);
}

TEST_CASE("importance: a model is asked of each example by its index") {
  auto data = a_table();
  data.validation = at::arange(10, 30, at::kLong);
  const asked_model says = [&](const at::Tensor& x, const at::Tensor& which) {
    CHECK(which.size(0) == 20);
    CHECK(which.min().item<std::int64_t>() == 10);
    // The first column is never dealt here, as long as the others are.
    return at::where(which.lt(20), x.select(1, 0), x.select(1, 4));
  };
  const auto meant = says(data.features.rows(data.validation), data.validation);
  const auto measure = [&](const at::Tensor& said, const at::Tensor& which) {
    return (said - meant.index_select(0, which - 10)).square().mean().item<double>();
  };
  const auto found =
      importance_of_columns(data, says, measure, "validation.loss", 7, no_end);
  REQUIRE(found);
  CHECK(of(*found, "size").low > 0);
  CHECK(of(*found, "4").low > 0);
}

TEST_CASE("importance: without time, examples or columns there is none") {
  auto data = a_table();
  const asked_model says = [](const at::Tensor& x, const at::Tensor&) {
    return x.select(1, 0);
  };
  const answers_measure zero = [](const at::Tensor&, const at::Tensor&) { return 0.0; };
  CHECK_FALSE(importance_of_columns(data, says, zero, "validation.loss", 7,
                                    clock::now() - std::chrono::seconds(1)));
  auto few = data;
  few.validation = at::arange(1, at::kLong);
  CHECK_FALSE(importance_of_columns(few, says, zero, "validation.loss", 7, no_end));
  data.columns = {{"left out", 0}};
  CHECK_FALSE(importance_of_columns(data, says, zero, "validation.loss", 7, no_end));
}

TEST_CASE("importance: a table without names has its columns by number") {
  auto data = a_table();
  data.columns.clear();
  const auto columns = named_columns(data.columns, 5);
  REQUIRE(columns.size() == 5);
  CHECK(columns[0] == input_column{"1", 1});
  CHECK(columns[4] == input_column{"5", 1});
}
