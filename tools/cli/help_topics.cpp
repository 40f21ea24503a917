// Topics that are lists are made from what the engine reads them with; the others are
// texts.
#include "tools/cli/help_topics.hpp"

#include "engine/config/reference.hpp"
#include "engine/config/space_reference.hpp"
#include "engine/search/core/candidate.hpp"
#include "engine/search/strategies/registry.hpp"
#include "engine/training/distribution.hpp"
#include "engine/training/metrics.hpp"

namespace clade {

namespace {

std::string strategies_text() {
  std::string out =
      "Strategies: [evolution] strategy = \"NAME\" in an experiment file.\n\n";
  for (const auto& s : strategies_with_advice())
    out += reference_item(std::string(s.name), "", std::string(s.sentence));
  return out;
}

std::string distributions_text() {
  std::string out =
      "Distributions: [training] distribution = \"NAME\" and devices = k in "
      "an experiment file,\nor --set of clade train. A training then takes k "
      "slots. k: devices\n(workers, where there are S servers beside "
      "them), n: the bytes of all parameters.\n\n";
  for (const auto& d : distribution_rows()) {
    out +=
        reference_item(std::string(d.name), std::string(d.known_as), std::string(d.what));
    for (const auto& [what, said] : {std::pair{"Take it where ", d.when},
                                     {"Moves, in bytes a step: ", d.moved},
                                     {"Memory of all devices: ", d.memory},
                                     {"Slowed by: ", d.slowed_by},
                                     {"Replication: ", d.replication}})
      out += "      " + std::string(what) + std::string(said) + "\n";
  }
  return out
         + "\nThe same experiment with the same k gives the same weights, bit for bit, "
           "and mirrored,\nmulti_worker_mirrored and central_storage give those of each "
           "other: gradients are added\nup in an order that no timing changes. k devices "
           "with a batch of b "
           "are one device with a batch of k * b, up\nto rounding and to what draws "
           "or measures by the batch (dropout, batch norms). The\nlearning rate of "
           "synchronous distributions is k times as high, after a warm-up, unless\n"
           "scale_learning_rate = false. xla (TPUs) is not reached from here.\n"
           "\nupdates of parameter_server (and of peer_to_peer, where marked *): "
           "\"synchronous\", a step of\nall workers' gradients, which gives the weights "
           "of mirrored; \"asynchronous\"*, each gradient\nas it comes; \"bounded\"*, "
           "the "
           "same, but no worker is more than `staleness` steps ahead of\nthe slowest; "
           "\"backup\", a step of the first gradients, without those of "
           "`backup_workers`.\nIn all but the first, timing decides which gradient meets "
           "which parameters. The training\nkeeps a log of that, about a byte for each "
           "gradient and holder, and makes the same weights\nagain by it, bit for bit, "
           "on "
           "any number of slots. Whatever member is lost, the others go\nback to the end "
           "of the last epoch: synchronous weights do not change by that.\n"
           "\nIn-graph and between-graph: whether one process or each device's own "
           "drives "
           "a training.\nData parallelism: devices have equal networks and parts of the "
           "batch. Model parallelism:\nthey have parts of the network.\n";
}

void add_metrics(std::string& out, const learning_task& task) {
  for (const part_metric& m : part_metrics(task))
    out += reference_item("validation." + std::string(m.name),
                          m.maximize ? "maximize" : "minimize");
}

std::string metrics_text() {
  std::string out =
      "Metrics: what [objective] maximize, minimize, at_most and at_least may "
      "name.\n";
  for (const auto& task : learning_tasks) {
    out += "\nOf a " + std::string(task.name) + ":\n\n";
    add_metrics(out, task);
  }
  return out + "\nOf every network, to minimize:\n\n"
         + reference_item(std::string(parameters_metric), "", "Its weights.")
         + reference_item(std::string(multiply_adds_metric), "",
                          "Multiplications for one example.")
         + reference_item(
             std::string(latency_metric), "",
             "Milliseconds for one example, measured on the slot. Latency depends on the "
             "machine, so the same seed gives another search; `clade replay` of the "
             "stored run still repeats it.")
         + "\nThe test part is measured once, for the champion: `test.accuracy` and so "
           "on.\n";
}

std::string tables_text() {
  return R"(A table holds evaluations that were made before, such as NAS-Bench-201; searching it trains
nothing. An experiment with [experiment] fitness = "table" names a description in [table] file:

  files = ["x.csv.gz"]           CSV; row i of each file is about the same setting
  folder = "data"                where the files are, from the description's folder;
                                 the environment's CLADE_BENCHMARKS takes its place
  lookup = "exact"               or "nearest"
  fidelities = [12, 200]         epochs, rising; or {first = 1, last = 51}
  separate = true                each fidelity is a training from the beginning
  seeds = [0, 1, 2]              what {seed} stands for in a column's name
  cost = "time_s{seed}"          seconds of the greatest fidelity
  truth = "test.accuracy"        what a search is judged by in the end
  include = "other.toml"         another description, which this one adds to

  [hyperparameters]              the table's parameters, as in search-space files
  [objective]                    maximize or minimize = "validation.accuracy"
  [metrics]                      the column of each metric, or one for each fidelity
  validation.accuracy = ["acc12_s{seed}", "acc200_s{seed}"]
  [key]                          only where columns are not named like the parameters:
  columns = {units = "n_units"}  their names, or one column of digits, each an index
                                 into the list of its parameter: column = "arch",
                                 digits = ["edge_0_1", "edge_0_2"]

Examples: experiments/nas-bench-201.toml and experiments/tables/.
)";
}

std::string environment_text() {
  return R"(Environment variables:

  CLADE_RUNS             where runs are kept and looked for; else ./runs
  CLADE_CACHE            where data that was read is cached; else XDG_CACHE_HOME/clade or
                         ~/.cache/clade
  CLADE_BENCHMARKS       where the files of benchmark tables are (clade help tables)
  CLADE_NVML             NVIDIA's management library, if it is not libnvidia-ml.so.1
  CUDA_VISIBLE_DEVICES   hides GPUs, as for every program that uses CUDA

For tools/clade and tools/test, which build Clade:

  CLADE_TORCH=OFF        build without LibTorch: nothing can be trained
  CLADE_DASHBOARD=OFF    build without the page of clade attach --web
  Torch_DIR              a LibTorch of your own
)";
}

