#include "genome/genes/distance.hpp"

#include <algorithm>
#include <cmath>

// Everything that can be compared is an item that differs by 0 to 1; the distance is the
// mean:
//
//     a gene that one has           1, once
//     a node that both have         the operator, 0 or 1, and an item for each setting
//     an edge that both have        enabled, delay and ends, 0 or 1, and its weight,
//                                   as numbers
//     a setting, a hyperparameter   1 if one lacks it or its kind differs; text 0 or 1
//     two numbers                   |a - b| / (|a| + |b|)
//
// The lists are sorted, so that each pair of lists is one merge.

namespace clade {

namespace {

struct tally {
  double differing = 0;
  double compared = 0;

  void add(double difference) {
    differing += difference;
    ++compared;
  }
};

double difference(double a, double b) {
  if (a == b)
    return 0;
  // Halves, so that the sum of two huge numbers stays finite.
  const double size = std::fabs(a / 2) + std::fabs(b / 2);
  return size > 0 ? std::min(std::fabs(a / 2 - b / 2) / size, 1.0) : 1;
}

double difference(const value& a, const value& b) {
  if (a.index() != b.index())
    return 1;
  if (const auto* whole = std::get_if<std::int64_t>(&a))
    return difference(static_cast<double>(*whole),
                      static_cast<double>(std::get<std::int64_t>(b)));
  if (const auto* real = std::get_if<double>(&a))
    return difference(*real, std::get<double>(b));
  return a == b ? 0 : 1;
}

/// Walks two sorted lists side by side: 1 for what one of them has, `both` for what both
/// have.
template<class T, class Key, class Both>
void walk(const std::vector<T>& a, const std::vector<T>& b, tally& sum, Key T::*key,
          Both both) {
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (j == b.size() || (i < a.size() && a[i].*key < b[j].*key)) {
      ++i;
      sum.add(1);
    } else if (i == a.size() || b[j].*key < a[i].*key) {
      ++j;
      sum.add(1);
    } else {
      both(a[i++], b[j++]);
    }
  }
}

} // namespace

double distance(const genome& a, const genome& b) {
  tally sum;
  const auto settings = [&sum](const setting& x, const setting& y) {
    sum.add(difference(x.value, y.value));
  };
  walk(a.nodes, b.nodes, sum, &node_gene::id,
       [&](const node_gene& x, const node_gene& y) {
         sum.add(x.op == y.op ? 0 : 1);
         walk(x.settings, y.settings, sum, &setting::name, settings);
       });
  walk(a.edges, b.edges, sum, &edge_gene::id,
       [&](const edge_gene& x, const edge_gene& y) {
         sum.add(x.enabled == y.enabled && x.delay == y.delay && x.from == y.from
                         && x.to == y.to
                     ? 0
                     : 1);
         sum.add(difference(x.weight, y.weight));
       });
  walk(a.hyperparameters, b.hyperparameters, sum, &setting::name, settings);
  return sum.compared > 0 ? sum.differing / sum.compared : 0;
}

} // namespace clade
