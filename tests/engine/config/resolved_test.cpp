#include "engine/search/strategies/evolution/differential_evolution.hpp"
#include "genome/variation/mutation.hpp"
#include "search_spaces/files/load_search_space.hpp"
#include "tests/engine/config/experiment_files.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace clade;

namespace {

experiment resolved(const experiment& e) {
  auto back = parse_resolved(to_toml(e), "resolved");
  if (!back)
    FAIL(back.error().message << "\n" << to_toml(e));
  return std::move(*back);
}

rc::Gen<double> share() {
  return rc::gen::map(rc::gen::inRange(1, 1'000'000), [](int n) { return n / 1e6 / 3; });
}

// Valid, and far from the defaults.
experiment arbitrary(const experiment& base) {
  experiment e = base;
  e.name = *rc::gen::nonEmpty(
      rc::gen::container<std::string>(rc::gen::element('a', 'Z', '0', '-', '_')));
  e.name.resize(std::min<std::size_t>(e.name.size(), 64));
  e.seed = *rc::gen::inRange<std::uint64_t>(0, std::numeric_limits<std::int64_t>::max());
  e.data.file =
      "/" + *rc::gen::element<std::string>("a b", "x\"y", "\\n", "\n\x01\x7f", "é");
  e.data.target = *rc::gen::element<std::string>("last", "\"", "é", "1", "a\tb");
  e.data.blanks = *rc::gen::element(blank_rule::refuse, blank_rule::mean,
                                    blank_rule::drop, blank_rule::impute);
  e.data.columns =
      *rc::gen::element(std::vector<column_choice>{},
                        std::vector<column_choice>{{"1", encoding_kind::yes_no},
                                                   {"a.\"b", encoding_kind::date},
                                                   {"c", encoding_kind::ignore}});
  e.data.ignore =
      *rc::gen::element(std::vector<std::string>{}, std::vector<std::string>{"id", "7"});
  e.data.delimiter =
      *rc::gen::element<std::string>("auto", ",", ";", "\t", "first blank");
  e.data.decimal = *rc::gen::element<std::string>("auto", ".", ",");
  e.data.encoding = *rc::gen::element<std::string>("auto", "utf-8", "latin-1");
  e.data.split_by =
      *rc::gen::element(split_rule::random, split_rule::time, split_rule::group);
  e.data.split_column = e.data.split_by == split_rule::random ? "" : "when";
  e.data.categories = *rc::gen::element(std::vector<std::string>{},
                                        std::vector<std::string>{"a\"b", "3"});
  e.data.array = *rc::gen::element<std::string>("", "x_train", "\"");
  e.data.target_array = *rc::gen::element<std::string>("", "y_train.npy");
  e.data.shape =
      *rc::gen::element(tensor_shape{}, tensor_shape{{3}}, tensor_shape{{1, 2, 3}});
  e.data.train = *share();
  e.data.validation = *share();
  e.data.test = *share();
  e.data.limit = *rc::gen::inRange<std::uint64_t>(0, 1'000'000);
  e.evolution.population = *rc::gen::inRange<std::size_t>(10, 1000);
  e.evolution.crossover = *share();
  e.evolution.mutation.again = *share();
  e.evolution.mutation.adapt = *rc::gen::arbitrary<bool>();
  e.evolution.mutation.add_edge = *share();
  e.training.learning_rate = *share();
  e.training.weight_decay = *share();
  e.limits.evaluation_time = std::chrono::milliseconds(
      *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 40));
  e.limits.evaluation_memory =
      *rc::gen::inRange<std::uint64_t>(0, std::uint64_t{1} << 50);
  e.slots.local = *rc::gen::element<std::string>("auto", "cpu:3", "cuda:0,cpu:2");
  return e;
}

} // namespace

TEST_CASE("resolved: the split's own seed is there only where it was given") {
  const experiment_files files;
  auto e = files.loaded(files.valid);
  CHECK(to_toml(e).find("limit = 0\nseed") == std::string::npos);
  e.data.seed = 5;
  CHECK(to_toml(e).find("limit = 0\nseed = 5\n") != std::string::npos);
  CHECK(resolved(e).data.seed == 5);
}

