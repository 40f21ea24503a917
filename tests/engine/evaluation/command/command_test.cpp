#include "engine/evaluation/command/candidate_files.hpp"
#include "engine/evaluation/command/command.hpp"
#include "genome/genes/hash.hpp"
#include "genome/variation/rewiring.hpp"
#include "search_spaces/operators/variation.hpp"
#include "tests/support/genomes.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/small_space.hpp"
#include "tools/serve/genome_json.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <thread>

using namespace clade;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

candidate_id next_id = 0;

/// A candidate of the small space.
job a_job(budget limits = {.epochs = 3}) {
  auto random = derive(11, purpose::sample, 0, 0);
  return {.id = ++next_id,
          .genome = sample(small_space(), small_problem(), random)->child,
          .seed = 7,
          .budget = limits};
}

command_setup setup_of(std::vector<std::string> run,
                       const std::filesystem::path& directory = "/",
                       objective goal = {}) {
  return {.params = {.run = std::move(run), .directory = directory},
          .space = small_space(),
          .problem = small_problem(),
          .goal = std::move(goal)};
}

evaluation scored(command_setup setup, const job& j = a_job()) {
  unheard_progress nobody;
  return make_command(std::move(setup))->evaluate(j, nobody).evaluation;
}

/// Returns the score of a shell that does this.
evaluation of_shell(const std::string& script, budget limits = {.epochs = 3}) {
  return scored(setup_of({"sh", "-c", script}), a_job(limits));
}

std::string told(const evaluation& e) {
  return std::string(to_text(e.outcome)) + ": " + e.reason;
}

/// Until no process has that in its command line, or for a minute.
bool all_end(const std::string& words) {
  for (const auto start = std::chrono::steady_clock::now();
       std::chrono::steady_clock::now() - start < 1min; std::this_thread::yield()) {
    bool found = false;
    std::error_code ended;
    for (std::filesystem::directory_iterator at("/proc", ended), end; at != end;
         at.increment(ended))
      found = found || read_text(at->path() / "cmdline").find(words) != std::string::npos;
    if (!found)
      return true;
  }
  return false;
}

} // namespace

TEST_CASE("command: the last JSON line of a program is its metrics") {
  const auto e = of_shell("echo starts; echo '{\"a\": 1}'; "
                          "echo '{\"validation.accuracy\": 0.93, \"cost\": 7}'; "
                          "echo ends {; echo warns >&2");
  CHECK(told(e) == "succeeded: ");
  CHECK(e.metrics == std::vector<metric>{{"cost", 7}, {"validation.accuracy", 0.93}});
  REQUIRE(e.curve.size() == 1);
  CHECK(e.curve[0].number == 3);
  CHECK(e.curve[0].metrics == e.metrics);
  CHECK(e.parameters > 0);
  CHECK(e.seconds > 0);
}

TEST_CASE("command: a program reads its candidate") {
  const scratch_folder folder;
  const auto j = a_job();
  CHECK(
      told(scored(setup_of({"sh", "-c", "cat > in; echo '{\"validation.accuracy\": 1}'"},
                           folder.path()),
                  j))
      == "succeeded: ");
  const auto text = read_text(folder.path() / "in");
  CHECK(text == command_input(j));
  const auto read = nlohmann::ordered_json::parse(text);
  CHECK(read["candidate"] == j.id);
  CHECK(read["epochs"] == 3);
  CHECK(read["seed"].get<std::uint64_t>() < (std::uint64_t{1} << 31));
  auto whole = read["genome"];
  whole["hyperparameters"] = read["hyperparameters"];
  const auto back = genome_from_json(whole, small_space(), small_problem());
  if (!back)
    FAIL(back.error().message);
  CHECK(canonical_hash(*back) == canonical_hash(j.genome));
  CHECK(back->hyperparameters == j.genome.hyperparameters);
}

TEST_CASE("command: recurrent edges are told, and read again") {
  search_space space;
  space.input = layout::sequence;
  space.rules.max_nodes = 2;
  space.rules.max_recurrent = 2;
  space.rules.operators = {{.name = "gru", .settings = {}}};
  space.rules.merge = {
      {.name = "merge", .domain = choice_domain{.options = {std::string("add")}}}};
  auto j = a_job();
  j.genome = chain_genome({{.op = "gru", .settings = {{"merge", std::string("add")}}},
                           {.op = "gru", .settings = {}}});
  const auto order = topological_order(j.genome);
  j.genome.edges.push_back(test::an_edge(order[2], order[1], 3));
  j.genome = test::sorted(std::move(j.genome));
  const auto read = nlohmann::ordered_json::parse(command_input(j));
  CHECK(read["genome"]["layers"][0]["recurrent"].dump() == R"([{"input":2,"steps":3}])");
  const auto back = genome_from_json(read["genome"], space, {{{5, 3}}, 2});
  if (!back)
    FAIL(back.error().message);
  CHECK(canonical_hash(*back) == canonical_hash(j.genome));
  auto wrong = read["genome"];
  wrong["layers"][0]["recurrent"] = {{{"input", 3}, {"steps", 1}}};
  CHECK_FALSE(genome_from_json(wrong, space, {{{5, 3}}, 2}));
}

