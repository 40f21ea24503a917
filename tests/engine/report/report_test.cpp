#include "engine/config/experiment/experiment.hpp"
#include "engine/report/text/json.hpp"
#include "engine/report/text/text.hpp"
#include "engine/run/records/test_details.hpp"
#include "tests/engine/store/history.hpp"
#include "tests/support/genomes.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>

using namespace clade;
using namespace clade::test;

namespace {

struct told_run {
  scratch_folder folder;
  std::filesystem::path file = folder.path() / "toy-20260131-140500" / "run.db";
  store s;

  explicit told_run(const std::vector<entry>& entries = a_history())
      : s(make(file, entries)) {}

  static store make(const std::filesystem::path& file,
                    const std::vector<entry>& entries) {
    std::filesystem::create_directory(file.parent_path());
    write_store(file, entries);
    return store::open_to_read(file).value();
  }

  [[nodiscard]] run_view view() const {
    auto v = view_run(s, file).value();
    // The fields that differ from one time to the next.
    v.file = "runs/toy-20260131-140500/run.db";
    v.bytes = 65536;
    v.overview.started_ms = 0;
    v.overview.updated_ms = 0;
    return v;
  }
};

/// The part of a text from the line that begins so to the next empty line.
std::string section(const std::string& text, const std::string& title) {
  const auto begin = text.find("\n" + title + "\n");
  REQUIRE(begin != std::string::npos);
  const auto end = text.find("\n\n", begin + 1);
  return text.substr(begin + title.size() + 2,
                     end == std::string::npos ? end : end - begin - title.size() - 1);
}

std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);)
    widest = std::max(widest, line.size());
  return widest;
}

} // namespace

TEST_CASE("report: a run that is finished") {
  const told_run run;
  const auto v = run.view();
  CHECK(v.name == "toy");
  const auto text = to_text(v);
  CHECK_THAT(text, Catch::StartsWith("toy: finished\n"));
  CHECK_THAT(text,
             Catch::Contains("\n  6 candidates in 2 generations, 6 evaluated, 2 of them "
                             "failed; 2.5 s of training\n"
                             "  best #5: validation.accuracy 0.9000\n"
                             "  runs/toy-20260131-140500/run.db, 64.0 KiB\n"));
  auto ended = v;
  ended.overview.final_trainings = 4;
  ended.overview.search_generations = 1;
  CHECK_THAT(
      to_text(ended),
      Catch::Contains("\n  2 candidates in 1 generation, 4 trainings to the end, 6 "
                      "evaluated, 2 of them failed; 2.5 s of training\n"));
}

TEST_CASE("report: a run says on what it computed") {
  const told_run run;
  auto v = run.view();
  v.nodes = {{.slot = "cpu:1", .reason = "", .device = "EPYC, MKL_CBWR=AVX2"},
             {.slot = "cpu:0", .reason = "", .device = "EPYC, MKL_CBWR=AVX2"},
             {.slot = "cpu:1", .reason = "", .device = "EPYC, MKL_CBWR=AVX2"},
             {.slot = "a/cuda:0", .reason = "", .device = "H100"},
             {.slot = "b/cpu:0", .reason = ""}};
  CHECK_THAT(
      to_text(v),
      Catch::Contains(
          "\n  computed on EPYC, MKL_CBWR=AVX2 (cpu:0, cpu:1); H100 (a/cuda:0)\n"));
  for (const auto* slot : {"cpu:2", "cpu:3", "cpu:4"})
    v.nodes.push_back({.slot = slot, .reason = "", .device = "EPYC, MKL_CBWR=AVX2"});
  CHECK_THAT(to_text(v), Catch::Contains("computed on EPYC, MKL_CBWR=AVX2 (5 slots); "));
}

TEST_CASE("report: a run that was killed says how to go on") {
  auto part = a_history();
  part.resize(8);
  const told_run run(part);
  CHECK(run.view().state() == run_standing::stopped);
  CHECK_THAT(to_text(run.view()),
             Catch::StartsWith("toy: stopped; clade resume runs/toy-20260131-140500\n"));
}

TEST_CASE("report: a run that was interrupted says why and how to go on") {
  auto part = a_history();
  part.resize(11);
  const told_run run(part);
  CHECK_THAT(to_text(run.view()),
             Catch::StartsWith(
                 "toy: stopped: interrupted; clade resume runs/toy-20260131-140500\n"));
}