TEST_CASE("resolved: what an older one does not say of its data is as it was then") {
  const experiment_files files;
  std::string text = to_toml(files.loaded(files.valid));
  for (const char* key :
       {"blanks = \"impute\"\n", "delimiter = \"auto\"\n", "decimal = \"auto\"\n",
        "encoding = \"auto\"\n", "scale = \"auto\"\n", "texts = \"scores\"\n",
        "layout = \"auto\"\n"})
    text.erase(text.find(key), std::string(key).size());
  const auto old = parse_resolved(text, "resolved");
  REQUIRE(old);
  CHECK(old->data.blanks == blank_rule::refuse);
  CHECK(old->data.delimiter == ",");
  CHECK(old->data.decimal == ".");
  CHECK(old->data.encoding == "utf-8");
  CHECK(old->data.scale == scale_rule::deviation);
  CHECK(old->data.texts == text_rule::terms);
  CHECK(old->data.layout == array_layout::channels_first);
  // Shares of a stored run may be relative to each other.
  const auto at = text.find("test = 0.2");
  REQUIRE(at != std::string::npos);
  CHECK(parse_resolved(text.replace(at, 10, "test = 0.7"), "resolved"));
}

TEST_CASE("resolved: it holds every key in its place") {
  const experiment_files files;
  auto e = files.loaded(files.valid, {"data.array=\"x\"", "slots.local=[\"cpu:2\"]"});
  e.data.file = "/d/x.npz";
  const std::string text = to_toml(e);
  CHECK(text.substr(0, text.find("[search_space]")) == R"([experiment]
name = "tiny"
seed = 7
fitness = "training"

[data]
file = "/d/x.npz"
array = "x"
target = "last"
header = "auto"
task = "classification"
blanks = "impute"
categories = []
delimiter = "auto"
decimal = "auto"
encoding = "auto"
scale = "auto"
texts = "scores"
shape = []
layout = "auto"
split = {train = 0.6, validation = 0.2, test = 0.2}
limit = 0

[objective]
maximize = ["validation.accuracy"]

[evolution]
strategy = "generational"
population = 12
generations = 10
selection = "tournament"
tournament = 3
truncation = 0.3
elites = 2
crossover = 0.3
tell_order = "asked"
in_flight = 8

[evolution.mutation]
add_node = 2.0
add_edge = 1.0
remove_node = 1.0
remove_edge = 0.5
change_operator = 1.0
widen = 1.0
narrow = 0.5
change_setting = 1.5
change_hyperparameter = 3.0
again = 0.3

[training]
epochs = 3
patience = 5
optimizer = "adam"
schedule = "cosine"
learning_rate = 0.001
momentum = 0.9
weight_decay = 1e-04
batch_size = 64

[limits]
evaluation_time = "2min"
evaluation_memory = "0B"
wall_time = "0s"

[slots]
local = "cpu:2"

)");
}

TEST_CASE("resolved: what is written reads back the same") {
  const experiment_files files;
  for (const std::string& text :
       {files.valid,
        std::string(
            "[experiment]\nname = \"s\"\nfitness = \"synthetic\"\n[search_space]\nfile = "
            "\"images.toml\"\n[synthetic]\nduration = \"1500us\"\ncrash = 0.125\n")}) {
    const auto e = files.loaded(text);
    CHECK(to_toml(resolved(e)) == to_toml(e));
  }
}

TEST_CASE("resolved: any valid experiment reads back the same") {
  const experiment_files files;
  const auto base = files.loaded(files.valid);
  CHECK(rc::check([&] {
    const auto e = arbitrary(base);
    const auto back = resolved(e);
    RC_ASSERT(to_toml(back) == to_toml(e));
    RC_ASSERT(back.data.file == e.data.file);
    RC_ASSERT(back.data.target == e.data.target);
    RC_ASSERT(back.data.array == e.data.array);
    RC_ASSERT(back.data.target_array == e.data.target_array);
    RC_ASSERT(back.data.blanks == e.data.blanks);
    RC_ASSERT(back.data.categories == e.data.categories);
    RC_ASSERT(back.data.columns == e.data.columns);
    RC_ASSERT(back.data.ignore == e.data.ignore);
    RC_ASSERT(back.data.delimiter == e.data.delimiter);
    RC_ASSERT(back.data.decimal == e.data.decimal);
    RC_ASSERT(back.data.encoding == e.data.encoding);
    RC_ASSERT(back.data.split_by == e.data.split_by);
    RC_ASSERT(back.data.split_column == e.data.split_column);
    RC_ASSERT(back.data.train == e.data.train);
    RC_ASSERT(back.evolution.mutation.again == e.evolution.mutation.again);
    RC_ASSERT(back.evolution.mutation.adapt == e.evolution.mutation.adapt);
    RC_ASSERT(back.training.learning_rate == e.training.learning_rate);
    RC_ASSERT(back.limits.evaluation_time == e.limits.evaluation_time);
    RC_ASSERT(back.limits.evaluation_memory == e.limits.evaluation_memory);
  }));
}