TEST_CASE("command: equal networks of a run are given the same seed") {
  auto j = a_job();
  const auto seed_in = [](const job& of) {
    return nlohmann::json::parse(command_input(of))["seed"].get<std::uint64_t>();
  };
  const auto first = seed_in(j);
  ++j.id;
  CHECK(seed_in(j) == first);
  ++j.seed;
  CHECK(seed_in(j) != first);
}

TEST_CASE("command: a status other than 0 fails with the last line of errors") {
  CHECK(told(of_shell("echo one >&2; printf 'it\\033 broke\\n\\n' >&2; exit 3"))
        == "crashed: the program ended with status 3: it? broke");
  CHECK(told(of_shell("exit 1")) == "crashed: the program ended with status 1");
  CHECK(told(of_shell("kill -ABRT $$")) == "crashed: the program was killed (Aborted)");
  CHECK(told(of_shell("kill -KILL 0")) == "crashed: the program was killed (Killed)");
  // Its parent is its guard.
  CHECK(told(of_shell("kill -KILL $PPID; sleep 1000"))
        == "crashed: the program was killed (Killed)");
}

TEST_CASE("command: an answer without metrics is invalid") {
  const std::string none = "invalid: the program answered with no line of metrics";
  CHECK_THAT(told(of_shell("true")), StartsWith(none));
  CHECK_THAT(told(of_shell("echo 0.93")), StartsWith(none));
  CHECK_THAT(told(of_shell("echo '{}'")), StartsWith(none));
  CHECK_THAT(told(of_shell("echo '{accuracy}'")), StartsWith(none));
  CHECK_THAT(told(of_shell("printf '{\"a\": \\377}'")), StartsWith(none));
  CHECK_THAT(told(of_shell("printf '{\"a\": '; yes [ | head -1000000 | tr -d '\\n'; "
                           "echo }")),
             StartsWith(none));
  CHECK(told(of_shell("echo '{\"validation.accuracy\": \"high\"}'"))
        == "invalid: validation.accuracy is no number");
  CHECK_THAT(told(of_shell("echo '{\"\": 1}'")), Contains("1 to 128 characters"));
}

TEST_CASE("command: a metric that is not finite diverged") {
  const std::string diverged = "diverged: validation.accuracy is not finite";
  for (const std::string word : {"NaN", "Infinity", "-Infinity", "null"})
    CHECK(told(of_shell("echo '{\"NaN\": 1, \"validation.accuracy\": " + word + "}'"))
          == diverged);
}

TEST_CASE("command: what the objective names must be in the answer") {
  const objective goal{.metric = "latency",
                       .maximize = false,
                       .others = {{"parameters", false}},
                       .constraints = {{.metric = "energy", .limit = 3}}};
  const auto with = [&](const std::string& answer) {
    return told(scored(setup_of({"echo", answer}, "/", goal)));
  };
  CHECK(with("{\"speed\": 1, \"energy\": 2}")
        == "invalid: the program's answer lacks latency, which the objective names; it "
           "has energy, speed");
  CHECK_THAT(with("{\"latency\": 1}"), Contains("lacks energy"));
  CHECK(with("{\"latency\": 1, \"energy\": 2}") == "succeeded: ");
}

TEST_CASE("command: a program that takes too long is ended with all that it started") {
  const scratch_folder folder;
  const auto mark = folder.path().string();
  const auto start = std::chrono::steady_clock::now();
  const auto e =
      scored(setup_of({"sh", "-c",
                       "trap '' TERM; sh -c 'sleep 1000; : " + mark + "' & sleep 1000"}),
             a_job({.epochs = 1, .time = 200ms}));
  CHECK(told(e) == "timed out: takes longer than 200 ms");
  CHECK(std::chrono::steady_clock::now() - start < 30s);
  CHECK(all_end(mark));
}

