#include "tests/engine/config/experiment_files.hpp"

#include <catch2/catch.hpp>

using namespace clade;

TEST_CASE("experiment: the objective is one metric that the task reports") {
  const experiment_files files;
  const auto with = [&](const std::string& goal) {
    return files.error_of(files.with("maximize", goal));
  };
  CHECK(with("maximize = [\"validation.acuracy\"]")
        == "x.toml:12: classification has no metric \"validation.acuracy\"; did you mean "
           "\"validation.accuracy\"?");
  CHECK(
      with("maximize = [\"speed\"]")
      == "x.toml:12: classification has no metric \"speed\"; it has validation.accuracy, "
         "validation.loss");
  CHECK(with("maximize = [\"validation.loss\"]")
        == "x.toml:12: validation.loss is better when it is lower; write minimize = "
           "[\"validation.loss\"]");
  CHECK(with("minimize = [\"validation.accuracy\"]")
        == "x.toml:12: validation.accuracy is better when it is higher; write maximize = "
           "[\"validation.accuracy\"]");
  CHECK(
      with("maximize = [\"validation.accuracy\", \"validation.loss\"]")
      == "x.toml:12: the objective names 2 metrics; one is optimised, keep the one that "
         "matters most");
  CHECK(
      with("maximize = \"validation.accuracy\"\nminimize = \"validation.loss\"")
      == "x.toml:12: the objective names 2 metrics; one is optimised, keep the one that "
         "matters most");
  CHECK(with("maximize = []") == "x.toml:12: objective.maximize names no metric");
  CHECK(with("maximise = \"validation.accuracy\"")
        == "x.toml:12: unknown key \"maximise\" in [objective]; did you mean "
           "\"maximize\"?");
  CHECK(with("minimize = \"validation.loss\"") == "no error");
  CHECK(files.error_of(files.valid, {"data.task=regression"})
        == "x.toml:12: regression has no metric \"validation.accuracy\"; it has "
           "validation.rmse, validation.mse, validation.r2, validation.loss");
}

TEST_CASE("experiment: without an objective that of the task is taken") {
  const experiment_files files;
  const auto text = files.with("maximize", "");
  CHECK(files.loaded(text).objective.metric == "validation.accuracy");
  const auto regression = files.loaded(text, {"data.task=regression"}).objective;
  CHECK(regression.metric == "validation.rmse");
  CHECK_FALSE(regression.maximize);
}

TEST_CASE("experiment: every metric of the task is a case of a selection by lexicase") {
  const experiment_files files;
  const auto cases = [&](const std::vector<std::string>& overrides) {
    std::string text;
    for (const objective& o : rules_of(files.loaded(files.valid, overrides)).cases)
      text += (o.maximize ? "+" : "-") + o.metric + " ";
    return text;
  };
  CHECK(cases({}).empty());
  CHECK(cases({"evolution.selection=lexicase"})
        == "+validation.accuracy -validation.loss ");
  CHECK(cases({"evolution.selection=lexicase", "evolution.strategy=random"}).empty());
  CHECK(cases({"evolution.selection=lexicase", "data.task=regression",
               "objective.maximize=validation.r2"})
        == "-validation.rmse -validation.mse +validation.r2 -validation.loss ");
}
