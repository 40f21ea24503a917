#include "engine/config/experiment/fitness_source.hpp"
#include "engine/evaluation/command/command.hpp"
#include "tests/engine/config/experiment_files.hpp"

#include <catch2/catch.hpp>

using namespace clade;
using Catch::Matchers::Contains;

namespace {

const std::string scored = R"([experiment]
name = "scored"
fitness = "command"
[search_space]
file = "vectors.toml"
[objective]
minimize = ["seconds"]
[command]
run = ["sh", "score.sh"]
)";

const command_params& command_of(const experiment& e) {
  const auto* params = params_of<command_params>(*e.evaluator);
  REQUIRE(params != nullptr);
  return *params;
}

} // namespace

TEST_CASE("command experiment: what a file leaves out has its default") {
  const experiment_files files;
  const auto e = files.loaded(scored);
  CHECK(command_of(e).run == std::vector<std::string>{"sh", "score.sh"});
  CHECK(command_of(e).directory == files.folder());
  CHECK(command_of(e).epochs == 1);
  CHECK(e.objective.metric == "seconds");
  CHECK_FALSE(e.objective.maximize);
  CHECK(problem_of(e, nullptr));
  CHECK(fitness_file(e).empty());
  CHECK(make_fitness(e));
  CHECK(command_of(files.loaded(scored, {"command.directory=there"})).directory
        == files.folder() / "there");
  CHECK(command_of(files.loaded(scored, {"command.run=./score"})).run
        == std::vector<std::string>{"./score"});
}

TEST_CASE("command experiment: the resolved one is the same") {
  const experiment_files files;
  const auto e = files.loaded(scored);
  const auto text = to_toml(e);
  CHECK_THAT(text, Contains("\n[command]\nrun = [\"sh\", \"score.sh\"]\ndirectory = \""
                            + files.folder().string() + "\"\nepochs = 1\n\n[limits]\n"));
  const auto again = parse_resolved(text, "resolved");
  if (!again)
    FAIL(again.error().message);
  CHECK(to_toml(*again) == text);
}

TEST_CASE("command experiment: its words decide the search and its place does not") {
  const experiment_files files;
  const auto hash = [&](const std::vector<std::string>& overrides) {
    return search_hash(files.loaded(scored, overrides), {});
  };
  CHECK(hash({"command.directory=/elsewhere"}) == hash({}));
  CHECK(hash({"command.run=[\"sh\", \"other.sh\"]"}) != hash({}));
  CHECK(hash({"command.epochs=2"}) != hash({}));
}

TEST_CASE("command experiment: strategies with rungs tell fewer epochs") {
  const experiment_files files;
  const auto e = files.loaded(scored, {"evolution.strategy=asha", "command.epochs=9"});
  CHECK(full_epochs(e) == 9);
  CHECK(e.evolution.rungs == std::vector<std::uint32_t>{1, 3, 9});
}

TEST_CASE("command experiment: what is wrong is said with its line") {
  const experiment_files files;
  const auto without = [](const std::string& line) {
    auto text = scored;
    return text.replace(text.find(line), line.size() + 1, "");
  };
  CHECK(files.error_of(without("run = [\"sh\", \"score.sh\"]"))
        == "x.toml:8: command.run is missing: the program that scores a candidate, run = "
           "[\"python3\", \"score.py\"]");
  CHECK(files.error_of(without("minimize = [\"seconds\"]"))
        == "x.toml:6: objective.maximize or objective.minimize is missing: it names a "
           "metric that the program answers with");
  CHECK(files.error_of(without("file = \"vectors.toml\""))
        == "x.toml:4: search_space.file is missing: it says what networks are made of, "
           "file = \"tabular\" or \"residual\" or a file of yours");
  CHECK_THAT(files.error_of(scored + "[data]\nfile = \"x.csv\"\n"),
             Contains("x.toml:11: unknown key \"file\" in [data]"));
  CHECK(files.error_of(scored, {"search_space.file=images.toml"})
        == "--set search_space.file: images.toml wants images: say of which size, "
           "[data] with shape = [channels, height, width] and classes = 10, or choose "
           "another space");
  CHECK(files.error_of(scored, {"command.epochs=0"})
        == "--set command.epochs is 0: at least 1");
  CHECK(files.error_of(scored + "[table]\nfile = \"t.toml\"\n")
        == "x.toml:10: [table] says nothing to an experiment that runs a command; add "
           "fitness = \"table\" to [experiment], or remove it");
  CHECK(files.error_of(scored, {"experiment.fitness=synthetic"})
        == "x.toml:8: [command] says nothing to a synthetic experiment; add fitness = "
           "\"command\" to [experiment], or remove it");
}

