#include "tests/engine/config/experiment_files.hpp"

#include <catch2/catch.hpp>

using namespace clade;

TEST_CASE("experiment: the objective is of metrics that the task reports") {
  const experiment_files files;
  const auto with = [&](const std::string& goal) {
    return files.error_of(files.with("maximize", goal));
  };
  const std::string all =
      "validation.accuracy, validation.loss, validation.balanced_accuracy, "
      "validation.auc, validation.f1_macro, validation.matthews, validation.top_3, "
      "validation.top_5, parameters, multiply_adds, latency_ms, validation.f1.CLASS";
  CHECK(with("maximize = [\"validation.acuracy\"]")
        == "x.toml:12: classification has no metric \"validation.acuracy\"; did you mean "
           "\"validation.accuracy\"? It has "
               + all);
  CHECK(with("maximize = [\"speed\"]")
        == "x.toml:12: classification has no metric \"speed\"; it has " + all);
  CHECK(with("maximize = [\"validation.loss\"]")
        == "x.toml:12: validation.loss is better when it is lower; write minimize = "
           "[\"validation.loss\"]");
  CHECK(with("maximize = \"parameters\"")
        == "x.toml:12: parameters is better when it is lower; write minimize = "
           "[\"parameters\"]");
  CHECK(with("minimize = [\"validation.accuracy\"]")
        == "x.toml:12: validation.accuracy is better when it is higher; write maximize = "
           "[\"validation.accuracy\"]");
  CHECK(with("maximize = []") == "x.toml:12: objective.maximize names no metric");
  CHECK(with("maximyze = \"validation.accuracy\"")
        == "x.toml:12: unknown key \"maximyze\" in [objective]; did you mean "
           "\"maximize\"?");
  CHECK(with("minimize = \"validation.loss\"") == "no error");
  CHECK(files.error_of(files.valid, {"data.task=regression"})
        == "x.toml:12: regression has no metric \"validation.accuracy\"; it has "
           "validation.rmse, validation.mse, validation.r2, validation.loss, "
           "validation.mae, validation.mape, validation.smape, parameters, "
           "multiply_adds, latency_ms; if the task is classification, say data.task = "
           "\"classification\"");
}

TEST_CASE("experiment: the objective may be of what is measured on demand") {
  const experiment_files files;
  const auto goal_of = [&](const std::string& goal) {
    return files.loaded(files.with("maximize", goal)).objective;
  };
  CHECK(goal_of("maximize = \"validation.auc\"")
        == objective{.metric = "validation.auc"});
  CHECK(goal_of("maximize = \"validation.f1.seven\"")
        == objective{.metric = "validation.f1.seven"});
  CHECK(goal_of("minimize = \"validation.log_loss\"")
        == objective{.metric = "validation.loss", .maximize = false});
  CHECK(goal_of("maximize = \"validation.f1_macro\"\n"
                "at_least = {\"validation.f1.2\" = 0.5}\n"
                "at_most = {\"validation.log_loss\" = 1}")
        == objective{
            .metric = "validation.f1_macro",
            .constraints = {{"validation.loss", 1}, {"validation.f1.2", 0.5, false}}});
  const auto text = to_toml(
      files.loaded(files.with("maximize", "maximize = \"validation.f1.x\"\n"
                                          "at_least = {\"validation.f1.y\" = 0.5}")));
  const auto again = parse_resolved(text, "again");
  REQUIRE(again);
  CHECK(to_toml(*again) == text);
}

