// The JSON of reports, as programs read it.
#include "engine/report/text/json.hpp"
#include "engine/run/records/test_details.hpp"
#include "tests/engine/store/history.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/scratch.hpp"

using namespace clade;
using namespace clade::test;

namespace {

std::vector<entry> a_told_history() {
  auto entries = a_history();
  for (auto& e : entries) {
    if (auto* born = std::get_if<candidate_born>(&e.record); born && born->born.id == 2)
      born->born.changes = {{.kind = change_kind::seeded, .name = "resnet"}};
    if (auto* end = std::get_if<run_finished>(&e.record))
      end->examinations[0].details = std::make_shared<const test_details>(test_details{
          .train = 20,
          .validation = 10,
          .test = 8,
          .metrics = {{"test.accuracy", 0.875}},
          .standard_error = 0.03,
          .classes = {"ant", "bee"},
          .confusion = {3, 1, 0, 4},
          .pairs = {{1, 1.5}},
          .validation_errors = {.examples = 10, .values = {0.5, 1}},
          .evidence =
              test_evidence{.interval = metric_interval{"test.accuracy", 0.625, 1, 1000},
                            .by_line = false,
                            .classes = {{17, "ant", "bee", 0.125, 0.75}},
                            .values = {{2, 1, 3}}}});
  }
  return entries;
}

run_view a_view(const store& s, const std::filesystem::path& file) {
  auto v = view_run(s, file).value();
  // The fields that differ from one time to the next.
  v.file = "/runs/toy-20260131-140500/run.db";
  v.bytes = 65536;
  v.overview.started_ms = 5;
  v.overview.updated_ms = 0;
  return v;
}

std::vector<generation_overview> generations_of(const store& s) {
  auto all = s.generations(0, 10).value();
  for (auto& g : all) {
    g.born_ms = 10;
    if (g.closed_ms)
      g.closed_ms = 20;
  }
  return all;
}

std::vector<node_overview> nodes_of(const store& s) {
  auto all = s.nodes().value();
  for (auto& n : all) {
    n.joined_ms = 10;
    if (n.left_ms)
      n.left_ms = 20;
  }
  return all;
}

front_view a_front() {
  return {.goal = {.others = {{.metric = "parameters", .maximize = false}}},
          .members = {{.id = 3,
                       .generation = 1,
                       .fitness = {.ok = true, .primary = 0.5, .objectives = {0.5, -9}},
                       .parameters = 9}},
          .steps = {{.generation = 0, .front = {.members = 1, .hypervolume = 0.25}}}};
}

} // namespace

TEST_CASE("report JSON: it stays what programs read") {
  const scratch_folder folder;
  const auto file = folder.path() / "toy-20260131-140500" / "run.db";
  std::filesystem::create_directory(file.parent_path());
  write_store(file, a_told_history());
  const auto s = store::open_to_read(file).value();
  auto v = a_view(s, file);
  const auto champion = view_champion(s, nullptr, nullptr).value();
  const annotation note{.note = "good", .who = "ada", .unix_ms = 7, .tags = {"a"}};
  std::vector<std::string> lines{to_json(v)};
  v.digest = digest_of(s).value();
  v.writer = 7;
  lines.push_back(
      to_json(v, generations_of(s), nodes_of(s), a_front(), champion, {{0, note}}));
  lines.push_back(to_json(s.members(1).value(), 1));
  std::vector<genome_view> all;
  for (candidate_id id = 1; id <= 6; ++id) {
    all.push_back(view_genome(s, id).value());
    lines.push_back(to_json(all.back(), id == 5 ? &note : nullptr));
  }
  lines.push_back(curves_json(all));
  lines.push_back(to_json(champion));
  lines.push_back(verdict_json(champion));
  lines.push_back(to_json(node_costs{{innovation{9}, {tensor_shape{}, 120, 1200}}}));
  check_golden(std::filesystem::path(CLADE_ROOT) / "tests/engine/report/json_golden.txt",
               lines);
}
