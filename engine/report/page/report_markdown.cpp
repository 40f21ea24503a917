#include "engine/report/base/format.hpp"
#include "engine/report/base/html.hpp"
#include "engine/report/page/report_charts.hpp"
#include "engine/report/page/report_words.hpp"
#include "engine/report/page/run_report.hpp"
#include "engine/report/view/test_tables.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

namespace {

std::string section(const std::string& title, const std::string& content) {
  return content.empty() ? "" : fmt::format("\n## {}\n\n{}", title, content);
}

std::string paragraph(const std::string& words) {
  return escaped_markdown(words) + "\n\n";
}

/// Fenced by more backticks than the code has in a row.
std::string code(const std::string& text) {
  std::size_t longest = 0, row = 0;
  for (const char c : text) {
    row = c == '`' ? row + 1 : 0;
    longest = std::max(longest, row);
  }
  const std::string fence(std::max<std::size_t>(3, longest + 1), '`');
  return fmt::format("{}\n{}{}{}\n", fence, text, text.ends_with('\n') ? "" : "\n",
                     fence);
}

/// Cells are escaped; columns whose letter is 'n' are numbers.
class markdown_table {
public:
  markdown_table(const std::string& columns, const std::vector<std::string>& head) {
    add(head);
    for (const char c : columns)
      out_ += c == 'n' ? "|--:" : "|---";
    out_ += "|\n";
  }

  void add(const std::vector<std::string>& cells) {
    for (const auto& cell : cells)
      out_ += fmt::format("| {} ", escaped_markdown(cell));
    out_ += "|\n";
  }

  [[nodiscard]] std::string text() const { return out_ + "\n"; }

private:
  std::string out_;
};

std::string head_text(const run_report& story) {
  std::string out = fmt::format("# {}\n\n{}", escaped_markdown(story.run.name),
                                paragraph(standing_words(story)));
  markdown_table rows("lnl", {"", "", ""});
  for (const auto& f : figures_of(story))
    rows.add({f.name, f.value, f.note});
  return out + rows.text();
}

std::string jobs_text(const run_report& story) {
  if (story.jobs.empty())
    return "";
  markdown_table rows(job_columns, jobs_head());
  for (const auto& j : story.jobs)
    rows.add(cells_of(j));
  return rows.text();
}

/// A long run has some of its generations left out.
std::string fitness_text(const run_report& story) {
  constexpr std::size_t most = 40;
  const auto count = story.generations.size();
  markdown_table rows(
      "nnnnnn", {"generation", "candidates", "failed", "best", "median", "quartiles"});
  const auto shown = std::min(count, most);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& g = story.generations[shown == 1 ? 0 : i * (count - 1) / (shown - 1)];
    const bool any = g.best != 0;
    rows.add({std::to_string(g.generation), with_commas(g.evaluated),
              with_commas(g.failed), any ? metric_text(g.best_fitness) : "-",
              any ? metric_text(g.median) : "-",
              any ? fmt::format("{} to {}", metric_text(g.lower_quartile),
                                metric_text(g.upper_quartile))
                  : "-"});
  }
  return shown == 0 ? "" : paragraph(fitness_words(story)) + rows.text();
}

/// Returns a table of numbers, but for the first column where `first` is 'l'.
std::string rows_text(const table_rows& rows, char first = 'n') {
  std::string columns(rows[0].size(), 'n');
  columns[0] = first;
  markdown_table table(columns, rows[0]);
  for (std::size_t i = 1; i < rows.size(); ++i)
    table.add(rows[i]);
  return table.text();
}

std::string front_text(const run_report& story) {
  if (!story.weighed)
    return "";
  return paragraph(front_words(*story.weighed)) + rows_text(front_rows(*story.weighed))
         + rows_text(step_rows(*story.weighed, 40));
}

std::string comparison_text(const run_report& story) {
  if (story.comparison.empty())
    return "";
  auto out = "\n"
             + rows_text(comparison_rows(story.comparison, story.run.overview.goal.metric,
                                         story.test_metric, /*more=*/true),
                         'l');
  for (const auto& sentence : story.verdict)
    out += paragraph(sentence);
  return out;
}

