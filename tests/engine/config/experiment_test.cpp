#include "engine/evaluation/synthetic/synthetic.hpp"
#include "tests/engine/config/experiment_files.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace clade;
using namespace std::chrono_literals;

TEST_CASE("experiment: what a file leaves out has its default") {
  const experiment_files files;
  const auto e = files.loaded(files.valid);
  CHECK(e.name == "tiny");
  CHECK(e.seed == 7);
  CHECK(e.traits().name == "training");
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
  CHECK(e.space.input == layout::vector);
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
array = "a"
target_array = "b"
test_array = "c"
test_target_array = "d"
target = 3
header = "none"
task = "regression"
blanks = "drop"
categories = ["a", "2"]
shape = [3, 4, 5]
split = {train = 4, validation = 1, test = 2}
limit = 100
test_limit = 0
[search_space]
file = "images.toml"
[objective]
minimize = "validation.mse"
[evolution]
strategy = "regularized"
population = 20
generations = 3
selection = "truncation"
tournament = 5
truncation = 0.25
elites = 1
crossover = 0.5
inherit = true
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
optimizer = "sgd"
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
  CHECK(e.data.array == "a");
  CHECK(e.data.target_array == "b");
  CHECK(e.data.test_array == "c");
  CHECK(e.data.test_target_array == "d");
  CHECK(e.data.target == "3");
  CHECK(e.data.header == "none");
  CHECK(e.data.task == regression);
  CHECK(e.data.blanks == blank_rule::drop);
  CHECK(e.data.categories == std::vector<std::string>{"a", "2"});
  CHECK(e.data.shape == tensor_shape{{3, 4, 5}});
  CHECK(e.data.train == 4);
  CHECK(e.data.validation == 1);
  CHECK(e.data.test == 2);
  CHECK(e.data.limit == 100);
  CHECK(e.data.test_limit == 0);
  CHECK(e.objective.metric == "validation.mse");
  CHECK_FALSE(e.objective.maximize);
  CHECK(e.evolution.strategy == "regularized");
  CHECK(e.evolution.selection == "truncation");
  CHECK(e.evolution.tournament == 5);
  CHECK(e.evolution.truncation == 0.25);
  CHECK(e.evolution.crossover == 0.5);
  CHECK(e.evolution.tell_order == "arrived");
  CHECK(e.evolution.in_flight == 4);
  CHECK(e.evolution.inherit);
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
  const auto* synthetic = params_of<synthetic_params>(*e.evaluator);
  REQUIRE(synthetic != nullptr);
  CHECK(synthetic->duration == 5ms);
  CHECK(synthetic->diverge == 0.1);
  CHECK(synthetic->crash == 0.2);
  CHECK(synthetic->hang == 0.3);
  CHECK(synthetic->hog == 0.25);
  CHECK(synthetic->epochs == 4);
  CHECK(
      files.error_of(head + "[data]\nfile = \"x.csv\"\n")
      == "x.toml:7: unknown key \"file\" in [data]; known are \"classes\" and \"shape\"");
  CHECK(files.error_of(head + "[data]\nclasses = 0\n")
        == "x.toml:7: data.classes must be from 1 to 1000000");
}

TEST_CASE("experiment: what must be there and is not is asked for") {
  const experiment_files files;
  CHECK(files.error_of("")
        == "x.toml:1: data.file is missing: it names the examples, file = "
           "\"data/digits.csv.gz\"");
  CHECK(files.error_of(files.with("name", "name = \"a/b\""))
        == "x.toml:2: experiment.name must be 1 to 64 letters, digits, '-', '_' and '.', "
           "and not "
           "begin with '.'");
  CHECK(files.error_of(files.with("file = \"data", ""))
        == "x.toml:5: data.file is missing: it names the examples, file = "
           "\"data/digits.csv.gz\"");
  CHECK(files.error_of("[experiment]\nfitness = \"synthetic\"\n[search_space]\n")
        == "x.toml:3: search_space.file is missing: it says what networks are made of, "
           "file = \"tabular\" or \"residual\" or a file of yours");
}

