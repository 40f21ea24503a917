#include "engine/report/text/text.hpp"

#include "engine/report/base/format.hpp"
#include "engine/report/text/devices_text.hpp"
#include "engine/report/view/test_tables.hpp"
#include "genome/base/text.hpp"
#include "genome/base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

namespace {

using enum table::align;

std::string parents_text(const std::vector<candidate_id>& parents) {
  return joined(parents, " + ", numbered);
}

/// "from #198 + #201: widen n3f2a1"
std::string provenance(const std::vector<candidate_id>& parents,
                       const std::string& origin) {
  return parents.empty() ? origin
                         : fmt::format("from {}: {}", parents_text(parents), origin);
}

std::string activity(const run_view& r) {
  const auto& o = r.overview;
  const auto state = r.state();
  const std::string text = to_text(state);
  if (state == run_standing::running && *r.writer > 0)
    return fmt::format("{} (process {})", text, *r.writer);
  if (state != run_standing::stopped)
    return text;
  const auto why =
      o.state == stored_state::paused ? fmt::format("{}: {}", text, o.reason) : text;
  // A copy of the store alone lacks its folder.
  if (r.file.filename() != store_file_name)
    return why;
  return fmt::format("{}; clade resume {}", why, r.file.parent_path().string());
}

std::string result_text(const candidate_overview& c) {
  if (!c.result)
    return "in work";
  if (*c.result == outcome::succeeded && c.fitness)
    return metric_text(*c.fitness);
  return clade::to_text(*c.result);
}

std::string metrics_text(const std::vector<metric>& metrics) {
  return joined(metrics, ", ", [&](const auto& m) {
    return fmt::format("{} {}", m.name, metric_text(m.value));
  });
}

/// A table of epochs with a column for each metric.
std::string curve_text(const std::vector<epoch>& curve) {
  std::vector<std::string> names;
  for (const auto& e : curve)
    for (const auto& m : e.metrics)
      if (std::find(names.begin(), names.end(), m.name) == names.end())
        names.push_back(m.name);
  table lines(std::vector<table::align>(names.size() + 2, right));
  std::vector<std::string> head{"epoch"};
  head.insert(head.end(), names.begin(), names.end());
  head.push_back("seconds");
  lines.add(head);
  for (const auto& e : curve) {
    std::vector<std::string> row{std::to_string(e.number)};
    for (const auto& name : names)
      row.push_back(metric_text(find(e.metrics, name)));
    row.push_back(metric_text(e.seconds));
    lines.add(row);
  }
  return lines.to_text(2);
}

std::string evaluation_text(const genome_view& g) {
  if (!g.evaluated)
    return g.born.equal_to == 0 ? "not evaluated yet"
                                : fmt::format("waits for the evaluation of {}, its equal",
                                              numbered(g.born.equal_to));
  const auto& e = *g.evaluated;
  std::string text = clade::to_text(e.outcome);
  if (!e.reason.empty())
    text += fmt::format(" ({})", e.reason);
  if (!e.metrics.empty())
    text += ": " + metrics_text(e.metrics);
  text += "\n" + counted(e.parameters, "parameter");
  if (e.equal_to != 0)
    return fmt::format("{}; not trained: its network equals that of {}", text,
                       numbered(e.equal_to));
  text += fmt::format("; {} on {}", duration_text(e.seconds),
                      e.slot.empty() ? "no slot" : e.slot);
  if (e.tries > 1)
    text += fmt::format(", at attempt {}", e.tries);
  return text + (g.has_weights ? "; its weights are kept" : "");
}

/// The first column holds words, the others numbers.
std::string rows_text(const table_rows& rows) {
  if (rows.empty())
    return "";
  std::vector<table::align> columns(rows.front().size(), right);
  columns.front() = left;
  table lines(columns);
  for (const auto& row : rows)
    lines.add(row);
  return lines.to_text(2);
}

std::string comparison_text(const champion_view& c) {
  return rows_text(comparison_rows(c.comparison, c.validation_metric, c.test_metric,
                                   /*more=*/false));
}

/// Returns the columns that matter to the model that is used.
std::string columns_text(const champion_view& c) {
  constexpr std::size_t most_columns = 10;
  const auto rows = column_rows(c.details, most_columns);
  if (rows.empty())
    return "";
  auto text = "\nthe columns that matter\n" + rows_text(rows);
  if (const auto all = c.details->columns->columns.size(); all > most_columns)
    text += fmt::format("  and {} more\n", with_commas(all - most_columns));
  for (const auto& line : wrapped(column_words(c.details), 78))
    text += fmt::format("  {}\n", line);
  return text;
}

/// Returns the best of the models that the final one was chosen from.
std::string models_text(const champion_view& c) {
  constexpr std::size_t most_models = 8;
  const auto rows = model_rows(c.final_model, c.validation_metric, most_models);
  if (rows.empty())
    return "";
  auto text = "\nall models, the best first\n" + rows_text(rows);
  if (const auto all = c.final_model->models->size(); all > most_models)
    text += fmt::format("  and {} more\n", with_commas(all - most_models));
  if (const auto words = model_words(c.final_model, c.validation_metric); !words.empty())
    for (const auto& line : wrapped(words, 78))
      text += fmt::format("  {}\n", line);
  return text;
}

/// Returns what the champion made of the test data.
std::string test_text(const champion_view& c) {
  constexpr std::size_t most_classes = 20, widest_confusion = 10, most_wrong = 5;
  std::string text;
  for (const auto& line : wrapped(test_words(c.details), 78))
    text += line.empty() ? "" : fmt::format("  {}\n", line);
  for (const auto& rows :
       {class_rows(c.details, most_classes), confusion_rows(c.details, widest_confusion),
        error_rows(c.details), ahead_rows(c.details), wrong_rows(c.details, most_wrong)})
    text += (text.empty() || rows.empty() ? "" : "\n") + rows_text(rows);
  return text;
}

std::string seeds_text(const champion_view& c) {
  std::string text;
  if (c.seeds)
    for (const auto& line : wrapped(seed_words(*c.seeds, c.validation_metric), 78))
      text += fmt::format("  {}\n", line);
  return text.empty() ? "" : "\nwhat the seeds brought\n" + text;
}

std::string verdict_text(const std::vector<std::string>& verdict) {
  std::string text;
  for (const auto& sentence : verdict) {
    const char* before = "note: ";
    for (const auto& line : wrapped(sentence, 72)) {
      text += fmt::format("{}{}\n", before, line);
      before = "      ";
    }
  }
  return text;
}

/// "final model: validation.accuracy 0.8715, test.accuracy 0.8702, 44,052 parameters",
/// and its members; empty where there is none.
std::string final_model_text(const champion_view& c) {
  if (!c.final_model)
    return {};
  std::string text = "final model";
  if (const auto* one = find(c.comparison, "final model"))
    text += fmt::format(": {} {}, {} {}, {}", c.validation_metric,
                        metric_text(one->validation), c.test_metric,
                        metric_text(one->test), counted(one->parameters, "parameter"));
  return fmt::format("{}\n{}\n", text, members_text(*c.final_model));
}

} // namespace

