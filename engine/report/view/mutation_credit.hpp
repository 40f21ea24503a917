#pragma once

#include "engine/search/bases/adaptive_rates.hpp"
#include "engine/store/run/store.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace clade {

/// The worth of children of one kind of change, against their fitter parents.
struct change_credit {
  std::string kind; ///< "add layer", "widen", "crossing", "learning_rate"
  std::uint64_t children = 0;
  std::uint64_t alone = 0; ///< With no other change.
  std::uint64_t improved = 0;
  std::uint64_t failed = 0;
  /// The mean change of the metric, over those that did not fail.
  double mean_change = 0;
  double best_change = 0; ///< The most that one gained, in the objective's direction.

  [[nodiscard]] double improved_share() const {
    return children == 0 ? 0
                         : static_cast<double>(improved) / static_cast<double>(children);
  }
};

/// Returns the names for people of the kinds of change, each once: "crossing", "widen",
/// of a hyperparameter its own name. Empty: there was none, as of a genome that was
/// sampled or is trained on.
[[nodiscard]] std::vector<std::string> change_names(const std::vector<change>& changes);

/// Sums up children, kind by kind; one of several changes counts for each of them.
class mutation_credit {
public:
  /// `adapting`: what the run's mutation rates started from, where they adapt.
  explicit mutation_credit(bool maximize,
                           const std::optional<mutation_params>& adapting = {})
      : maximize_(maximize) {
    if (adapting)
      rates_.emplace(*adapting);
  }

  /// Children are told in the order of ids. Children whose parent failed tell nothing and
  /// are passed over.
  void add(const child_row& child);

  /// Returns the rates as they were after the last child; none if they do not adapt.
  [[nodiscard]] std::vector<adaptive_rates::credit> rates() const;

  /// The most frequent first.
  [[nodiscard]] std::vector<change_credit> credits() const;

private:
  struct sum {
    change_credit credit;
    double changes = 0;
    std::uint64_t compared = 0;
  };

  bool maximize_;
  std::optional<adaptive_rates> rates_;
  std::map<std::string, sum, std::less<>> sums_;
};

} // namespace clade
