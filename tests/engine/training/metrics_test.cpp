#include "engine/training/metrics/metrics.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace clade;

TEST_CASE("metrics: those that every epoch of a task has are known, and its loss is") {
  for (const auto& task : learning_tasks) {
    for (const auto name : task.metrics)
      CHECK(find_part_metric(task, name));
    CHECK(std::ranges::find(task.metrics, "loss") != task.metrics.end());
    const std::int64_t label = 0;
    const float scores[] = {1, 0};
    const double one = 1, two = 2;
    const std::vector<target_scale> scales{{.quantile = task.has_quantiles() ? 0.9 : 0}};
    CHECK(std::isfinite(
        task.has_classes()
            ? measure(task, "loss", class_predictions{2, {&label, 1}, scores})
        : task.has_labels() || task.has_quantiles()
            ? measure(task, "loss", several_predictions{1, {&one, 1}, {&two, 1}, scales})
            : measure(task, "loss", value_predictions{{&one, 1}, {&two, 1}})));
  }
}

TEST_CASE("metrics: quantiles have the pinball loss of all and of each") {
  CHECK(find_part_metric(quantiles, "pinball.q0.9")->name == "pinball.q0.9");
  CHECK_FALSE(find_part_metric(quantiles, "pinball.q0.9")->maximize);
  CHECK_FALSE(find_part_metric(quantiles, "rmse"));
  CHECK_FALSE(find_part_metric(quantiles, "below.q0.9"));
  CHECK_FALSE(find_part_metric(regression, "pinball"));
  CHECK(part_metric_list(quantiles, "validation.")
        == "validation.pinball, validation.loss, validation.pinball.QUANTILE");
}

TEST_CASE("metrics: an epoch has the training's loss and the validation part's") {
  CHECK(epoch_metrics(classification)
        == std::vector<std::string>{"train.loss", "validation.accuracy",
                                    "validation.loss"});
  CHECK(epoch_metrics(regression)
        == std::vector<std::string>{"train.loss", "validation.loss", "validation.mse",
                                    "validation.r2", "validation.rmse"});
}

TEST_CASE(
    "metrics: what the objective, its limits and the training name is measured too") {
  const objective goal{.metric = "validation.auc",
                       .others = {{"parameters", false}},
                       .constraints = {{"validation.f1.7", 0.9, false}}};
  const std::vector<std::string> named{"matthews", "train.accuracy", "validation.loss",
                                       "auc", "train.loss"};
  const auto asked = asked_for(classification, goal, named);
  CHECK(asked.validation == std::vector<std::string>{"auc", "f1.7", "matthews"});
  CHECK(asked.train == std::vector<std::string>{"accuracy"});
  CHECK(epoch_metrics(classification, asked)
        == std::vector<std::string>{"train.accuracy", "train.loss", "validation.accuracy",
                                    "validation.auc", "validation.f1.7",
                                    "validation.loss", "validation.matthews"});
}

TEST_CASE("metrics: an unknown one is told with those that there are") {
  const auto wrong = [](learning_task task, const std::string& name) {
    const std::vector<std::string> named{name};
    const auto checked = check_metric_names(task, named);
    return checked ? "no error" : checked.error().message;
  };
  CHECK(wrong(regression, "validation.auc")
        == "metrics: regression has no metric \"validation.auc\"; it has rmse, mse, r2, "
           "loss, mae, mape, smape");
  CHECK(wrong(classification, "f1")
        == "metrics: classification has no metric \"f1\"; it has accuracy, loss, "
           "balanced_accuracy, auc, f1_macro, matthews, top_3, top_5, f1.CLASS");
  for (const char* name : {"auc", "train.auc", "validation.log_loss", "f1.yes"})
    CHECK(wrong(classification, name) == "no error");
}

TEST_CASE("metrics: the F1 of a class that the data does not have is an error") {
  const std::vector<std::string> classes{"no", "yes"};
  CHECK(check_classes(asked_metrics{.validation = {"auc", "f1.yes"}}, classes));
  CHECK(check_classes(asked_metrics{.validation = {"f1.Yes"}}, classes).error().message
        == "the metric \"f1.Yes\" names no class of the data; there are f1.no, f1.yes");
}