TEST_CASE("command experiment: [data] says what its networks are for") {
  const experiment_files files;
  const auto text = scored + "[data]\nshape = [5]\nclasses = 3\n";
  const auto e = files.loaded(text);
  CHECK(e.synthetic_problem.input == tensor_shape{{5}});
  CHECK(e.synthetic_problem.outputs == 3);
  const auto again = parse_resolved(to_toml(e), "resolved");
  REQUIRE(again);
  CHECK(to_toml(*again) == to_toml(e));
  CHECK(again->synthetic_problem.outputs == 3);
  CHECK(
      files.error_of(scored + "[data]\nclasses = 3\n")
      == "x.toml:10: [data] must have shape and classes: what enters a network, and how "
         "many outputs it has");
  const std::string wants = "run = [\"sh\", \"score.sh\", \"{onnx_file}\"]";
  const auto named = [&](std::string file) {
    return file.replace(file.find("run = "), scored.size() - 1 - scored.find("run = "),
                        wants);
  };
  CHECK(command_of(files.loaded(named(text))).run.back() == "{onnx_file}");
  CHECK(files.error_of(named(scored))
        == "x.toml:9: command.run has {onnx_file}, a network, and nobody says of which "
           "inputs and outputs: add [data] with shape and classes, such as shape = [16] "
           "and classes = 3");
  CHECK_THAT(to_toml(files.loaded(scored)), !Contains("[data]"));
}

TEST_CASE("command experiment: a key is written only where it is not as usual") {
  const experiment_files files;
  const std::vector<std::string> all{"command.copy=true",
                                     "command.environment={B = \"x\", A = \"{epochs}\"}",
                                     "command.metrics=\"json_lines\"",
                                     "command.checkpoints=true",
                                     "command.retry={codes = [75, 137], pause = \"2s\"}",
                                     "command.grace=10s"};
  const auto e = files.loaded(scored, all);
  const auto& command = command_of(e);
  CHECK(command.copy);
  CHECK(command.environment == std::vector<named_text>{{"A", "{epochs}"}, {"B", "x"}});
  CHECK(
      command.retry
      == retry_params{.codes = {75, 137}, .times = 3, .pause = std::chrono::seconds(2)});
  CHECK(e.evaluator->gives_checkpoints());
  CHECK(e.evaluator->grace() == std::chrono::seconds(10));
  const auto text = to_toml(e);
  CHECK_THAT(text, Contains("copy = true\nenvironment = {\"A\" = \"{epochs}\", \"B\" = "
                            "\"x\"}\nmetrics = \"json_lines\"\nepochs = 1\ncheckpoints "
                            "= true\nretry = {codes = [75, 137], times = 3, pause = "
                            "\"2s\"}\ngrace = \"10s\"\n"));
  const auto again = parse_resolved(text, "resolved");
  if (!again)
    FAIL(again.error().message);
  CHECK(to_toml(*again) == text);
}

TEST_CASE("command experiment: what its keys say wrong is said with its line") {
  const experiment_files files;
  const auto error_with = [&](const std::string& line) {
    return files.error_of(scored + line + "\n");
  };
  CHECK_THAT(error_with("environment = {A = \"{lerning_rate}\"}"),
             Contains("x.toml:10: command.environment has {lerning_rate}, which is "
                      "nothing; there are {"));
  CHECK_THAT(error_with("metrics = \"jsonlines\""),
             Contains("x.toml:10: command.metrics is \"jsonlines\": it must be"));
  CHECK_THAT(error_with("metrics = \"out/metrics.json\""),
             Contains("command.metrics is a file that all candidates would write: write "
                      "\"{work_folder}/metrics.json\""));
  CHECK_THAT(error_with("retry = {codes = [0]}"),
             Contains("command.retry.codes has 0: from 1 to 255"));
  CHECK_THAT(error_with("retry = {code = [75]}"),
             Contains("unknown key \"code\" in [command.retry]"));
  CHECK_THAT(
      error_with("preload = [\"json\", \"my module\"]"),
      Contains("x.toml:10: command.preload has \"my module\", which is no module"));
  for (const auto* run : {R"(["sh", "score.sh"])", R"(["python3"])",
                          R"(["python3", "-u", "score.py"])", R"(["python3", "-m"])"}) {
    auto text = scored + "preload = [\"json\"]\n";
    text.replace(text.find("[\"sh\""), std::string("[\"sh\", \"score.sh\"]").size(), run);
    CHECK_THAT(files.error_of(text),
               Contains("x.toml:10: command.preload wants run = [\"python3\", "));
  }
  CHECK_THAT(error_with("grace = \"1h\""), Contains("command.grace must be from 0s"));
}

TEST_CASE("command experiment: what an earlier version stored is read as it was") {
  const experiment_files files;
  auto text = to_toml(files.loaded(scored));
  const std::string run = "run = [\"sh\", \"score.sh\"]";
  text.replace(text.find(run), run.size(), "run = [\"awk\", \"{print}\"]");
  const auto old = parse_resolved(text, "resolved");
  REQUIRE(old);
  CHECK(to_toml(*old) == text);
}

TEST_CASE("command experiment: a fork keeps the program") {
  const experiment_files files;
  const auto e = files.loaded(scored);
  const std::vector<std::string> other{"command.run=other"},
      networks{"data.shape=[3]", "data.classes=2"}, size{"evolution.generations=5"};
  CHECK_FALSE(change_resolved(e, "fork", other));
  CHECK_FALSE(change_resolved(e, "fork", networks));
  CHECK(change_resolved(e, "fork", size));
}