TEST_CASE("resolved: its search space breeds the same genomes") {
  const auto e =
      load_experiment(std::filesystem::path(CLADE_ROOT) / "experiments/digits.toml");
  REQUIRE(e);
  const auto back = resolved(*e);
  CHECK(back.space.name == e->space.name);
  CHECK(back.space.input == layout::image);
  CHECK(to_toml(back.space) == to_toml(e->space));
  for (std::uint64_t i = 0; i < 50; ++i) {
    auto one = derive(1, purpose::sample, 0, i), other = one;
    CHECK(sample_genome(e->space.rules, one) == sample_genome(back.space.rules, other));
  }
}

TEST_CASE("resolved: it needs no other file") {
  const experiment_files files;
  const std::string text = to_toml(files.loaded(files.valid));
  std::filesystem::remove(files.folder() / "vectors.toml");
  CHECK(parse_resolved(text, "resolved"));
}

TEST_CASE("resolved: what is wrong is named with the origin and line") {
  const experiment_files files;
  const std::string text = to_toml(files.loaded(files.valid));
  CHECK(parse_resolved("[experiment]\nname = \n", "record 1")
            .error()
            .message.starts_with("record 1:2: "));
  CHECK(
      parse_resolved("[experiment]\nname = \"a\"\n[data]\nfile = \"a.csv\"\n", "record 1")
          .error()
          .message
      == "record 1:1: the search space is missing");
  auto damaged = text;
  damaged.replace(damaged.find("population"), 10, "popolation");
  CHECK(parse_resolved(damaged, "record 1")
            .error()
            .message.find(
                "unknown key \"popolation\" in [evolution]; did you mean \"population\"?")
        != std::string::npos);
  CHECK(rc::check([&] {
    auto edited = text;
    edited[*rc::gen::inRange<std::size_t>(0, text.size())] = *rc::gen::arbitrary<char>();
    const auto e = parse_resolved(edited, "x");
    RC_ASSERT(e || !e.error().message.empty());
  }));
}

TEST_CASE("resolved: it is an experiment file that needs no search space's") {
  const experiment_files files;
  const auto text = to_toml(files.loaded(files.valid));
  for (const auto* space : {"vectors.toml", "images.toml"})
    std::filesystem::remove(files.folder() / space);
  CHECK(to_toml(files.loaded(text)) == text);
  CHECK_THAT(files.error_of(text + "[search_space.operaters]\nx = 1\n"),
             Catch::Contains("operaters"));
}

TEST_CASE("resolved: auto has given way to a strategy and says why") {
  const experiment_files files;
  const auto e = files.loaded(files.valid, {"evolution.strategy=auto"});
  CHECK(e.evolution.strategy != "auto");
  CHECK(e.evolution.chosen.starts_with(e.evolution.strategy + ": "));
  CHECK(e.evolution.chosen.find("120 evaluations") != std::string::npos);
  CHECK(to_toml(e).find("\nchosen = \"" + e.evolution.chosen + "\"\n")
        != std::string::npos);
  const auto again = resolved(e);
  CHECK(again.evolution.strategy == e.evolution.strategy);
  CHECK(again.evolution.chosen == e.evolution.chosen);
  CHECK(to_toml(again) == to_toml(e));
  const auto few =
      files.loaded(files.valid, {"evolution.strategy=auto", "evolution.population=2",
                                 "evolution.elites=1", "evolution.generations=3"});
  CHECK(few.evolution.strategy == "random");
  CHECK(few.evolution.chosen == "random: 6 evaluations are too few to learn from");
  CHECK(to_toml(files.loaded(files.valid)).find("chosen") == std::string::npos);
}

TEST_CASE("resolved: an experiment that names no strategy gets auto") {
  const experiment_files files;
  const auto silent = files.loaded(files.with("strategy", ""));
  const auto said = files.loaded(files.valid, {"evolution.strategy=auto"});
  CHECK(to_toml(silent) == to_toml(said));
}

