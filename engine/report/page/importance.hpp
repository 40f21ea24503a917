#pragma once

#include "engine/store/run/store.hpp"

#include <optional>
#include <string>
#include <vector>

namespace clade {

/// How much what was searched matters for a run's metric.
struct importance {
  struct matter {
    std::string name; ///< A hyperparameter, or "conv layers": how many there are.
    bool layers = false;
    double share = 0; ///< They sum to 1.
  };

  std::string metric;
  std::vector<matter> order;    ///< The most important first.
  std::uint64_t candidates = 0; ///< On which the forest was grown.
  double explained = 0;         ///< The same as in forest_importance.

  /// Fewer candidates say nothing, and of more some are taken evenly.
  static constexpr std::size_t least = 12, most = 2000;
};

/// Measures it by a random forest (forest.hpp) over the candidates that succeeded; none
/// where they are fewer than `importance::least`, or alike in all that was searched.
[[nodiscard]] expected<std::optional<importance>> measure_importance(const store& s);

/// "Permutation importance on a random forest of 64 trees over 231 candidates. ..."
[[nodiscard]] std::string importance_words(const importance& i);
/// A line for each, of a terminal.
[[nodiscard]] std::string to_text(const importance& i);
/// {"metric","candidates","explained","order":[{"name","kind","share"}]}, kind
/// "hyperparameter" or "network".
[[nodiscard]] std::string to_json(const importance& i);

} // namespace clade
