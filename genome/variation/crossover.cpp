#include "genome/variation/crossover.hpp"

#include "genome/genes/wiring.hpp"

// The child starts as the fitter parent, which settles its graph. A node that the other
// parent has too comes from either, operator and settings together, as settings mean
// little beside another operator; how it merges stays the fitter's, as does which edges
// enter it; of settings that are derivations a part may come from each. Hyperparameters are taken one by one in the grammar's order, each from either
// parent where it applies to what was taken before: a child that gets its optimiser from
// one parent gets its momentum there as well.

namespace clade {

namespace {

void take_node(const grammar& rules, node_gene& mine, const node_gene& theirs) {
  std::vector<setting> merge;
  for (const parameter& p : rules.merge)
    if (const value* v = find(mine.settings, p.name))
      merge.push_back({p.name, *v});
  mine.op = theirs.op;
  mine.settings = theirs.settings;
  for (setting& s : merge)
    assign(mine.settings, s.name, std::move(s.value));
}

/// Puts parts of the other parent's derivations into those of a node, which is as one of
/// the two parents has it.
void cross_derivations(const grammar& rules, const node_gene& fitter,
                       const node_gene& other, node_gene& child, random_stream& random) {
  const operator_rule* rule = find_operator(rules, child.op);
  if (rule == nullptr || fitter.op != other.op)
    return;
  for (const parameter& p : rule->settings) {
    if (!std::holds_alternative<derivation_domain>(p.domain))
      continue;
    const value* mine = find(child.settings, p.name);
    const value* a = find(fitter.settings, p.name);
    const value* b = find(other.settings, p.name);
    if (a == nullptr || b == nullptr || !contains(p, *a) || !contains(p, *b))
      continue;
    const value* theirs = *mine == *a ? b : a;
    assign(child.settings, p.name, crossed(p, *mine, *theirs, random));
  }
}

std::vector<setting> inherit(const std::vector<parameter>& parameters,
                             const std::vector<setting>& mine,
                             const std::vector<setting>& theirs, random_stream& random) {
  std::vector<setting> taken;
  taken.reserve(parameters.size());
  for (const parameter& p : parameters) {
    if (!applies(p, taken))
      continue;
    const value* a = find(mine, p.name);
    const value* b = find(theirs, p.name);
    const value* chosen = a == nullptr || (b != nullptr && random.chance(0.5)) ? b : a;
    assign(taken, p.name, chosen != nullptr ? *chosen : sample(p, random));
  }
  return taken;
}

} // namespace

genome cross(const grammar& rules, const genome& fitter, const genome& other,
             random_stream& random) {
  genome child = fitter;
  for (node_gene& node : child.nodes) {
    const node_gene* theirs = find_node(other, node.id);
    if (theirs == nullptr || node.id == input_innovation || node.id == output_innovation)
      continue;
    if (random.chance(0.5))
      take_node(rules, node, *theirs);
    cross_derivations(rules, *find_node(fitter, node.id), *theirs, node, random);
  }
  for (edge_gene& edge : child.edges) {
    const edge_gene* theirs = find_edge(other, edge.id);
    if (theirs != nullptr && theirs->weight != edge.weight && random.chance(0.5))
      edge.weight = theirs->weight;
  }
  repair_nodes(rules, child, random);
  child.hyperparameters = inherit(rules.hyperparameters, fitter.hyperparameters,
                                  other.hyperparameters, random);
  repair(rules.hyperparameters, child.hyperparameters, random);
  return child;
}

} // namespace clade
