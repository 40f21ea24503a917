#include "engine/report/view/data_story.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

data_set six_flowers() {
  data_set d;
  d.shape.sizes = {4};
  d.examples = 6;
  d.labels = {0, 1, 0, 1, 1, 0};
  d.classes = {"setosa", "virginica"};
  d.train = {0, 1, 2};
  d.validation = {3};
  d.test = {4, 5};
  return d;
}

} // namespace

TEST_CASE("data story: it counts the examples of each class and part") {
  const auto d = summarize(six_flowers(), "iris.csv");
  CHECK(data_words(d)
        == "iris.csv: 6 examples of shape [4] in 2 classes; 3 to train on, 1 for "
           "validation, 2 for the test.");
  CHECK(data_rows(d, 10)
        == std::vector<std::vector<std::string>>{
            {"class", "examples", "train", "validation", "test"},
            {"setosa", "3", "2", "0", "1"},
            {"virginica", "3", "1", "1", "1"}});
  CHECK(data_rows(d, 1).size() == 2);
}

TEST_CASE("data story: a regression's target is told in its own unit") {
  data_set d;
  d.task = regression;
  d.shape.sizes = {2};
  d.targets = {-1, 0, 1, 9};
  d.target_scales = {{.mean = 100, .deviation = 10}};
  d.train = {0, 1};
  d.test = {2};
  const auto told = summarize(d, "rent.csv");
  CHECK(data_words(told)
        == "rent.csv: 3 examples of shape [2]; 2 to train on, 0 for validation, 1 for "
           "the test.");
  // The fourth is in no part.
  CHECK(data_rows(told, 10)[1]
        == std::vector<std::string>{"", "90.0000", "100.00", "110.00"});
}
