// The line is followed from child to fitter parent. Genes are followed all at once: those
// that have reached an ancestor wait there, and the youngest ancestor with any is next,
// since parents are always older; so each is looked up once, however the lines part and
// meet.
#include "engine/report/view/explain.hpp"

#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace clade {

namespace {

/// How a node merges what enters it comes from the fitter parent whatever else does.
constexpr const char* merge_setting = "merge";

/// Operator and settings, which crossing takes together.
std::pair<std::string, std::vector<setting>> character(const node_gene& n) {
  auto settings = n.settings;
  clade::erase(settings, merge_setting);
  return {n.op, std::move(settings)};
}

bool is_reserved(innovation id) {
  return id == input_innovation || id == output_innovation;
}

std::string setting_text(const setting& s) {
  return fmt::format("{}={}", s.name, to_text(s.value));
}

/// Notes what a child has as the other parent does, and not as the fitter.
void compare_parents(const genome& child, const genome& fitter, const genome& other,
                     ancestry_step& step) {
  for (const auto& n : child.nodes) {
    const auto* theirs = find_node(other, n.id);
    const auto* mine = find_node(fitter, n.id);
    if (is_reserved(n.id) || theirs == nullptr || character(*theirs) != character(n))
      continue;
    if (mine == nullptr || character(*mine) != character(n))
      step.nodes_from_other.push_back(
          fmt::format("{} {}", short_name(child, n.id), to_text(n)));
  }
  for (const auto& s : child.hyperparameters) {
    const auto* theirs = find(other.hyperparameters, s.name);
    const auto* mine = find(fitter.hyperparameters, s.name);
    if (theirs != nullptr && *theirs == s.value && (mine == nullptr || *mine != s.value))
      step.settings_from_other.push_back(setting_text(s));
  }
}

std::optional<double> gain_of(const candidate_overview& child,
                              const candidate_overview& parent) {
  if (!child.fitness || !parent.fitness || child.epochs != parent.epochs)
    return std::nullopt;
  return *child.fitness - *parent.fitness;
}

expected<void> describe_crossing(const ancestry& from, ancestry_step& step) {
  const auto& parents = step.who.parents;
  auto other = from.find_overview(parents[1]);
  if (!other)
    return tl::unexpected(other.error());
  step.other = std::move(*other);
  std::vector<candidate> three;
  for (const auto id : {step.who.id, parents[0], parents[1]}) {
    auto one = from.find_candidate(id);
    if (!one)
      return tl::unexpected(one.error());
    three.push_back(std::move(*one));
  }
  compare_parents(*three[0].genome, *three[1].genome, *three[2].genome, step);
  return {};
}

/// Which parts of a gene are still to be followed from here.
struct trace {
  std::size_t gene = 0;
  bool settled = false; ///< Follows the value; otherwise that it is there at all.
};

bool is_live(const genome& g, const std::vector<innovation>& order, const edge_gene& e) {
  const auto has = [&](innovation id) {
    return std::ranges::find(order, id) != order.end();
  };
  return e.enabled && find_node(g, e.from) != nullptr && has(e.from) && has(e.to);
}

std::vector<inherited_gene> genes_of(const genome& g) {
  std::vector<inherited_gene> genes;
  const auto order = topological_order(g);
  for (const auto id : order)
    if (!is_reserved(id))
      genes.push_back({.what = inherited_gene::kind::node,
                       .name = short_name(g, id),
                       .innovation = to_text(id),
                       .value = to_text(*find_node(g, id))});
  for (const auto& e : g.edges)
    if (is_live(g, order, e))
      genes.push_back(
          {.what = inherited_gene::kind::edge,
           .name = fmt::format(
               "{}..{}{}", short_name(g, e.from), short_name(g, e.to),
               e.recurrent() ? fmt::format(" of {}", counted(e.delay, "step")) : ""),
           .innovation = to_text(e.id)});
  for (const auto& s : g.hyperparameters)
    genes.push_back({.what = inherited_gene::kind::hyperparameter,
                     .name = s.name,
                     .value = to_text(s.value)});
  return genes;
}

/// Compares one gene of a subject with what an ancestor has of it.
class comparison {
public:
  explicit comparison(const genome& subject) : subject_(subject) {
    for (const auto& n : subject.nodes)
      nodes_[to_text(n.id)] = &n;
    for (const auto& e : subject.edges)
      edges_[to_text(e.id)] = &e;
  }

  [[nodiscard]] bool has(const genome& ancestor, const inherited_gene& gene,
                         bool settled) const {
    switch (gene.what) {
    case inherited_gene::kind::node: {
      const auto& mine = *nodes_.at(gene.innovation);
      const auto* theirs = find_node(ancestor, mine.id);
      return theirs != nullptr && (!settled || character(*theirs) == character(mine));
    }
    case inherited_gene::kind::edge: {
      const auto* theirs = find_edge(ancestor, edges_.at(gene.innovation)->id);
      return theirs != nullptr && theirs->enabled;
    }
    case inherited_gene::kind::hyperparameter:
      break;
    }
    const auto* theirs = find(ancestor.hyperparameters, gene.name);
    return theirs != nullptr
           && (!settled || *theirs == *find(subject_.hyperparameters, gene.name));
  }

private:
  const genome& subject_;
  std::map<std::string, const node_gene*> nodes_;
  std::map<std::string, const edge_gene*> edges_;
};

/// Genes on their way back, by the ancestor that they have reached.
struct waiting {
  candidate who;
  std::vector<trace> traces;
};

expected<std::vector<candidate>> parents_of(const ancestry& from, const candidate& child,
                                            std::map<candidate_id, waiting>& there) {
  std::vector<candidate> parents;
  for (const auto id : child.parents) {
    if (id >= child.id) // Damaged rows must not lead in a circle.
      continue;
    const auto known = there.find(id);
    auto one = known != there.end() ? known->second.who : from.find_candidate(id);
    if (!one)
      return tl::unexpected(one.error());
    parents.push_back(std::move(*one));
  }
  return parents;
}

} // namespace