TEST_CASE("report: a run that is going on names its process") {
  auto part = a_history();
  part.resize(8);
  const told_run run(part);
  const auto writer = store::open(run.file);
  REQUIRE(writer);
  const auto v = view_run(run.s, run.file).value();
  CHECK(v.state() == run_standing::running);
  CHECK_THAT(to_text(v), Catch::StartsWith("toy: running (process "
                                           + std::to_string(getpid()) + ")\n"));
  CHECK(nlohmann::json::parse(to_json(v))["process"] == getpid());
}

TEST_CASE("report: a store in which nothing is recorded yet") {
  const told_run run(std::vector<entry>{});
  CHECK_THAT(to_text(run.view()), Catch::EndsWith("nothing is recorded of it yet\n"));
  CHECK(nlohmann::json::parse(to_json(run.view()))["best"].is_null());
}

TEST_CASE("report: a line for each generation") {
  const told_run run;
  auto generations = run.s.generations(0, 10).value();
  CHECK(
      to_text(generations)
      == "generation  candidates  failed    best  by  median       quartiles  training\n"
         "         0           3       1  0.7000  #2  0.6000  0.5500..0.6500     1.5 s\n"
         "         1           3       1  0.9000  #5  0.7000  0.6000..0.8000     1.0 "
         "s\n");

  // One in progress without a success, and those between left out.
  generations[1] = {.generation = 9, .born = 3, .evaluated = 1, .failed = 1};
  CHECK(
      to_text(generations)
      == "generation  candidates  failed    best  by  median       quartiles  training\n"
         "         0           3       1  0.7000  #2  0.6000  0.5500..0.6500     1.5 s\n"
         "       ...\n"
         "         9      1 of 3       1       -   -       -               -     0.0 "
         "s\n");
}

TEST_CASE("report: the members of a generation the fittest first and the failed last") {
  const told_run run;
  CHECK(
      to_text(run.s.members(1).value(), objective{})
      == "id  validation.accuracy  parameters  nodes   time  from     what changed\n"
         "#5               0.9000         500      4  0.5 s  #2 + #1  widen n2 16 -> 32\n"
         "#6               0.5000         100      4  0.0 s  #1       change nothing "
         "(equal to "
         "#1)\n"
         "#4              crashed         400      4  0.5 s  #2       add dense(units=8) "
         "(killed two node processes)\n");
  auto members = run.s.members(1).value();
  members[1].result.reset();
  members[1].fitness.reset();
  const auto lowered = to_text(members, {.metric = "validation.loss", .maximize = false});
  CHECK_THAT(lowered,
             Catch::Contains("\n#5          in work           -      4      -  #2 + #1"));
  CHECK(lowered.find("#6") < lowered.find("#4"));
  CHECK(lowered.find("#4") < lowered.find("#5"));
}

TEST_CASE("report: a candidate with its graph and its curve and where it comes from") {
  const told_run run;
  CHECK(to_text(view_genome(run.s, 5).value())
        == "#5, generation 1, from #2 + #1: widen n2 16 -> 32\n"
           "  succeeded: validation.accuracy 0.9000, validation.loss 0.1000\n"
           "  500 parameters; 0.5 s on node1/cpu:0; its weights are kept\n"
           "\n"
           "  input\n"
           "  n2  conv(filters=16, kernel=3, padding=same) <- input\n"
           "  n3  relu <- n2\n"
           "  output <- n2, n3 [merge add]\n"
           "  batch_size=64 learning_rate=0.005 momentum=0.9 optimiser=sgd\n"
           "\n"
           "learning curve\n"
           "  epoch  validation.loss  validation.accuracy  seconds\n"
           "      1           0.2000                    -   0.2500\n"
           "      2           0.1000               0.9000   0.2500\n"
           "\n"
           "where it comes from\n"
           "  #5  generation 1  0.9000  from #2 + #1: widen n2 16 -> 32\n"
           "  #2  generation 0  0.7000  random\n");
}

TEST_CASE("report: candidates that failed or were copied or are not evaluated say so") {
  const told_run run;
  CHECK_THAT(to_text(view_genome(run.s, 4).value()),
             Catch::Contains("\n  crashed (killed two node processes)\n"));
  CHECK_THAT(to_text(view_genome(run.s, 6).value()),
             Catch::Contains(
                 "\n  100 parameters; not trained: its network equals that of #1\n"));
  const told_run young({born(a_candidate(1))});
  CHECK_THAT(to_text(view_genome(young.s, 1).value()),
             Catch::StartsWith("#1, generation 0, random\n  not evaluated yet\n"));
  CHECK(view_genome(run.s, 7).error().kind == error_kind::not_found);
}

