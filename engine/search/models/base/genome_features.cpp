// The row, block after block:
//
//     hyperparameters   one block for each that varies
//     sums              one block for each domain that several of them share
//     graph             nodes, skips, depth; operators; pairs; settings of each operator
//     added             one block for each number
//
// In each block the absolute differences of two rows add up to at most 1: shares and
// one-hot columns are halved, and a number that may be absent is halved beside its
// absence.
#include "engine/search/models/base/genome_features.hpp"

#include "genome/base/portable_math.hpp"

#include <algorithm>
#include <cmath>

namespace clade {

namespace {

bool same_domain(const parameter& a, const parameter& b) {
  if (a.domain.index() != b.domain.index())
    return false;
  if (const auto* x = std::get_if<real_domain>(&a.domain)) {
    const auto& y = std::get<real_domain>(b.domain);
    return x->low == y.low && x->high == y.high && x->log == y.log;
  }
  if (const auto* x = std::get_if<integer_domain>(&a.domain)) {
    const auto& y = std::get<integer_domain>(b.domain);
    return x->low == y.low && x->high == y.high && x->step == y.step && x->log == y.log;
  }
  if (const auto* x = std::get_if<derivation_domain>(&a.domain))
    return *x == std::get<derivation_domain>(b.domain);
  const auto& x = std::get<choice_domain>(a.domain);
  const auto& y = std::get<choice_domain>(b.domain);
  return x.ordered == y.ordered && x.options == y.options;
}

/// How many options it chooses among without an order; 0 for an order or a number.
std::size_t options(const parameter& p) {
  const auto* choice = std::get_if<choice_domain>(&p.domain);
  return choice != nullptr && !choice->ordered ? choice->options.size() : 0;
}

std::size_t option_of(const parameter& p, const value& v) {
  const auto& all = std::get<choice_domain>(p.domain).options;
  return static_cast<std::size_t>(std::ranges::find(all, v) - all.begin());
}

double part(double v, double low, double high, bool log) {
  if (!(low < high))
    return 0.5;
  if (log) {
    v = portable_log(v);
    low = portable_log(low);
    high = portable_log(high);
  }
  return std::clamp((v - low) / (high - low), 0.0, 1.0);
}

/// Returns the place of a value in an ordered domain, from 0 to 1.
double place(const parameter& p, const value& v) {
  if (const auto* real = std::get_if<real_domain>(&p.domain))
    return part(std::get<double>(v), real->low, real->high, real->log);
  if (const auto* whole = std::get_if<integer_domain>(&p.domain))
    return part(static_cast<double>(std::get<std::int64_t>(v)),
                static_cast<double>(whole->low), static_cast<double>(whole->high),
                whole->log);
  const std::size_t count = std::get<choice_domain>(p.domain).options.size();
  return count < 2
             ? 0.5
             : static_cast<double>(option_of(p, v)) / static_cast<double>(count - 1);
}

std::size_t productions(const production_rules& rules) {
  std::size_t sum = 0;
  for (const auto& rule : rules.all())
    sum += rule.productions.size();
  return sum;
}

void count_productions(const production_rules& rules, const derivation& d, double each,
                       double* at) {
  std::size_t place = d.production;
  for (std::size_t r = 0; r < d.rule; ++r)
    place += rules.all()[r].productions.size();
  at[place] += each;
  for (const auto& part : d.parts)
    count_productions(rules, part, each, at);
}

/// A column for each production, its share of the derivation, and one for the size.
void put_derivation(const derivation_domain& domain, const value& v, double share,
                    double* at) {
  const auto d = *parse_derivation(domain, std::get<std::string>(v));
  const auto size = static_cast<double>(size_of(d));
  count_productions(*domain.rules, d, 0.125 * share / size, at);
  at[productions(*domain.rules)] +=
      0.25 * share * size / static_cast<double>(domain.size);
}

const value* present(const parameter& p, const std::vector<setting>& settings) {
  const value* v = find(settings, p.name);
  return v != nullptr && contains(p, *v) ? v : nullptr;
}

/// How many columns say which value a parameter has.
std::size_t columns_of(const parameter& p) {
  if (const auto* trees = std::get_if<derivation_domain>(&p.domain))
    return productions(*trees->rules) + 1;
  return std::max<std::size_t>(options(p), 1);
}

double share(std::size_t n, std::size_t of) {
  return std::min(1.0, static_cast<double>(n) / static_cast<double>(of));
}

} // namespace

std::size_t genome_features::add_block(std::size_t size, feature_block::kind what) {
  const std::size_t begin = width_;
  blocks_.push_back({begin, size, what});
  width_ += size;
  return begin;
}

genome_features::column genome_features::add_parameter(const parameter& p, bool absent) {
  using enum feature_block::kind;
  const std::size_t values = columns_of(p);
  return {p, add_block(values + (absent ? 1 : 0), options(p) > 0 ? choice : number),
          absent};
}

/// Adds `share` of what the settings say about one parameter.
void genome_features::put(const column& c, const std::vector<setting>& settings,
                          double share, std::vector<double>& row) {
  const std::size_t values = columns_of(c.what);
  const value* v = present(c.what, settings);
  double* at = row.data() + c.begin;
  if (v == nullptr && c.absent)
    at[values] += 0.5 * share;
  if (const auto* trees = std::get_if<derivation_domain>(&c.what.domain)) {
    if (v != nullptr)
      put_derivation(*trees, *v, share, at);
  } else if (options(c.what) > 0) {
    if (v != nullptr)
      at[option_of(c.what, *v)] += 0.5 * share;
  } else {
    const double where = v == nullptr ? 0.5 : place(c.what, *v);
    at[0] += share * (c.absent ? 0.25 + 0.5 * where : where);
  }
}

void genome_features::add_bags() {
  std::vector<bool> taken(hyperparameters_.size());
  for (std::size_t i = 0; i < hyperparameters_.size(); ++i) {
    if (taken[i])
      continue;
    bag b;
    for (std::size_t j = i; j < hyperparameters_.size(); ++j)
      if (same_domain(hyperparameters_[i].what, hyperparameters_[j].what)) {
        taken[j] = true;
        b.members.push_back(j);
      }
    if (b.members.size() < 2)
      continue;
    bool absent = false;
    for (const std::size_t j : b.members) {
      blocks_[j].summed = true; // blocks begin with one for each hyperparameter
      absent = absent || hyperparameters_[j].absent;
    }
    b.sum = add_parameter(hyperparameters_[i].what, absent);
    blocks_.back().what = feature_block::kind::sum;
    bags_.push_back(std::move(b));
  }
}

genome_features::genome_features(const grammar& rules, std::size_t added)
    : operators_(rules.operators),
      max_nodes_(std::max<std::size_t>(rules.max_nodes, 1)),
      max_skips_(std::max<std::size_t>(rules.max_skips, 1)),
      added_(added) {
  using enum feature_block::kind;
  for (const parameter& p : rules.hyperparameters)
    if (varies(p))
      hyperparameters_.push_back(add_parameter(p, p.when.has_value()));
  add_bags();
  if (rules.max_nodes == 0)
    operators_.clear();
  if (!operators_.empty()) {
    size_begin_ = add_block(1, number);
    add_block(1, number);
    add_block(1, number);
    add_block(operators_.size(), number);
    const std::size_t kinds = operators_.size() + 2;
    add_block(kinds * kinds, number);
  }
  for (const operator_rule& op : operators_) {
    std::vector<column> made;
    for (const parameter& p : op.settings)
      if (varies(p))
        made.push_back(add_parameter(p, true));
    of_operator_.push_back(std::move(made));
  }
  if (!operators_.empty())
    for (const parameter& p : rules.merge)
      if (varies(p))
        merge_.push_back(add_parameter(p, true));
  added_begin_ = width_;
  for (std::size_t i = 0; i < added_; ++i)
    add_block(1, number);
}

void genome_features::encode_graph(const genome& g, std::vector<double>& row) const {
  const wiring wires(g);
  const std::size_t kinds = operators_.size() + 2;
  const auto kind_of = [&](const node_gene& n) {
    const auto it = std::ranges::find(operators_, n.op, &operator_rule::name);
    if (it != operators_.end())
      return static_cast<std::size_t>(it - operators_.begin());
    return n.id == input_innovation ? operators_.size() : operators_.size() + 1;
  };
  std::vector<std::size_t> kind(g.nodes.size()), count(kinds), depth(g.nodes.size());
  for (std::size_t i = 0; i < g.nodes.size(); ++i)
    kind[i] = kind_of(g.nodes[i]);
  std::size_t edges = 0, deepest = 0;
  for (std::size_t e = 0; e < g.edges.size(); ++e)
    edges += wires.live_edge(e) && !g.edges[e].recurrent() ? 1 : 0;
  double* sizes = row.data() + size_begin_;
  double* shares = sizes + 3;
  double* pairs = shares + operators_.size();
  for (const auto n : wires.order()) {
    ++count[kind[n]];
    for (const auto e : wires.leaving(n)) {
      if (!wires.live_edge(e) || g.edges[e].recurrent())
        continue;
      const auto to = wires.to(e);
      depth[to] = std::max(depth[to], depth[n] + 1);
      deepest = std::max(deepest, depth[to]);
      pairs[kind[n] * kinds + kind[to]] += 0.5 / static_cast<double>(edges);
    }
  }
  const std::size_t live = wires.order().size(), layers = live > 2 ? live - 2 : 0;
  sizes[0] = share(layers, max_nodes_);
  sizes[1] = share(edges + 1 > live ? edges + 1 - live : 0, max_skips_);
  sizes[2] = share(deepest, max_nodes_ + 1);
  for (std::size_t o = 0; o < operators_.size(); ++o)
    shares[o] = layers == 0 ? 0 : 0.5 * share(count[o], layers);
  for (std::size_t o = 0; o < operators_.size(); ++o)
    put_average(
        g, wires, of_operator_[o], [&](std::size_t n) { return kind[n] == o; }, row);
  put_average(
      g, wires, merge_, [&](std::size_t n) { return wires.entering(n).size() > 1; }, row);
}

void genome_features::put_average(const genome& g, const wiring& wires,
                                  const std::vector<column>& settings,
                                  const std::function<bool(std::size_t)>& of,
                                  std::vector<double>& row) {
  if (settings.empty())
    return;
  const auto count =
      std::ranges::count_if(wires.order(), [&](wiring::index n) { return of(n); });
  for (const column& c : settings) {
    if (count == 0)
      put(c, {}, 1, row);
    for (const auto n : wires.order())
      if (of(n))
        put(c, g.nodes[n].settings, 1 / static_cast<double>(count), row);
  }
}

std::vector<double> genome_features::encode(const genome& g,
                                            std::span<const double> added) const {
  std::vector<double> row(width_);
  for (const column& c : hyperparameters_)
    put(c, g.hyperparameters, 1, row);
  for (const bag& b : bags_)
    for (const std::size_t i : b.members)
      put({hyperparameters_[i].what, b.sum.begin, b.sum.absent}, g.hyperparameters,
          1 / static_cast<double>(b.members.size()), row);
  if (!operators_.empty())
    encode_graph(g, row);
  for (std::size_t i = 0; i < std::min(added_, added.size()); ++i)
    row[added_begin_ + i] =
        std::isfinite(added[i]) ? std::clamp(added[i], 0.0, 1.0) : 0.5;
  return row;
}

} // namespace clade
