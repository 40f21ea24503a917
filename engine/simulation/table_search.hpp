#pragma once

#include "engine/evaluation/table/table.hpp"
#include "engine/run/state/run_state.hpp"
#include "engine/simulation/table_front.hpp"

#include <optional>
#include <string>
#include <vector>

namespace clade {

/// The standard by which a search on a table is judged.
struct table_standard {
  double best = 0;  ///< The best `truth` over all rows that did not diverge.
  double worst = 0; ///< The value that counts for rows that diverged.
  /// Whether each row's truth is among the `top_rows` best, ties included.
  std::vector<bool> top;
  /// The objective that is searched by: the description's objective, or several.
  objective goal{};
  /// The front, if there are several objectives.
  std::optional<table_front> front{};

  static constexpr std::size_t top_rows = 16;
};

/// For a search by the description's objective and `others`. Fails where every row
/// diverged, and where the table does not have the others (`objective_of`).
[[nodiscard]] expected<table_standard> standard_of(const benchmark_table& table,
                                                   std::span<const aim> others = {});

struct table_search_params {
  evolution_params evolution;
  std::uint64_t seed = 1;
  /// When it ends, counted in evaluations of the greatest fidelity; one of fewer epochs
  /// counts as its share, and training on as what it adds (in a table whose fidelities
  /// are separate trainings, as all its epochs). Repeats are free: of equal networks, and
  /// of a row that another genome is nearest to.
  std::size_t evaluations = 200;
};

struct table_search_result {
  /// By how much the truth of the incumbent falls short of the best, after 1, 2, ...
  /// evaluations: of those evaluated at the greatest fidelity that any was so far, the
  /// incumbent is the one with the best objective. If there is none yet, the worst row
  /// stands for it. For several objectives: by how much the front of those evaluated at
  /// the greatest fidelity falls short of the table's (`found_front`).
  std::vector<double> regret;
  /// Evaluations until one of the top rows was evaluated at the greatest fidelity.
  std::optional<double> first_top;
  std::optional<double> first_best; ///< The same of a row whose truth is the best.
  std::size_t candidates = 0;
  /// Processor time of the engine for a candidate: asking, breeding, the fold of its
  /// records; without its evaluation.
  double ask_mean_seconds = 0, ask_max_seconds = 0;
};

/// Runs a search in the caller's thread as a head would, with evaluations looked up. A
/// function of its arguments but for the seconds. `evolution.generations` is set to what
/// the evaluations take; copies extend the search.
[[nodiscard]] expected<table_search_result>
search_table(const std::shared_ptr<const benchmark_table>& table,
             const table_standard& standard, const table_search_params& params);

} // namespace clade