TEST_CASE("resolved: what came later is written only where it is not as usual") {
  const experiment_files files;
  auto e = files.loaded(files.valid);
  CHECK(to_toml(e).find("difference") == std::string::npos);
  e.evolution.own = difference_params{.weight = 0.5, .base = "current_to_best"};
  const auto text = to_toml(e);
  CHECK(text.find("\ndifference_weight = 0.5\ndifference_base = \"current_to_best\"\n")
        != std::string::npos);
  CHECK(resolved(e).evolution.own.of<difference_params>().weight == 0.5);
  CHECK(to_toml(resolved(e)) == text);
}

TEST_CASE("resolved: class weights and further metrics stand there where there are any") {
  const experiment_files files;
  const auto training = [&](const std::string& more) {
    return files.with("epochs", "epochs = 3\n" + more);
  };
  const auto plain = to_toml(files.loaded(files.valid));
  CHECK_THAT(plain, !Catch::Contains("class_weights") && !Catch::Contains("metrics"));
  CHECK(to_toml(files.loaded(training("class_weights = \"none\"\nmetrics = []")))
        == plain);
  const auto balanced =
      files.loaded(training("class_weights = \"balanced\"\nmetrics = [\"auc\"]"));
  CHECK(balanced.training.class_weights.balanced);
  CHECK_THAT(to_toml(balanced),
             Catch::Contains("\nclass_weights = \"balanced\"\nmetrics = [\"auc\"]\n"));
  CHECK(resolved(balanced).training.class_weights.balanced);
  const auto by_class =
      files.loaded(training("class_weights = {7 = 2, \"a \\\"b\" = 0.5}"));
  CHECK(by_class.training.class_weights.by_class
        == std::vector<std::pair<std::string, double>>{{"7", 2}, {"a \"b", 0.5}});
  CHECK_THAT(to_toml(by_class),
             Catch::Contains("class_weights = {\"7\" = 2.0, \"a \\\"b\" = 0.5}\n"));
  CHECK(resolved(by_class).training.class_weights == by_class.training.class_weights);
}

TEST_CASE("resolved: class weights and metrics that cannot be are told with their line") {
  const experiment_files files;
  const auto error_of = [&](const std::string& more,
                            const std::vector<std::string>& overrides = {}) {
    return files.error_of(files.with("epochs", "epochs = 3\n" + more), overrides);
  };
  CHECK(error_of("class_weights = \"even\"")
        == "x.toml:20: training.class_weights must be \"none\" or \"balanced\", not "
           "\"even\"");
  CHECK(error_of("class_weights = {yes = -1}")
        == "x.toml:20: training.class_weights: the weight of \"yes\" must be a positive "
           "number");
  CHECK(error_of("class_weights = {yes = \"much\"}")
        == "x.toml:20: training.class_weights.yes must be a number, not \"much\"");
  CHECK(error_of("metrics = [\"f1\"]")
        == "x.toml:20: training.metrics: classification has no metric \"f1\"; it has "
           "accuracy, loss, balanced_accuracy, auc, f1_macro, matthews, top_3, top_5, "
           "f1.CLASS");
  CHECK(error_of("class_weights = \"balanced\"",
                 {"data.task=regression", "objective.maximize=validation.r2"})
        == "x.toml:20: training.class_weights is for classes, and the task is "
           "regression; remove it");
}

TEST_CASE("resolved: the slots of a training are a number, or servers and workers") {
  const experiment_files files;
  const auto training = [&](const std::string& more) {
    return files.with("epochs", "epochs = 3\n" + more);
  };
  const std::string server = "distribution = \"parameter_server\"\n";
  const auto both = files.loaded(training(server + "devices = 4"));
  CHECK(both.training.distribution.devices == 4);
  CHECK(both.training.distribution.shares() == 4);
  CHECK(both.training.distribution.synchronous());
  CHECK_THAT(to_toml(both), Catch::Contains("\ndevices = 4\n")
                                && !Catch::Contains("updates")
                                && !Catch::Contains("staleness"));
  const auto apart = files.loaded(
      training(server + "devices = {servers = 1, workers = 3}\nupdates = \"bounded\""));
  CHECK(slots_of_training(apart) == 4);
  CHECK(apart.training.distribution.shares() == 3);
  CHECK_FALSE(apart.training.distribution.synchronous());
  CHECK_THAT(to_toml(apart), Catch::Contains("devices = {servers = 1, workers = 3}\n")
                                 && Catch::Contains("updates = \"bounded\"\n"));
  CHECK(resolved(apart).training.distribution.workers == 3);
  CHECK(files.loaded(training("distribution = \"peer_to_peer\"\ndevices = 2"))
            .training.distribution.rule()
        == update_rule::asynchronous);
}

