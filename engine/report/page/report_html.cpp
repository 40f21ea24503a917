// The page is put together section by section, each empty where there is nothing to
// tell. Whatever a person, a file or a machine named passes through `escaped`; the
// content security policy lets nothing run or load even if one were forgotten.
#include "engine/report/base/format.hpp"
#include "engine/report/base/html.hpp"
#include "engine/report/page/forecast_charts.hpp"
#include "engine/report/page/network_svg.hpp"
#include "engine/report/page/report_charts.hpp"
#include "engine/report/page/report_words.hpp"
#include "engine/report/page/run_report.hpp"
#include "engine/report/page/wrong_examples_html.hpp"
#include "engine/report/view/test_tables.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace clade {

namespace {

std::string section(const std::string& title, const std::string& content) {
  if (content.empty())
    return "";
  return fmt::format("<section>\n<h2>{}</h2>\n{}</section>\n", escaped(title), content);
}

std::string paragraph(const std::string& words, const char* kind = "note") {
  return fmt::format("<p class=\"{}\">{}</p>\n", kind, escaped(words));
}

/// Rows of cells that are markup already; columns whose letter is 'n' are
/// numbers, those with 't' texts of any length.
class html_table {
public:
  html_table(std::string columns, const std::vector<std::string>& head)
      : columns_(std::move(columns)) {
    out_ = "<div class=\"wide\" tabindex=\"0\"><table><thead><tr>";
    for (std::size_t i = 0; i < head.size(); ++i)
      out_ += cell("th", i, escaped(head[i]));
    out_ += "</tr></thead>\n<tbody>\n";
  }

  void add(const std::vector<std::string>& cells, const char* kind = "") {
    out_ += *kind == '\0' ? "<tr>" : fmt::format("<tr class=\"{}\">", kind);
    for (std::size_t i = 0; i < cells.size(); ++i)
      out_ += cell("td", i, cells[i]);
    out_ += "</tr>\n";
  }

  [[nodiscard]] std::string text() const { return out_ + "</tbody></table></div>\n"; }

private:
  [[nodiscard]] std::string cell(const std::string& tag, std::size_t i,
                                 const std::string& content) const {
    const auto* kind = columns_[i] == 'n'   ? " class=\"n\""
                       : columns_[i] == 't' ? " class=\"t\""
                                            : "";
    return fmt::format("<{}{}>{}</{}>", tag, kind, content, tag);
  }

  std::string columns_;
  std::string out_;
};

std::string coloured(const std::optional<double>& change, const objective& goal) {
  const auto text = escaped(change_text(change));
  if (!change || *change == 0)
    return text;
  const bool better = goal.maximize ? *change > 0 : *change < 0;
  return fmt::format("<span class=\"{}\">{}</span>", better ? "good" : "bad", text);
}

std::string head_html(const run_report& story) {
  std::string out = fmt::format("<header>\n<h1>{}</h1>\n{}", escaped(story.run.name),
                                paragraph(standing_words(story), "soft"));
  out += "<dl class=\"figures\">\n";
  for (const auto& f : figures_of(story))
    out += fmt::format("<div><dt>{}</dt><dd>{}<small>{}</small></dd></div>\n",
                       escaped(f.name), escaped(f.value), escaped(f.note));
  return out + "</dl>\n</header>\n";
}

/// Returns a table of numbers, but for the first column where `first` is 'l'; the last
/// row is of `kind`.
std::string rows_html(const table_rows& rows, char first = 'n', const char* kind = "") {
  std::string columns(rows[0].size(), 'n');
  columns[0] = first;
  html_table table(columns, rows[0]);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    auto cells = rows[i];
    for (auto& cell : cells)
      cell = escaped(cell);
    table.add(cells, i + 1 == rows.size() ? kind : "");
  }
  return table.text();
}

std::string jobs_html(const run_report& story) {
  if (story.jobs.empty())
    return "";
  html_table rows(job_columns, jobs_head());
  for (const auto& j : story.jobs) {
    auto cells = cells_of(j);
    for (auto& cell : cells)
      cell = escaped(cell);
    if (j.tries > 0)
      cells[1] = fmt::format("<span class=\"{}\">{}</span>",
                             j.outcome == "succeeded" ? "good" : "bad", cells[1]);
    rows.add(cells);
  }
  return rows.text();
}

std::string fitness_html(const run_report& story) {
  const auto drawn = fitness_chart(story);
  return drawn.empty() ? "" : paragraph(fitness_words(story)) + drawn;
}

std::string comparison_html(const run_report& story) {
  if (story.comparison.empty())
    return "";
  const auto rows = comparison_rows(story.comparison, story.run.overview.goal.metric,
                                    story.test_metric, /*more=*/true);
  auto out = "<h3>Was it worth it?</h3>\n"
             + rows_html(rows, 'l', story.is_champion ? "top" : "");
  for (const auto& sentence : story.verdict)
    out += paragraph(sentence, "warning");
  return out;
}

std::string model_sentence(const run_report& story) {
  const auto words = model_words(story.final_model, story.run.overview.goal.metric);
  return words.empty() ? words : paragraph(words);
}

