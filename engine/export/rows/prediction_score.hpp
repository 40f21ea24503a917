#pragma once

#include "engine/data/reading/preprocessing.hpp"
#include "engine/export/rows/predictions.hpp"
#include "engine/search/core/candidate.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace clade {

/// How good predictions of examples are whose targets are known.
struct prediction_score {
  std::uint64_t rows = 0; ///< The number of rows that were compared.
  /// The number of rows without a target, or of a class of their own.
  std::uint64_t left_out = 0;
  /// The metrics that a training has of a part, without the part's name.
  std::vector<metric> metrics;
  /// The share of the targets that lie in their interval, ends included.
  std::optional<double> coverage;
};

/// Compares `outputs`, [examples, outputs] as of `predictions_csv`, with the targets of
/// the examples, which they have. Shares of values of forecasts are those of values in the
/// unit of their series, and "mase" is there, too. An error where no target can be compared
/// with.
[[nodiscard]] expected<prediction_score>
score_predictions(std::span<const float> outputs, const new_examples& examples,
                  const preprocessing& how,
                  const std::optional<interval_rule>& intervals);

/// Says how many targets were left out, and why; empty: none.
[[nodiscard]] std::string left_out_text(const new_targets& targets);

/// "240 rows: accuracy 0.9458, loss 0.1623, ...", and, of `level`, "90 % intervals hold
/// 89.3 % of the targets".
[[nodiscard]] std::string score_text(const prediction_score& score,
                                     std::optional<double> level);

/// Writes the score as one object: {"rows": 240, "left_out": 0, "metrics":
/// {"accuracy": 0.9458, ...}, "intervals": {"level": 0.9, "coverage": 0.893}}.
[[nodiscard]] std::string score_json(const prediction_score& score,
                                     std::optional<double> level);

} // namespace clade
