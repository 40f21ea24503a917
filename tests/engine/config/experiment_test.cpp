#include "tests/engine/config/experiment_files.hpp"

#include <catch2/catch.hpp>

using namespace clade;
using namespace std::chrono_literals;

TEST_CASE("experiment: what a file leaves out has its default") {
  const experiment_files files;
  const auto e = files.loaded(files.valid);
  CHECK(e.name == "tiny");
  CHECK(e.seed == 7);
  CHECK(e.fitness == fitness_kind::training);
  CHECK(e.data.file == files.folder() / "data/x.csv");
  CHECK(e.data.target == "last");
  CHECK(e.evolution.population == 12);
  CHECK(e.evolution.elites == 2);
  CHECK(e.evolution.generations == evolution_params{}.generations);
  CHECK(e.training.epochs == 3);
  CHECK(e.limits.evaluation_time == 2min);
  CHECK(e.slots.local == "auto");
  CHECK(e.objective.metric == "validation.accuracy");
  CHECK(e.objective.maximize);
  CHECK_FALSE(e.space.image);
}

TEST_CASE("experiment: every key of every section is read") {
  const experiment_files files;
  const auto e = files.loaded(R"(
experiment = {name = "all", seed = 9, fitness = "training"}
[data]
file = "/a/train.npy"
target_file = "train_labels.npy"
test_file = "../test.npy"
test_target_file = "test_labels.npy"
target = 3
header = "none"
task = "regression"
blanks = "drop"
categories = ["a", "2"]
shape = [3, 4, 5]
split = {train = 4, validation = 1, test = 2}
limit = 100
[search_space]
file = "images.toml"
[objective]
minimize = "validation.mse"
[evolution]
strategy = "regularised"
population = 20
generations = 3
selection = "truncation"
tournament = 5
truncation = 0.25
elites = 1
crossover = 0.5
tell_order = "arrived"
in_flight = 4
[evolution.mutation]
add_node = 1
add_edge = 2
remove_node = 3
remove_edge = 4
change_operator = 5
widen = 6
narrow = 7
change_setting = 8
change_hyperparameter = 9
again = 0.1
[training]
epochs = 2
patience = 1
optimiser = "sgd"
schedule = "step"
learning_rate = 0.01
momentum = 0.5
weight_decay = 0
batch_size = 8
[limits]
evaluation_time = "0s"
evaluation_memory = "1.5GiB"
wall_time = "1h30min"
[slots]
local = ["cuda:0", "cpu:2"]
)");
  CHECK(e.data.file == "/a/train.npy");
  CHECK(e.data.target_file == files.folder() / "train_labels.npy");
  CHECK(e.data.test_file == files.folder().parent_path() / "test.npy");
  CHECK(e.data.test_target_file == files.folder() / "test_labels.npy");
  CHECK(e.data.target == "3");
  CHECK(e.data.header == "none");
  CHECK(e.data.task == task_kind::regression);
  CHECK(e.data.blanks == blank_rule::drop);
  CHECK(e.data.categories == std::vector<std::string>{"a", "2"});
  CHECK(e.data.shape == tensor_shape{{3, 4, 5}});
  CHECK(e.data.train == 4);
  CHECK(e.data.validation == 1);
  CHECK(e.data.test == 2);
  CHECK(e.data.limit == 100);
  CHECK(e.objective.metric == "validation.mse");
  CHECK_FALSE(e.objective.maximize);
  CHECK(e.evolution.strategy == "regularised");
  CHECK(e.evolution.selection == "truncation");
  CHECK(e.evolution.tournament == 5);
  CHECK(e.evolution.truncation == 0.25);
  CHECK(e.evolution.crossover == 0.5);
  CHECK(e.evolution.tell_order == "arrived");
  CHECK(e.evolution.in_flight == 4);
  const auto& m = e.evolution.mutation;
  CHECK(std::vector{m.add_node, m.add_edge, m.remove_node, m.remove_edge,
                    m.change_operator, m.widen, m.narrow, m.change_setting,
                    m.change_hyperparameter, m.again}
        == std::vector{1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 0.1});
  CHECK(e.training.optimiser == "sgd");
  CHECK(e.training.schedule == "step");
  CHECK(e.training.learning_rate == 0.01);
  CHECK(e.training.weight_decay == 0);
  CHECK(e.training.batch_size == 8);
  CHECK(e.limits.evaluation_time == 0s);
  CHECK(e.limits.evaluation_memory == 1536 * (std::uint64_t{1} << 20));
  CHECK(e.limits.wall_time == 90min);
  CHECK(e.slots.local == "cuda:0,cpu:2");
}

