#include "engine/report/view/test_tables.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

std::shared_ptr<const test_details> of_classes() {
  return std::make_shared<const test_details>(
      test_details{.test = 9,
                   .metrics = {{"test.accuracy", 7.0 / 9}, {"test.auc", 0.875}},
                   .classes = {"ant", "bee", "cat"},
                   .confusion = {3, 1, 0, 0, 2, 0, 0, 1, 2}});
}

} // namespace

TEST_CASE("test tables: the comparison has the objective's metric first") {
  const std::vector<compared> all{
      {.subject = "linear model",
       .test = 0.5,
       .parameters = 1234,
       .test_metrics = {{"test.accuracy", 0.5}, {"test.auc", 0.6}}},
      {.subject = "champion",
       .id = 7,
       .validation = 0.9,
       .test = 0.8,
       .parameters = 10,
       .test_metrics = {{"test.accuracy", 0.7}, {"test.auc", 0.8}}}};
  CHECK(comparison_rows(all, "validation.auc", "test.auc", false)
        == table_rows{{"", "validation.auc", "test.auc", "parameters"},
                      {"linear model", "-", "0.5000", "1,234"},
                      {"champion #7", "0.9000", "0.8000", "10"}});
  CHECK(comparison_rows(all, "score", "", false)
        == table_rows{{"", "score", "parameters"},
                      {"linear model", "-", "1,234"},
                      {"champion #7", "0.9000", "10"}});
  CHECK(comparison_rows(all, "validation.auc", "test.auc", true)
        == table_rows{{"", "validation.auc", "test.auc", "test.accuracy", "parameters"},
                      {"linear model", "-", "0.5000", "0.5000", "1,234"},
                      {"champion #7", "0.9000", "0.8000", "0.7000", "10"}});
}

TEST_CASE("test tables: each class has its figures") {
  const auto details = of_classes();
  CHECK(test_words(details) == "test data, 9 examples: accuracy 0.7778, auc 0.8750");
  CHECK(class_rows(details, 3)
        == table_rows{
            {"class", "examples", "precision", "recall", "f1", "most often taken for"},
            {"ant", "4", "1.0000", "0.7500", "0.8571", "bee (1)"},
            {"bee", "2", "0.5000", "1.0000", "0.6667", ""},
            {"cat", "3", "1.0000", "0.6667", "0.8000", "bee (1)"}});
  // The hardest ones.
  const auto two = class_rows(details, 2);
  REQUIRE(two.size() == 3);
  CHECK(two[1][0] == "bee");
  CHECK(two[2][0] == "cat");
}

TEST_CASE("test tables: a confusion has a row for each actual class") {
  CHECK(confusion_rows(of_classes(), 3)
        == table_rows{{"actual", "ant", "bee", "cat"},
                      {"ant", "3", "1", "0"},
                      {"bee", "0", "2", "0"},
                      {"cat", "0", "1", "2"}});
  CHECK(confusion_rows(of_classes(), 2).empty());
}

TEST_CASE("test tables: errors of a regression are told by shares") {
  const auto details = std::make_shared<const test_details>(
      test_details{.validation_errors = error_quantiles::of({4, 1, 3, 2, 10})});
  CHECK(error_rows(details)
        == table_rows{{"share of validation examples", "error at most"},
                      {"50 %", "3.0000"},
                      {"80 %", "4.0000"},
                      {"90 %", "10.0000"},
                      {"95 %", "10.0000"},
                      {"99 %", "10.0000"},
                      {"100 %", "10.0000"}});
  CHECK(class_rows(details, 9).empty());
}

TEST_CASE("test tables: the interval and the most wrong examples are told") {
  auto details = *of_classes();
  details.evidence = test_evidence{
      .interval = metric_interval{"test.accuracy", 0.5, 0.9, 1000},
      .by_line = true,
      .classes = {{12, "ant", "bee", 0.01, 0.97}, {3, "cat", "bee", 0.2, 0.6}}};
  const auto classes = std::make_shared<const test_details>(details);
  CHECK(
      test_words(classes)
      == "test data, 9 examples: accuracy 0.7778, auc 0.8750; 95 % interval of accuracy "
         "0.5000 to 0.9000 (bootstrap)");
  CHECK(wrong_rows(classes, 1)
        == table_rows{
            {"most wrong, line", "actual", "predicted", "P(predicted)", "P(actual)"},
            {"12", "ant", "bee", "0.9700", "0.0100"}});
  CHECK(wrong_rows(classes).size() == 3);
  details.evidence->classes.clear();
  CHECK(wrong_rows(std::make_shared<const test_details>(details)).empty());
  details.evidence->by_line = false;
  details.evidence->values = {{0, 2, 3.5}};
  CHECK(wrong_rows(std::make_shared<const test_details>(details))
        == table_rows{{"most wrong, index", "actual", "predicted", "off by"},
                      {"0", "2.0000", "3.5000", "1.5000"}});
}

TEST_CASE("test tables: without details there is nothing") {
  CHECK(test_words({}).empty());
  CHECK(class_rows({}, 9).empty());
  CHECK(confusion_rows({}, 9).empty());
  CHECK(error_rows({}).empty());
  CHECK(wrong_rows({}).empty());
  CHECK(wrong_rows(of_classes()).empty());
}