TEST_CASE("experiment: one that says nothing but its data has the rest by itself") {
  const experiment_files files;
  write_text(files.folder() / "d.csv", "a,b,c\n1,2,x\n");
  const auto e = files.loaded("[data]\nfile = \"d.csv\"\ntarget = \"c\"\n");
  CHECK(e.name == "x");
  CHECK(e.space.name == "tabular");
  CHECK(e.data.test == 0.2);
  CHECK(e.objective.metric == "validation.accuracy");
  CHECK(files.loaded("[data]\nfile = \"d.csv\"\nshape = [1, 1, 2]\n").space.name
        == "residual");
  CHECK(files.loaded("[data]\nfile = \"d.csv\"\n[search_space]\nfile = \"mlp.toml\"\n")
            .space.name
        == "mlp");
  CHECK(files.error_of("[data]\nfile = \"none.csv\"\n") == "none.csv: no such file");
}

TEST_CASE("experiment: beside a test file nothing is left for a test part") {
  const experiment_files files;
  write_text(files.folder() / "d.csv", "a,b,c\n1,2,x\n");
  const auto e =
      files.loaded("[data]\nfile = \"d.csv\"\ntest_file = \"d.csv\"\ntarget = \"c\"\n");
  CHECK(e.data.train == 0.8);
  CHECK(e.data.validation == 0.2);
  const auto again = parse_resolved(to_toml(e), "resolved");
  REQUIRE(again);
  CHECK(again->data.train == 0.8);
}

TEST_CASE("experiment: data is no experiment") {
  const experiment_files files;
  const auto file = files.folder() / "d.csv";
  write_text(file, "a,b\n1,2\n");
  const auto e = load_experiment(file);
  REQUIRE(!e);
  CHECK(e.error().message
        == file.string() + ": this is data, not an experiment; `clade new "
               + file.string() + "` makes an experiment of it");
}

TEST_CASE("experiment: a name of its own is made of the file's") {
  CHECK(experiment_name("a/churn.toml") == "churn");
  CHECK(experiment_name("my data (2).csv.gz") == "my-data--2-");
  CHECK(experiment_name(".toml") == "data.toml");
  CHECK(experiment_name("größe.csv") == "groesse");
  CHECK(experiment_name("価格.csv") == "data");
  CHECK(experiment_name(std::string(100, 'x') + ".csv") == std::string(64, 'x'));
}

TEST_CASE("experiment: what is wrong with a search space has the line of its file") {
  const experiment_files files;
  CHECK(files.error_of(files.with("file = \"vectors", "file = \"vector.toml\""))
        == "x.toml:9: search_space.file: vector.toml is not there; \"tabular\" and "
           "\"mlp\" (for tables), \"residual\", \"photo\", \"mobile\", \"image\" and "
           "\"series\" are built in");
  write_text(files.folder() / "vectors.toml", "[limits]\nmax_nods = 3\n");
  CHECK(files.error_of(files.valid).starts_with("vectors.toml:2: "));
  write_text(files.folder() / "vectors.toml", "[limits]\nmax_nodes = 3\n");
  CHECK(files.error_of(files.valid).starts_with("vectors.toml:1: the space is empty"));
}

TEST_CASE("experiment: a space of images needs data of that shape") {
  const experiment_files files;
  auto text = files.with("file = \"vectors", "file = \"images.toml\"");
  CHECK(files.error_of(text)
        == "x.toml:5: data.shape is missing: the search space images.toml wants images, "
           "and this is a table: write file = \"tabular\" in [search_space], or, where "
           "each row is one, shape = [channels, height, width]");
  CHECK(files.error_of(text, {"data.shape=[64]"})
        == "--set data.shape is [64], but the search space images.toml wants "
           "images: "
           "write shape = [channels, height, width], or choose another space");
  CHECK(files.error_of(text, {"data.shape=[1, 8, 8]"}) == "no error");
  // The shape of an array is not known before it is read.
  CHECK(files.error_of(text, {"data.file=x.npy", "data.target_file=y.npy"})
        == "no error");
}

TEST_CASE("experiment: a synthetic section beside training is refused") {
  const experiment_files files;
  CHECK(files.error_of(files.valid + "[synthetic]\ncrash = 0.1\n")
        == "x.toml:26: [synthetic] says nothing to an experiment that trains; add "
           "fitness = "
           "\"synthetic\" to [experiment], or remove it");
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
  e.space.name = "vectors.toml";
  CHECK(problem_of(e, &data).error().message.starts_with(
      (files.folder() / "x.toml:9").string() + ": vectors.toml: no valid network fits "));
}

