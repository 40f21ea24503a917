// The reference of operators, made from their rows (search_spaces/operators/operators.hpp): as
// Markdown that is readable in a terminal, or as JSON.
#include "search_spaces/operators/operators.hpp"

#include "engine/config/experiment/reference.hpp"
#include "engine/config/experiment/space_reference.hpp"
#include "engine/report/base/format.hpp"
#include "engine/report/base/json_fields.hpp"
#include "genome/base/text.hpp"
#include "tools/cli/base/command.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <iostream>
#include <memory>

namespace clade {

namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t line_width = 100;

/// Lines of `text`, of which all but the first are indented by `indent`.
std::string paragraph(const std::string& text, std::size_t indent = 0) {
  std::string out;
  for (const auto& line : wrapped(text, line_width - indent))
    out += fmt::format("{}{}\n", out.empty() ? "" : std::string(indent, ' '), line);
  return out;
}

std::string names_of_blocks() {
  std::string names;
  for (const auto& o : operators())
    if (o.block)
      names += (names.empty() ? "" : ", ") + std::string(o.name);
  return names;
}

std::string inputs_text(const operator_entry& o) {
  if (o.role == operator_role::input)
    return "nothing";
  const std::string text = joined(o.takes, " or ", [&](const auto l) {
    return std::string(l == layout::image      ? "[c, h, w]"
                       : l == layout::sequence ? "[t, c]"
                                               : "[n]");
  });
  return (o.merges ? "several of " : "") + text;
}

std::string operator_text(const operator_entry& o) {
  const std::string details = o.details.empty() ? "" : ". " + std::string(o.details);
  std::string out = fmt::format(
      "\n{}\n{}{}", paragraph(fmt::format("**{}**: {}{}", o.name, o.summary, details)),
      paragraph(fmt::format("- takes {}, gives {}", inputs_text(o), o.output), 2),
      paragraph("- costs " + std::string(o.costs), 2));
  for (const auto& s : o.settings)
    out += reference_item(std::string(s.name), values_text(s), std::string(s.sentence));
  return out;
}

std::string operators_text() {
  std::string out = fmt::format(
      "{}\n{}\n{}\n## For search-space files\n",
      paragraph(
          "Operators: what the layers of a network compute. An image is [c, h, w], of "
          "c channels, h rows and w columns; a sequence is [t, c], of t steps of c "
          "features; a vector is [n]. Costs are for one example; bytes are what training "
          "keeps of it."),
      paragraph(fmt::format(
          "A block ({}) is a linear map, then norm, then activation. Its cost is that of "
          "the map, and besides: a bias for each channel or unit, or with a norm 2 "
          "parameters for each and a multiply-add for each element; 4 bytes for each "
          "element that map, norm and activation give.",
          names_of_blocks())),
      paragraph(
          "Where an image is wanted a vector becomes one of one pixel, where a sequence "
          "is wanted it becomes one of one step, and where a vector is wanted an image "
          "or "
          "a sequence is flattened. Of the texts that a setting may be, "
          "the first is the default."));
  for (const auto& o : operators())
    if (o.role == operator_role::layer)
      out += operator_text(o);
  out +=
      "\n## Inserted by Clade\n\n"
      + paragraph("At the ends of a network, where edges meet, where shapes do not fit, "
                  "and within operators that are several layers; search-space files "
                  "may not name them.");
  for (const auto& o : operators())
    if (o.role != operator_role::layer)
      out += operator_text(o);
  return out;
}

/// The type and values as `clade evaluate` describes parameters.
json setting_json(const setting_entry& s) {
  using kind = setting_entry::kind;
  json out{{"name", s.name}};
  const auto number = [&](double v) {
    return s.type == kind::integer ? json(static_cast<std::int64_t>(v)) : json(v);
  };
  if (s.type == kind::text)
    out.update({{"type", "choice"}, {"options", s.words}, {"default", s.words.front()}});
  else
    out.update({{"type", s.type == kind::integer ? "whole" : "real"},
                {"low", number(s.low)},
                {"high", number(s.high)},
                {"odd", s.odd},
                {"default", number(s.fallback)}});
  out["sentence"] = s.sentence;
  return out;
}

json operator_json(const operator_entry& o) {
  const bool enters = o.role != operator_role::input;
  return {{"name", o.name},
          {"summary", o.summary},
          {"details", o.details.empty() ? json(nullptr) : json(o.details)},
          {"inserted", o.role != operator_role::layer},
          {"takes", enters ? json_of(o.takes) : json::array()},
          {"several", o.merges},
          {"gives", o.output},
          {"block", o.block},
          {"costs", o.costs},
          {"settings", json_of(o.settings, setting_json)}};
}

json operators_json() {
  return {{"operators", json_of(operators(), operator_json)}};
}

} // namespace

void add_operators(CLI::App& app, command& chosen) {
  auto as_json = std::make_shared<bool>(false);
  auto* sub = app.add_subcommand(
      "operators", "List what layers can compute, with settings, shapes and costs");
  sub->add_flag("--json", *as_json, "One JSON object, for programs");
  sub->footer("`clade help search-spaces` says how a search-space file names them.");
  sub->callback([&chosen, as_json] {
    chosen = [as_json] {
      std::cout << (*as_json ? operators_json().dump() + "\n" : operators_text())
                << std::flush;
      return 0;
    };
  });
}

} // namespace clade
