#include "genome/genes/grammar.hpp"

#include "genome/base/utf8.hpp"
#include "genome/genes/wiring.hpp"

#include <fmt/format.h>

#include <algorithm>

// Lists of parameters are walked front to back, and conditions look back: when a
// parameter's turn comes, those it depends on are settled. Repair and check are the same
// walk, one mending what the other reports:
//
//     applies, and its value is there and in the domain    fine
//     applies otherwise                                    drawn       an error
//     does not apply, but is there                         dropped     an error
//
// and so is a setting that no parameter names. A node has two such lists, its operator's
// and, where several edges enter, the merge's.

namespace clade {

namespace {

tl::unexpected<error> refuse(std::string message) {
  return fail(error_kind::invalid_input, std::move(message));
}

bool named_in(const std::vector<parameter>& parameters, std::string_view name) {
  return std::ranges::find(parameters, name, &parameter::name) != parameters.end();
}

void settle(const std::vector<parameter>& parameters, std::vector<setting>& settings,
            random_stream& random) {
  for (const parameter& p : parameters) {
    if (!applies(p, settings)) {
      clade::erase(settings, p.name);
      continue;
    }
    const value* v = find(settings, p.name);
    if (v == nullptr || !contains(p, *v))
      assign(settings, p.name, sample(p, random));
  }
}

/// A text in quotes, so that "16" and 16 look different.
std::string literal(const value& v) {
  const auto* text = std::get_if<std::string>(&v);
  return text == nullptr ? to_text(v) : fmt::format("\"{}\"", clipped(*text));
}

/// Returns what is wrong with a value that a parameter does not contain.
std::string not_contained(const parameter& p, const value& v) {
  const auto* text = std::get_if<std::string>(&v);
  const auto* trees = std::get_if<derivation_domain>(&p.domain);
  if (text != nullptr && trees != nullptr)
    return fmt::format("{}: {}", p.name, parse_derivation(*trees, *text).error().message);
  const auto* choice = std::get_if<choice_domain>(&p.domain);
  const bool of_texts =
      choice != nullptr && std::ranges::any_of(choice->options, [](const value& option) {
        return std::holds_alternative<std::string>(option);
      });
  return fmt::format("{} cannot be {}{}", p.name, literal(v),
                     text != nullptr && !of_texts
                         ? ", which is a text: write a number, without quotes"
                         : "");
}

/// The settings that no parameter names.
std::vector<setting> without(const std::vector<parameter>& parameters,
                             std::vector<setting> settings) {
  std::erase_if(settings, [&](const setting& s) { return named_in(parameters, s.name); });
  return settings;
}

/// Counts those that are there and right.
expected<std::size_t> check_list(const std::vector<parameter>& parameters,
                                 const std::vector<setting>& settings) {
  std::size_t right = 0;
  for (const parameter& p : parameters) {
    const value* v = find(settings, p.name);
    if (!applies(p, settings)) {
      if (v != nullptr)
        return refuse(p.name + " does not apply here");
      continue;
    }
    if (v == nullptr)
      return refuse(p.name + " is missing");
    if (!contains(p, *v))
      return refuse(not_contained(p, *v));
    ++right;
  }
  return right;
}

std::vector<setting> unused_settings(const grammar& rules, const node_gene& node,
                                     std::size_t inputs) {
  auto unused = node.settings;
  if (const auto* rule = find_operator(rules, node.op))
    unused = without(rule->settings, std::move(unused));
  return inputs > 1 ? without(rules.merge, std::move(unused)) : unused;
}

expected<void> check_node(const grammar& rules, const node_gene& node,
                          std::size_t inputs) {
  std::size_t right = 0;
  if (node.id != input_innovation && node.id != output_innovation) {
    const operator_rule* rule = find_operator(rules, node.op);
    if (rule == nullptr)
      return refuse("there is no operator " + node.op);
    const auto own = check_list(rule->settings, node.settings);
    if (!own)
      return tl::unexpected(own.error());
    right += *own;
  }
  if (inputs > 1) {
    const auto merge = check_list(rules.merge, node.settings);
    if (!merge)
      return tl::unexpected(merge.error());
    right += *merge;
  }
  if (right != node.settings.size())
    return refuse("has settings that it has no use for: "
                  + to_text(unused_settings(rules, node, inputs)));
  return {};
}

expected<void> check_edges(const grammar& rules, const genome& g, const wiring& wires) {
  std::size_t enabled = 0, live = 0, recurrent = 0;
  for (std::size_t e = 0; e < g.edges.size(); ++e) {
    const edge_gene& edge = g.edges[e];
    if (auto ok = check(rules, edge); !ok)
      return ok;
    recurrent += edge.recurrent();
    enabled += edge.is_forward();
    live += edge.is_forward() && wires.live_edge(e);
  }
  if (recurrent > rules.max_recurrent)
    return refuse(fmt::format("{} recurrent edges; at most {} are allowed", recurrent,
                              rules.max_recurrent));
  const std::size_t chain = wires.order().size() - 1;
  if (live > chain + rules.max_skips || enabled > rules.max_nodes + 1 + rules.max_skips)
    return refuse(fmt::format("{} skip edges of {} enabled ones; at most {} are allowed",
                              live - chain, enabled, rules.max_skips));
  const auto disabled = g.edges.size() - enabled - recurrent;
  if (disabled > rules.max_nodes)
    return refuse(fmt::format("{} disabled edges; at most {} are allowed", disabled,
                              rules.max_nodes));
  return {};
}

} // namespace

bool applies(const parameter& p, const std::vector<setting>& settings) {
  if (!p.when)
    return true;
  const value* v = find(settings, p.when->parameter);
  return v != nullptr && std::ranges::find(p.when->values, *v) != p.when->values.end();
}

std::vector<setting> sample(const std::vector<parameter>& parameters,
                            random_stream& random) {
  std::vector<setting> settings;
  settings.reserve(parameters.size());
  settle(parameters, settings, random);
  return settings;
}

void repair(const std::vector<parameter>& parameters, std::vector<setting>& settings,
            random_stream& random) {
  std::erase_if(settings,
                [&](const setting& s) { return !named_in(parameters, s.name); });
  settle(parameters, settings, random);
}

void repair(const grammar& rules, node_gene& node, std::size_t inputs,
            random_stream& random) {
  const operator_rule* rule = find_operator(rules, node.op);
  const bool merges = inputs > 1;
  std::erase_if(node.settings, [&](const setting& s) {
    return !(rule != nullptr && named_in(rule->settings, s.name))
           && !(merges && named_in(rules.merge, s.name));
  });
  if (rule != nullptr)
    settle(rule->settings, node.settings, random);
  if (merges)
    settle(rules.merge, node.settings, random);
}

void repair_nodes(const grammar& rules, genome& g, random_stream& random) {
  std::vector<std::size_t> inputs(g.nodes.size(), 0);
  for (const edge_gene& edge : g.edges) {
    const auto to = index_of(g, edge.to);
    if (edge.enabled && to != wiring::none)
      ++inputs[to];
  }
  for (std::size_t n = 0; n < g.nodes.size(); ++n)
    repair(rules, g.nodes[n], inputs[n], random);
}

bool has_layers(const grammar& rules) {
  return rules.max_nodes > 0 && !rules.operators.empty();
}

const operator_rule* find_operator(const grammar& rules, std::string_view name) {
  const auto it = std::ranges::find(rules.operators, name, &operator_rule::name);
  return it != rules.operators.end() ? &*it : nullptr;
}

expected<void> check(const grammar& rules, const edge_gene& edge) {
  const auto wrong = [&](const std::string& why) {
    return refuse(
        fmt::format("edge {}..{} {}", to_text(edge.from), to_text(edge.to), why));
  };
  if (edge.weight != 1 || (edge.recurrent() && rules.max_recurrent == 0))
    return wrong("is recurrent or weighted");
  if (edge.delay > rules.longest_delay)
    return wrong(fmt::format("is delayed by {} steps; at most {} are allowed", edge.delay,
                             rules.longest_delay));
  if (edge.recurrent()
      && (!edge.enabled || edge.from == output_innovation
          || edge.to == output_innovation))
    return wrong("is recurrent, and disabled or joined to the output");
  return {};
}

expected<void> check(const grammar& rules, const genome& g) {
  if (auto ok = check_structure(g); !ok)
    return ok;
  const wiring wires(g);
  if (g.nodes.size() - 2 > rules.max_nodes)
    return refuse(fmt::format("{} nodes; at most {} are allowed", g.nodes.size() - 2,
                              rules.max_nodes));
  if (auto ok = check_edges(rules, g, wires); !ok)
    return ok;
  for (std::size_t n = 0; n < g.nodes.size(); ++n)
    if (auto ok = check_node(rules, g.nodes[n], wires.entering(n).size()); !ok)
      return fail_in(short_name(g, g.nodes[n].id), std::move(ok.error()));
  if (auto ok = check_list(rules.hyperparameters, g.hyperparameters); !ok)
    return fail_in("hyperparameters", ok.error());
  else if (*ok != g.hyperparameters.size())
    return refuse("hyperparameters that the space does not have: "
                  + to_text(without(rules.hyperparameters, g.hyperparameters)));
  return {};
}

} // namespace clade
