#include "tests/engine/config/experiment_files.hpp"

#include <catch2/catch.hpp>

using namespace clade;

TEST_CASE(
    "experiment: a hyperparameter that training would not take is named with its line") {
  const experiment_files files;
  const std::string space = "include = [\"more.toml\"]\n[operators.dense]\nunits = 8\n"
                            "[hyperparameters]\n";
  write_text(files.folder() / "more.toml", "[hyperparameters]\nmomentum = [0.5, 0.9]\n");
  const auto with = [&](const std::string& line) {
    write_text(files.folder() / "vectors.toml", space + line + "\n");
    return files.error_of(files.valid);
  };
  CHECK(with("learning_rate = 0.1") == "no error");
  CHECK(
      with("lerning_rate = 0.1")
      == "vectors.toml:5: training has no hyperparameter \"lerning_rate\"; did you mean "
         "\"learning_rate\"?");
  CHECK(with("batch_size = [0, 16]")
            .starts_with("vectors.toml:5: hyperparameters.batch_size is"));
  CHECK(with("optimiser = [\"sgd\", \"adm\"]")
            .starts_with("vectors.toml:5: hyperparameters.optimizer is \"adm\""));
  write_text(files.folder() / "more.toml",
             "\n[hyperparameters]\nmomentum = [0.5, 1.5]\n");
  CHECK(with("learning_rate = 0.1")
            .starts_with("more.toml:3: hyperparameters.momentum is"));
}

TEST_CASE("experiment: a setting that the search space chooses anyway is refused") {
  const experiment_files files;
  const auto rate = files.with("epochs", "epochs = 3\nlearning_rate = 0.5");
  CHECK(files.error_of(rate)
        == "x.toml:20: training.learning_rate has no effect: the search space chooses "
           "learning_rate for each network (vectors.toml:6); remove it from one of the "
           "two");
  CHECK(files.error_of(files.valid, {"training.learning_rate=0.5"})
            .starts_with("--set training.learning_rate: training.learning_rate has no "
                         "effect"));
  CHECK(files.error_of(files.with("epochs", "epochs = 3\nbatch_size = 8")) == "no error");

  const auto e = files.loaded(files.valid);
  CHECK(parse_resolved(to_toml(e), "resolved")); // It has every key by itself.
  write_text(files.folder() / "vectors.toml",
             "[operators.dense]\nunits = 8\n[hyperparameters]\n"
             "optimiser = [\"sgd\", \"adam\"]\n"
             "momentum = {low = 0.5, high = 0.9, when = {optimiser = [\"sgd\"]}}\n");
  CHECK(files.error_of(files.with("epochs", "epochs = 3\nmomentum = 0.8")) == "no error");
}