/// The section of the final model: its members, what it is compared with, and all single
/// models that it was chosen from.
std::string final_html(const run_report& story) {
  if (!story.final_model)
    return "";
  auto out = paragraph(final_words(story)) + comparison_html(story);
  if (const auto rows =
          model_rows(story.final_model, story.run.overview.goal.metric, most_models);
      !rows.empty())
    out += "<h3>All models, the best first</h3>\n" + rows_html(rows, 'l')
           + model_sentence(story);
  for (const auto& why : story.final_model->left_out)
    out += paragraph("Left out: " + why + ".");
  return out;
}

std::string columns_html(const run_report& story) {
  const auto rows = column_rows(story.details, most_columns);
  return rows.empty() ? ""
                      : paragraph(column_words(story.details)) + rows_html(rows, 'l');
}

std::string test_html(const run_report& story) {
  if (!story.details)
    return "";
  auto out = paragraph(test_words(story.details)) + forecast_charts(*story.details)
             + predictions_chart(*story.details) + reliability_chart(*story.details);
  for (const auto& rows : {class_rows(story.details, most_classes),
                           confusion_rows(story.details, widest_confusion),
                           error_rows(story.details), ahead_rows(story.details),
                           wrong_rows(story.details), reliability_rows(story.details)})
    out += rows.empty() ? "" : rows_html(rows, 'l');
  return out + wrong_examples_html(story);
}

std::string champion_html(const run_report& story) {
  if (!story.best)
    return "";
  const auto& g = *story.best->born.genome;
  auto drawn = network_svg(g, story.costs);
  if (drawn.empty())
    drawn = fmt::format("<pre>{}</pre>\n", escaped(to_text(g)));
  html_table training("ln", {"hyperparameter", "value"});
  for (const auto& s : g.hyperparameters)
    training.add({escaped(s.name), escaped(to_text(s.value))});
  html_table layers("lt", {"layer", "what it is"});
  for (const auto id : topological_order(g))
    if (id != input_innovation && id != output_innovation)
      layers.add({fmt::format("<code>{}</code>", escaped(short_name(g, id))),
                  escaped(to_text(*find_node(g, id)))});
  return fmt::format(
      "{}<div class=\"pair\">\n<div>{}</div>\n<div>{}<h3>Its "
      "layers</h3>\n{}</div>\n</div>\n{}",
      paragraph(champion_words(story)), drawn,
      g.hyperparameters.empty() ? "" : "<h3>How it is trained</h3>\n" + training.text(),
      layers.text(), story.final_model ? "" : comparison_html(story));
}

std::string lineage_html(const run_report& story) {
  if (!story.why || story.why->line.size() < 2)
    return "";
  const auto& e = *story.why;
  html_table rows("lnnnt",
                  {"candidate", "generation", "fitness", "gain", "what changed"});
  for (const auto& step : told_steps(e)) {
    if (step.hidden > 0) {
      rows.add({"…", "", "", coloured(step.gain, e.goal),
                escaped(with_commas(step.hidden) + " more steps")});
      continue;
    }
    const std::string changes =
        joined(step.changes, "<br>", [&](const auto& line) { return escaped(line); });
    rows.add({numbered(step.who->id), std::to_string(step.who->generation),
              escaped(step.result), coloured(step.gain, e.goal), changes});
  }
  html_table genes("ltlll", {"gene", "value", "through", "first in", "so since"});
  for (const auto& g : e.genes) {
    if (g.what == inherited_gene::kind::edge)
      continue;
    const auto who = [&](candidate_id id) {
      return id == e.subject.id || id == 0 ? std::string("itself") : numbered(id);
    };
    genes.add({fmt::format("<code>{}</code>", escaped(g.name)), escaped(g.value),
               who(g.from), who(g.introduced), who(g.settled)});
  }
  return fmt::format("{}{}<h3>Where its layers and hyperparameters come from</h3>\n{}",
                     paragraph(lineage_words(e)), rows.text(), genes.text());
}

std::string seeds_html(const run_report& story) {
  return story.seeds ? paragraph(seed_words(*story.seeds, story.run.overview.goal.metric))
                     : "";
}

std::string curves_html(const run_report& story) {
  if (!story.best || !story.best->evaluated)
    return "";
  const auto& curve = story.best->evaluated->curve;
  // One epoch makes no curve.
  return curve.size() < 2 ? "" : learning_charts(curve);
}

std::string front_html(const run_report& story) {
  if (!story.weighed)
    return "";
  return paragraph(front_words(*story.weighed)) + rows_html(front_rows(*story.weighed))
         + rows_html(step_rows(*story.weighed, 40));
}

std::string data_html(const run_report& story) {
  if (!story.data)
    return story.without_data.empty()
               ? ""
               : paragraph(
                   fmt::format("Nothing is told of the data: {}.", story.without_data));
  const auto& d = *story.data;
  auto out = paragraph(data_words(d)) + rows_html(data_rows(d, most_classes), 'l');
  if (d.classes.size() > most_classes)
    out +=
        paragraph(with_commas(d.classes.size() - most_classes) + " more are not shown.");
  return out;
}

