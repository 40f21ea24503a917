// The tests of a program: what it is told by its words, variables and files, what it
// reports while it runs, when it is tried again, and what it leaves for the next.

#include "engine/evaluation/command/candidate_files.hpp"
#include "engine/evaluation/command/command.hpp"
#include "search_spaces/operators/variation.hpp"
#include "tests/support/listener.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/small_space.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <atomic>
#include <thread>
#include <vector>

using namespace clade;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

job told_job(budget limits = {.epochs = 3, .horizon = 3}) {
  auto random = derive(11, purpose::sample, 0, 0);
  return {.id = 12,
          .genome = sample(small_space(), small_problem(), random)->child,
          .seed = 7,
          .budget = limits};
}

command_setup told_setup(const std::string& script) {
  return {.params = {.run = {"sh", "-c", script}, .directory = "/"},
          .space = small_space(),
          .problem = small_problem(),
          .goal = {.metric = "a"}};
}

evaluated_job ran(const command_setup& setup, const job& j = told_job()) {
  unheard_progress nobody;
  return make_command(setup)->evaluate(j, nobody);
}

std::string said(const evaluation& e) {
  return std::string(to_text(e.outcome)) + ": " + e.reason;
}

std::string line_of(const std::filesystem::path& file) {
  auto text = read_text(file);
  while (text.ends_with('\n'))
    text.pop_back();
  return text;
}

} // namespace

TEST_CASE("command: its words and variables are filled in") {
  const scratch_folder folder;
  const auto j = told_job();
  auto setup = told_setup("echo \"$0 $1 $VALUE $CLADE_SEED $CLADE_PARAM_LEARNING_RATE\" "
                          "> words; cp $CLADE_GENOME_FILE genome; cp $2 params; "
                          "pwd > pwd; echo '{\"a\": 1}'");
  for (const std::string word :
       {"{candidate}-{{x}}", "{epochs}/{start_epoch}", "{params_file}"})
    setup.params.run.push_back(word);
  setup.params.directory = folder.path();
  setup.params.environment = {{"VALUE", "{learning_rate}"}};
  REQUIRE(said(ran(setup, j).evaluation) == "succeeded: ");
  const auto told = nlohmann::json::parse(command_input(j));
  const auto seed = std::to_string(told["seed"].get<std::uint64_t>());
  const auto words = line_of(folder.path() / "words");
  CHECK_THAT(words, StartsWith("12-{x} 3/0 "));
  const auto rate = words.substr(words.rfind(' ') + 1);
  CHECK(std::stod(rate) == told["hyperparameters"]["learning_rate"].get<double>());
  CHECK(words == "12-{x} 3/0 " + rate + " " + seed + " " + rate);
  CHECK(nlohmann::json::parse(read_text(folder.path() / "genome")) == told["genome"]);
  CHECK(nlohmann::json::parse(read_text(folder.path() / "params"))
        == told["hyperparameters"]);
  CHECK(line_of(folder.path() / "pwd") == folder.path().string());
}

TEST_CASE("command: its network is written in the formats that it names") {
  const scratch_folder folder;
  auto setup = told_setup("env > variables; cp $0 network; echo '{\"a\": 1}'");
  setup.params.run.push_back("{python_file}");
  setup.params.directory = folder.path();
  std::vector<std::uint64_t> seeds;
  setup.host.write_network = [&](network_format format, const untrained_network& n) {
    seeds.push_back(n.seed);
    const std::string text = format == network_format::python ? "Python " : "ONNX ";
    return std::vector<named_file>{
        {"network", text + std::to_string(n.layers.layers.back().out.sizes.front())},
        {"weights", ""}};
  };
  const auto j = told_job();
  REQUIRE(said(ran(setup, j).evaluation) == "succeeded: ");
  CHECK(read_text(folder.path() / "network") == "Python 4");
  const auto told = nlohmann::json::parse(command_input(j));
  CHECK(seeds == std::vector{told["seed"].get<std::uint64_t>()});
  const auto variables = read_text(folder.path() / "variables");
  CHECK_THAT(variables, Contains("CLADE_PYTHON_FILE=") && !Contains("CLADE_ONNX_FILE="));
  setup.params.run.back() = "/dev/null";
  setup.params.environment = {{"MINE", "{onnx_file}"}};
  REQUIRE(said(ran(setup, j).evaluation) == "succeeded: ");
  CHECK_THAT(read_text(folder.path() / "variables"), !Contains("CLADE_PYTHON_FILE=")
                                                         && Contains("CLADE_ONNX_FILE=")
                                                         && Contains("MINE=/"));
  CHECK(seeds.size() == 2);
}