std::string members_text(const model_composed& composed) {
  constexpr std::size_t in_a_line = 4;
  std::string text;
  for (std::size_t i = 0; i < composed.members.size(); ++i) {
    text += i % in_a_line != 0 ? ", " : i == 0 ? "  " : ",\n  ";
    text += clade::to_text(composed.members[i], 3);
  }
  text += "\n";
  for (const auto& why : composed.left_out)
    text += fmt::format("  left out: {}\n", why);
  return text;
}

std::string to_text(const run_view& r, std::string_view lines) {
  const auto& o = r.overview;
  std::string text = fmt::format("{}: {}\n", r.name, activity(r));
  if (o.version.empty())
    return text + "  nothing is recorded of it yet\n";
  text +=
      fmt::format("  started {}, {} to its last record; seed {}, clade {}\n",
                  time_text(o.started_ms), duration_text(r.seconds()), o.seed, o.version);
  text += lines;
  return fmt::format("{}  {}, {}\n", text, r.file.string(), size_text(r.bytes));
}

std::string to_text(const run_view& r) {
  const auto& o = r.overview;
  std::string text;
  if (const auto origin = r.forked_from(); !origin.empty())
    text += fmt::format("  forked from {}\n", origin);
  if (const auto chosen = r.chosen(); !chosen.empty())
    text += fmt::format("  auto chose {}\n", chosen);
  text += fmt::format("  {} in {}{}, {} evaluated, {} of them failed; {} of training\n",
                      counted(o.born - o.final_trainings, "candidate"),
                      counted(o.search_generations, "generation"),
                      o.final_trainings == 0
                          ? ""
                          : ", " + counted(o.final_trainings, "training") + " to the end",
                      with_commas(o.evaluated), with_commas(o.failed),
                      duration_text(o.training_seconds));
  if (o.best != 0)
    text += fmt::format("  best {}: {} {}{}\n", numbered(o.best), o.goal.metric,
                        metric_text(o.best_fitness),
                        o.goal.maximize ? "" : " (the lower the better)");
  if (r.interim && !r.interim->members.empty()) {
    const auto value = find(r.interim->metrics, o.goal.metric);
    text += fmt::format(
        "  the model so far: {}{}\n",
        value ? fmt::format("{} {}, ", o.goal.metric, metric_text(*value)) : "",
        joined(r.interim->members, ", ",
               [](const ensemble_member& m) { return clade::to_text(m, 3); }));
  }
  if (const auto devices = devices_text(r.nodes); !devices.empty())
    text += fmt::format("  computed on {}\n", devices);
  return to_text(r, text);
}

