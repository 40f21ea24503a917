#include "engine/report/base/format.hpp"
#include "engine/report/base/json_fields.hpp"
#include "engine/report/view/diff.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <sstream>

namespace clade {

namespace {

using enum table::align;
using json = ordered_json;

constexpr std::size_t page_width = 80;

std::string folder_of(const compared_run& r) {
  const auto& file = r.run.file;
  return file.filename() == store_file_name
             ? std::filesystem::absolute(file).parent_path().filename().string()
             : file.filename().string();
}

std::string label(const run_diff& d, char side, std::size_t i) {
  return std::string(1, side) + (d.several() ? std::to_string(i + 1) : "");
}

std::string digest_number(const compared_run& r) {
  const auto text = to_text(*r.run.digest);
  return text.substr(0, text.find(' '));
}

std::string runs_text(const run_diff& d) {
  table rows({left, left, left, right, right, right});
  rows.add({"", "run", "state", "seed", "evaluations", "best"});
  table digests({left, left, right});
  for (const auto& [side, runs] : {std::pair('A', &d.a), std::pair('B', &d.b)})
    for (std::size_t i = 0; i < runs->size(); ++i) {
      const auto& r = (*runs)[i];
      const auto& o = r.run.overview;
      rows.add({label(d, side, i), shortened(folder_of(r), 32), to_text(r.run.state()),
                std::to_string(o.seed), with_commas(o.evaluated),
                o.best == 0 ? "-" : metric_text(o.best_fitness)});
      digests.add({label(d, side, i), digest_number(r),
                   fmt::format("of {} records", with_commas(r.run.digest->records))});
    }
  return fmt::format("{}\ndigests\n{}", rows.to_text(), digests.to_text(2));
}

std::string settings_text(const run_diff& d) {
  if (d.settings.empty())
    return "no setting differs\n";
  std::string text = "settings that differ\n";
  table rows({left, left, left});
  rows.add({"", "A", "B"});
  std::size_t key = 0;
  for (const auto& s : d.settings)
    key = std::max(key, std::min<std::size_t>(s.key.size(), 36));
  const auto room = (page_width - 2 - key - 4) / 2;
  for (const auto& s : d.settings) {
    auto a = wrapped(joined(s.a, " | "), room), b = wrapped(joined(s.b, " | "), room),
         name = wrapped(s.key, key);
    const auto lines = std::max({a.size(), b.size(), name.size()});
    for (auto* column : {&a, &b, &name})
      column->resize(lines);
    for (std::size_t i = 0; i < lines; ++i)
      rows.add({name[i], a[i], b[i]});
  }
  return text + rows.to_text(2);
}

/// The lines of each side behind its letter; those that both have only once.
std::string sides_text(const record_difference& r) {
  const auto lines_of = [](const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
      lines.push_back(line);
    return lines;
  };
  const auto a = lines_of(r.a), b = lines_of(r.b);
  std::string text;
  for (const auto& [side, mine, other] :
       {std::tuple('A', &a, &b), std::tuple('B', &b, &a)})
    for (const auto& line : *mine) {
      const bool same = std::ranges::find(*other, line) != other->end();
      if (same && side == 'B')
        continue;
      bool first = true;
      for (const auto& part : wrapped(line, page_width - 7)) {
        text += "  ";
        text += first ? (same ? ' ' : side) : ' ';
        text += fmt::format("{}{}\n", first ? "  " : "    ", part);
        first = false;
      }
    }
  return text;
}

std::string verdict_text(const run_diff& d, const run_pair& p) {
  const auto &a = d.a[p.a].run, &b = d.b[p.b].run;
  if (a.digest == b.digest)
    return "all decisions are equal: the digests are the same\n";
  if (p.first)
    return fmt::format("first difference: {}{}", p.first->what,
                       p.candidates == 0 ? "\n"
                                         : fmt::format(", behind {} equal candidates\n",
                                                       with_commas(p.candidates)));
  std::string text = "all decisions that both recorded are equal";
  if (a.digest->records != b.digest->records)
    text += fmt::format("; {} went on further",
                        a.digest->records > b.digest->records ? "A" : "B");
  return text + "\n";
}

std::string pairs_text(const run_diff& d) {
  std::string text;
  for (const auto& p : d.pairs) {
    if (d.several()) {
      text +=
          fmt::format("  {} and {} (seed {}): {}", label(d, 'A', p.a), label(d, 'B', p.b),
                      d.a[p.a].run.overview.seed, verdict_text(d, p));
      continue;
    }
    if (!p.same_start)
      text += "they started from different seeds, data or settings that decide the "
              "search\n";
    text += verdict_text(d, p);
    if (p.first)
      text += sides_text(*p.first);
  }
  if (d.several())
    text = "decisions, by pairs of one seed\n" + text;
  if (!d.unpaired.empty()) {
    text += "  without a partner: seed";
    for (const auto seed : d.unpaired)
      text += fmt::format(" {}", seed);
    text += "\n";
  }
  return text;
}

/// None that has no value yet is the worst.
std::optional<double> median(std::vector<std::optional<double>> values, bool maximize) {
  std::ranges::sort(values, [&](const auto& x, const auto& y) {
    if (!x || !y)
      return y.has_value() && !x.has_value();
    return maximize ? *x < *y : *x > *y;
  });
  const auto below = values[(values.size() - 1) / 2], above = values[values.size() / 2];
  if (!below || !above)
    return std::nullopt;
  return (*below + *above) / 2;
}

std::string effort_text(effort_comparison::measure by, double effort) {
  switch (by) {
  case effort_comparison::measure::evaluations:
    return with_commas(static_cast<std::uint64_t>(effort)) + " evaluations";
  case effort_comparison::measure::training:
    return duration_text(effort) + " of training";
  case effort_comparison::measure::wall:
    break;
  }
  return duration_text(effort) + " of wall time";
}

std::string signs_text(const effort_comparison& c) {
  char p[32];
  std::snprintf(p, sizeof p, "%.4f", sign_test(*c.signs));
  return fmt::format("after {}: A better {}, B better {}, equal {}; p = {}, n = {}",
                     effort_text(c.by, c.marks.back().effort), c.signs->first,
                     c.signs->second, c.signs->equal, p, c.signs->decided());
}

std::string efforts_text(const run_diff& d) {
  if (!d.same_goal)
    return "their objectives differ, so that their fitness cannot be compared\n";
  std::string text = fmt::format("best {}{}{}\n", d.goal.metric,
                                 d.goal.maximize ? "" : " (the lower the better)",
                                 d.several() ? ", median of each side" : "");
  table rows({left, right, right, right});
  rows.add({"after", "A", "B", "A - B"});
  for (const auto& c : d.efforts)
    for (const auto& m : c.marks) {
      const auto a = median(m.a, d.goal.maximize), b = median(m.b, d.goal.maximize);
      rows.add({effort_text(c.by, m.effort), metric_text(a), metric_text(b),
                a && b ? change_text(*a - *b) : "-"});
    }
  text += rows.to_text(2);
  if (!d.several())
    return text;
  text += "\ntwo-sided sign test over pairs of one seed (exact binomial)\n";
  for (const auto& c : d.efforts)
    for (const auto& line : wrapped(signs_text(c), page_width - 2))
      text += fmt::format("  {}\n", line);
  return text;
}

json run_json(const compared_run& r) {
  const auto& o = r.run.overview;
  return {{"name", r.run.name},
          {"file", r.run.file.string()},
          {"state", to_text(r.run.state())},
          {"seed", o.seed},
          {"version", o.version},
          {"digest", to_text(*r.run.digest)},
          {"evaluated", o.evaluated},
          {"best", o.best == 0 ? json() : json(o.best)},
          {"best_fitness", o.best == 0 ? json() : json(o.best_fitness)},
          {"training_seconds", r.curve.training_seconds},
          {"wall_seconds", r.curve.wall_seconds}};
}

const char* name_of(effort_comparison::measure by) {
  switch (by) {
  case effort_comparison::measure::evaluations:
    return "evaluations";
  case effort_comparison::measure::training:
    return "training_seconds";
  case effort_comparison::measure::wall:
    break;
  }
  return "wall_seconds";
}

json effort_json(const effort_comparison& c) {
  json out{{"by", name_of(c.by)}};
  out["marks"] = json_of(c.marks, [](const effort_mark& m) -> json {
    return {{"effort", m.effort}, {"a", json_of(m.a)}, {"b", json_of(m.b)}};
  });
  out["sign_test"] = !c.signs ? json()
                              : json{{"a_better", c.signs->first},
                                     {"b_better", c.signs->second},
                                     {"equal", c.signs->equal},
                                     {"n", c.signs->decided()},
                                     {"p", sign_test(*c.signs)}};
  return out;
}

json pair_json(const run_diff& d, const run_pair& p) {
  json out{{"a", p.a},
           {"b", p.b},
           {"seed", d.a[p.a].run.overview.seed},
           {"same_start", p.same_start},
           {"same_digest", d.a[p.a].run.digest == d.b[p.b].run.digest},
           {"equal_candidates", p.candidates}};
  out["first_difference"] =
      p.first ? json{{"what", p.first->what}, {"a", p.first->a}, {"b", p.first->b}}
              : json();
  return out;
}

} // namespace

std::string to_text(const run_diff& d) {
  return fmt::format("{}\n{}\n{}\n{}", runs_text(d), settings_text(d), pairs_text(d),
                     efforts_text(d));
}

std::string to_json(const run_diff& d) {
  json out{{"metric", d.goal.metric},
           {"maximize", d.goal.maximize},
           {"same_objective", d.same_goal},
           {"a", json_of(d.a, run_json)},
           {"b", json_of(d.b, run_json)}};
  out["settings"] = json_of(d.settings, [](const setting_difference& s) -> json {
    return {{"key", s.key}, {"a", s.a}, {"b", s.b}};
  });
  out["pairs"] = json_of(d.pairs, [&](const run_pair& p) { return pair_json(d, p); });
  out["unpaired_seeds"] = d.unpaired;
  out["best"] = json_of(d.efforts, effort_json);
  return text_of(out);
}

} // namespace clade