TEST_CASE("experiment: a synthetic one needs no data but a problem") {
  const experiment_files files;
  const std::string head =
      "[experiment]\nname = \"s\"\nfitness = \"synthetic\"\n[search_space]\n"
      "file = \"images.toml\"\n";
  const auto plain = files.loaded(head);
  CHECK(plain.synthetic_problem.input == tensor_shape{{1, 8, 8}});
  CHECK(plain.synthetic_problem.outputs == 10);
  const auto e =
      files.loaded(head
                   + "[data]\nshape = [3, 4, 4]\nclasses = 2\n[synthetic]\n"
                     "duration = \"5ms\"\ndiverge = 0.1\ncrash = 0.2\nhang = 0.3\n"
                     "hog = 0.25\nepochs = 4\n");
  CHECK(e.synthetic_problem.input == tensor_shape{{3, 4, 4}});
  CHECK(e.synthetic_problem.outputs == 2);
  CHECK(e.synthetic.duration == 5ms);
  CHECK(e.synthetic.diverge == 0.1);
  CHECK(e.synthetic.crash == 0.2);
  CHECK(e.synthetic.hang == 0.3);
  CHECK(e.synthetic.hog == 0.25);
  CHECK(e.synthetic.epochs == 4);
  CHECK(
      files.error_of(head + "[data]\nfile = \"x.csv\"\n")
      == "x.toml:7: unknown key \"file\" in [data]; known are \"classes\" and \"shape\"");
  CHECK(files.error_of(head + "[data]\nclasses = 0\n")
        == "x.toml:7: data.classes must be from 1 to 1000000");
}

TEST_CASE("experiment: a file that is not there or not TOML is named") {
  const experiment_files files;
  const auto missing = load_experiment(files.folder() / "none.toml");
  CHECK(missing.error()
        == error{error_kind::not_found,
                 (files.folder() / "none.toml").string() + ": no such file"});
  CHECK(files.error_of("[experiment]\nname = \"a\"\nseed 7\n")
            .starts_with("x.toml:3: Error while parsing key-value pair: "));
  CHECK(files.error_of("[experiment]\nname = \"a\"\nname = \"b\"\n")
            .starts_with("x.toml:3: "));
  CHECK(files.error_of(std::string("\xff\xfe", 2)).starts_with("x.toml:1: "));
  CHECK(files.error_of("#" + std::string(1 << 20, 'x'))
        == "x.toml: is larger than 1 MiB; is it an experiment file?");
}

TEST_CASE("experiment: an unknown key is an error with the nearest known one") {
  const experiment_files files;
  CHECK(files.error_of(files.with("population", "poplation = 12"))
        == "x.toml:15: unknown key \"poplation\" in [evolution]; did you mean "
           "\"population\"?");
  CHECK(files.error_of(files.with("[training]", "[trainig]"))
        == "x.toml:18: unknown key \"trainig\"; did you mean \"training\"?");
  CHECK(files.error_of(files.with("local", "remote = 2"))
        == "x.toml:25: unknown key \"remote\" in [slots]; known are \"local\"");
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
        == "x.toml:3: experiment.fitness must be \"training\" or \"synthetic\", not "
           "\"trainin\"");
  CHECK(files.error_of(files.with("file = \"data", "file = \"a\"\ntarget = true"))
        == "x.toml:7: data.target must be the name of a column, its number, or \"last\", "
           "not "
           "true");
}

TEST_CASE("experiment: a time or size without unit is answered with an example") {
  const experiment_files files;
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
  begins("elites", "strategy = \"genetic\"", "x.toml:16: evolution.strategy");
  begins("elites", "mutation = {again = 2}", "x.toml:16: evolution.mutation.again");
  begins("epochs", "epochs = 0", "x.toml:19: training.epochs");
  begins("epochs", "batch_size = 0", "x.toml:19: training.batch_size");
  begins("epochs", "optimiser = \"adm\"", "x.toml:19: training.optimiser");
  begins("file = \"data", "file = \"a\"\nsplit = {train = 1, test = 1}",
         "x.toml:7: data.split");
  begins("file = \"data", "file = \"a\"\nheader = \"yes\"", "x.toml:7: data.header");
  CHECK(files.error_of(files.with("local", "local = \"gpu\""))
        == "x.toml:25: slots.local must be \"auto\", \"none\", a number of CPU slots, "
           "\"cpu:N\", \"cuda\", or a list such as [\"cuda:0*2\", \"cpu:2\"]; \"gpu\" is "
           "none "
           "of these");
  for (const char* wrong :
       {"cuda:", "cuda:1*0", "cuda:x", "cuda*", "cudax", "cuda:1,none"})
    begins("local", "local = \"" + std::string(wrong) + "\"", "x.toml:25: slots.local");
  for (const char* right : {"none", "cuda", "cuda*2", "cuda:0*2,cuda:1,cpu:3"})
    CHECK(files.loaded(files.valid, {"slots.local=" + std::string(right)}).slots.local
          == right);
}

TEST_CASE("experiment: what must be there and is not is asked for") {
  const experiment_files files;
  CHECK(files.error_of(files.with("name", ""))
        == "x.toml:1: experiment.name is missing: it names the run's folder, name = "
           "\"digits\"");
  CHECK(files.error_of("")
        == "x.toml: experiment.name is missing: it names the run's folder, "
           "name = \"digits\"");
  CHECK(files.error_of(files.with("name", "name = \"a/b\""))
        == "x.toml:2: experiment.name must be 1 to 64 letters, digits, '-', '_' and '.', "
           "and not "
           "begin with '.'");
  CHECK(files.error_of(files.with("file = \"data", ""))
        == "x.toml:5: data.file is missing: it names the examples, file = "
           "\"data/digits.csv.gz\"");
  CHECK(files.error_of(files.with("file = \"vectors", ""))
        == "x.toml:8: search_space.file is missing: it says what networks are made of, "
           "file = "
           "\"../search_spaces/image.toml\"");
}

