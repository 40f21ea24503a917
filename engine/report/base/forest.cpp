// Permutation importance of a random forest (Breiman, "Random forests", Machine Learning
// 45, 2001). Trees are grown on bootstrap samples. On the examples that a tree did not
// see the error is measured before and after a feature's values are shuffled; what it
// rises by is what the feature matters.
//
// Features are put into at most 64 bins first, so that a split is found by one pass over
// a node's examples. Words are numbered by their mean target, by which the best split of
// categories is one of numbers (Fisher, 1958). An example that does not have a feature
// (the momentum of Adam) stands in the middle, and is left out where that is shuffled.
//
// tools/dashboard/src/forest.ts computes the same in the same order, so that the page and
// the report agree: change both, or none.
#include "engine/report/base/forest.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace clade {

namespace {

constexpr std::size_t most_bins = 64, least_leaf = 3, deepest = 12;
constexpr std::uint32_t seed = 20'261'122;

/// xorshift32 (Marsaglia, 2003).
class whole_numbers {
public:
  /// Returns one below `n`.
  std::size_t operator()(std::size_t n) {
    at_ ^= at_ << 13U;
    at_ ^= at_ >> 17U;
    at_ ^= at_ << 5U;
    return at_ % n;
  }

private:
  std::uint32_t at_ = seed | 1U;
};

/// A feature whose values are bins.
struct binned {
  std::vector<std::uint8_t> bins; ///< The bin of each example.
  std::size_t count = 0;
  std::vector<bool> known; ///< Whether the example has it.
};

struct node {
  std::size_t feature = 0;
  int bin = -1; ///< Bins up to this one go left; -1: a leaf.
  std::size_t left = 0, right = 0;
  double value = 0;
};
using tree = std::vector<node>;
using example_list = std::vector<std::size_t>;

std::map<std::string, double> numbers_of_words(const std::vector<feature_value>& values,
                                               const std::vector<double>& targets) {
  struct mean {
    const std::string* word;
    double sum = 0, count = 0;
  };
  std::vector<mean> means; // In the order in which they are met.
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto* word = std::get_if<std::string>(&values[i]);
    if (word == nullptr)
      continue;
    const auto [place, fresh] = places.emplace(*word, means.size());
    if (fresh)
      means.push_back({.word = word});
    means[place->second].sum += targets[i];
    ++means[place->second].count;
  }
  std::ranges::stable_sort(means, {}, [](const mean& m) { return m.sum / m.count; });
  std::map<std::string, double> numbers;
  for (std::size_t i = 0; i < means.size(); ++i)
    numbers[*means[i].word] = static_cast<double>(i);
  return numbers;
}

/// The upper edge of each bin of sorted values: where there are many of these, as many
/// examples in each.
std::vector<double> edges_of(const std::vector<double>& sorted) {
  auto edges = sorted;
  edges.erase(std::ranges::unique(edges).begin(), edges.end());
  if (edges.size() <= most_bins)
    return edges;
  edges.clear();
  for (std::size_t i = 0; i < most_bins; ++i)
    edges.push_back(sorted[(i + 1) * sorted.size() / most_bins - 1]);
  edges.erase(std::ranges::unique(edges).begin(), edges.end());
  return edges;
}

binned into_bins(const std::vector<feature_value>& values,
                 const std::vector<double>& targets) {
  const auto words = numbers_of_words(values, targets);
  std::vector<double> numbers(values.size()), sorted;
  binned out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    out.known.push_back(!std::holds_alternative<std::monostate>(values[i]));
    if (const auto* word = std::get_if<std::string>(&values[i]))
      numbers[i] = words.at(*word);
    else if (const auto* number = std::get_if<double>(&values[i]))
      numbers[i] = *number;
    if (out.known[i])
      sorted.push_back(numbers[i]);
  }
  std::ranges::sort(sorted);
  const double middle = sorted.empty() ? 0 : sorted[sorted.size() / 2];
  const auto edges = edges_of(sorted);
  out.count = edges.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto at = std::ranges::lower_bound(edges, out.known[i] ? numbers[i] : middle);
    const auto bin = std::min<std::ptrdiff_t>(
        at - edges.begin(), std::max<std::ptrdiff_t>(std::ssize(edges) - 1, 0));
    out.bins.push_back(static_cast<std::uint8_t>(bin));
  }
  return out;
}

struct split {
  double gain = 1e-12;
  std::size_t feature = 0;
  int bin = -1;
};

/// Grows one tree.
class grower {
public:
  grower(const std::vector<binned>& features, const std::vector<double>& targets,
         whole_numbers& random)
      : features_(features),
        targets_(targets),
        random_(random) {}

  tree grow(const example_list& sample) {
    made_.clear();
    grow_node(sample, 0);
    return std::move(made_);
  }

private:
  [[nodiscard]] double sum_of(const example_list& examples) const {
    double sum = 0;
    for (const auto i : examples)
      sum += targets_[i];
    return sum;
  }

  void try_feature(std::size_t f, const example_list& examples, double all,
                   split& best) const {
    const auto& [bins, count, known] = features_[f];
    std::vector<double> sums(count);
    std::vector<std::size_t> counts(count);
    for (const auto i : examples) {
      sums[bins[i]] += targets_[i];
      ++counts[bins[i]];
    }
    const auto size = static_cast<double>(examples.size());
    double sum = 0;
    std::size_t left = 0;
    for (std::size_t bin = 0; bin + 1 < count; ++bin) {
      sum += sums[bin];
      left += counts[bin];
      const auto right = examples.size() - left;
      if (left < least_leaf || right < least_leaf)
        continue;
      const double gain = sum * sum / static_cast<double>(left)
                          + (all - sum) * (all - sum) / static_cast<double>(right)
                          - all * all / size;
      if (gain > best.gain)
        best = {.gain = gain, .feature = f, .bin = static_cast<int>(bin)};
    }
  }

