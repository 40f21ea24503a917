#pragma once

#include "engine/export/rows/run_history.hpp"

namespace clade {

/// Writes a run as a study of Optuna's (its RDB storage on SQLite, as versions 4.x have
/// it), which its library and its dashboard read: a trial for each candidate, numbered by
/// id; hyperparameters as params with the distributions of the search space; the metric
/// of the objective after each epoch as intermediate values; the network, its origin and
/// the other metrics as user attributes. A candidate that failed has the state FAIL, one
/// that is not evaluated yet WAITING. The file must not be there (`conflict`).
[[nodiscard]] expected<void> write_optuna_study(const store& s, const experiment& e,
                                                const std::string& name,
                                                const std::filesystem::path& file);

} // namespace clade