TEST_CASE("experiment: the examples in the repository load") {
  const std::filesystem::path root(CLADE_ROOT);
  for (const char* name : {"digits", "iris", "diabetes", "housing", "mnist",
                           "nas-bench-201", "synthetic", "synthetic-asha", "command"}) {
    INFO(name);
    const auto e = load_experiment(root / "experiments" / (std::string(name) + ".toml"));
    if (!e)
      FAIL(e.error().message);
    CHECK(e->name == name);
    if (!e->traits().trains) {
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

TEST_CASE("experiment: rungs come from the epochs of a full training, and are resolved") {
  const experiment_files files;
  const std::vector<std::string> asha{"evolution.strategy=\"asha\"",
                                      "training.epochs=15"};
  const auto e = files.loaded(files.valid, asha);
  CHECK(e.evolution.rungs == std::vector<std::uint32_t>{2, 5, 15});
  CHECK(e.evolution.reduction == 3U);
  const auto text = to_toml(e);
  CHECK(text.find("rungs = [2, 5, 15]\nreduction = 3\n") != std::string::npos);
  CHECK(to_toml(parse_resolved(text, "again").value()) == text);
  auto told = asha;
  told.emplace_back("evolution.rungs=[1, 3, 9, 15]");
  CHECK(files.loaded(files.valid, told).evolution.rungs
        == std::vector<std::uint32_t>{1, 3, 9, 15});
  CHECK(to_toml(files.loaded(files.valid)).find("rungs") == std::string::npos);
}

TEST_CASE("experiment: rungs that are wrong are an error at their line") {
  const experiment_files files;
  const auto with = [&](const std::string& line) {
    return files.error_of(files.with("strategy", "strategy = \"asha\"\n" + line));
  };
  CHECK(with("rungs = [1, 3, 2]")
            .starts_with("x.toml:18: evolution.rungs is [1, 3, 2]: they"));
  CHECK(with("rungs = [1, 5]")
        == "x.toml:18: evolution.rungs is [1, 5]: the last must be that of a full "
           "training, which has 3 epochs");
  CHECK(with("rungs = [1, 2.5]").find("a list of whole numbers") != std::string::npos);
  CHECK(with("rungs = 3").find("a list of whole numbers") != std::string::npos);
  CHECK(with("reduction = 1")
        == "x.toml:18: evolution.reduction is 1: it must be from 2 to 100");
  CHECK(
      files.error_of(files.with("elites", "elites = 2\nrungs = [1, 3]"))
          .starts_with("x.toml:17: evolution.rungs is [1, 3]: \"generational\" trains"));
}

TEST_CASE("experiment: zero-cost scores need a model, and networks to be trained") {
  const experiment_files files;
  const std::string line = "zero_cost = true";
  const auto surrogate =
      files.with("strategy", "strategy = \"surrogate\"\nin_flight = 2\n" + line);
  CHECK(files.error_of(surrogate) == "no error");
  const auto e = files.loaded(surrogate);
  CHECK(e.evolution.zero_cost);
  CHECK(to_toml(e).find("zero_cost = true\n") != std::string::npos);
  CHECK(to_toml(files.loaded(files.valid)).find("zero_cost") == std::string::npos);
  CHECK(files.error_of(files.with("elites", line))
        == "x.toml:16: evolution.zero_cost is true: it needs the model of strategy = "
           "\"surrogate\", and this is \"generational\"");
  CHECK(files.error_of("[experiment]\nname = \"s\"\nfitness = \"synthetic\"\n"
                       "[search_space]\nfile = \"vectors.toml\"\n[evolution]\n"
                       "strategy = \"surrogate\"\n"
                       + line + "\n")
        == "x.toml:8: evolution.zero_cost measures networks that are to be trained; it "
           "needs fitness = \"training\"");
}

TEST_CASE("experiment: British spelling is read and American written") {
  const experiment_files files;
  const auto spelled = [&](const std::string& strategy, const std::string& maximize,
                           const std::string& optimizer) {
    auto text = files.with("strategy", "strategy = \"" + strategy + "\"");
    text.replace(text.find("maximize"), 8, maximize);
    return files.loaded(text, {"training." + optimizer + "=sgd"});
  };
  const auto american = spelled("regularized", "maximize", "optimizer");
  const auto british = spelled("regularised", "maximise", "optimiser");
  CHECK(american.training.optimiser == "sgd");
  CHECK(to_toml(british) == to_toml(american));
  CHECK(to_toml(british).find("ised") == std::string::npos);
  CHECK(search_hash(british, {}) == search_hash(american, {}));
  CHECK(files.error_of(files.valid, {"training.optimiser=\"adm\""})
            .starts_with("--set training.optimiser: training.optimizer is \"adm\""));
}
