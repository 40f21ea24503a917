#pragma once

#include "engine/evaluation/evaluator_spec.hpp"
#include "engine/evaluation/table/table.hpp"
#include "search_spaces/operators/network.hpp"

#include <filesystem>

namespace clade {

/// `[table]`: a fitness that was measured before, looked up in a table.
struct table_params {
  /// The description, experiments/tables/nb201_cifar10.toml.
  std::filesystem::path file;
  /// The fidelity of every evaluation: the greatest of at most so many epochs. 0: the
  /// greatest.
  std::uint32_t epochs = 0;
};

[[nodiscard]] expected<void> validate(const table_params& params);

/// The epochs of a `budget` that stand for `params.epochs`.
[[nodiscard]] std::uint32_t budget_epochs(const table_params& params);

/// Returns the problem that the networks of a table's space must fit; they have no
/// layers.
[[nodiscard]] problem table_problem();

/// Evaluations are looked up: what one seed gave, drawn by the run's seed and the
/// network, so that equal networks agree. Metrics called "test." are kept back for
/// `examine`, which gives means over seeds; where the table has none, it gives the
/// objective's under that name. A setting that is not in the table, or was not run, is
/// invalid; what is not finite diverged. The fidelity is the greatest within the budget's
/// epochs; its memory and time are not read.
[[nodiscard]] std::unique_ptr<fitness_function>
make_table_fitness(std::shared_ptr<const benchmark_table> table);

/// The kind "table" with its defaults.
[[nodiscard]] std::shared_ptr<const evaluator_spec> make_table_spec();

} // namespace clade