TEST_CASE("report: a long lineage keeps its beginning and its end") {
  std::vector<candidate_overview> line(100);
  for (std::size_t i = 0; i < line.size(); ++i) {
    line[i].id = 100 - i;
    line[i].generation = 99 - i;
  }
  const auto text = lineage_text(line);
  CHECK(std::count(text.begin(), text.end(), '\n') == 21);
  CHECK_THAT(text, Catch::Contains("  #89   generation 88  in work"));
  CHECK_THAT(text, Catch::Contains("\n  ... 80 more ...\n  #8 "));
  CHECK_THAT(text, Catch::Contains("\n  #1 "));
}

TEST_CASE("report: the end of a run shows what evolution earned") {
  const told_run run;
  const auto text = to_text(view_champion(run.s, nullptr, nullptr).value());
  CHECK_THAT(text,
             Catch::StartsWith("champion #5: validation.accuracy 0.9000, test.accuracy "
                               "0.8750, 500 parameters\n\n  input\n  n2  conv("));
  CHECK(section(text, "where it comes from")
        == "  #5  generation 1  0.9000  from #2 + #1: widen n2 16 -> 32\n"
           "  #2  generation 0  0.7000  random\n");
  CHECK(
      section(text, "was it worth it?")
      == "                            validation.accuracy  test.accuracy  parameters\n"
         "  linear model                                -         0.6250          10\n"
         "  best random candidate #2               0.7000         0.7500         200\n"
         "  champion #5                            0.9000         0.8750         500\n");
  CHECK(widest_line(text) <= 80);
}

TEST_CASE("report: a champion is drawn with its shapes where the problem is known") {
  auto c = a_candidate(1);
  auto g = a_chain({{{}, "dense", {{"units", std::int64_t{8}}}},
                    {{}, "dense", {{"units", std::int64_t{2}}}}});
  g.hyperparameters = {{"optimiser", "sgd"}};
  c.genome = std::make_shared<const genome>(g);
  const told_run run(
      {born(c), evaluated(an_evaluation(1, 0.5)), {run_finished{1, {}}, {}}});
  experiment e;
  e.space.name = "toy";
  e.space.rules.operators = {
      {.name = "dense", .settings = {{"units", integer_domain{1, 64}, {}, true}}}};
  const problem p{.input = {{4}}, .outputs = 3};
  const auto view = view_champion(run.s, &e, &p);
  INFO((view ? "" : view.error().message));
  REQUIRE(view);
  const auto text = to_text(*view);
  // 4 x 8 + 8, 8 x 2 + 2, 2 x 3 + 3.
  CHECK_THAT(text, Catch::Contains("[8]") && Catch::Contains(" 40\n")
                       && Catch::Contains("67 parameters, ")
                       && Catch::Contains("\n  optimiser=sgd\n"));
}

TEST_CASE("report: a run without a champion says so") {
  const told_run run({{run_started{}, {}}, {run_finished{}, {}}});
  const auto view = view_champion(run.s, nullptr, nullptr).value();
  CHECK(to_text(view) == "no champion: no candidate succeeded\n");
  CHECK(nlohmann::json::parse(to_json(view))["champion"].is_null());
}

TEST_CASE("report: the list has a line for each run") {
  const told_run run;
  const std::vector<run_view> runs{run.view(), run.view()};
  CHECK(to_text(runs)
        == "run                  state     generation  candidates    best   time      "
           "size  "
           "started\n"
           "toy-20260131-140500  finished           1           6  0.9000  0.0 s  64.0 "
           "KiB  -\n"
           "toy-20260131-140500  finished           1           6  0.9000  0.0 s  64.0 "
           "KiB  -\n");
}

TEST_CASE("report: the tables fit a terminal") {
  const told_run run;
  CHECK(widest_line(to_text(run.s.generations(0, 10).value())) <= 80);
  CHECK(widest_line(to_text(view_genome(run.s, 5).value())) <= 80);
}

