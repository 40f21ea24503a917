#pragma once

#include "engine/evaluation/table/table.hpp"
#include "engine/search/core/pareto.hpp"

#include <span>
#include <string>
#include <vector>

namespace clade {

/// The metrics of a table that a search for a front weighs: the description's objective,
/// then these. Fails where the table has none of that name, or it is named twice, or
/// "test." keeps it back.
[[nodiscard]] expected<objective> objective_of(const table_description& d,
                                               std::span<const aim> others);

/// The standard by which a search for a front on a table is judged. Each metric is scaled
/// over the table's rows to the share of them that are worse, from 0, the worst, to 1,
/// the best; so hypervolume, measured from the worst corner, has no unit and is 1 at
/// most. Shares are the same for a loss and its logarithm, and a few rows that are far
/// off (losses span six orders of magnitude) do not squeeze all others into a corner, as
/// they do where metrics are scaled by their extent.
struct table_front {
  /// The values of each row by its truths: for the first objective the description's, for
  /// the others their metric of "test." where there is one, and the metric itself
  /// elsewhere; means over seeds at the greatest fidelity. Empty where one of them is
  /// missing or diverged.
  std::vector<objective_point> truths;
  double hypervolume = 0; ///< The hypervolume of all rows.
};

/// Fails where no row has all.
[[nodiscard]] expected<table_front> front_of(const benchmark_table& table,
                                             const objective& goal);

/// The front of what a search has evaluated so far, by the truth. The values that the
/// search was told have the noise of one seed; a front chosen by them would fall short
/// however long the search, and hide the thing that this is to tell: which networks it
/// found. (On NAS-Bench-201 the front of all 15,625 cells by one seed is short of the
/// true one by half of what random search is after 100 evaluations.)
class found_front {
public:
  /// Keeps a reference.
  explicit found_front(const table_front& all) : all_(all) {}

  void add(std::uint32_t row);

  /// By how much the hypervolume of the front falls short of the table's.
  [[nodiscard]] double regret() const { return all_.hypervolume - hypervolume_; }

private:
  const table_front& all_;
  std::vector<objective_point> front_;
  double hypervolume_ = 0;
};

} // namespace clade