TEST_CASE("resolved: the slots of a training may follow from its memory") {
  const experiment_files files;
  const auto text = [&](const std::string& name, const std::string& devices) {
    return files.with("epochs", "epochs = 3\ndistribution = \"" + name
                                    + "\"\ndevices = \"" + devices + "\"");
  };
  const std::vector<std::string> limit{"limits.evaluation_memory=\"2GB\""};
  const auto e = files.loaded(text("sharded", "fit"), limit);
  CHECK(e.training.distribution.fit_bytes == e.limits.evaluation_memory);
  CHECK(e.training.distribution.by_team());
  CHECK_THAT(to_toml(e), Catch::Contains("devices = \"fit\"\n"));
  CHECK(resolved(e).training.distribution.fit_bytes == e.limits.evaluation_memory);
  CHECK(files.error_of(text("sharded", "fit"))
        == "x.toml:21: training.devices = \"fit\" needs limits.evaluation_memory, the "
           "memory that a training may take on one slot");
  CHECK(files.error_of(text("sharded", "fat"), limit)
        == "x.toml:21: training.devices must be \"fit\", not \"fat\"");
  CHECK(files.error_of(text("mirrored", "fit"), limit)
        == "x.toml:21: training.devices = \"fit\" is of distributions that divide a "
           "network "
           "over devices, \"sharded\" and \"pipeline\", not of \"mirrored\", which takes "
           "as much memory on each");
}

TEST_CASE("resolved: layers that share weights are not divided over devices") {
  const experiment_files files;
  write_text(files.folder() / "shared.toml", R"([composites.block]
repeat = 2
share = true
layers = [{op = "dense", units = 4}]
[operators.block]
)");
  const auto text = [&](const std::string& distribution) {
    auto changed = files.with("epochs", "epochs = 3\ndistribution = \"" + distribution
                                            + "\"\ndevices = 2");
    const std::string before = "file = \"vectors.toml\"";
    REQUIRE(changed.find(before) != std::string::npos);
    return changed.replace(changed.find(before), before.size(), "file = \"shared.toml\"");
  };
  CHECK(files.error_of(text("mirrored")) == "no error");
  for (const std::string parted : {"sharded", "pipeline"})
    CHECK_THAT(files.error_of(text(parted)),
               Catch::Contains("training.distribution = \"" + parted
                               + "\" divides a network over devices, and layers of block "
                                 "in"));
}

TEST_CASE("resolved: what carries between members is kept, and decides nothing") {
  const experiment_files files;
  const std::string team =
      "epochs = 3\ndistribution = \"multi_worker_mirrored\"\ndevices = 2";
  const auto tls = files.loaded(files.with("epochs", team));
  CHECK(tls.training.distribution.collectives == collectives_params{});
  CHECK_THAT(to_toml(tls), !Catch::Contains("collectives"));
  const auto gloo = files.loaded(files.with(
      "epochs",
      team + "\ncollectives = {backend = \"gloo\", network = \"10.1.0.0/16\"}"));
  CHECK_THAT(to_toml(gloo),
             Catch::Contains(
                 "\ncollectives = {backend = \"gloo\", network = \"10.1.0.0/16\"}\n"));
  CHECK(resolved(gloo).training.distribution.collectives
        == gloo.training.distribution.collectives);
  CHECK(search_hash(gloo, {1, 2}) == search_hash(tls, {1, 2}));
}