expected<std::vector<ancestry_step>> explain_line(const ancestry& from, candidate_id id) {
  std::vector<ancestry_step> line;
  for (auto next = id;;) {
    auto who = from.find_overview(next);
    if (!who)
      return tl::unexpected(who.error());
    if (!line.empty())
      line.back().gain = gain_of(line.back().who, *who);
    line.push_back({.who = std::move(*who)});
    auto& step = line.back();
    auto born = from.find_candidate(next);
    if (!born)
      return tl::unexpected(born.error());
    step.changes = std::move(born->changes);
    if (step.who.parents.size() > 1)
      if (auto ok = describe_crossing(from, step); !ok)
        return tl::unexpected(ok.error());
    if (step.who.parents.empty() || step.who.parents.front() >= next)
      break;
    next = step.who.parents.front();
  }
  std::ranges::reverse(line);
  return line;
}

expected<std::vector<inherited_gene>> trace_genes(const ancestry& from, candidate_id id) {
  const auto subject = from.find_candidate(id);
  if (!subject)
    return tl::unexpected(subject.error());
  auto genes = genes_of(*subject->genome);
  const comparison compare(*subject->genome);
  std::map<candidate_id, waiting> there;
  there.emplace(id, waiting{.who = *subject});
  for (std::size_t g = 0; g < genes.size(); ++g)
    for (const bool settled : {false, true})
      there[id].traces.push_back({.gene = g, .settled = settled});
  while (!there.empty()) {
    const auto here = std::move(there.extract(std::prev(there.end())).mapped());
    const auto parents = parents_of(from, here.who, there);
    if (!parents)
      return tl::unexpected(parents.error());
    for (const auto& t : here.traces) {
      auto& gene = genes[t.gene];
      const auto heir = std::ranges::find_if(*parents, [&](const candidate& p) {
        return compare.has(*p.genome, gene, t.settled);
      });
      if (heir == parents->end()) {
        (t.settled ? gene.settled : gene.introduced) = here.who.id;
        continue;
      }
      if (here.who.id == id && t.settled)
        gene.from = heir->id;
      there.try_emplace(heir->id, waiting{.who = *heir})
          .first->second.traces.push_back(t);
    }
  }
  return genes;
}

namespace {

expected<std::vector<branch_importance>> measured_branches(const store& s,
                                                           const explanation& e) {
  std::vector<branch_importance> all;
  if (!e.subject.result)
    return all;
  auto evaluated = s.find_evaluation(e.subject.id);
  if (!evaluated)
    return tl::unexpected(evaluated.error());
  for (auto& b : evaluated->branches.value_or(std::vector<branch_importance>{}))
    // A copy of an equal network's evaluation may name genes of that one.
    if (const auto gene = std::ranges::find(e.genes, b.gene, &inherited_gene::innovation);
        gene != e.genes.end() && gene->value.find(b.parameter + "=") != std::string::npos)
      all.push_back({gene->name, b.parameter, b.importance});
  std::ranges::stable_sort(all, std::ranges::greater{}, &branch_importance::importance);
  return all;
}

} // namespace

expected<explanation> explain(const store& s, const run_view& run, candidate_id id) {
  if (id == 0)
    id = run.overview.champion != 0 ? run.overview.champion : run.overview.best;
  if (id == 0)
    return fail(error_kind::not_found,
                run.file.string()
                    + ": no candidate has succeeded yet, so there is no "
                      "champion to explain");
  const ancestry from{
      .find_candidate = [&](candidate_id one) { return s.find_candidate(one); },
      .find_overview = [&](candidate_id one) { return s.find_overview(one); }};
  explanation e{.run = run.name, .state = run.state(), .goal = run.overview.goal};
  auto line = explain_line(from, id);
  if (!line)
    return tl::unexpected(line.error());
  e.line = std::move(*line);
  e.subject = e.line.back().who;
  auto genes = trace_genes(from, id);
  if (!genes)
    return tl::unexpected(genes.error());
  e.genes = std::move(*genes);
  auto branches = measured_branches(s, e);
  if (!branches)
    return tl::unexpected(branches.error());
  e.branches = std::move(*branches);
  const auto ancestors = s.ancestors(id);
  if (!ancestors)
    return tl::unexpected(ancestors.error());
  e.ancestors = ancestors->size();
  for (const auto one : *ancestors) {
    const auto on_line = std::ranges::lower_bound(
        e.line, one, {}, [](const ancestry_step& step) { return step.who.id; });
    if (on_line->who.id == one || e.others.size() == explanation::most_others)
      continue;
    auto other = s.find_overview(one);
    if (!other)
      return tl::unexpected(other.error());
    e.others.push_back(std::move(*other));
  }
  return e;
}

} // namespace clade
