#pragma once

#include "engine/store/run/store.hpp"
#include "tools/run/new_run.hpp"

#include <set>
#include <string>
#include <vector>

namespace clade {

// `clade run --start-from RUN...`: what was good in earlier runs, of whatever data, is what
// a new one looks at first.

/// Makes the best genomes of these runs known points of the experiment
/// (engine/search/core/known_points.hpp), the best of each run before the second best of
/// any, behind those that it has; at most as many as half a generation has room for. The
/// parts of a genome that do not fit are left out (`fitted_point`). A strategy with a model
/// begins with some of their results as well (earlier_results.hpp). Returns a line for each run that
/// says what came. An error where a run gives nothing.
[[nodiscard]] expected<std::vector<std::string>>
start_from(const std::vector<std::string>& runs, checked_experiment& into);

/// The names of the known points of an experiment.
[[nodiscard]] std::set<std::string> point_names(const experiment& e);

/// Says how good these points were in a run: a line for each that was evaluated.
[[nodiscard]] expected<std::vector<std::string>>
told_of_points(const store& s, const std::set<std::string>& names);

/// Says how far the results of earlier runs, with which a model began, agree with those of
/// this run; empty: it began with none, or there are too few to say.
[[nodiscard]] expected<std::string> told_of_earlier(const store& s, const experiment& e);

} // namespace clade