  /// The split that leaves the smallest squared error, among a third of the features.
  split best_split(const example_list& examples) {
    const double all = sum_of(examples);
    split best;
    const auto tried = std::max<std::size_t>(1, (features_.size() + 2) / 3);
    std::vector<std::size_t> order(features_.size());
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t t = 0; t < tried; ++t) {
      std::swap(order[t], order[t + random_(order.size() - t)]);
      try_feature(order[t], examples, all, best);
    }
    return best;
  }

  std::size_t grow_node(const example_list& examples, std::size_t depth) {
    const auto at = made_.size();
    made_.push_back({.value = sum_of(examples) / static_cast<double>(examples.size())});
    if (depth == deepest || examples.size() < 2 * least_leaf)
      return at;
    const auto found = best_split(examples);
    if (found.bin < 0)
      return at;
    example_list low, high;
    for (const auto i : examples)
      (features_[found.feature].bins[i] <= found.bin ? low : high).push_back(i);
    const auto left = grow_node(low, depth + 1);
    const auto right = grow_node(high, depth + 1);
    auto& made = made_[at];
    made.feature = found.feature;
    made.bin = found.bin;
    made.left = left;
    made.right = right;
    return at;
  }

  const std::vector<binned>& features_;
  const std::vector<double>& targets_;
  whole_numbers& random_;
  tree made_;
};

template<class BinOf>
double predicted(const tree& t, BinOf bin_of) {
  const auto* at = &t[0];
  while (at->bin >= 0)
    at = &t[bin_of(at->feature) <= at->bin ? at->left : at->right];
  return at->value;
}

/// Sums up over the trees.
class sums {
public:
  sums(const std::vector<binned>& features, const std::vector<double>& targets)
      : features_(features),
        targets_(targets),
        rises_(features.size()),
        predicted_(targets.size()),
        times_(targets.size()) {}

  /// `unseen`: the examples that `t` was not grown on.
  void add(const tree& t, const example_list& unseen, whole_numbers& random) {
    measured_ += static_cast<double>(unseen.size());
    std::vector<double> before;
    for (const auto i : unseen) {
      before.push_back(predicted(t, [&](std::size_t f) { return features_[f].bins[i]; }));
      predicted_[i] += before.back();
      ++times_[i];
    }
    std::set<std::size_t> done;
    for (const auto& n : t)
      if (n.bin >= 0 && done.insert(n.feature).second)
        shuffle(t, n.feature, unseen, before, random);
  }

  [[nodiscard]] forest_importance end() const {
    forest_importance out{.shares = rises_};
    double all = 0;
    for (auto& share : out.shares) {
      share = std::max(0.0, share / std::max(1.0, measured_));
      all += share;
    }
    for (auto& share : out.shares)
      share = all > 0 ? share / all : 0;
    out.explained = explained();
    return out;
  }

private:
  void shuffle(const tree& t, std::size_t f, const example_list& unseen,
               const std::vector<double>& before, whole_numbers& random) {
    example_list own;
    for (std::size_t at = 0; at < unseen.size(); ++at)
      if (features_[f].known[unseen[at]])
        own.push_back(at);
    auto shuffled = own;
    for (std::size_t i = shuffled.size(); i-- > 1;)
      std::swap(shuffled[i], shuffled[random(i + 1)]);
    for (std::size_t place = 0; place < own.size(); ++place) {
      const auto i = unseen[own[place]], other = unseen[shuffled[place]];
      const double after = predicted(
          t, [&](std::size_t g) { return features_[g].bins[g == f ? other : i]; });
      const double error = after - targets_[i],
                   error_before = before[own[place]] - targets_[i];
      rises_[f] += error * error - error_before * error_before;
    }
  }

  [[nodiscard]] double explained() const {
    const auto n = static_cast<double>(targets_.size());
    const double mean = std::accumulate(targets_.begin(), targets_.end(), 0.0) / n;
    double variance = 0, error = 0, seen = 0;
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      variance += (targets_[i] - mean) * (targets_[i] - mean);
      if (times_[i] == 0)
        continue;
      const double off = predicted_[i] / times_[i] - targets_[i];
      error += off * off;
      ++seen;
    }
    variance /= n;
    return variance > 0 && seen > 0 ? 1 - error / seen / variance : 0;
  }

  const std::vector<binned>& features_;
  const std::vector<double>& targets_;
  std::vector<double> rises_, predicted_, times_;
  double measured_ = 0;
};

} // namespace

forest_importance
measure_features(const std::vector<std::vector<feature_value>>& features,
                 const std::vector<double>& targets) {
  std::vector<binned> bins;
  for (const auto& f : features)
    bins.push_back(into_bins(f, targets));
  whole_numbers random;
  grower grows(bins, targets, random);
  sums summed(bins, targets);
  for (std::size_t t = 0; t < forest_importance::trees; ++t) {
    std::vector<bool> drawn(targets.size());
    example_list sample(targets.size()), unseen;
    for (auto& i : sample) {
      i = random(targets.size());
      drawn[i] = true;
    }
    const auto grown = grows.grow(sample);
    for (std::size_t i = 0; i < targets.size(); ++i)
      if (!drawn[i])
        unseen.push_back(i);
    summed.add(grown, unseen, random);
  }
  return summed.end();
}

} // namespace clade
