#include "tests/engine/config/experiment_files.hpp"

#include <catch2/catch.hpp>

using namespace clade;
using namespace std::chrono_literals;

TEST_CASE("experiment: a file that is not there or not TOML is named") {
  const experiment_files files;
  const auto missing = load_experiment(files.folder() / "none.toml");
  CHECK(missing.error()
        == error{error_kind::not_found,
                 (files.folder() / "none.toml").string() + ": no such file"});
  CHECK(files.error_of("[experiment]\nname = \"a\"\nseed 7\n")
        == "x.toml:3: a line is KEY = VALUE, and this one has no \"=\": seed 7");
  CHECK(files.error_of("[experiment]\nname = \"a\"\nname = \"b\"\n")
            .starts_with("x.toml:3: "));
  CHECK(files.error_of(std::string("\xff\xfe", 2)).starts_with("x.toml:1: "));
  CHECK(files.error_of("#" + std::string(1 << 20, 'x'))
        == "x.toml: is larger than 1 MiB; is it an experiment file?");
}

TEST_CASE("experiment: a number of evaluations is told where it comes from") {
  const experiment_files files;
  CHECK(files.error_of(files.with("evaluation_time", "evaluations = 100"))
        == "x.toml:22: evaluations is no key: a search makes evolution.population times "
           "evolution.generations evaluations, here 12 x 10 = 120; write these two");
  CHECK(files.error_of(files.with("elites", "trials = 100"))
            .starts_with("x.toml:16: trials is no key: a search makes"));
}

TEST_CASE("experiment: overrides set what the file says or leaves out") {
  const experiment_files files;
  const auto e = files.loaded(
      files.valid,
      {"evolution.population=48", "experiment.seed = 3", "limits.wall_time=2min",
       "slots.local=cpu:2", "data.file=other/y.csv", "evolution.mutation.again=0.5",
       "data.split={train = 2, validation = 1, test = 1}", "data.target=\"3\""});
  CHECK(e.evolution.population == 48);
  CHECK(e.seed == 3);
  CHECK(e.limits.wall_time == 2min);
  CHECK(e.slots.local == "cpu:2");
  CHECK(files.loaded(files.valid, {"slots.local=3"}).slots.local == "3");
  CHECK(e.data.file == files.folder() / "other/y.csv");
  CHECK(e.evolution.mutation.again == 0.5);
  CHECK(e.data.train == 2);
  CHECK(e.data.target == "3");
}

TEST_CASE("experiment: of a key without a section those are named that it may be") {
  const experiment_files files;
  const auto with = [&](const std::string& assignment) {
    return files.error_of(files.valid, {assignment});
  };
  for (const std::string key : {"population", "populaton"})
    CHECK(with(key + "=48")
          == "--set " + key + ": unknown key \"" + key
                 + "\"; did you mean \"evolution.population\"?");
  CHECK(with("seed=3")
        == "--set seed: unknown key \"seed\"; did you mean \"experiment.seed\" or "
           "\"data.seed\"?");
  CHECK_THAT(with("utterly=3"), Catch::Contains("unknown key \"utterly\"; known are"));
}

TEST_CASE("experiment: an override that is wrong is named as it was given") {
  const experiment_files files;
  const auto with = [&](const std::string& assignment) {
    return files.error_of(files.valid, {assignment});
  };
  CHECK(with("evolution.poplation=48")
        == "--set evolution.poplation: unknown key \"poplation\" in [evolution]; did you "
           "mean "
           "\"population\"?");
  CHECK(with("evolution.population=lots")
        == "--set evolution.population must be a whole number of 0 "
           "or "
           "more, not \"lots\"");
  CHECK(with("evolution.population=0").starts_with("--set evolution.population"));
  CHECK(with("evolution.population")
        == "--set evolution.population: has no value; write KEY=VALUE, as in "
           "evolution.population=48");
  CHECK(with("=3")
        == "--set : is not a key; write KEY=VALUE, as in evolution.population=48");
  CHECK(with("a..b=3")
        == "--set a..b: is not a key; write KEY=VALUE, as in "
           "evolution.population=48");
  CHECK(with("experiment.name.x=3")
        == "--set experiment.name.x: name is a value and holds no keys");
  CHECK(
      with("slots.local=[\"cpu:2\"")
      == "--set slots.local: the value [\"cpu:2\" is not TOML that closes what it opens");
  CHECK(with("slots.local=1\nseed = 2")
        == "--set slots.local: the value holds a line break");
  CHECK(with("slots.local=1\n") == "--set slots.local: the value holds a line break");
}
