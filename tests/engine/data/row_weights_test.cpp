#include "engine/data/profile/data_profile.hpp"
#include "engine/data/profile/infer_columns.hpp"
#include "engine/data/reading/cached_form.hpp"
#include "engine/data/source/open_source.hpp"
#include "tests/engine/data/files.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

std::string weighed_rows() {
  std::string text = "x,count,y\n";
  for (int i = 0; i < 20; ++i)
    text += std::to_string(3 * i % 7) + "," + std::to_string(i % 4) + ","
            + std::to_string(2.5 * i) + "\n";
  return text;
}

data_params by_count() {
  return {.target = "y", .weights = "count", .task = regression};
}

} // namespace

TEST_CASE("row weights: a column says how much each row counts and is no input") {
  const scratch_folder folder;
  auto params = by_count();
  params.file = write(folder, "x.csv", weighed_rows());
  const auto data = load_data(params, 1, {});
  REQUIRE(data);
  CHECK(data->shape == tensor_shape{{1}});
  REQUIRE(data->weights.size() == 20);
  double sum = 0;
  for (const auto i : data->train)
    sum += data->weights[i];
  CHECK(sum / static_cast<double>(data->train.size()) == Approx(1));
  CHECK(data->weights[4] == 0);
  CHECK(data->weights[3] == Approx(3 * data->weights[1]));
  const auto cached = parse_cached_form(cached_form(*data));
  REQUIRE(cached);
  CHECK(cached->weights == data->weights);
  CHECK(source_of(data_set(*data))->description().weights == data->weights);

  const auto inferred = infer_columns(params);
  REQUIRE(inferred);
  CHECK(inferred->params.columns.empty());
  const auto found =
      profile_data({.file = params.file, .target = "y", .weights = "count"});
  REQUIRE(found);
  CHECK(found->shape == tensor_shape{{1}});
  CHECK(found->is_apart(1));
}

TEST_CASE("row weights: what is none is said with its line") {
  const auto text = weighed_rows();
  CHECK(error_of("x.csv", text + "1,-2,5\n", by_count())
        == "x.csv:22: column 2 (\"count\"), the weight of the row, is \"-2\", where a "
           "number "
           "from 0 on must be");
  CHECK(error_of("x.csv", text + "1,,5\n", by_count())
            .find("the weight of the row, is \"\"")
        != std::string::npos);
  auto params = by_count();
  params.weights = "y";
  CHECK(error_of("x.csv", text, params).find("is named twice, as weights")
        != std::string::npos);
  params.weights = "n";
  CHECK(error_of("x.csv", text, params).find("column of weights") != std::string::npos);
  CHECK(error_of("x.csv", "x,count,y\n1,0,2\n2,0,3\n3,0,4\n4,0,5\n5,0,6\n", by_count())
        == "x.csv: the weights of all rows of the train part are 0");
  CHECK(error_of("x.npy",
                 npy("<f8", "(6, 2)", raw<double>({1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6})),
                 {.weights = "1", .task = regression})
            .find("weights are a column of a table")
        != std::string::npos);
}