TEST_CASE("report: programs read the same in JSON") {
  const told_run run;
  auto v = run.view();
  CHECK(nlohmann::json::parse(to_json(v))["digest"].is_null());
  v.digest = digest_of(run.s).value();
  const auto json = nlohmann::json::parse(
      to_json(v, run.s.generations(0, 10).value(), run.s.nodes().value()));
  CHECK(json["state"] == "finished");
  CHECK(json["best"] == 5);
  CHECK(json["started_ms"].is_null());
  digest all;
  for (const auto& e : a_history())
    all.add(e.record);
  CHECK(json["digest"] == to_text(all));
  REQUIRE(json["generations"].size() == 2);
  CHECK(json["generations"][1]["survivors"] == std::vector<int>{5, 2, 1});
  CHECK(json["nodes"][2]["reason"] == "connection lost");

  const auto members = nlohmann::json::parse(to_json(run.s.members(1).value(), 1));
  CHECK(members["candidates"][0]["outcome"] == "crashed");
  CHECK(members["candidates"][0]["fitness"].is_null());
  CHECK(members["candidates"][1]["parents"] == std::vector<int>{2, 1});

  const auto genome = nlohmann::json::parse(to_json(view_genome(run.s, 5).value()));
  CHECK(genome["genome"]["hyperparameters"]["optimiser"] == "sgd");
  CHECK(genome["genome"]["nodes"][2]["settings"]["filters"] == 16);
  CHECK(genome["evaluation"]["curve"][1]["metrics"]["validation.accuracy"] == 0.9);
  CHECK(genome["evaluation"]["weights_hash"] == "18446744073709551610");
  CHECK(genome["lineage"][1]["id"] == 2);

  const auto champion =
      nlohmann::json::parse(to_json(view_champion(run.s, nullptr, nullptr).value()));
  CHECK(champion["champion"]["id"] == 5);
  CHECK(champion["comparison"][0]["subject"] == "linear model");
  CHECK(champion["comparison"][2]["test"] == 0.875);
}

TEST_CASE("report: seeds and the evidence of a test are in the text and in JSON") {
  auto entries = a_history();
  for (auto& e : entries) {
    if (auto* born = std::get_if<candidate_born>(&e.record); born && born->born.id == 2)
      born->born.changes = {{.kind = change_kind::seeded, .name = "resnet"}};
    if (auto* end = std::get_if<run_finished>(&e.record))
      end->examinations[0].details = std::make_shared<const test_details>(test_details{
          .test = 8,
          .metrics = {{"test.accuracy", 0.875}},
          .evidence =
              test_evidence{.interval = metric_interval{"test.accuracy", 0.625, 1, 1000},
                            .by_line = true,
                            .classes = {{17, "ant", "bee", 0.125, 0.75}}}});
  }
  const told_run run(entries);
  const auto view = view_champion(run.s, nullptr, nullptr).value();
  const auto text = to_text(view);
  CHECK(
      section(text, "what the champion made of the test data")
      == "  test data, 8 examples: accuracy 0.8750; 95 % interval of accuracy 0.6250 to\n"
         "  1.0000 (bootstrap)\n");
  CHECK_THAT(text, Catch::Contains("\n  17 "));
  CHECK_THAT(section(text, "what the seeds brought"),
             Catch::Contains("The champion #5 descends\n  from the seed resnet.\n"));
  CHECK(widest_line(text) <= 80);
  const auto json = nlohmann::json::parse(to_json(view));
  CHECK(json["details"]["interval"]["high"] == 1);
  CHECK(json["details"]["most_wrong"][0]["line"] == 17);
  CHECK(json["details"]["most_wrong"][0]["predicted_probability"] == 0.75);
  CHECK(json["seeds"]["best_seed"]["name"] == "resnet");
  const told_run plain;
  const auto before =
      nlohmann::json::parse(to_json(view_champion(plain.s, nullptr, nullptr).value()));
  CHECK(before["seeds"].is_null());
}

TEST_CASE("report: text that is no UTF-8 still makes JSON on one line") {
  auto c = a_candidate(1);
  c.changes = {{.after = "\xff\n\""}};
  const told_run run({born(c)});
  const auto text = to_json(view_genome(run.s, 1).value());
  CHECK(text.find('\n') == std::string::npos);
  CHECK(nlohmann::json::parse(text)["id"] == 1);
}

TEST_CASE("report: a run whose strategy auto chose says so and why") {
  told_run told;
  auto view = told.view();
  CHECK(view.chosen().empty());
  CHECK(to_text(view).find("auto chose") == std::string::npos);
  auto e = load_experiment(std::filesystem::path(CLADE_ROOT) / "experiments"
                           / "synthetic.toml");
  REQUIRE(e);
  view.overview.experiment = to_toml(*e);
  CHECK(view.chosen().empty());
  e->evolution.chosen = "random: for \"6\" evaluations";
  view.overview.experiment = "# forked from a\n" + to_toml(*e);
  CHECK(view.chosen() == "random: for \"6\" evaluations");
  CHECK(to_text(view).find("\n  auto chose random: for \"6\" evaluations\n")
        != std::string::npos);
}