std::string words_text() {
  return R"(Words that Clade uses:

  candidate    a network that the search tries; #231 is the 231st of its run
  genome       what a candidate is made of: layers, connections and hyperparameters
  gene         one layer or connection of a genome
  search space the genomes that may be bred: a file of layers, settings and limits
  fitness      how good a candidate is: its first objective, measured on validation data
  generation   so many candidates, after which the best are chosen
  champion     the best candidate of a run
  front        with several objectives: the candidates that no other beats in all of them
  lineage      a candidate's ancestors, with what each one changed
  strategy     the search algorithm (clade help strategies)
  rung         a number of epochs after which a training may be stopped or continued
  run          one search and everything it recorded: the folder runs/NAME-TIME
  head         the process that searches: it decides, records and hands out candidates
  worker       the process that offers a machine's devices to a head
  slot         a device, or a share of it, that trains one candidate at a time
  node         the process that trains on one slot
  examination  the champion's one measurement on test data, at the end
)";
}

constexpr help_topic topics[] = {
    {"experiment", "Every key of an experiment file", experiment_reference_text},
    {"search-spaces", "What a search-space file may say", space_reference_text},
    {"strategies", "Search algorithms, and when to take which", strategies_text},
    {"distributions", "One training on several slots", distributions_text},
    {"metrics", "What can be maximized, minimized and bounded", metrics_text},
    {"tables", "Searching results that were measured before", tables_text},
    {"environment", "Environment variables", environment_text},
    {"words", "What champion, slot, node, front and other words mean", words_text},
};

} // namespace

std::span<const help_topic> help_topics() {
  return topics;
}

} // namespace clade
