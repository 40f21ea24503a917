#include "engine/config/experiment/experiment.hpp"
#include "engine/report/page/run_report.hpp"
#include "engine/run/records/test_details.hpp"
#include "tests/engine/store/history.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>

#include <numeric>

using namespace clade;
using namespace clade::test;

namespace {

constexpr const char* markup = "<script>alert(\"x\")</script> & <img src=x onerror=y>";

/// A run whose every text tries to be markup.
std::vector<entry> a_hostile_history() {
  auto entries = a_history();
  for (auto& e : entries) {
    if (auto* born = std::get_if<candidate_born>(&e.record))
      born->born.changes = {{.after = markup}};
    if (auto* evaluated = std::get_if<candidate_evaluated>(&e.record)) {
      evaluated->evaluated.slot = markup;
      if (evaluated->evaluated.outcome != outcome::succeeded)
        evaluated->evaluated.reason = markup;
    }
    if (auto* slot = std::get_if<slot_changed>(&e.record))
      slot->slot = markup;
    if (auto* attempt = std::get_if<attempt_failed>(&e.record))
      attempt->reason = markup;
    if (auto* end = std::get_if<run_finished>(&e.record))
      end->examinations[1].subject = markup;
    if (auto* start = std::get_if<run_started>(&e.record))
      start->version = markup;
  }
  for (const auto kind : {instruction_kind::note, instruction_kind::tag})
    entries.push_back({operator_command{{kind, 5, markup}, markup}, {}});
  return entries;
}

run_report story_of(const std::vector<entry>& entries) {
  const scratch_folder folder;
  const auto file = folder.path() / "toy-20260131-140500" / "run.db";
  std::filesystem::create_directory(file.parent_path());
  write_store(file, entries);
  return tell_story(store::open_to_read(file).value(), file, "toy").value();
}

std::string sum(const columns& c) {
  std::string text;
  for (const auto share : c.shares())
    text += std::to_string(share).substr(0, 4) + " ";
  return text;
}

} // namespace

TEST_CASE("story: all that the store knows is in it") {
  const auto story = story_of(a_history());
  CHECK(story.run.name == "toy");
  CHECK(story.best->born.id == 5);
  CHECK(story.is_champion);
  CHECK(story.generations.size() == 2);
  CHECK(story.failures.size() == 2);
  CHECK(story.lost_attempts.size() == 1);
  CHECK(story.slots.size() == 3);
  CHECK(story.slots[0].candidates == 5);
  CHECK(story.why->line.size() == 2);
  CHECK(story.credits.size() == 3);
  CHECK(story.front.size() == 3);
}

TEST_CASE("story: the page stands alone and has every section") {
  const auto html = to_html(story_of(a_history()));
  for (const auto* title :
       {"Fitness over generations", "The champion", "Where it comes from",
        "How it learnt", "Fitness against size", "What changes paid", "What failed",
        "Where the time went", "To run it again"})
    CHECK_THAT(html, Catch::Contains("<h2>" + std::string(title) + "</h2>"));
  for (const auto* outside :
       {"http:", "https:", "<script", "<link", "<img", "@import", "url(h"})
    CHECK(html.find(outside) == std::string::npos);
  CHECK_THAT(html, Catch::Contains("@media print"));
  CHECK_THAT(html, Catch::Contains("prefers-color-scheme: dark"));
  CHECK_THAT(html, Catch::Contains("clade show toy --experiment"));
  CHECK_THAT(html, Catch::Contains("the loss is &quot;NaN&quot;"));
  CHECK_THAT(html, Catch::EndsWith("</html>\n"));
}