TEST_CASE("command: a candidate's folder is gone when it has ended") {
  const scratch_folder folder;
  auto setup = told_setup("echo {work_folder} > at; mkdir -p {work_folder}/a/b; "
                          "touch {work_folder}/a/b/c; echo '{\"a\": 1}'");
  setup.params.directory = folder.path();
  std::filesystem::path all;
  {
    unheard_progress nobody;
    const auto fitness = make_command(setup);
    REQUIRE(said(fitness->evaluate(told_job(), nobody).evaluation) == "succeeded: ");
    const std::filesystem::path at = line_of(folder.path() / "at");
    CHECK_FALSE(std::filesystem::exists(at));
    all = at.parent_path();
    CHECK(std::filesystem::exists(all));
    // Another process that begins leaves it alone, as it is in use.
    REQUIRE(work_folders::make());
    CHECK(std::filesystem::exists(all));
  }
  CHECK_FALSE(std::filesystem::exists(all));
}

TEST_CASE("command: what a killed process left is removed by the next") {
  const auto left = std::filesystem::temp_directory_path() / "clade-command-left";
  std::filesystem::create_directories(left / "12");
  write_text(left / "lock", "");
  REQUIRE(work_folders::make());
  CHECK_FALSE(std::filesystem::exists(left));
}

TEST_CASE("command: those that begin at once leave each other's folders alone") {
  constexpr int makers = 4, times = 500;
  std::atomic<int> made = 0, gone = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < makers; ++i)
      threads.emplace_back([&] {
        for (int n = 0; n < times; ++n)
          if (const auto folders = work_folders::make()) {
            ++made;
            gone += std::filesystem::exists(folders->path()) ? 0 : 1;
          }
      });
  }
  CHECK(made == makers * times);
  CHECK(gone == 0);
}

TEST_CASE("command: a copy of its directory is its own") {
  const scratch_folder folder;
  write_text(folder.path() / "data", "there");
  auto setup = told_setup("test \"$(cat data)\" = there; touch mine; "
                          "echo '{\"a\": 2}' > out.json");
  setup.params.directory = folder.path();
  setup.params.copy = true;
  setup.params.metrics = "out.json";
  const auto e = ran(setup).evaluation;
  CHECK(said(e) == "succeeded: ");
  CHECK(e.metrics == std::vector<metric>{{"a", 2}});
  CHECK_FALSE(std::filesystem::exists(folder.path() / "mine"));
}

TEST_CASE("command: reports are heard as they come") {
  auto setup = told_setup("echo '{\"epoch\": 1, \"a\": 0.5, \"b\": NaN}'; echo noise; "
                          "echo '{\"epoch\": 1, \"a\": 9}'; "
                          "echo '{\"epoch\": 2, \"a\": 0.7}'; "
                          "echo '{\"a\": 0.8, \"size\": 3}'");
  setup.params.metrics = "json_lines";
  listener p;
  const auto e = make_command(setup)->evaluate(told_job(), p).evaluation;
  CHECK(said(e) == "succeeded: ");
  CHECK(e.metrics == std::vector<metric>{{"a", 0.8}, {"size", 3}});
  REQUIRE(e.curve.size() == 3);
  CHECK(e.curve[0].number == 1);
  CHECK(e.curve[0].metrics == std::vector<metric>{{"a", 0.5}});
  CHECK(e.curve[1].number == 2);
  CHECK(e.curve[2].number == 3);
  CHECK(e.curve[2].metrics == e.metrics);
  CHECK(p.heard == e.curve);
}

