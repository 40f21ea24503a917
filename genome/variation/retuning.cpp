#include "genome/variation/retuning.hpp"

#include <algorithm>

// Each change lists the places where it is possible, draws one evenly and says what it
// did. Listing first, rather than trying, is what makes "no room" exact.

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

/// Gives the setting another value. `kind` and `gene` are those of the change.
change replace(std::vector<setting>& settings, const parameter& what, value v,
               change_kind kind, std::string gene = {}) {
  auto [before, after] = change_text(what, *find(settings, what.name), v);
  assign(settings, what.name, std::move(v));
  return {.kind = kind,
          .gene = std::move(gene),
          .name = what.name,
          .before = std::move(before),
          .after = std::move(after)};
}

std::optional<change> change_width(const grammar& rules, genome& g, random_stream& random,
                                   int steps) {
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
  return replace(where.node->settings, *where.what, std::move(to),
                 steps > 0 ? change_kind::widen : change_kind::narrow,
                 short_name(g, where.node->id));
}

} // namespace

std::optional<change> change_operator(const grammar& rules, genome& g,
                                      random_stream& random) {
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
  change done{.kind = change_kind::change_operator,
              .gene = short_name(g, node.id),
              .before = to_text(node)};
  const bool merges = std::ranges::any_of(rules.merge, [&](const parameter& p) {
    return find(node.settings, p.name) != nullptr;
  });
  node.op = rule.name;
  repair(rules, node, merges ? 2 : 1, random);
  done.after = to_text(node);
  return done;
}

std::optional<change> widen(const grammar& rules, genome& g, random_stream& random) {
  return change_width(rules, g, random, 1);
}

std::optional<change> narrow(const grammar& rules, genome& g, random_stream& random) {
  return change_width(rules, g, random, -1);
}

std::optional<change> change_setting(const grammar& rules, genome& g,
                                     random_stream& random) {
  std::vector<place> possible;
  for_each_setting(rules, g, [&](const place& where, const value&) {
    if (varies(*where.what))
      possible.push_back(where);
  });
  if (possible.empty())
    return std::nullopt;
  const auto [node, what] = possible[random.below(possible.size())];
  value moved = perturb(*what, *find(node->settings, what->name), random);
  return replace(node->settings, *what, std::move(moved), change_kind::change_setting,
                 short_name(g, node->id));
}

std::optional<change> change_hyperparameter(const grammar& rules, genome& g,
                                            random_stream& random) {
  std::vector<const parameter*> possible;
  for (const parameter& p : rules.hyperparameters)
    if (varies(p) && find(g.hyperparameters, p.name) != nullptr)
      possible.push_back(&p);
  if (possible.empty())
    return std::nullopt;
  const parameter& p = *possible[random.below(possible.size())];
  value moved = perturb(p, *find(g.hyperparameters, p.name), random);
  auto done =
      replace(g.hyperparameters, p, std::move(moved), change_kind::change_hyperparameter);
  repair(rules.hyperparameters, g.hyperparameters, random);
  return done;
}

} // namespace clade