TEST_CASE("experiment: several objectives are read, the raised ones first") {
  const experiment_files files;
  const auto weighed = [&](const std::string& goal) {
    return files.with("maximize", goal);
  };
  const auto nsga2 = std::vector<std::string>{"evolution.strategy=nsga2"};
  const std::string two = "minimize = [\"parameters\", \"latency_ms\"]\n"
                          "maximize = [\"validation.accuracy\"]";
  CHECK(files.loaded(weighed(two), nsga2).objective
        == objective{.metric = "validation.accuracy",
                     .others = {{"parameters", false}, {"latency_ms", false}}});
  CHECK(files.error_of(weighed(two))
        == "x.toml:18: evolution.strategy is \"generational\": it raises one objective "
           "and the experiment has 3, which strategy = \"nsga2\" weighs against each "
           "other");
  CHECK(files.error_of(weighed("minimize = [\"parameters\", \"parameters\"]"), nsga2)
        == "x.toml:12: the objective names parameters twice");
  CHECK(files.error_of(
            weighed("minimize = [\"parameters\", \"latency_ms\", \"a\", \"b\", \"c\", "
                    "\"d\", \"e\"]"),
            nsga2)
        == "x.toml:12: the objective names 7 metrics; at most 6 are weighed against each "
           "other, make a constraint of the others (at_most, at_least)");
}

TEST_CASE("experiment: constraints are limits of what a candidate is measured by") {
  const experiment_files files;
  const auto with = [&](const std::string& limits) {
    return files.with("maximize", limits);
  };
  CHECK(files
            .loaded(with("at_most = {parameters = 50_000, multiply_adds = 1e6}\n"
                         "at_least = {\"validation.accuracy\" = 0.9}"))
            .objective
        == objective{.constraints = {{"parameters", 50'000},
                                     {"multiply_adds", 1e6},
                                     {"validation.accuracy", 0.9, false}}});
  CHECK(files.error_of(with("at_most = {parameter = 5}"))
        == "x.toml:12: unknown key \"parameter\" in [objective.at_most]; did you mean "
           "\"parameters\"?");
  CHECK(files.error_of(with("at_most = {parameters = \"few\"}"))
        == "x.toml:12: objective.at_most.parameters must be a number, not \"few\"");
  CHECK(files.error_of(with("at_most = {parameters = inf}"))
        == "x.toml:12: objective.at_most.parameters is no finite number");
  CHECK(files.error_of(with("at_most = 3"))
        == "x.toml:12: objective.at_most must be a table, not 3");
  CHECK(files.error_of(with("at_most = {parameters = 10}\nat_least = {parameters = 20}"))
        == "x.toml:13: no candidate keeps to objective.at_least.parameters = 20.0 and to "
           "objective.at_most.parameters = 10.0");
}

TEST_CASE("experiment: a resolved one has its objectives and constraints") {
  const experiment_files files;
  const auto e = files.loaded(
      files.with("maximize", "maximize = [\"validation.accuracy\"]\n"
                             "minimize = [\"parameters\", \"validation.loss\"]\n"
                             "at_most = {latency_ms = 2.5, \"validation.loss\" = 1}\n"
                             "at_least = {parameters = 10}"),
      {"evolution.strategy=nsga2"});
  const auto text = to_toml(e);
  CHECK_THAT(text, Catch::Contains(
                       "[objective]\n"
                       "maximize = [\"validation.accuracy\"]\n"
                       "minimize = [\"parameters\", \"validation.loss\"]\n"
                       "at_most = {\"validation.loss\" = 1.0, \"latency_ms\" = 2.5}\n"
                       "at_least = {\"parameters\" = 10.0}\n"));
  const auto again = parse_resolved(text, "again");
  REQUIRE(again.has_value());
  CHECK(again->objective == e.objective);
  CHECK(to_toml(*again) == text);
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
    for (const aim& o : rules_of(files.loaded(files.valid, overrides)).cases)
      text += (o.maximize ? "+" : "-") + o.metric + " ";
    return text;
  };
  CHECK(cases({}).empty());
  CHECK(cases({"evolution.selection=lexicase"})
        == "+validation.accuracy -validation.loss ");
  CHECK(cases({"evolution.selection=lexicase", "evolution.strategy=random"}).empty());
  CHECK(cases({"evolution.selection=lexicase", "training.metrics=auc"})
        == "+validation.accuracy -validation.loss +validation.auc ");
  CHECK(cases({"evolution.selection=lexicase", "data.task=regression",
               "objective.maximize=validation.r2"})
        == "-validation.rmse -validation.mse +validation.r2 -validation.loss ");
}
