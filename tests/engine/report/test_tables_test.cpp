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
  CHECK(ahead_rows(details).empty());
}

TEST_CASE("test tables: errors of forecasts are told by the steps that they look ahead") {
  auto errors = error_quantiles::of({1, 2, 3, 4});
  errors.ahead = {{1, 2, {1, 2}}, {4, 2, {3, 4}}};
  const auto details =
      std::make_shared<const test_details>(test_details{.validation_errors = errors});
  CHECK(ahead_rows(details)
        == table_rows{{"steps ahead", "half within", "90 % within", "largest error"},
                      {"1", "1.0000", "2.0000", "2.0000"},
                      {"2 to 4", "3.0000", "4.0000", "4.0000"}});
  CHECK(ahead_rows(details, 1).back().front() == "2 to 4");
  CHECK(ahead_rows(details, 1).size() == 2);
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
  details.evidence->classes.front().file = "ants/7.jpg";
  const auto files = wrong_rows(std::make_shared<const test_details>(details), 1);
  CHECK(files.front().front() == "most wrong, file");
  CHECK(files.back().front() == "ants/7.jpg");
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

TEST_CASE("test tables: models are ranked with their shares") {
  model_composed composed;
  CHECK(model_rows(composed, "validation.accuracy", 9).empty());
  CHECK(model_rows({}, "validation.accuracy", 9).empty());
  composed.models = {{.subject = "the folds of #7",
                      .id = 7,
                      .metrics = {{"validation.accuracy", 0.875}},
                      .parameters = 1234,
                      .share = 0.75},
                     {.subject = "the linear model", .parameters = 10}};
  CHECK(model_rows(composed, "validation.accuracy", 9)
        == table_rows{
            {"model", "validation.accuracy", "parameters", "share of the final model"},
            {"the folds of #7", "0.8750", "1,234", "0.7500"},
            {"the linear model", "-", "10", "-"}});
  CHECK(model_words(composed, "validation.accuracy").empty());
  CHECK(model_rows(composed, "validation.accuracy", 1).size() == 2);
}

TEST_CASE("test tables: the models of few examples are ranked by cross-validation") {
  model_composed composed;
  composed.models = {
      {.subject = "boosted trees",
       .metrics = {{"validation.accuracy", 0.5}, {"cross_validation.accuracy", 0.875}},
       .parameters = 10,
       .share = 1},
      {.subject = "#7",
       .id = 7,
       .metrics = {{"validation.accuracy", 0.75}},
       .parameters = 1234}};
  CHECK(model_rows(composed, "validation.accuracy", 9)
        == table_rows{{"model", "cross_validation.accuracy", "validation.accuracy",
                       "parameters", "share of the final model"},
                      {"boosted trees", "0.8750", "0.5000", "10", "1.0000"},
                      {"#7", "-", "0.7500", "1,234", "-"}});
  CHECK(model_words(composed, "validation.accuracy")
            .starts_with("cross_validation.accuracy decides: "));
  CHECK(model_words(composed, "parameters").empty());
  CHECK(model_words({}, "validation.accuracy").empty());
}

TEST_CASE("test tables: columns are told by what they are worth") {
  test_details details{.reliability = reliability{{{4, 0.9, 0.75}}, 0.15}};
  details.columns = column_importances{
      "validation.accuracy", 2000, 10, {{"age", 0.25, 0.125, 0.375}, {"sex", 0, 0, 0}}};
  const auto told = std::make_shared<const test_details>(details);
  CHECK(column_rows(told, 9)
        == table_rows{{"column", "worse by", "95 % interval"},
                      {"age", "0.2500", "0.1250 to 0.3750"},
                      {"sex", "0.0000", "0.0000 to 0.0000"}});
  CHECK(column_rows(told, 1).size() == 2);
  CHECK(column_words(told).starts_with("accuracy of 2,000 validation examples"));
  CHECK(reliability_rows(told)
        == table_rows{{"probability of the predicted class", "test examples", "right"},
                      {"0.9000", "4", "0.7500"}});
  CHECK(column_rows(of_classes(), 9).empty());
  CHECK(column_words(of_classes()).empty());
  CHECK(reliability_rows(of_classes()).empty());
}