TEST_CASE("resolved: what cannot carry between members is told with its line") {
  const experiment_files files;
  const auto error_of = [&](const std::string& collectives,
                            const std::string& name = "sharded") {
    return files.error_of(
        files.with("epochs", "epochs = 3\ndistribution = \"" + name
                                 + "\"\ndevices = 2\ncollectives = " + collectives));
  };
  CHECK(
      error_of("{backend = \"gloo\"}")
      == "x.toml:22: training.collectives needs a network, whose machines are all "
         "trusted, since \"gloo\" neither encrypts nor asks who connects: collectives = "
         "{backend = \"gloo\", network = \"10.1.0.0/16\"}");
  CHECK(
      error_of("{backend = \"gloo\", network = \"10.1.0.0\"}")
      == "x.toml:22: training.collectives.network = \"10.1.0.0\" is no IPv4 network; an "
         "address and from 8 to 32 bits make one, such as \"10.1.0.0/16\"");
  CHECK(error_of("{backend = \"gloo\", network = \"10.1.2.0/16\"}")
        == "x.toml:22: training.collectives.network = \"10.1.2.0/16\" is an address in a "
           "network; that is \"10.1.0.0/16\"");
  CHECK(error_of("{network = \"10.1.0.0/16\"}")
        == "x.toml:22: training.collectives.network is of backend = \"gloo\"; \"tls\" "
           "takes any network: remove it");
  CHECK(error_of("{backend = \"nccl\", network = \"10.1.0.0/16\"}")
        == "x.toml:22: training.collectives.backend = \"nccl\" adds up on CUDA devices, "
           "and what slots share is added up by the CPU so far; take \"tls\" or, on a "
           "private network, \"gloo\"");
  CHECK(error_of("{backend = \"mpi\"}")
        == "x.toml:22: training.collectives.backend = \"mpi\": there is none of that "
           "name; there are \"tls\" and \"gloo\"");
  CHECK(error_of("{backend = \"gloo\", network = \"10.1.0.0/16\"}", "mirrored")
        == "x.toml:22: training.collectives is of distributions by teams, such as "
           "\"multi_worker_mirrored\", not of \"mirrored\", which sends nothing; remove "
           "it");
}

TEST_CASE("resolved: updates and slots that cannot be are told with their line") {
  const experiment_files files;
  const auto error_of = [&](const std::string& name, const std::string& more) {
    return files.error_of(
        files.with("epochs", "epochs = 3\ndistribution = \"" + name + "\"\n" + more));
  };
  CHECK(error_of("mirrored", "devices = {servers = 1, workers = 2}")
        == "x.toml:21: training.devices = {servers, workers} is of distribution = "
           "\"parameter_server\", not of \"mirrored\", whose devices are a number");
  CHECK(error_of("parameter_server", "devices = {servers = 1}")
        == "x.toml:21: training.devices must have at least one server and one worker: "
           "devices = {servers = 1, workers = 3}");
  CHECK(error_of("mirrored", "devices = [\"cuda:0\", \"cuda:1\"]")
        == "x.toml:21: training.devices says how many slots a training takes, not which; "
           "slots.local names them, and devices = 2 takes all of these");
  CHECK(error_of("parameter_server", "devices = {server = 1}")
        == "x.toml:21: unknown key \"server\" in [training.devices]; did you mean "
           "\"servers\"?");
  CHECK(error_of("parameter_server", "devices = {servers = 40, workers = 40}")
        == "x.toml:21: training.devices must be from 1 to 64");
  CHECK(error_of("mirrored", "devices = 2\nupdates = \"asynchronous\"")
        == "x.toml:22: training.updates is of distribution = \"parameter_server\" and "
           "\"peer_to_peer\", not of \"mirrored\"; remove it");
  CHECK(error_of("peer_to_peer", "devices = 2\nupdates = \"backup\"")
        == "x.toml:22: training.updates of \"peer_to_peer\" are \"asynchronous\" or "
           "\"bounded\"; distribution = \"multi_worker_mirrored\" has synchronous ones");
  CHECK(error_of("parameter_server", "devices = 2\nupdates = \"bounded\"\nstaleness = 0")
        == "x.toml:23: training.staleness must be at least 1; updates = \"synchronous\" "
           "has none");
  CHECK(error_of("parameter_server",
                 "devices = {servers = 2, workers = 2}\nupdates = \"backup\"\n"
                 "backup_workers = 2")
        == "x.toml:23: training.backup_workers must be at least 1, and fewer than the 2 "
           "workers");
  CHECK(error_of("parameter_server", "devices = 2\nupdates = \"often\"")
        == "x.toml:22: training.updates must be \"auto\", \"synchronous\", "
           "\"asynchronous\", \"bounded\" or \"backup\", not \"often\"");
}
