#include "engine/search/models/base/neighbours.hpp"

#include "genome/genes/unit_cube.hpp"

#include <algorithm>
#include <array>

namespace clade {

namespace {

constexpr std::array distances{-1.0 / 8, -1.0 / 64, 1.0 / 64, 1.0 / 8};
constexpr std::uint64_t few_values = 16;

bool is_fine(const parameter& p) {
  if (std::holds_alternative<real_domain>(p.domain))
    return true;
  const auto* whole = std::get_if<integer_domain>(&p.domain);
  return whole != nullptr
         && (static_cast<std::uint64_t>(whole->high)
             - static_cast<std::uint64_t>(whole->low))
                    / static_cast<std::uint64_t>(whole->step)
                >= few_values;
}

void add_settings(const std::vector<parameter>& parameters,
                  const std::vector<setting>& settings, innovation node,
                  std::vector<neighbour>& all) {
  for (const auto& p : parameters)
    if (const auto* current = find(settings, p.name))
      for (auto& to : values_near(p, *current)) {
        const bool wider = to_unit(p, to) > to_unit(p, *current);
        all.push_back({.node = node,
                       .name = p.name,
                       .to = std::move(to),
                       .width = p.width,
                       .wider = wider});
      }
}

} // namespace

std::vector<value> values_near(const parameter& p, const value& current) {
  std::vector<value> near;
  if (!contains(p, current))
    return near;
  const auto add = [&](value v) {
    if (v != current && std::ranges::find(near, v) == near.end())
      near.push_back(std::move(v));
  };
  if (const auto* list = std::get_if<choice_domain>(&p.domain); list && !list->ordered)
    for (const auto& option : list->options)
      add(option);
  for (const int steps : {-1, 1})
    if (auto to = step(p, current, steps))
      add(std::move(*to));
  if (is_fine(p))
    for (const double distance : distances)
      add(from_unit(p, std::clamp(to_unit(p, current) + distance, 0.0, 1.0)));
  return near;
}

std::vector<neighbour> neighbours(const grammar& rules, const genome& g) {
  std::vector<neighbour> all;
  add_settings(rules.hyperparameters, g.hyperparameters, input_innovation, all);
  for (const auto id : topological_order(g)) {
    const auto* node = find_node(g, id);
    if (id == input_innovation)
      continue;
    if (const auto* rule = find_operator(rules, node->op))
      add_settings(rule->settings, node->settings, id, all);
    add_settings(rules.merge, node->settings, id, all);
  }
  return all;
}

offspring changed(const grammar& rules, const genome& g, const neighbour& n,
                  random_stream& random) {
  offspring made{g, {{.kind = change_kind::change_hyperparameter, .name = n.name}}};
  auto& done = made.changes.front();
  auto* settings = &made.child.hyperparameters;
  if (n.node != input_innovation) {
    const auto node = std::ranges::find(made.child.nodes, n.node, &node_gene::id);
    settings = &node->settings;
    done.kind = !n.width  ? change_kind::change_setting
                : n.wider ? change_kind::widen
                          : change_kind::narrow;
    done.gene = short_name(g, n.node);
  }
  done.before = to_text(*find(*settings, n.name));
  done.after = to_text(n.to);
  assign(*settings, n.name, n.to);
  if (n.node == input_innovation)
    repair(rules.hyperparameters, made.child.hyperparameters, random);
  else
    repair_nodes(rules, made.child, random);
  return made;
}

} // namespace clade