TEST_CASE("command: what a program leaves behind ends with it") {
  const scratch_folder folder;
  const auto mark = folder.path().string();
  CHECK(told(of_shell("sh -c 'sleep 1000; : " + mark
                      + "' & echo '{\"validation.accuracy\": 1}'"))
        == "succeeded: ");
  CHECK(all_end(mark));
}

TEST_CASE("command: what has left the program's group and session ends with it") {
  const scratch_folder folder;
  const auto mark = folder.path().string();
  // A daemon: its parent has ended, and its session is its own.
  const std::string daemon = "(setsid sh -c \"trap '' TERM; touch there; sleep 1000; : "
                             + mark + "\" &); until [ -e there ]; do :; done; ";
  const auto of = [&](const std::string& rest, budget limits = {.epochs = 3}) {
    const auto e =
        scored(setup_of({"sh", "-c", daemon + rest}, folder.path()), a_job(limits));
    CHECK(std::filesystem::remove(folder.path() / "there"));
    CHECK(all_end(mark));
    return told(e);
  };
  CHECK(of("echo '{\"validation.accuracy\": 1}'") == "succeeded: ");
  CHECK(of("exit 1") == "crashed: the program ended with status 1");
  CHECK(of("sleep 1000", {.epochs = 1, .time = 2s})
        == "timed out: takes longer than 2000 ms");
}

TEST_CASE("command: a program whose score nobody wants is told to end, then killed") {
  struct leaving final : progress {
    std::filesystem::path file;
    bool report(const epoch&) override { return true; }
    [[nodiscard]] bool wanted() const override { return !std::filesystem::exists(file); }
  };
  for (const std::string on_term : {"touch told; exit 0", "touch told"}) {
    const scratch_folder folder;
    const auto mark = folder.path().string();
    leaving p;
    p.file = folder.path() / "there";
    const auto e =
        make_command(setup_of({"sh", "-c",
                               "trap '" + on_term + "' TERM; setsid sh -c 'sleep 1000; : "
                                   + mark + "' & touch there; while :; do wait; done"},
                              folder.path()))
            ->evaluate(a_job(), p)
            .evaluation;
    CHECK(told(e) == "dropped: stopped, as nobody wants its score");
    CHECK(std::filesystem::exists(folder.path() / "told"));
    CHECK(all_end(mark));
  }
}

TEST_CASE("command: output without end does no harm") {
  const auto e = of_shell("yes | head -c 20000000; "
                          "head -c 5000000 /dev/zero >&2; "
                          "echo '{\"validation.accuracy\": 0.5}'");
  CHECK(told(e) == "succeeded: ");
  CHECK(told(of_shell("yes", {.epochs = 1, .time = 300ms}))
        == "timed out: takes longer than 300 ms");
}

TEST_CASE("command: memory is that of all processes that a program starts") {
  const budget limits{.epochs = 1, .time = 60s, .memory_bytes = 200 << 20};
  // Each of them takes 120 MiB and more, and keeps it.
  const std::string one =
      "python3 -c 'import time; kept = b\"x\" * (120 << 20); time.sleep(1000)'";
  CHECK(told(of_shell("setsid " + one + " & (" + one + " &); sleep 1000", limits))
        == "out of memory: the program took more than 200 MiB");
  CHECK(told(of_shell("echo '{\"validation.accuracy\": 1}'", limits)) == "succeeded: ");
}

TEST_CASE("command: a program that is not there is told before and fails") {
  const scratch_folder folder;
  const auto of = [&](const std::string& program) {
    return make_command(setup_of({program}, folder.path()))->warm_up().error().message;
  };
  CHECK(of("no-such-program-here")
        == "there is no program no-such-program-here on this machine");
  CHECK(of("./x") == (folder.path() / "./x").string() + " is no program that may be run");
  CHECK(make_command(setup_of({"sh"}, "/nowhere"))->warm_up().error().message
        == "/nowhere is no folder here");
  CHECK(make_command(setup_of({"sh"}))->warm_up());
  CHECK_THAT(told(scored(setup_of({"./x"}, folder.path()))), StartsWith("invalid: "));
  write_text(folder.path() / "x", "not a program");
  std::filesystem::permissions(folder.path() / "x", std::filesystem::perms::owner_all);
  CHECK_THAT(told(scored(setup_of({"./x"}, folder.path()))),
             StartsWith("invalid: cannot start " + folder.path().string() + "/./x: "));
}

TEST_CASE("command: a candidate has no test of its own") {
  const auto j = a_job();
  const auto tested = make_command(setup_of({"true"}))->examine(j, {});
  REQUIRE(tested);
  CHECK(tested->id == j.id);
  CHECK(tested->metrics.empty());
}
