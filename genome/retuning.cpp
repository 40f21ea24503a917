#include "genome/retuning.hpp"

#include <algorithm>

// Each change lists the places where it is possible, draws one evenly, and writes what it
// did as "n3f2a1 filters 16 -> 32". Listing first, rather than trying, is what makes "no
// room" exact.

namespace clade {

namespace {

struct place {
  node_gene* node = nullptr;
  const parameter* what = nullptr;
};

/// Calls `visit(place, current value)` for every setting of every node that the rules
/// know.
template<class Visit>
void for_each_setting(const grammar& rules, genome& g, Visit visit) {
  for (node_gene& node : g.nodes) {
    const auto walk = [&](const std::vector<parameter>& parameters) {
      for (const parameter& p : parameters)
        if (const value* v = find(node.settings, p.name))
          visit(place{&node, &p}, *v);
    };
    if (const operator_rule* rule = find_operator(rules, node.op))
      walk(rule->settings);
    walk(rules.merge);
  }
}

std::string replace(std::vector<setting>& settings, const std::string& name, value v) {
  std::string text = name + " " + to_text(*find(settings, name)) + " -> " + to_text(v);
  assign(settings, name, std::move(v));
  return text;
}

change change_width(const grammar& rules, genome& g, random_stream& random, int steps) {
  struct wider {
    place where;
    value to;
  };
  std::vector<wider> possible;
  for_each_setting(rules, g, [&](const place& where, const value& v) {
    if (!where.what->width)
      return;
    if (auto to = step(*where.what, v, steps))
      possible.push_back({where, std::move(*to)});
  });
  if (possible.empty())
    return std::nullopt;
  auto& [where, to] = possible[random.below(possible.size())];
  return (steps > 0 ? "widen " : "narrow ") + short_name(g, where.node->id) + " "
         + replace(where.node->settings, where.what->name, std::move(to));
}

} // namespace

change change_operator(const grammar& rules, genome& g, random_stream& random) {
  if (g.nodes.size() == 2)
    return std::nullopt;
  // Nodes may differ in whether there is another operator: where but one has a weight,
  // only nodes of other operators can take it.
  std::vector<std::size_t> possible;
  for (std::size_t n = 2; n < g.nodes.size(); ++n)
    if (std::ranges::any_of(rules.operators, [&](const operator_rule& rule) {
          return rule.weight > 0 && rule.name != g.nodes[n].op;
        }))
      possible.push_back(n);
  if (possible.empty())
    return std::nullopt;
  node_gene& node = g.nodes[possible[random.below(possible.size())]];
  std::vector<double> weights;
  for (const operator_rule& rule : rules.operators)
    weights.push_back(rule.name == node.op ? 0 : rule.weight);
  const operator_rule& rule = rules.operators[*draw_by_weight(weights, random)];
  std::string text = short_name(g, node.id) + " " + to_text(node) + " -> ";
  const bool merges = std::ranges::any_of(rules.merge, [&](const parameter& p) {
    return find(node.settings, p.name) != nullptr;
  });
  node.op = rule.name;
  repair(rules, node, merges ? 2 : 1, random);
  return text + to_text(node);
}

change widen(const grammar& rules, genome& g, random_stream& random) {
  return change_width(rules, g, random, 1);
}

change narrow(const grammar& rules, genome& g, random_stream& random) {
  return change_width(rules, g, random, -1);
}

change change_setting(const grammar& rules, genome& g, random_stream& random) {
  std::vector<place> possible;
  for_each_setting(rules, g, [&](const place& where, const value&) {
    if (varies(*where.what))
      possible.push_back(where);
  });
  if (possible.empty())
    return std::nullopt;
  const auto [node, what] = possible[random.below(possible.size())];
  value moved = perturb(*what, *find(node->settings, what->name), random);
  return short_name(g, node->id) + " "
         + replace(node->settings, what->name, std::move(moved));
}

change change_hyperparameter(const grammar& rules, genome& g, random_stream& random) {
  std::vector<const parameter*> possible;
  for (const parameter& p : rules.hyperparameters)
    if (varies(p) && find(g.hyperparameters, p.name) != nullptr)
      possible.push_back(&p);
  if (possible.empty())
    return std::nullopt;
  const parameter& p = *possible[random.below(possible.size())];
  value moved = perturb(p, *find(g.hyperparameters, p.name), random);
  std::string text = replace(g.hyperparameters, p.name, std::move(moved));
  repair(rules.hyperparameters, g.hyperparameters, random);
  return text;
}

} // namespace clade