std::string model_sentence(const run_report& story) {
  const auto words = model_words(story.final_model, story.run.overview.goal.metric);
  return words.empty() ? words : paragraph(words);
}

std::string final_text(const run_report& story) {
  if (!story.final_model)
    return "";
  auto out = paragraph(final_words(story)) + comparison_text(story);
  if (const auto rows =
          model_rows(story.final_model, story.run.overview.goal.metric, most_models);
      !rows.empty())
    out += paragraph("All models, the best first:") + rows_text(rows, 'l')
           + model_sentence(story);
  for (const auto& why : story.final_model->left_out)
    out += paragraph("Left out: " + why + ".");
  return out;
}

std::string columns_text(const run_report& story) {
  const auto rows = column_rows(story.details, most_columns);
  return rows.empty() ? ""
                      : paragraph(column_words(story.details)) + rows_text(rows, 'l');
}

std::string champion_text(const run_report& story) {
  if (!story.best)
    return "";
  return paragraph(champion_words(story)) + code(to_text(*story.best->born.genome))
         + (story.final_model ? "" : comparison_text(story));
}

std::string test_text(const run_report& story) {
  if (!story.details)
    return "";
  auto out = paragraph(test_words(story.details));
  for (const auto& rows : {class_rows(story.details, most_classes),
                           confusion_rows(story.details, widest_confusion),
                           error_rows(story.details), ahead_rows(story.details),
                           wrong_rows(story.details), reliability_rows(story.details)})
    out += rows.empty() ? "" : rows_text(rows, 'l');
  return out;
}

std::string lineage_text(const run_report& story) {
  if (!story.why || story.why->line.size() < 2)
    return "";
  markdown_table rows("lnnnl",
                      {"candidate", "generation", "fitness", "gain", "what changed"});
  for (const auto& step : told_steps(*story.why)) {
    std::string changes = step.hidden > 0 ? with_commas(step.hidden) + " more steps" : "";
    for (const auto& line : step.changes)
      changes += (changes.empty() ? "" : "; ") + line.substr(line.find_first_not_of(' '));
    rows.add({step.who == nullptr ? "..." : numbered(step.who->id),
              step.who == nullptr ? "" : std::to_string(step.who->generation),
              step.result, change_text(step.gain), changes});
  }
  return paragraph(lineage_words(*story.why)) + rows.text();
}

std::string seeds_text(const run_report& story) {
  return story.seeds ? paragraph(seed_words(*story.seeds, story.run.overview.goal.metric))
                     : "";
}

std::string curves_text(const run_report& story) {
  if (!story.best || !story.best->evaluated || story.best->evaluated->curve.size() < 2)
    return "";
  const auto& curve = story.best->evaluated->curve;
  std::vector<std::string> names;
  for (const auto& e : curve)
    for (const auto& m : e.metrics)
      if (std::ranges::find(names, m.name) == names.end())
        names.push_back(m.name);
  std::vector<std::string> head{"epoch"};
  head.insert(head.end(), names.begin(), names.end());
  markdown_table rows(std::string(head.size(), 'n'), head);
  for (const auto& e : curve) {
    std::vector<std::string> row{std::to_string(e.number)};
    for (const auto& name : names)
      row.push_back(metric_text(find(e.metrics, name)));
    rows.add(row);
  }
  return rows.text();
}

std::string data_text(const run_report& story) {
  if (!story.data)
    return "";
  constexpr std::size_t most_classes = 24;
  const auto rows = data_rows(*story.data, most_classes);
  markdown_table table("l" + std::string(rows[0].size() - 1, 'n'), rows[0]);
  for (std::size_t i = 1; i < rows.size(); ++i)
    table.add(rows[i]);
  return paragraph(data_words(*story.data)) + table.text();
}

std::string sizes_text(const run_report& story) {
  if (story.front.size() < 2)
    return "";
  markdown_table rows("nn", {"parameters", story.run.overview.goal.metric});
  for (const auto& s : story.front)
    rows.add(
        {with_commas(static_cast<std::uint64_t>(s.parameters)), metric_text(s.fitness)});
  return paragraph("The best of at most each size.") + rows.text();
}

