#pragma once

#include "engine/report/view/view.hpp"
#include "engine/run/records/test_details.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace clade {

/// The facts that tell whether a search was worth it. Metrics are those of the objective
/// that names the champion.
struct end_facts {
  std::string metric; ///< "validation.accuracy"
  std::string test_metric;
  bool maximize = true;
  std::span<const compared> comparison;  ///< The models as in `champion_view`.
  std::uint64_t validation_examples = 0; ///< 0: not known.
  /// The error as in `test_details`; 0: not known.
  double standard_error = 0;
  /// Candidates that were trained and did not fail, the champion among them.
  std::uint64_t candidates = 0;
  /// Others whose metric is within one standard error of the champion's.
  std::uint64_t as_good = 0;
  /// The smallest network whose metric equals the champion's, if it is smaller.
  struct rival {
    candidate_id id = 0;
    std::uint64_t parameters = 0;
    bool has_weights = false;
    bool higher_loss = false; ///< On the validation data; else the champion is older.
  };
  std::optional<rival> smaller;
  bool by_the_clock = false; ///< limits.wall_time decided over its final trainings.
  /// The trainings whose epochs limits.evaluation_time made fewer.
  std::uint64_t shortened = 0;
  /// The limits of the objective that the champion misses: "parameters 22, at most 3".
  std::string unmet{};
};

/// Returns the facts that a person should know before using the champion, a sentence or
/// two each, the weightiest first; empty if there is nothing to say.
///
/// 0. No candidate keeps the limits of the objective (objective.at_most, at_least).
/// 1. The linear model is as good as the champion, or better, on the test data or on the
///    validation data.
/// 2. The validation part is too small to tell the candidates apart. The luckiest of m
///    candidates that are equally good looks better than it is by about s sqrt(2 ln m),
///    where s is the standard error of the metric on the validation part (the expected
///    maximum of m independent normal errors; errors of candidates on the same examples
///    depend on each other, so that it is an upper bound). It is said where the
///    champion's lead over what it is compared with (the best random candidate, the
///    linear model) is no more than that and another candidate is within one standard
///    error of it.
/// 3. The champion was chosen by the lower validation.loss, or as the older one, over a
///    smaller network with the same metric.
/// 4. The clock had a say in it, so that another run will differ and a replay will not.
[[nodiscard]] std::vector<std::string> verdict(const end_facts& facts);

} // namespace clade