TEST_CASE("experiment: what is wrong with a search space has the line of its file") {
  const experiment_files files;
  CHECK(files.error_of(files.with("file = \"vectors", "file = \"vector.toml\""))
        == "x.toml:9: search_space.file: vector.toml is not there");
  write_text(files.folder() / "vectors.toml", "[limits]\nmax_nods = 3\n");
  CHECK(files.error_of(files.valid).starts_with("vectors.toml:2: "));
  write_text(files.folder() / "vectors.toml", "[limits]\nmax_nodes = 3\n");
  CHECK(files.error_of(files.valid).starts_with("vectors.toml:1: the space is empty"));
}

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
            .starts_with("vectors.toml:5: hyperparameters.optimiser is \"adm\""));
  write_text(files.folder() / "more.toml",
             "\n[hyperparameters]\nmomentum = [0.5, 1.5]\n");
  CHECK(with("learning_rate = 0.1")
            .starts_with("more.toml:3: hyperparameters.momentum is"));
}

TEST_CASE("experiment: a space of images needs data of that shape") {
  const experiment_files files;
  auto text = files.with("file = \"vectors", "file = \"images.toml\"");
  CHECK(files.error_of(text)
        == "x.toml:5: data.shape is missing: the search space images.toml wants images, "
           "write "
           "shape = [channels, height, width]");
  CHECK(files.error_of(text, {"data.shape=[64]"})
        == "--set data.shape: data.shape is [64], but the search space images.toml wants "
           "images: "
           "write shape = [channels, height, width], or choose another space");
  CHECK(files.error_of(text, {"data.shape=[1, 8, 8]"}) == "no error");
  // Of an array's shape nothing is known before it is read.
  CHECK(files.error_of(text, {"data.file=x.npy", "data.target_file=y.npy"})
        == "no error");
}

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

TEST_CASE("experiment: a synthetic section beside training is refused") {
  const experiment_files files;
  CHECK(files.error_of(files.valid + "[synthetic]\ncrash = 0.1\n")
        == "x.toml:26: [synthetic] says nothing to an experiment that trains; add "
           "fitness = "
           "\"synthetic\" to [experiment], or remove it");
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
        == "--set evolution.population: evolution.population must be a whole number of 0 "
           "or "
           "more, not \"lots\"");
  CHECK(with("evolution.population=0")
            .starts_with("--set evolution.population: evolution.population"));
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
}

TEST_CASE("problem: it is what the data says and some network must fit it") {
  const experiment_files files;
  auto e = files.loaded(files.valid);
  data_set data;
  data.shape = {{5}};
  data.classes = {"a", "b", "c"};
  const auto p = problem_of(e, &data);
  REQUIRE(p);
  CHECK(p->input == tensor_shape{{5}});
  CHECK(p->outputs == 3);
  auto images = files.loaded(files.with("file = \"vectors", "file = \"images.toml\""),
                             {"data.shape=[1, 2, 2]"});
  images.data.file = "x.npy";
  images.space.name = "images.toml";
  CHECK(problem_of(images, &data).error().message
        == "x.npy: an example has the shape [5], but the search space images.toml wants "
           "images: "
           "give data.shape = [channels, height, width], or choose another space");
  e.space.limits.max_parameters = 3;
  CHECK(problem_of(e, &data).error().message.find("no valid network")
        != std::string::npos);
}

TEST_CASE("experiment: the examples in the repository load") {
  const std::filesystem::path root(CLADE_ROOT);
  for (const char* name :
       {"digits", "iris", "diabetes", "housing", "mnist", "synthetic"}) {
    INFO(name);
    const auto e = load_experiment(root / "experiments" / (std::string(name) + ".toml"));
    if (!e)
      FAIL(e.error().message);
    CHECK(e->name == name);
    if (e->fitness == fitness_kind::synthetic) {
      CHECK(problem_of(*e, nullptr));
      continue;
    }
    // MNIST is not part of the repository.
    if (e->name == "mnist")
      continue;
    const auto data = load_data(e->data, e->seed, {});
    REQUIRE(data);
    CHECK(problem_of(*e, &*data));
  }
}

TEST_CASE("experiment: the data's files are in the folder that is named for them") {
  const experiment_files files;
  const auto with = [&](const std::string& folder) {
    return files
        .loaded(files.with("file = \"data", "file = \"x.csv\"\nfolder = \"there\""),
                {"data.target_file=y.npy", "data.folder=" + folder})
        .data;
  };
  CHECK(with("there").file == files.folder() / "there/x.csv");
  CHECK(with("/elsewhere").file == "/elsewhere/x.csv");
  CHECK(with("/elsewhere").target_file == "/elsewhere/y.npy");
}