std::string to_text(std::span<const generation_overview> generations) {
  table lines({right, right, right, right, right, right, right, right});
  lines.add({"generation", "candidates", "failed", "best", "by", "median", "quartiles",
             "training"});
  std::optional<std::uint64_t> last;
  for (const auto& g : generations) {
    if (last && g.generation > *last + 1)
      lines.add_line("       ...");
    last = g.generation;
    const bool any = g.best != 0;
    lines.add({std::to_string(g.generation),
               g.evaluated == g.born ? with_commas(g.born)
                                     : fmt::format("{} of {}", with_commas(g.evaluated),
                                                   with_commas(g.born)),
               with_commas(g.failed), any ? metric_text(g.best_fitness) : "-",
               any ? numbered(g.best) : "-", any ? metric_text(g.median) : "-",
               any ? fmt::format("{}..{}", metric_text(g.lower_quartile),
                                 metric_text(g.upper_quartile))
                   : "-",
               duration_text(g.training_seconds)});
  }
  return lines.to_text();
}

std::string to_text(std::span<const candidate_overview> members, const objective& goal) {
  std::vector<candidate_overview> sorted(members.begin(), members.end());
  const auto rank = [&](const candidate_overview& c) {
    const int part = !c.result ? 2 : c.fitness ? 0 : 1;
    const double fitness = c.fitness.value_or(0);
    return std::tuple(part, goal.maximize ? -fitness : fitness, c.id);
  };
  std::sort(sorted.begin(), sorted.end(),
            [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  table lines({right, right, right, right, right, left, left});
  lines.add({"id", goal.metric, "parameters", "nodes", "time", "from", "what changed"});
  for (const auto& c : sorted) {
    auto origin = origin_text(c.origin, c.epochs, c.start, c.reason);
    if (c.equal_to != 0)
      origin += fmt::format(" (equal to {})", numbered(c.equal_to));
    if (!c.reason.empty())
      origin += fmt::format(" ({})", c.reason);
    lines.add({numbered(c.id), result_text(c), c.result ? with_commas(c.parameters) : "-",
               std::to_string(c.nodes), c.result ? duration_text(c.seconds) : "-",
               parents_text(c.parents), shortened(origin, 100)});
  }
  return lines.to_text();
}

std::string lineage_text(std::span<const candidate_overview> lineage) {
  constexpr std::size_t most = 24, first = 12, last = 8;
  table lines({left, left, right, left});
  for (std::size_t i = 0; i < lineage.size(); ++i) {
    if (lineage.size() > most && i == first) {
      const auto skipped = lineage.size() - first - last;
      lines.add_line(fmt::format("... {} more ...", skipped));
      i += skipped;
    }
    const auto& c = lineage[i];
    lines.add({numbered(c.id), fmt::format("generation {}", c.generation), result_text(c),
               shortened(provenance(c.parents,
                                    origin_text(c.origin, c.epochs, c.start, c.reason)),
                         100)});
  }
  return lines.to_text(2);
}

std::string to_text(const genome_view& g) {
  const auto& c = g.born;
  std::string text = fmt::format(
      "{}, generation {}, {}\n", numbered(c.id), c.generation,
      provenance(c.parents, origin_text(to_text(c.changes), c.epochs, c.start,
                                        g.evaluated ? g.evaluated->reason : "")));
  if (c.start != 0)
    text +=
        fmt::format("  its training starts from the weights of {}\n", numbered(c.start));
  text += indented(evaluation_text(g) + "\n", 2);
  text += "\n" + indented(clade::to_text(*c.genome), 2);
  if (g.evaluated && !g.evaluated->curve.empty())
    text += "\nlearning curve\n" + curve_text(g.evaluated->curve);
  if (g.lineage.size() > 1)
    text += "\nwhere it comes from\n" + lineage_text(g.lineage);
  return text;
}

std::string to_text(const champion_view& c) {
  if (!c.champion)
    return fmt::format("no champion: no candidate succeeded{}\n",
                       c.failures.empty() ? "" : "; " + c.failures);
  const auto& g = *c.champion;
  std::string text =
      fmt::format("{}champion {}", final_model_text(c), numbered(g.born.id));
  if (g.evaluated) {
    const auto validation = find(g.evaluated->metrics, c.validation_metric);
    text += fmt::format(": {} {}", c.validation_metric, metric_text(validation));
    if (const auto* one = find(c.comparison, "champion"); one != nullptr && one->test)
      text += fmt::format(", {} {}", c.test_metric, metric_text(*one->test));
    text += ", " + counted(g.evaluated->parameters, "parameter");
  }
  text += "\n\n"
          + indented(
              c.decoded ? clade::to_text(*c.decoded) : clade::to_text(*g.born.genome), 2);
  if (c.decoded && !g.born.genome->hyperparameters.empty())
    text += fmt::format("  {}\n", clade::to_text(g.born.genome->hyperparameters));
  text += "\nwhere it comes from\n" + lineage_text(g.lineage);
  if (!c.comparison.empty())
    text += "\nwas it worth it?\n" + comparison_text(c);
  text += models_text(c);
  if (const auto test = test_text(c); !test.empty())
    text += fmt::format("\nwhat the {} made of the test data\n{}",
                        c.final_model ? "final model" : "champion", test);
  text += columns_text(c);
  text += seeds_text(c);
  if (const auto said = verdict_text(c.verdict); !said.empty())
    text += "\n" + said;
  return text;
}

std::string to_text(const annotation& one) {
  std::string text;
  if (!one.tags.empty())
    text += fmt::format("  tags {}\n", plain_text(tags_text(one)));
  if (one.note.empty())
    return text;
  text += fmt::format("  note of {}, {}\n", plain_text(one.who), time_text(one.unix_ms));
  std::string_view rest = one.note;
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    for (const auto& line : wrapped(plain_text(rest.substr(0, end)), 72))
      text += fmt::format("    {}\n", line);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return text;
}

std::string to_text(const annotations& all) {
  std::string text;
  for (const auto& [id, one] : all)
    text += fmt::format("{}\n{}", id == 0 ? "the run" : numbered(id), to_text(one));
  return text.empty() ? text : "notes and tags\n" + indented(text, 2);
}

std::string to_text(std::span<const run_view> runs) {
  table lines({left, left, right, right, right, right, right, left});
  lines.add(
      {"run", "state", "generation", "candidates", "best", "time", "size", "started"});
  for (const auto& r : runs) {
    const auto& o = r.overview;
    const auto folder =
        std::filesystem::absolute(r.file).parent_path().filename().string();
    const bool jobs =
        !r.named_by().empty(); // They have no generations, and none is best.
    lines.add({folder, to_text(r.state()), jobs ? "-" : std::to_string(o.generation),
               with_commas(o.evaluated),
               o.best == 0 || jobs ? "-" : metric_text(o.best_fitness),
               duration_text(r.seconds()), size_text(r.bytes),
               o.started_ms == 0 ? "-" : time_text(o.started_ms)});
  }
  return lines.to_text();
}

} // namespace clade
