#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace clade {

/// The value of a feature that an example has: nothing, a number or a word.
using feature_value = std::variant<std::monostate, double, std::string>;

/// The importance of its features that a random forest found.
struct forest_importance {
  /// The share of each feature: they sum to 1, or are all 0 where nothing matters.
  std::vector<double> shares;
  /// The share of the targets' variance that is explained, measured on examples which a
  /// tree did not see; at most 1.
  double explained = 0;

  static constexpr std::size_t trees = 64;
};

/// Grows a forest that predicts `targets` from `features`, each of which has a value for
/// every target, and measures how much each feature matters. The same data give the same
/// shares, here and on the page (tools/dashboard/src/forest.ts). Needs at least 8
/// targets.
[[nodiscard]] forest_importance
measure_features(const std::vector<std::vector<feature_value>>& features,
                 const std::vector<double>& targets);

} // namespace clade