std::string sizes_html(const run_report& story) {
  return story.sizes.size() < 2 ? "" : size_chart(story);
}

std::string rates_html(const run_report& story) {
  if (story.rates.empty())
    return "";
  html_table rows("lnnnn", rates_head());
  for (const auto& r : story.rates)
    rows.add(cells_of(r));
  return paragraph(rates_words()) + rows.text();
}

std::string changes_html(const run_report& story) {
  if (story.credits.empty())
    return "";
  const auto& goal = story.run.overview.goal;
  double largest = 0;
  for (const auto& c : story.credits)
    largest = std::max(largest, std::fabs(c.mean_change));
  html_table rows("lnnnnnl", {"kind of change", "children", "failed", "improved",
                              "best gain", "mean change", ""});
  for (const auto& c : story.credits) {
    const bool any = c.children > c.failed;
    const bool better = goal.maximize ? c.mean_change >= 0 : c.mean_change <= 0;
    rows.add({escaped(c.kind), with_commas(c.children), with_commas(c.failed),
              percent(c.improved_share()), any ? coloured(c.best_change, goal) : "-",
              any ? coloured(c.mean_change, goal) : "-",
              any ? change_bar(c.mean_change, largest, better) : ""});
  }
  return paragraph(changes_words(story)) + rows.text() + rates_html(story);
}

std::string importance_html(const run_report& story) {
  if (!story.matters)
    return "";
  html_table rows("lnl", {"what", "importance", ""});
  const auto& order = story.matters->order;
  for (const auto& m : order)
    rows.add({escaped(m.name), percent(m.share),
              change_bar(m.share, order.front().share, /*better=*/true)});
  return paragraph(importance_words(*story.matters)) + rows.text();
}

std::string annotations_html(const run_report& story) {
  if (story.annotated.empty())
    return "";
  html_table table("lttl", {"of", "tags", "note", "by"});
  for (auto row : annotation_rows(story.annotated)) {
    for (auto& cell : row)
      cell = escaped(cell);
    table.add(row);
  }
  return table.text();
}

std::string failures_html(const run_report& story) {
  std::string out;
  const auto rows_of = [](const std::vector<failure_row>& failures, const char* what) {
    html_table rows("ltnn", {what, "why", "count", "for example"});
    for (const auto& f : failures)
      rows.add({escaped(outcome_words(f)), escaped(f.reason.empty() ? "-" : f.reason),
                with_commas(f.count), numbered(f.example)});
    return rows.text();
  };
  if (!story.failures.empty())
    out += paragraph(failures_words(story)) + rows_of(story.failures, "outcome");
  if (!story.lost_attempts.empty())
    out += "<h3>Attempts that were lost and made again elsewhere</h3>\n"
           + rows_of(story.lost_attempts, "attempt");
  if (!out.empty() || !story.jobs.empty()) // Jobs tell why they failed themselves.
    return out;
  return paragraph("No candidate failed, and no attempt was lost.");
}

std::string time_html(const run_report& story) {
  auto out = paragraph(time_words(story)) + slots_chart(story);
  if (story.slots.empty())
    return out;
  html_table rows("lnnnn",
                  {"slot", std::string(story.noun()) + "s", "training", "there", "busy"});
  for (std::size_t i = 0; i < std::min(story.slots.size(), most_rows); ++i) {
    const auto& s = story.slots[i];
    rows.add({escaped(s.slot), with_commas(s.candidates), duration_text(s.busy_seconds),
              duration_text(s.there_seconds), percent(busy_share(s))});
  }
  if (story.slots.size() > most_rows)
    out += paragraph(with_commas(story.slots.size() - most_rows)
                     + " more slots are not shown.");
  return out + rows.text();
}

std::string again_html(const run_report& story) {
  std::string out = paragraph(again_words(story));
  for (const auto& c : commands_of(story))
    out +=
        fmt::format("<h3>{}</h3>\n<pre>{}</pre>\n", escaped(c.purpose), escaped(c.line));
  return out;
}

} // namespace

std::string to_html(const run_report& story) {
  const auto title = story.run.name + ", a report of Clade";
  auto out = page_head(title);
  out += head_html(story);
  out += section("Notes and tags", annotations_html(story));
  out += section("The data", data_html(story));
  out += section("The jobs", jobs_html(story));
  out += section("The front", front_html(story));
  out += section("Fitness over generations", fitness_html(story));
  out += section("The final model", final_html(story));
  out += section(test_title(story), test_html(story));
  out += section("The columns that matter", columns_html(story));
  out += section(story.is_champion ? "The champion" : "The best so far",
                 champion_html(story));
  out += section("Where it comes from", lineage_html(story));
  out += section("What the seeds brought", seeds_html(story));
  out += section("How it learnt", curves_html(story));
  out += section("Fitness against size", sizes_html(story));
  out += section("What changes paid", changes_html(story));
  out += section("What mattered", importance_html(story));
  out += section("What failed", failures_html(story));
  out += section("Where the time went", time_html(story));
  out += section("To run it again", again_html(story));
  return out + "</main>\n</body>\n</html>\n";
}

} // namespace clade
