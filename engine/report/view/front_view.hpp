#pragma once

#include "engine/search/core/pareto.hpp"
#include "engine/store/run/store.hpp"

#include <optional>
#include <string>
#include <vector>

namespace clade {

/// One of a run's front.
struct front_member {
  candidate_id id = 0;
  std::uint64_t generation = 0;
  clade::fitness fitness;
  std::uint64_t parameters = 0;
};

/// How far the front had come once the candidates of a generation were evaluated.
struct front_step {
  std::uint64_t generation = 0;
  front_size front;
};

/// The result of a search with several objectives: the candidates that none dominates,
/// the best in the first objective first, at most `kept_front`; no infeasible one.
struct front_view {
  objective goal;
  std::vector<front_member> members;
  std::vector<front_step> steps; ///< By generation.
};

/// None where the run has one objective. Reads all candidates: seconds for a million.
[[nodiscard]] expected<std::optional<front_view>> view_front(const store& s);

/// "14 networks are on the front of validation.accuracy raised, parameters lowered; ...".
[[nodiscard]] std::string front_words(const front_view& v);

/// The front as rows of cells after their titles: the candidate, its generation, and what
/// it has of each objective.
[[nodiscard]] std::vector<std::vector<std::string>> front_rows(const front_view& v);

/// The same of at most `most` steps, evenly chosen: generation, members, hypervolume.
[[nodiscard]] std::vector<std::vector<std::string>> step_rows(const front_view& v,
                                                              std::size_t most);

/// Both as text, for a terminal.
[[nodiscard]] std::string to_text(const front_view& v);

} // namespace clade
