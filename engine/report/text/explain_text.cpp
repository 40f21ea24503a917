#include "engine/report/base/format.hpp"
#include "engine/report/base/json_fields.hpp"
#include "engine/report/view/explain.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

namespace {

using enum table::align;
using json = ordered_json;

constexpr std::size_t page_width = 80;
/// The numbers of steps of a long line that are shown of its beginning, and of its end.
constexpr std::size_t first_steps = 8, last_steps = 24;
constexpr std::size_t others_shown = 24;

std::string result_text(const candidate_overview& c) {
  if (!c.result)
    return "in work";
  return *c.result == outcome::succeeded && c.fitness ? metric_text(*c.fitness)
                                                      : clade::to_text(*c.result);
}

std::string parents_text(const std::vector<candidate_id>& parents) {
  return joined(parents, " + ", numbered);
}

std::size_t crossings(const explanation& e) {
  return static_cast<std::size_t>(std::ranges::count_if(
      e.line, [](const ancestry_step& s) { return s.who.parents.size() > 1; }));
}

std::string wrapped_text(const std::string& text, std::size_t indent) {
  std::string out;
  for (const auto& line : wrapped(text, page_width - indent))
    out += fmt::format("{}{}\n", std::string(indent, ' '), line);
  return out;
}

std::string head_text(const explanation& e) {
  const auto& c = e.subject;
  std::string text = fmt::format("{} of {} ({}), generation {}: ", numbered(c.id), e.run,
                                 to_text(e.state), c.generation);
  text += c.result == outcome::succeeded
              ? fmt::format("{} {}{}", e.goal.metric, result_text(c),
                            e.goal.maximize ? "" : " (the lower the better)")
              : result_text(c) + (c.reason.empty() ? "" : fmt::format(" ({})", c.reason));
  if (c.result)
    text += ", " + counted(c.parameters, "parameter", "parameters");
  if (c.equal_to != 0)
    text += "; its network equals that of " + numbered(c.equal_to);
  text = wrapped_text(text, 0);
  const auto& root = e.line.front().who;
  if (e.line.size() == 1)
    return text + wrapped_text("it has no parents: " + root.origin, 2);
  auto way = fmt::format("{} from {}", counted(e.line.size() - 1, "step", "steps"),
                         numbered(root.id));
  if (const auto n = crossings(e))
    way += ", " + counted(n, "crossing", "crossings");
  way += fmt::format(", {} in all", counted(e.ancestors, "ancestor", "ancestors"));
  if (c.fitness && root.fitness && c.epochs == root.epochs)
    way += fmt::format("; {} on the way", change_text(*c.fitness - *root.fitness));
  return text + wrapped_text(way, 2);
}

std::string gap_text(std::span<const ancestry_step> hidden) {
  std::optional<double> change;
  const auto& before = hidden.front();
  const auto& after = hidden.back().who;
  if (before.gain && before.who.fitness && after.fitness)
    change = *after.fitness - (*before.who.fitness - *before.gain);
  return fmt::format("... {} more steps{} (--json has them)", with_commas(hidden.size()),
                     change ? fmt::format(", {} in all", change_text(change)) : "");
}

std::string line_text(const explanation& e) {
  std::size_t id = 0, gen = 3, value = 7, gain = 4;
  for (const auto& s : e.line) {
    id = std::max(id, numbered(s.who.id).size());
    gen = std::max(gen, std::to_string(s.who.generation).size());
    value = std::max(value, result_text(s.who).size());
    gain = std::max(gain, change_text(s.gain).size());
  }
  const std::size_t used = 2 + id + 2 + gen + 2 + value + 2 + gain + 2;
  const std::size_t room =
      std::max<std::size_t>(page_width - std::min(used, page_width), 24);
  table rows({left, right, right, right, left});
  rows.add({"", "gen", "fitness", "gain", "what changed"});
  for (std::size_t i = 0; i < e.line.size(); ++i) {
    if (e.line.size() > first_steps + last_steps + 1 && i == first_steps) {
      const auto hidden = e.line.size() - first_steps - last_steps;
      rows.add_line(gap_text(std::span(e.line).subspan(i, hidden)));
      i += hidden;
    }
    const auto& s = e.line[i];
    std::vector<std::string> row{numbered(s.who.id), std::to_string(s.who.generation),
                                 result_text(s.who), i == 0 ? "" : change_text(s.gain)};
    for (const auto& happening : happenings(s)) {
      const std::size_t hang = happening.starts_with("  ") ? 2 : 0;
      bool first = true;
      for (const auto& part : wrapped(happening.substr(hang), room - 2)) {
        row.push_back(std::string(first ? hang : 2, ' ') + part);
        first = false;
        rows.add(std::exchange(row, {"", "", "", ""}));
      }
    }
  }
  return rows.to_text(2);
}

std::string since(const explanation& e, candidate_id id) {
  return id == e.subject.id ? "itself" : numbered(id);
}

std::string genes_text(const explanation& e) {
  std::size_t name = 4, value = 5;
  for (const auto& g : e.genes)
    name = std::max(name, g.name.size());
  name = std::min<std::size_t>(name, 24);
  for (const auto& g : e.genes)
    value = std::max(value, g.value.size());
  const auto column = 2 + std::max<std::size_t>(8, numbered(e.subject.id).size());
  const auto room = std::min(value, page_width - 2 - name - 2 - 3 * column + 1);
  table rows({left, left, right, right, right});
  rows.add({"gene", "value", "through", "first in", "so since"});
  for (const auto& g : e.genes) {
    std::vector<std::string> row{shortened(g.name, 24)};
    bool first = true;
    for (const auto& part : wrapped(g.value, room)) {
      row.push_back(std::string(first ? 0 : 2, ' ') + part);
      if (first)
        for (const auto id :
             {g.from == 0 ? e.subject.id : g.from, g.introduced, g.settled})
          row.push_back(since(e, id));
      else
        row.insert(row.end(), 3, "");
      first = false;
      rows.add(std::exchange(row, {""}));
    }
  }
  return rows.to_text(2);
}

std::string branches_text(const explanation& e) {
  table rows({left, left, right});
  rows.add({"gene", "branch", "importance"});
  for (const auto& b : e.branches)
    rows.add({b.gene, b.parameter, metric_text(b.importance)});
  return rows.to_text(2);
}

std::string others_text(const explanation& e) {
  std::string text;
  std::size_t shown = 0;
  table rows({left, right, right, left});
  for (const auto& c : e.others) {
    if (shown++ == others_shown)
      break;
    const auto from =
        c.parents.empty() ? "" : fmt::format("from {}: ", parents_text(c.parents));
    rows.add({numbered(c.id), std::to_string(c.generation), result_text(c),
              shortened(from + origin_text(c.origin, c.epochs, c.start, c.reason),
                        page_width - 28)});
  }
  text += rows.to_text(2);
  const auto all = e.ancestors - (e.line.size() - 1);
  if (all > others_shown)
    text += fmt::format("  ... {} more\n", with_commas(all - others_shown));
  return text;
}

json overview_json(const candidate_overview& c) {
  return {{"id", c.id},
          {"generation", c.generation},
          {"fitness", some(c.fitness)},
          {"outcome", json_of(c.result)},
          {"parents", c.parents},
          {"origin", c.origin},
          {"equal_to", some(c.equal_to)},
          {"epochs", some(c.epochs)},
          {"start", some(c.start)}};
}

const char* name_of(inherited_gene::kind what) {
  switch (what) {
  case inherited_gene::kind::node:
    return "node";
  case inherited_gene::kind::edge:
    return "edge";
  case inherited_gene::kind::hyperparameter:
    break;
  }
  return "hyperparameter";
}

} // namespace