std::string rates_text(const run_report& story) {
  if (story.rates.empty())
    return "";
  markdown_table rows("lnnnn", rates_head());
  for (const auto& r : story.rates)
    rows.add(cells_of(r));
  return fmt::format("\n{}{}", paragraph(rates_words()), rows.text());
}

std::string changes_text(const run_report& story) {
  if (story.credits.empty())
    return "";
  markdown_table rows("lnnnnn", {"kind of change", "children", "failed", "improved",
                                 "best gain", "mean change"});
  for (const auto& c : story.credits) {
    const bool any = c.children > c.failed;
    rows.add({c.kind, with_commas(c.children), with_commas(c.failed),
              percent(c.improved_share()), any ? change_text(c.best_change) : "-",
              any ? change_text(c.mean_change) : "-"});
  }
  return paragraph(changes_words(story)) + rows.text() + rates_text(story);
}

std::string importance_text(const run_report& story) {
  if (!story.matters)
    return "";
  markdown_table rows("ln", {"what", "importance"});
  for (const auto& m : story.matters->order)
    rows.add({m.name, percent(m.share)});
  return paragraph(importance_words(*story.matters)) + rows.text();
}

std::string annotations_text(const run_report& story) {
  if (story.annotated.empty())
    return "";
  markdown_table table("llll", {"of", "tags", "note", "by"});
  for (const auto& row : annotation_rows(story.annotated))
    table.add(row);
  return table.text();
}

std::string failures_text(const run_report& story) {
  if (story.failures.empty() && story.lost_attempts.empty())
    return story.jobs.empty() ? paragraph("No candidate failed, and no attempt was lost.")
                              : "";
  markdown_table rows("llnn", {"outcome", "why", "count", "for example"});
  for (const auto* failures : {&story.failures, &story.lost_attempts})
    for (const auto& f : *failures)
      rows.add({f.outcome ? outcome_words(f) : "attempt lost, made again",
                f.reason.empty() ? "-" : f.reason, with_commas(f.count),
                numbered(f.example)});
  return (story.jobs.empty() ? paragraph(failures_words(story)) : "") + rows.text();
}

std::string time_text(const run_report& story) {
  markdown_table rows(
      "lnnnn", {"slot", std::string(story.noun()) + "s", "training", "there", "busy"});
  for (std::size_t i = 0; i < std::min(story.slots.size(), most_rows); ++i) {
    const auto& s = story.slots[i];
    rows.add({s.slot, with_commas(s.candidates), duration_text(s.busy_seconds),
              duration_text(s.there_seconds), percent(busy_share(s))});
  }
  auto out = paragraph(time_words(story)) + (story.slots.empty() ? "" : rows.text());
  if (story.slots.size() > most_rows)
    out += paragraph(with_commas(story.slots.size() - most_rows)
                     + " more slots are not shown.");
  return out;
}

std::string again_text(const run_report& story) {
  auto out = paragraph(again_words(story));
  for (const auto& c : commands_of(story))
    out += fmt::format("{}:\n\n{}\n", escaped_markdown(c.purpose), code(c.line));
  return out;
}

} // namespace

std::string to_markdown(const run_report& story) {
  return head_text(story) + section("Notes and tags", annotations_text(story))
         + section("The data", data_text(story)) + section("The jobs", jobs_text(story))
         + section("The front", front_text(story))
         + section("Fitness over generations", fitness_text(story))
         + section("The final model", final_text(story))
         + section(test_title(story), test_text(story))
         + section("The columns that matter", columns_text(story))
         + section(story.is_champion ? "The champion" : "The best so far",
                   champion_text(story))
         + section("Where it comes from", lineage_text(story))
         + section("What the seeds brought", seeds_text(story))
         + section("How it learnt", curves_text(story))
         + section("Fitness against size", sizes_text(story))
         + section("What changes paid", changes_text(story))
         + section("What mattered", importance_text(story))
         + section("What failed", failures_text(story))
         + section("Where the time went", time_text(story))
         + section("To run it again", again_text(story));
}

} // namespace clade