TEST_CASE("story: rates that adapt are shown, and only those") {
  auto story = story_of(a_history());
  CHECK(story.rates.empty());
  CHECK(to_html(story).find("Mutation rates follow") == std::string::npos);
  const auto adapting = load_experiment(
      std::filesystem::path(CLADE_ROOT) / "experiments" / "synthetic.toml",
      std::vector<std::string>{"evolution.strategy=regularised",
                               "evolution.mutation.adapt=true"});
  REQUIRE(adapting);
  auto entries = a_history();
  for (auto& e : entries)
    if (auto* start = std::get_if<run_started>(&e.record))
      start->experiment = to_toml(*adapting);
  story = story_of(entries);
  CHECK(story.rates.size() == mutation_kind_count);
  CHECK_THAT(to_html(story), Catch::Contains("Mutation rates follow"));
  CHECK_THAT(to_markdown(story), Catch::Contains("change\\_hyperparameter"));
}

TEST_CASE("story: what the seeds brought and what was most wrong are in both layouts") {
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
                            .classes = {{17, "<b>ant", "bee", 0.125, 0.75}}}});
  }
  const auto story = story_of(entries);
  const auto html = to_html(story), md = to_markdown(story);
  for (const auto& text : {html, md}) {
    CHECK_THAT(text, Catch::Contains("95 % interval of accuracy 0.6250 to 1.0000"));
    CHECK_THAT(text, Catch::Contains("What the seeds brought"));
    CHECK_THAT(text, Catch::Contains("descends from the seed resnet."));
    CHECK_THAT(text, Catch::Contains("most wrong, line"));
    CHECK_THAT(text, Catch::Contains("&lt;b"));
    CHECK(text.find("<b>ant") == std::string::npos);
  }
  CHECK(to_markdown(story_of(a_history())).find("seeds") == std::string::npos);
  auto pictured = story;
  pictured.wrong_pictures = {"PNG"};
  CHECK_THAT(
      to_html(pictured),
      Catch::Contains("<img alt=\"&lt;b&gt;ant, taken for bee\" title=\"index 17\" "
                      "src=\"data:image/png;base64,UE5H\">"));
  CHECK(to_html(pictured).find("Red are the parts") == std::string::npos);
  // Browsers show what the policy of the page lets them.
  CHECK_THAT(to_html(pictured), Catch::Contains("default-src 'none'; img-src data:;"));
  auto details = *story.details;
  details.evidence->classes[0].occlusion = {0.5, 0.25, 0, -0.5};
  pictured.details = std::make_shared<const test_details>(details);
  CHECK_THAT(to_html(pictured),
             Catch::Contains("<svg viewBox=\"0 0 2 2\" preserveAspectRatio=\"none\" "
                             "aria-hidden=\"true\"><rect x=\"0\" y=\"0\" width=\"1\" "
                             "height=\"1\" fill-opacity=\"0.70\"/><rect x=\"1\" y=\"0\" "
                             "width=\"1\" height=\"1\" fill-opacity=\"0.35\"/></svg>"));
  CHECK_THAT(to_html(pictured), Catch::Contains("Red are the parts"));
  pictured.wrong_pictures = {};
  pictured.wrong_series = {{{0, 1, 0.5F}, {1, 1, 1}}};
  pictured.wrong_texts = {"<i>some words"};
  const auto others = to_html(pictured);
  CHECK_THAT(others, Catch::Contains("<polyline class=\"line c1\" points=\"0,64 56,0 "
                                     "112,32\"/>"));
  CHECK_THAT(others, Catch::Contains("<polyline class=\"line c2\""));
  CHECK_THAT(others, Catch::Contains("<td class=\"t\">&lt;i&gt;some words</td>"));
}

TEST_CASE("story: what people and machines wrote is text and never markup") {
  auto story = story_of(a_hostile_history());
  story.run.name = markup;
  story.shell_word = markup;
  story.run.overview.goal.metric = markup;
  const auto html = to_html(story);
  CHECK(html.find("<script") == std::string::npos);
  CHECK(html.find("<img") == std::string::npos);
  CHECK_THAT(html,
             Catch::Contains("<h1>&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;"));
  const auto md = to_markdown(story);
  // In code, where it is shown as it is, and nowhere else.
  std::string outside;
  bool code = false;
  for (std::size_t at = 0; at < md.size();) {
    const auto end = md.find('\n', at);
    const auto line = md.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("```"))
      code = !code;
    else if (!code)
      outside += line + "\n";
  }
  CHECK(outside.find("<script") == std::string::npos);
  CHECK_THAT(outside, Catch::StartsWith("# &lt;script>"));
}