std::vector<std::string> happenings(const ancestry_step& step) {
  std::vector<std::string> lines;
  std::span<const change> changes = step.changes;
  if (step.other) {
    const bool nothing =
        step.nodes_from_other.empty() && step.settings_from_other.empty();
    auto crossed = fmt::format("crossed with {} ({})", numbered(step.other->id),
                               result_text(*step.other));
    if (!changes.empty() && changes.front().kind == change_kind::crossed) {
      const auto& remark = changes.front().after;
      if (!remark.empty())
        crossed += ", " + remark;
      else if (nothing)
        crossed += ", of which nothing stayed";
      changes = changes.subspan(1);
    }
    lines.push_back(std::move(crossed));
    for (const auto& node : step.nodes_from_other)
      lines.push_back("  from it: " + node);
    if (!step.settings_from_other.empty())
      lines.push_back("  from it: " + joined(step.settings_from_other));
  }
  for (const auto& c : changes)
    lines.push_back(to_text(c));
  return lines;
}

std::string to_text(const explanation& e) {
  auto text = head_text(e);
  text += "\nits line, the oldest first\n" + line_text(e);
  text += "\nwhere its genes come from\n" + genes_text(e);
  if (!e.branches.empty())
    text += "\nits branches, by how much the loss would change without each\n"
            + branches_text(e);
  if (!e.others.empty())
    text +=
        "\nits other ancestors, through crossings, the youngest first\n" + others_text(e);
  return text;
}

std::string to_json(const explanation& e) {
  json out{{"run", e.run},
           {"state", to_text(e.state)},
           {"metric", e.goal.metric},
           {"maximize", e.goal.maximize},
           {"id", e.subject.id},
           {"ancestors", e.ancestors}};
  out["line"] = json::array();
  for (const auto& s : e.line) {
    auto one = overview_json(s.who);
    one["gain"] = s.gain ? json(*s.gain) : json();
    one["changes"] = json_of(s.changes, [](const change& c) { return to_text(c); });
    one["other"] = s.other ? overview_json(*s.other) : json();
    one["nodes_from_other"] = s.nodes_from_other;
    one["settings_from_other"] = s.settings_from_other;
    out["line"].push_back(std::move(one));
  }
  out["genes"] = json::array();
  for (const auto& g : e.genes)
    out["genes"].push_back(
        {{"kind", name_of(g.what)},
         {"name", g.name},
         {"innovation", g.innovation.empty() ? json() : json(g.innovation)},
         {"value", g.value.empty() ? json() : json(g.value)},
         {"from", g.from == 0 ? json() : json(g.from)},
         {"introduced", g.introduced},
         {"settled", g.settled}});
  out["branches"] = json_of(e.branches, [](const branch_importance& b) {
    return json{{"gene", b.gene}, {"branch", b.parameter}, {"importance", b.importance}};
  });
  out["others"] = json_of(e.others, overview_json);
  return text_of(out);
}

} // namespace clade
