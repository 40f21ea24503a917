#pragma once

#include "engine/search/core/candidate.hpp"

#include <string>
#include <vector>

namespace clade {

/// How an evaluation that was made again differs from the stored one.
struct retraining {
  candidate_id id = 0;
  std::size_t epochs = 0; ///< That both have.
  /// By metric, over all epochs: the largest absolute difference, where there is one.
  std::vector<metric> largest;
  /// The other differences, each a sentence's part: "7 epochs instead of 8".
  std::vector<std::string> other;

  [[nodiscard]] bool equal() const { return largest.empty() && other.empty(); }
};

/// Compares all that is a function of candidate, data, seed and device: outcome, the
/// metrics of every epoch and of the one that was kept, parameters, the weights' hash,
/// the importances of branches; numbers bit for bit.
[[nodiscard]] retraining compare(const evaluation& stored, const evaluation& again);

/// "#12: equal, 15 epochs" or "#12: differs, validation.loss by 3e-08 at most; other
/// weights".
[[nodiscard]] std::string to_text(const retraining& r);

/// Whether another training should give the same, by the log of what the clock decided if
/// there is one: what failed or was cut by time, failed by memory or with its process need
/// not.
[[nodiscard]] bool repeatable(const evaluation& e);

} // namespace clade
