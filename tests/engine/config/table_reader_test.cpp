#include "tests/engine/config/experiment_files.hpp"

#include <catch2/catch.hpp>

using namespace clade;

TEST_CASE("experiment: an unknown key is an error with the nearest known one") {
  const experiment_files files;
  CHECK(files.error_of(files.with("population", "poplation = 12"))
        == "x.toml:15: unknown key \"poplation\" in [evolution]; did you mean "
           "\"population\"?");
  CHECK(files.error_of(files.with("[training]", "[trainig]"))
        == "x.toml:18: unknown key \"trainig\"; did you mean \"training\"?");
  CHECK(files.error_of(files.with("local", "remote = 2"))
        == "x.toml:25: unknown key \"remote\" in [slots]; known are \"listen\" and "
           "\"local\"");
  CHECK(files.error_of(files.with("elites", "mutation = {ad_node = 1}"))
        == "x.toml:16: unknown key \"ad_node\" in [evolution.mutation]; did you mean "
           "\"add_node\"?");
  CHECK(files.error_of(files.with("file = \"data", "file = \"a\"\nsplit = {trian = 1}"))
        == "x.toml:7: unknown key \"trian\" in [data.split]; did you mean \"train\"?");
}

TEST_CASE("experiment: a value of another type is named with its line") {
  const experiment_files files;
  CHECK(files.error_of(files.with("population", "population = \"many\""))
        == "x.toml:15: evolution.population must be a whole number of 0 or more, not "
           "\"many\"");
  CHECK(files.error_of(files.with("population", "population = -3"))
        == "x.toml:15: evolution.population must be a whole number of 0 or more, not -3");
  CHECK(files.error_of(files.with("epochs", "epochs = 5000000000"))
        == "x.toml:19: training.epochs must be a whole number of at most 4294967295, not "
           "5000000000");
  CHECK(files.error_of(files.with("epochs", "learning_rate = true"))
        == "x.toml:19: training.learning_rate must be a number, not true");
  CHECK(files.error_of(files.with("name", "name = 3"))
        == "x.toml:2: experiment.name must be a string, not 3");
  CHECK(files.error_of("data = 3\n" + files.valid)
            .starts_with("x.toml:6: ")); // TOML itself forbids to define it again.
  CHECK(files.error_of(
            "[experiment]\nname = \"a\"\n[search_space]\nfile = \"vectors.toml\"\n"
            "[data]\nfile = \"x.csv\"\nsplit = 3\n")
        == "x.toml:7: data.split must be a table, not 3");
  CHECK(files.error_of(files.with("file = \"data", "file = \"a\"\nshape = 8"))
        == "x.toml:7: data.shape must be a list of sizes, such as [1, 28, 28], not 8");
  CHECK(files.error_of(files.with("file = \"data", "file = \"a\"\nshape = [1, \"8\"]"))
        == "x.toml:7: data.shape must be a list of whole numbers, such as [1, 28, 28], "
           "not \"8\"");
  CHECK(files.error_of(files.with("seed", "fitness = \"trainin\""))
        == "x.toml:3: experiment.fitness must be \"training\", \"synthetic\", \"table\", "
           "\"command\" or \"jobs\", not \"trainin\"");
  CHECK(files.error_of(files.with("file = \"data", "file = \"a\"\ntarget = true"))
        == "x.toml:7: data.target must be the name of a column, its number, or \"last\", "
           "not "
           "true");
}

TEST_CASE("experiment: a time or size without unit is answered with an example") {
  const experiment_files files;
  CHECK(files.error_of(files.with("elites", "mutation = {adapt = 1}"))
        == "x.toml:16: evolution.mutation.adapt must be true or false, not 1");
  CHECK(files.error_of(files.with("evaluation_time", "evaluation_time = 120"))
        == "x.toml:22: limits.evaluation_time must be a time with its unit, such as "
           "\"90s\" or "
           "\"2min\", not 120");
  CHECK(files.error_of(files.with("evaluation_time", "wall_time = \"2 hours\""))
        == "x.toml:22: limits.wall_time: \"2 hours\" is not a time; write \"90s\", "
           "\"2min\" or "
           "\"1h30min\" (units: us, ms, s, min, h, d)");
  CHECK(files.error_of(files.with("evaluation_time", "evaluation_time = \"1us\""))
        == "x.toml:22: limits.evaluation_time is counted in whole milliseconds");
  CHECK(files.error_of(files.with("evaluation_time", "evaluation_memory = \"2gb\""))
        == "x.toml:22: limits.evaluation_memory: \"2gb\" is not a size; write \"512MiB\" "
           "or "
           "\"2GiB\" (units: B, kB, MB, GB, TB, KiB, MiB, GiB, TiB)");
  CHECK(files.error_of(files.with("evaluation_time", "evaluation_memory = 2"))
        == "x.toml:22: limits.evaluation_memory must be a size with its unit, such as "
           "\"512MiB\" or \"2GiB\", not 2");
}

TEST_CASE("experiment: a value out of range has the line of its key") {
  const experiment_files files;
  const auto begins = [&](const std::string& line, const std::string& text,
                          const std::string& start) {
    const std::string message = files.error_of(files.with(line, text));
    INFO(message);
    CHECK(message.starts_with(start));
  };
  begins("population", "population = 0", "x.toml:15: evolution.population");
  begins("elites", "elites = 99", "x.toml:16: evolution.elites");
  begins("strategy", "strategy = \"genetic\"", "x.toml:17: evolution.strategy");
  begins("elites", "mutation = {again = 2}", "x.toml:16: evolution.mutation.again");
  begins("epochs", "epochs = 0", "x.toml:19: training.epochs");
  begins("epochs", "batch_size = 0", "x.toml:19: training.batch_size");
  // A whole number that no real equals is a number all the same.
  begins("epochs", "learning_rate = -9007199254740993",
         "x.toml:19: training.learning_rate");
  begins("epochs", "optimizer = \"adm\"", "x.toml:19: training.optimizer");
  begins("file = \"data", "file = \"a\"\nsplit = {train = 1, test = 1}",
         "x.toml:7: data.split");
  begins("file = \"data", "file = \"a\"\nheader = \"yes\"", "x.toml:7: data.header");
  CHECK(files.error_of(files.with("local", "local = \"gpu\""))
        == "x.toml:25: slots.local must be \"auto\", \"none\", a number of CPU slots, "
           "\"cpu:N\", \"cuda\", or a list such as [\"cuda:0*2\", \"cpu:2\"], each "
           "number at most 1024; \"gpu\" is none of these");
  for (const char* wrong :
       {"cuda:", "cuda:1*0", "cuda:x", "cuda*", "cudax", "cuda:1,none"})
    begins("local", "local = \"" + std::string(wrong) + "\"", "x.toml:25: slots.local");
  for (const char* right : {"none", "cuda", "cuda*2", "cuda:0*2,cuda:1,cpu:3"})
    CHECK(files.loaded(files.valid, {"slots.local=" + std::string(right)}).slots.local
          == right);
}