TEST_CASE("story: a run that has hardly begun makes a page too") {
  const auto story = story_of({{run_started{"0.1.0", "", 1, {}}, {}}});
  CHECK_FALSE(story.best.has_value());
  CHECK_THAT(to_html(story), Catch::Contains("stopped"));
  CHECK_THAT(to_markdown(story), Catch::Contains("No candidate failed"));
  auto half = a_history();
  half.resize(7);
  CHECK_THAT(to_html(story_of(half)), Catch::Contains("The best so far"));
}

TEST_CASE("story: without a single record there is nothing to tell") {
  const scratch_folder folder;
  const auto file = folder.path() / "run.db";
  write_store(file, {});
  const auto none = tell_story(store::open_to_read(file).value(), file, "x");
  REQUIRE_FALSE(none);
  CHECK(none.error().kind == error_kind::not_found);
}

TEST_CASE("story: of many generations some are shown, and the best of all counts") {
  const auto long_run = [](std::uint64_t peak) {
    std::vector<entry> entries{{run_started{"0.1.0", "", 1, {}}, {}}};
    for (std::uint64_t g = 0; g < 450; ++g) {
      auto c = a_candidate(g + 1);
      c.generation = g;
      entries.push_back(born(c));
      entries.push_back(evaluated(an_evaluation(g + 1, g == peak ? 0.9 : 0.5)));
    }
    return story_of(entries);
  };
  const auto story = long_run(450);
  REQUIRE(story.generations.size() == 400);
  CHECK(story.generations.front().generation == 0);
  CHECK(story.generations.back().generation == 449);
  std::uint64_t hidden = 0;
  while (story.generations[hidden].generation == hidden)
    ++hidden;
  const auto peaked = long_run(hidden);
  for (const auto& g : peaked.generations)
    CHECK(g.best_fitness == 0.5);
  CHECK(peaked.best_so_far[hidden - 1] == 0.5);
  CHECK(peaked.best_so_far[hidden] == 0.9);
  CHECK_THAT(to_html(peaked), Catch::Contains("Of 450 generations, 400 are shown."));
}

TEST_CASE("story: spans are spread over columns") {
  columns c(10, 5);
  c.add(1, 5);
  c.add(9, 30);
  CHECK(sum(c) == "0.50 1.00 0.50 0.00 0.50 ");
  c.add(0, 10);
  CHECK(sum(c) == "1.00 1.00 1.00 1.00 1.00 ");
  columns nothing(0, 5);
  nothing.add(0, 1);
  CHECK(sum(nothing) == "0.00 0.00 0.00 0.00 0.00 ");
}

TEST_CASE("story: the front has the best of at most each size") {
  const auto front =
      front_of({{100, 0.5, 1}, {50, 0.6, 1}, {200, 0.9, 1}, {200, 0.7, 1}}, true);
  REQUIRE(front.size() == 2);
  CHECK(front[0].parameters == 50);
  CHECK(front[1].fitness == 0.9);
  CHECK(front_of({{50, 0.6, 1}, {100, 0.5, 1}}, false).size() == 2);
}

TEST_CASE("story: Markdown has the same in tables") {
  const auto md = to_markdown(story_of(a_history()));
  CHECK_THAT(md, Catch::StartsWith("# toy\n"));
  CHECK_THAT(md, Catch::Contains("| champion #5 | 0.9000 | 0.8750 | 500 |"));
  CHECK_THAT(md, Catch::Contains("| crashed | killed two node processes | 1 | #4 |"));
  CHECK_THAT(md, Catch::Contains("    n2  conv") || Catch::Contains("\nn2  conv"));
}