TEST_CASE("command: the last report is the answer where there is no other") {
  auto setup = told_setup("for i in 1 2 3; do echo '{\"epoch\": '$i', \"a\": 0.'$i'}'; "
                          "done; printf '{\"a\": 0.'");
  setup.params.metrics = "json_lines";
  const auto e = ran(setup).evaluation;
  CHECK(said(e) == "succeeded: ");
  CHECK(e.metrics == std::vector<metric>{{"a", 0.3}});
  CHECK(e.curve.size() == 3);
}

TEST_CASE("command: reports may go to a file") {
  listener p;
  const auto e =
      make_command(told_setup("echo '{\"epoch\": 1, \"a\": 1}' >> $CLADE_REPORT_FILE; "
                              "echo '{\"a\": 7}'; "
                              "echo '{\"epoch\": 2, \"a\": 2}' >> {report_file}"))
          ->evaluate(told_job(), p)
          .evaluation;
  CHECK(said(e) == "succeeded: ");
  CHECK(e.metrics == std::vector<metric>{{"a", 2}});
  CHECK(p.heard.size() >= 2);
}

TEST_CASE("command: whose report nobody wants more of is stopped") {
  auto setup = told_setup("echo '{\"epoch\": 1, \"a\": 1}'; sleep 1000");
  setup.params.metrics = "json_lines";
  listener p;
  p.patience = 1;
  const auto e = make_command(setup)->evaluate(told_job(), p).evaluation;
  CHECK(said(e) == "dropped: stopped, as nobody wants its score");
  CHECK(e.curve.size() == 1);
}

TEST_CASE("command: one that trains on beyond its rung is stopped there") {
  auto setup = told_setup("i=0; while :; do i=$((i + 1)); "
                          "echo '{\"epoch\": '$i', \"a\": '$i'}'; sleep 0.01; done");
  setup.params.metrics = "json_lines";
  const auto e = ran(setup, told_job({.epochs = 3, .horizon = 9})).evaluation;
  CHECK(said(e) == "succeeded: ");
  CHECK(e.metrics == std::vector<metric>{{"a", 3}});
  CHECK(e.curve.size() == 3);
}

TEST_CASE("command: what its time cuts has what it reported") {
  auto setup = told_setup("echo '{\"epoch\": 2, \"a\": 0.5}'; sleep 1000");
  setup.params.metrics = "json_lines";
  auto j = told_job({.epochs = 3, .horizon = 3, .time = 500ms});
  const auto e = ran(setup, j).evaluation;
  CHECK(said(e) == "succeeded: cut by limits.evaluation_time after epoch 2 of 3");
  CHECK(e.metrics == std::vector<metric>{{"a", 0.5}});
  // A candidate that others are to go on from is not compared half done.
  j.keep_checkpoint = checkpointing::whole;
  CHECK(said(ran(setup, j).evaluation) == "timed out: takes longer than 500 ms");
}

TEST_CASE("command: metrics may be in a file or in TensorBoard's events") {
  auto setup = told_setup("printf '{\\n  \"a\": 4\\n}\\n' > {work_folder}/m.json");
  setup.params.metrics = "{work_folder}/m.json";
  CHECK(ran(setup).evaluation.metrics == std::vector<metric>{{"a", 4}});
  setup = told_setup("true");
  setup.params.metrics = "{work_folder}/m.json";
  CHECK_THAT(said(ran(setup).evaluation),
             StartsWith("invalid: the program answered with no line of metrics"));
  setup.params.metrics = "tensorboard";
  CHECK_THAT(said(ran(setup).evaluation),
             StartsWith("invalid: the program wrote no scalars"));
}

