// Contradictions between keys, which may stand in different files, are found here.
// Operators and parameters are put in an order of their own (the table's; then by name,
// each behind the one that its condition names), so that the order of lines changes no
// search.
#include "genome/base/text.hpp"
#include "search_spaces/composites/divisions.hpp"
#include "search_spaces/files/space_draft.hpp"
#include "search_spaces/toml/parameter_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

namespace {

/// Makes a search space of a draft, or says what contradicts what.
class assembly {
public:
  assembly(const space_draft& from, std::string origin)
      : draft_(from),
        origin_(std::move(origin)) {}

  expected<search_space> assemble();

private:
  expected<void> place_limits();
  expected<void> place_operator(const operator_entry& entry);
  expected<void> place_operators();
  expected<void> check_width(const located<operator_rule>& rule) const;
  expected<std::vector<parameter>> arrange(const std::vector<located<parameter>>& list,
                                           const std::string& path) const;
  expected<void> place_seeds();
  expected<void> place_recurrence();
  expected<void> check_by_step(const located<operator_rule>& rule,
                               const operator_entry& entry) const;
  std::int64_t limit(std::string_view name) const;

  const space_draft& draft_;
  std::string origin_;
  search_space space_;
};

std::int64_t assembly::limit(std::string_view name) const {
  if (const auto found = draft_.limits.find(name); found != draft_.limits.end())
    return found->second.content;
  return std::ranges::find(limit_entries(), name, &limit_entry::name)->fallback;
}

expected<void> assembly::place_limits() {
  const auto initial = draft_.limits.find("initial_nodes");
  if (initial != draft_.limits.end() && initial->second.content > limit("max_nodes"))
    return fail_in(
        initial->second.place,
        {error_kind::invalid_input,
         fmt::format("limits.initial_nodes = {} is more than limits.max_nodes = {}",
                     initial->second.content, limit("max_nodes"))});
  auto& rules = space_.rules;
  rules.max_nodes = static_cast<std::size_t>(limit("max_nodes"));
  rules.max_skips = static_cast<std::size_t>(limit("max_skips"));
  rules.initial_nodes =
      std::min(static_cast<std::size_t>(limit("initial_nodes")), rules.max_nodes);
  space_.limits = {.max_parameters = static_cast<std::uint64_t>(limit("max_parameters")),
                   .max_multiply_adds =
                       static_cast<std::uint64_t>(limit("max_multiply_adds")),
                   .max_width = limit("max_width")};
  return {};
}

expected<void> assembly::place_recurrence() {
  if (!draft_.recurrence)
    return {};
  if (draft_.input != layout::sequence)
    return fail_in(
        draft_.recurrence->place,
        {error_kind::invalid_input,
         "[recurrence] is for sequences, whose steps follow each other in time; "
         "set sequence = true at the top, or leave it out"});
  const auto given = [&](const limit_entry& entry) {
    const auto& all = draft_.recurrence->content;
    const auto found = all.find(entry.name);
    return found == all.end() ? entry.fallback : found->second;
  };
  space_.rules.max_recurrent = static_cast<std::size_t>(given(recurrence_entries()[0]));
  space_.rules.longest_delay = static_cast<std::uint32_t>(given(recurrence_entries()[1]));
  return {};
}

/// In a space with recurrent edges each layer says something of each step, of that step and
/// those before it alone.
expected<void> assembly::check_by_step(const located<operator_rule>& rule,
                                       const operator_entry& entry) const {
  const auto refuse = [&](const std::string& why) {
    return fail_in(rule.place, {error_kind::invalid_input,
                                fmt::format("operators.{}{}", rule.content.name, why)});
  };
  if (!entry.by_step) {
    std::vector<std::string_view> known;
    for (const operator_entry& e : operators())
      if (e.by_step)
        known.push_back(e.name);
    return refuse(fmt::format(" cannot stand in a space with [recurrence], whose layers "
                              "take one step after the other; those that can are {}",
                              joined(known)));
  }
  for (const parameter& p : rule.content.settings)
    if ((p.name == "direction" && contains(p, value("both")))
        || (p.name == "steps" && contains(p, value("last"))))
      return refuse(fmt::format(
          ".{} cannot be \"{}\" in a space with [recurrence], whose layers take one step "
          "after the other",
          p.name, p.name == "steps" ? "last" : "both"));
  return {};
}

expected<void> assembly::check_width(const located<operator_rule>& rule) const {
  for (const parameter& p : rule.content.settings) {
    if (!p.width)
      continue;
    std::int64_t widest = 0;
    if (const auto* range = std::get_if<integer_domain>(&p.domain))
      widest = range->high;
    else
      for (const value& v : std::get<choice_domain>(p.domain).options)
        widest = std::max(widest, std::get<std::int64_t>(v));
    if (widest > space_.limits.max_width)
      return fail_in(
          rule.place,
          {error_kind::invalid_input,
           fmt::format("operators.{}.{} goes up to {}, but limits.max_width is {}",
                       rule.content.name, p.name, widest, space_.limits.max_width)});
  }
  return {};
}

expected<void> assembly::place_operator(const operator_entry& entry) {
  const auto found = draft_.operators.find(entry.name);
  if (found == draft_.operators.end() || !(found->second.content.weight > 0))
    return {};
  const auto& rule = found->second;
  if (!entry.works_on(space_.input) && !entry.works_on(layout::vector)) {
    const std::string wanted(to_text(entry.takes.front()));
    return fail_in(
        rule.place,
        {error_kind::invalid_input,
         fmt::format(
             "operator {} works on {}s; set {} = true at the top, or leave it out",
             rule.content.name, wanted, wanted)});
  }
  if (space_.rules.max_recurrent > 0)
    if (auto fits = check_by_step(rule, entry); !fits)
      return fits;
  if (auto fits = check_width(rule); !fits)
    return fits;
  if (auto fits = check_divisions(entry, rule.content); !fits)
    return fail_in(rule.place, std::move(fits.error()));
  std::vector<located<parameter>> settings;
  for (const parameter& p : rule.content.settings)
    settings.push_back({p, rule.place});
  auto arranged = arrange(settings, "operators." + rule.content.name);
  if (!arranged)
    return tl::unexpected(std::move(arranged.error()));
  space_.rules.operators.push_back(
      {rule.content.name, std::move(*arranged), rule.content.weight});
  return {};
}

expected<void> assembly::place_operators() {
  for (const operator_entry& entry : operators())
    if (auto placed = place_operator(entry); !placed)
      return placed;
  for (const auto& [name, own] : draft_.composites) {
    const auto before = space_.rules.operators.size();
    if (auto placed = place_operator(own.content->row()); !placed)
      return placed;
    if (space_.rules.operators.size() == before)
      continue;
    const auto& rule = draft_.operators.find(name)->second;
    if (auto fits = check_divisions(*own.content, rule.content); !fits)
      return fail_in(rule.place, {error_kind::invalid_input,
                                  fmt::format("operators.{}: its layer {}", name,
                                              fits.error().message)});
    space_.composites.push_back(own.content);
  }
  // A space without layers is one of hyperparameters alone.
  if (space_.rules.max_nodes == 0 && draft_.hyperparameters.empty())
    return fail_in(origin_ + ":1",
                   {error_kind::invalid_input,
                    "the space is empty: limits.max_nodes is 0, and it has no "
                    "[hyperparameters]"});
  if (space_.rules.max_nodes > 0 && space_.rules.operators.empty())
    return fail_in(origin_ + ":1",
                   {error_kind::invalid_input,
                    "the space is empty: it has no operators; add a table such as "
                    "[operators.conv] or [operators.dense]"
                        + std::string(draft_.hyperparameters.empty()
                                          ? ""
                                          : "; of a space of hyperparameters alone, "
                                            "limits.max_nodes is 0")});
  return {};
}

/// Puts each parameter behind the one that its condition names.
expected<std::vector<parameter>>
assembly::arrange(const std::vector<located<parameter>>& list,
                  const std::string& path) const {
  const auto refuse = [&](const located<parameter>& p, const std::string& message) {
    return fail_in(p.place, {error_kind::invalid_input,
                             fmt::format("{}.{} applies when {}{}", path, p.content.name,
                                         p.content.when->parameter, message)});
  };
  std::vector<parameter> placed;
  std::vector<located<parameter>> waiting;
  for (const auto& p : list) {
    if (p.content.when) {
      const auto other = std::ranges::find(list, p.content.when->parameter,
                                           [](const auto& l) { return l.content.name; });
      if (other == list.end())
        return refuse(p, fmt::format(" has a certain value, but there is no {}.{}", path,
                                     p.content.when->parameter));
      for (const value& v : p.content.when->values)
        if (!contains(other->content, v))
          return refuse(p, fmt::format(" is {}, which it never is", to_text(v)));
    }
    waiting.push_back(p);
  }
  while (!waiting.empty()) {
    const auto next = std::ranges::find_if(waiting, [&](const auto& p) {
      return !p.content.when
             || std::ranges::find(placed, p.content.when->parameter, &parameter::name)
                    != placed.end();
    });
    if (next == waiting.end())
      return refuse(waiting.front(), " has a certain value, and that depends on itself");
    placed.push_back(std::move(next->content));
    waiting.erase(next);
  }
  return placed;
}

expected<void> assembly::place_seeds() {
  for (const auto& [name, located] : draft_.seeds) {
    auto seed = located.content;
    std::string wrong;
    if (seed.layers.size() > space_.rules.max_nodes)
      wrong = "it has more layers than limits.max_nodes";
    for (auto& layer : seed.layers)
      if (const auto why = misfit(layer, space_.rules); wrong.empty())
        wrong = why;
    if (wrong.empty())
      wrong = misfit(seed.hyperparameters, space_.rules.hyperparameters);
    if (!wrong.empty())
      return fail_in(located.place, {error_kind::invalid_input,
                                     fmt::format("seeds.{}: {}", name, wrong)});
    space_.seeds.push_back(std::move(seed));
  }
  return {};
}

expected<search_space> assembly::assemble() {
  space_.name = origin_;
  space_.input = draft_.input;
  for (const auto place : {&assembly::place_limits, &assembly::place_recurrence})
    if (auto placed = (this->*place)(); !placed)
      return tl::unexpected(std::move(placed.error()));
  if (auto placed = place_operators(); !placed)
    return tl::unexpected(std::move(placed.error()));
  std::vector<located<parameter>> hyperparameters;
  for (const auto& [name, p] : draft_.hyperparameters)
    hyperparameters.push_back(p);
  auto arranged = arrange(hyperparameters, "hyperparameters");
  if (!arranged)
    return tl::unexpected(std::move(arranged.error()));
  space_.rules.hyperparameters = std::move(*arranged);
  const choice_domain add_alone{.options = {std::string("add")}};
  space_.rules.merge = {draft_.merge ? *draft_.merge
                                     : parameter{.name = "merge", .domain = add_alone}};
  if (auto placed = place_seeds(); !placed)
    return tl::unexpected(std::move(placed.error()));
  return std::move(space_);
}

} // namespace

expected<search_space> assemble(const space_draft& draft, const std::string& origin) {
  return assembly(draft, origin).assemble();
}

} // namespace clade
