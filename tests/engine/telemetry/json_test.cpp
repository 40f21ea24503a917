// The JSON of a picture, of each kind of news and of rows, as programs read it: once with
// all that there may be, once with as little as there may be.
#include "engine/run/records/test_details.hpp"
#include "engine/telemetry/feeds/json.hpp"
#include "tests/support/golden.hpp"

using namespace clade;

namespace {

std::shared_ptr<const genome> a_genome() {
  return std::make_shared<const genome>(genome{
      .nodes = {{.id = input_innovation, .op = "input", .settings = {}},
                {.id = output_innovation, .op = "output", .settings = {}},
                {.id = innovation{9},
                 .op = "dense",
                 .settings = {{"units", std::int64_t{16}}}}},
      .edges = {{.id = innovation{10}, .from = input_innovation, .to = innovation{9}},
                {.id = innovation{11}, .from = innovation{9}, .to = output_innovation}},
      .hyperparameters = {{"learning_rate", 0.01}, {"optimiser", "sgd"}}});
}

candidate_line a_line() {
  return {.id = 3,
          .generation = 1,
          .origin = "widen n9",
          .born_ms = 1000,
          .evaluated_ms = 2000,
          .outcome = outcome::succeeded,
          .fitness = 0.5,
          .rank = {.ok = true, .primary = 0.5, .objectives = {0.5, -120}},
          .parameters = 120,
          .seconds = 1.0,
          .slot = "cpu:0",
          .reason = "cut",
          .genes = genome_hash{1, 2}};
}

candidate_line an_open_line() {
  return {.id = 4, .generation = 1, .origin = "random", .born_ms = 1500};
}

evaluation an_evaluation() {
  return {.id = 3,
          .outcome = outcome::succeeded,
          .metrics = {{"validation.accuracy", 0.5},
                      {"validation.f1", 0.25},
                      {"validation.loss", 1e-9}},
          .parameters = 120,
          .weights_hash = ~std::uint64_t{0},
          .equal_to = 2,
          .reason = "cut",
          .curve = {{1, {{"validation.accuracy", 0.25}}, 0.5}},
          .seconds = 1e21,
          .slot = "cpu:0",
          .tries = 2};
}

examination an_examination() {
  return {.subject = "champion",
          .id = 3,
          .metrics = {{"test.accuracy", 0.875}},
          .parameters = 120,
          .details = std::make_shared<const test_details>(test_details{
              .train = 5,
              .validation = 2,
              .test = 1,
              .metrics = {{"test.accuracy", 0.875}},
              .standard_error = 0.125,
              .classes = {"ant", "bee"},
              .confusion = {1, 2, 3, 4},
              .pairs = {{0.5, 0.75}},
              .validation_errors = {.examples = 2, .values = {0.25, 0.5}},
              .evidence =
                  test_evidence{.interval = metric_interval{"test.accuracy", 0.5, 1, 9},
                                .by_line = true,
                                .classes = {{7, "ant", "bee", 0.125, 0.75}},
                                .values = {{8, 0.5, 1.5}}}})};
}

run_picture a_picture() {
  run_picture p;
  p.sequence = 12;
  p.unix_ms = 5000;
  p.version = "1.2";
  p.experiment = "seed = 3\n";
  p.rules.seed = ~std::uint64_t{0};
  p.rules.objective.others = {{.metric = "parameters", .maximize = false}};
  p.rules.objective.constraints = {{.metric = "parameters", .limit = 9, .at_most = true},
                                   {.metric = "validation.f1", .at_most = false}};
  p.named_by = "architecture";
  p.extended = 2;
  p.started_ms = 900;
  p.state = picture_state::paused;
  p.reason = "wall \"time\" \xff\n";
  p.generation = 1;
  p.born = 4;
  p.evaluated = 3;
  p.failed = 1;
  p.training_seconds = 2.25;
  p.outcomes = {{outcome::succeeded, 2}, {outcome::diverged, 1}};
  p.digest = {.high = 1, .low = 2, .records = 3};
  p.generations = {{.summary = {.generation = 0,
                                .best = 3,
                                .best_fitness = 0.5,
                                .median_fitness = 0.25,
                                .lower_quartile = 0.125,
                                .upper_quartile = 0.375,
                                .succeeded = 2,
                                .failed = 1,
                                .front = {.members = 2, .hypervolume = 0.75}},
                    .born_ms = 900,
                    .closed_ms = 4000,
                    .closed_sequence = 11},
                   {.summary = {.generation = 1, .failed = 1}}};
  p.best = {a_line()};
  p.front = {a_line()};
  p.latest = {a_line()};
  p.open = {{4, an_open_line()}};
  p.slots = {{.slot = "cpu:0", .joined_ms = 900, .left_ms = 950, .reason = "lost"},
             {.slot = "cpu:1", .joined_ms = 901, .left_ms = {}, .reason = ""}};
  p.attempts = {{.id = 3, .attempt = 1, .slot = "cpu:0", .reason = "killed"}};
  p.finished = run_finished{.champion = 3, .examinations = {an_examination()}};
  p.annotated = {
      {0, {.note = "good", .who = "ada", .unix_ms = 7, .tags = {"a", "b"}}},
      {3, {.tags = {"c"}}},
  };
  return p;
}

std::vector<record> many_records() {
  candidate c{.id = 3,
              .generation = 1,
              .index = 2,
              .genome = a_genome(),
              .parents = {2, 1},
              .changes = {{.kind = change_kind::widen,
                           .gene = "n9",
                           .name = "units",
                           .before = "8",
                           .after = "16"}},
              .equal_to = 2};
  evaluation failed{.id = 4, .outcome = outcome::diverged, .reason = "loss is NaN"};
  return {
      run_started{.version = "1.2", .experiment = "broken", .seed = 3},
      candidate_born{c},
      candidate_evaluated{an_evaluation()},
      candidate_evaluated{failed},
      generation_closed{.generation = 0, .survivors = {3, 1}},
      generation_closed{.generation = 7, .survivors = {}},
      run_finished{.champion = 0, .examinations = {{.subject = "linear model"}}},
      run_paused{.reason = "interrupted"},
      run_resumed{.version = "1.3"},
      attempt_failed{.id = 3, .attempt = 1, .slot = "cpu:0", .reason = "killed"},
      slot_changed{.slot = "cpu:0", .joined = true, .reason = "a CPU", .rounding = 5},
      slot_changed{.slot = "cpu:0", .joined = false, .reason = ""},
      run_forked{.origin = "digits",
                 .identity = 4,
                 .sequence = 5,
                 .generation = 2,
                 .changes = {"experiment.seed=7"},
                 .experiment = "seed = 7\n",
                 .seed = 7},
      operator_command{{.kind = instruction_kind::drop, .number = 3}, "ada"},
      operator_command{{.kind = instruction_kind::note, .number = 0, .text = "good"},
                       "ada"},
      operator_command{{.kind = instruction_kind::untag, .number = 9, .text = "x"}, "a"},
      final_planned{.reason = "time", .trainings = {{3, 20, {1, 4}}, {2, 10, {}}}},
      final_planned{},
      model_composed{.members = {{.id = 3, .share = 0.5},
                                 {.id = 0, .share = 0.25},
                                 {.id = 0, .share = 0.25, .trees = tree_sizes{9, 3}}},
                     .temperature = 1.5,
                     .metrics = {{"validation.accuracy", 1}},
                     .left_out = {"#2: lost"},
                     .least = 0.001},
      model_composed{},
      interim_composed{{.members = {{.id = 3, .share = 1, .mirrored = true}}}},
      straggler_seen{.id = 3,
                     .slot = "cpu:1",
                     .waited_ms = 10,
                     .of_ms = 100,
                     .left_out = 1,
                     .of_gradients = 9}};
}

slots_view some_slots() {
  using namespace std::chrono_literals;
  return {.slots = {{.name = "cpu:0",
                     .label = "a CPU",
                     .ready = true,
                     .away = false,
                     .training = 3,
                     .epoch = 2,
                     .epochs = 15,
                     .joined = 5s,
                     .heard = 1s,
                     .at_work = 1250ms,
                     .quarantined = 3s,
                     .clock_ahead = 2ms,
                     .team = {.member = 1,
                              .members = 2,
                              .steps = 14.5,
                              .bytes = 3,
                              .waits = 0.25,
                              .awaited = true}},
                    {.name = "cpu:1", .label = "", .away = true}},
          .waiting = 4};
}

candidate_row a_row(candidate_line line) {
  return {.line = std::move(line),
          .index = 2,
          .parents = {2, 1},
          .equal_to = 2,
          .nodes = 3,
          .operators = {{"dense", std::int64_t{1}}},
          .hyperparameters = {{"optimiser", "sgd"}},
          .metrics = {{"validation.accuracy", 0.5}},
          .born_sequence = 4,
          .evaluated_sequence = 6};
}

} // namespace

TEST_CASE("telemetry JSON: it stays what programs read") {
  const auto p = a_picture();
  std::vector<std::string> lines{to_json(p, "digits", feed_state::live),
                                 to_json(run_picture{}, "", feed_state::finished)};
  std::uint64_t sequence = 0;
  for (const auto& r : many_records())
    lines.push_back(to_json(news(record_event{++sequence, 5000, r}), p));
  for (const auto& n :
       std::vector<news>{epoch_event{"cpu:0", 3, 2, 15, {{"validation.loss", 0.1}}},
                         some_slots(), slots_view{}, restarted{}})
    lines.push_back(to_json(n, p));
  auto open = a_row(an_open_line());
  open.equal_to = open.evaluated_sequence = 0;
  lines.push_back(to_json(std::vector{a_row(a_line()), open}));
  lines.push_back(to_json(std::vector<candidate_row>{}));
  test::check_golden(std::filesystem::path(CLADE_ROOT)
                         / "tests/engine/telemetry/json_golden.txt",
                     lines);
}