TEST_CASE("command: metrics in a file are heard while it is written") {
  // Each waits until somebody has heard of the epoch before.
  struct answering final : progress {
    std::filesystem::path folder;
    std::vector<epoch> heard{};
    bool report(const epoch& e) override {
      heard.push_back(e);
      write_text(folder / ("heard" + std::to_string(e.number)), "");
      return true;
    }
  };
  const std::string await = "while ! [ -e heard$i ]; do sleep 0.01; done; ";
  for (const std::string write :
       {"echo '{\"epoch\": '$i', \"a\": '$i'}' >> m.json; ",
        "printf '{\"epoch\": '$i',\n \"a\": '$i'}' > m.json; "}) {
    const scratch_folder own;
    auto setup = told_setup("for i in 1 2 3; do " + write + await + "done");
    setup.params.directory = own.path();
    setup.params.metrics = own.path() / "m.json";
    answering p;
    p.folder = own.path();
    const auto e = make_command(setup)
                       ->evaluate(told_job({.epochs = 3, .horizon = 3, .time = 60s}), p)
                       .evaluation;
    CHECK(said(e) == "succeeded: ");
    CHECK(e.metrics == std::vector<metric>{{"a", 3}});
    REQUIRE(p.heard.size() == 3);
    CHECK(p.heard == e.curve);
  }
}

TEST_CASE("command: TensorBoard's events are heard while they are written") {
  // Events of the scalar "a", whose steps are those of batches: 7, 14, 21.
  const std::string script =
      "import os, struct, sys, time\n"
      "folder = sys.argv[1]\n"
      "def write(step, value):\n"
      "  v = b'\\x0a\\x01a\\x15' + struct.pack('<f', value)\n"
      "  s = b'\\x0a' + bytes([len(v)]) + v\n"
      "  e = b'\\x10' + bytes([step]) + b'\\x2a' + bytes([len(s)]) + s\n"
      "  with open(folder + '/events.tfevents', 'ab') as f:\n"
      "    f.write(struct.pack('<Q', len(e)) + bytes(4) + e + bytes(4))\n"
      "for i in range(1, 1000):\n"
      "  write(i * 7 % 120, i / 4)\n"
      "  time.sleep(1000 if i == 3 else 0)\n";
  auto setup = told_setup("");
  setup.params.run = {"python3", "-c", script, "{tensorboard_folder}"};
  setup.params.metrics = "tensorboard";
  listener p;
  p.patience = 3;
  auto e = make_command(setup)->evaluate(told_job(), p).evaluation;
  CHECK(said(e) == "dropped: stopped, as nobody wants its score");
  REQUIRE(p.heard.size() == 3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    CHECK(p.heard[i].number == i + 1);
    CHECK(p.heard[i].metrics == std::vector<metric>{{"a", (i + 1) / 4.0}});
  }
  // One that trains on is stopped at its rung, and has what it had there.
  e = ran(setup, told_job({.epochs = 2, .horizon = 9})).evaluation;
  CHECK(said(e) == "succeeded: ");
  CHECK(e.metrics == std::vector<metric>{{"a", 0.5}});
}

TEST_CASE("command: a status that tells of the machine is tried again") {
  const scratch_folder folder;
  auto setup = told_setup("echo . >> tries; [ $(wc -l < tries) -ge 3 ] || exit 75; "
                          "echo '{\"a\": 1}'");
  setup.params.directory = folder.path();
  setup.params.retry = {.codes = {75}, .times = 2, .pause = 1ms};
  CHECK(said(ran(setup).evaluation) == "succeeded: ");
  CHECK(read_text(folder.path() / "tries") == ".\n.\n.\n");
  setup.params.retry.times = 1;
  std::filesystem::remove(folder.path() / "tries");
  CHECK(said(ran(setup).evaluation)
        == "crashed: the program ended with status 75 (tried 2 times)");
  setup.params.retry.codes = {76};
  std::filesystem::remove(folder.path() / "tries");
  CHECK(said(ran(setup).evaluation) == "crashed: the program ended with status 75");
  CHECK(read_text(folder.path() / "tries") == ".\n");
  auto killed = told_setup("kill -KILL $$");
  killed.params.retry = {.codes = {137}, .times = 1, .pause = 1ms};
  CHECK(said(ran(killed).evaluation)
        == "crashed: the program was killed (Killed) (tried 2 times)");
}

TEST_CASE("command: all tries together have the time of one") {
  auto setup = told_setup("exit 75");
  setup.params.retry = {.codes = {75}, .times = 100, .pause = 1h};
  const auto e = ran(setup, told_job({.epochs = 1, .time = 10s})).evaluation;
  CHECK(said(e) == "crashed: the program ended with status 75 (tried 1 times)");
}

