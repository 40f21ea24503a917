#pragma once

#include "engine/report/view/diff.hpp"

namespace clade {

/// The first candidate whose birth or evaluation differs, and how many before it do not.
/// Births go by id and each is followed by its evaluation: whatever caused a decision
/// comes before it, and nothing depends on the order in which evaluations arrived.
/// Candidates that only one side has are not compared.
struct candidates_difference {
  std::optional<record_difference> first;
  std::uint64_t generation = 0; ///< The generation of that candidate.
  std::uint64_t equal = 0;
};
[[nodiscard]] expected<candidates_difference>
diff_candidates(std::span<const candidate_records> a,
                std::span<const candidate_records> b);

/// Notes in `pair` how many candidates of two runs are the same from the first on, and
/// the first decision that is not.
[[nodiscard]] expected<void> compare_decisions(const opened_run& a, const opened_run& b,
                                               const compared_run& of_a,
                                               const compared_run& of_b, run_pair& pair);

} // namespace clade