TEST_CASE("command: it goes on from its checkpoint folder") {
  auto setup = told_setup("cd {checkpoint_folder}; echo {start_epoch}-{epochs} >> seen; "
                          "echo '{\"a\": '$(wc -l < seen)'}'");
  setup.params.checkpoints = true;
  auto j = told_job({.epochs = 1, .horizon = 3});
  j.keep_checkpoint = checkpointing::whole;
  auto first = ran(setup, j);
  REQUIRE(said(first.evaluation) == "succeeded: ");
  CHECK_FALSE(first.checkpoint.empty());
  j.start = 11;
  j.start_epoch = 1;
  j.budget.epochs = 3;
  j.checkpoint = first.checkpoint;
  j.keep_checkpoint = checkpointing::none;
  const auto second = ran(setup, j);
  CHECK(second.evaluation.metrics == std::vector<metric>{{"a", 2}});
  CHECK(second.checkpoint.empty());
}

TEST_CASE("command: a checkpoint folder that cannot be kept fails the candidate") {
  auto j = told_job();
  j.keep_checkpoint = checkpointing::whole;
  const auto of = [&](const std::string& script) {
    auto setup = told_setup(script + "; echo '{\"a\": 1}'");
    setup.params.checkpoints = true;
    return said(ran(setup, j).evaluation);
  };
  CHECK_THAT(of("true"),
             StartsWith("invalid: the program left nothing in its checkpoint"));
  CHECK_THAT(of("ln -s /etc/passwd {checkpoint_folder}/x"),
             Contains("cannot be kept: x is neither a file nor a folder"));
}

TEST_CASE("command: what it writes is in the log of its candidate") {
  const scratch_folder folder;
  auto j = told_job();
  j.logs = folder.path() / "logs";
  CHECK(said(ran(told_setup("echo '{\"a\": 1}'; echo no >&2; exit 3"), j).evaluation)
        == "crashed: the program ended with status 3: no");
  const auto text = read_text(log_file(j.logs, j.id));
  CHECK_THAT(text, Contains("{\"a\": 1}\n"));
  CHECK_THAT(text, Contains("no\n"));
}

TEST_CASE("command: what stands in braces and is nothing is an error") {
  const auto trouble = [](command_params params) {
    const auto checked = check_placeholders(params, small_space());
    return checked ? "" : checked.error().message;
  };
  CHECK(trouble({.run = {"x", "{learning_rate}", "{seed}"}}).empty());
  CHECK_THAT(trouble({.run = {"x", "{learning_rte}"}}),
             StartsWith("run has {learning_rte}, which is nothing; there are {")
                 && Contains("{learning_rate}, ") && Contains("{genome_file}")
                 && Contains("write {{learning_rte}} for the braces themselves"));
  CHECK_THAT(trouble({.run = {"x"}, .environment = {{"A", "{b}"}}}),
             StartsWith("environment has {b}, which is nothing"));
  CHECK_THAT(trouble({.run = {"x", "{checkpoint_folder}"}}),
             Contains("which is there with checkpoints = true alone"));
  CHECK_THAT(trouble({.run = {"x", "{tensorboard_folder}"}}),
             Contains("which is there with metrics = \"tensorboard\" alone"));
}

TEST_CASE("command: a network is told where there are layers and a shape") {
  const auto trouble = [](const search_space& space, const problem* networks) {
    const auto checked =
        check_placeholders({.run = {"x", "{onnx_file}"}}, space, networks);
    return checked ? "" : checked.error().message;
  };
  const auto p = small_problem();
  CHECK(trouble(small_space(), &p).empty());
  CHECK_THAT(trouble(small_space(), nullptr),
             StartsWith("run has {onnx_file}, a network, and nobody says of which")
                 && Contains("add [data] with shape and classes"));
  auto flat = small_space();
  flat.rules.max_nodes = 0;
  CHECK(trouble(flat, &p)
        == "run has {onnx_file}, a network, but small.toml has no layers");
}
