#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace clade {

/// The target of an example is one of these.
enum class target_type : std::uint8_t {
  classes, ///< One of several names. Networks give a score for each.
  numbers, ///< A number, which training sees standardised, or several. Networks give one
           ///< number for each.
  labels   ///< Any of several names, or none of them. Networks give the log-odds of each.
};

/// Training lowers one of these (engine/training/network/loss.hpp;
/// engine/training/metrics/metrics.cpp measures it without LibTorch).
enum class loss_kind : std::uint8_t {
  cross_entropy,
  squared_error,
  binary_cross_entropy, ///< The mean over the labels.
  pinball ///< The mean over the quantiles, of standardised numbers (Koenker and Bassett,
          ///< "Regression quantiles", 1978).
};

/// How outputs become predictions: `learning_task::decoded` does it, and for the formats
/// of other programs engine/export/source/output_decoder.cpp.
enum class output_decoding : std::uint8_t {
  probabilities,
  own_unit,
  label_probabilities,
  quantiles ///< In the target's unit, in rising order.
};

/// How the target of an output was standardised.
struct target_scale {
  double mean = 0, deviation = 1;
  double quantile = 0; ///< The quantile that the output is, such as 0.9; 0: it is none.

  friend bool operator==(const target_scale&, const target_scale&) = default;
};

/// Networks learn one task from examples; it is one of `learning_tasks`. Two copies are
/// equal if their names are, also where they cross to a module, which has a table of its
/// own.
struct learning_task {
  std::string_view name; ///< Files and messages use it.
  target_type targets = target_type::classes;
  loss_kind loss = loss_kind::cross_entropy;
  output_decoding decoding = output_decoding::probabilities;
  /// The metrics that every epoch has (engine/training/metrics/metrics.cpp has all metrics and
  /// their directions). Such a task is usually judged by the first.
  std::span<const std::string_view> metrics{};

  [[nodiscard]] bool has_classes() const { return targets == target_type::classes; }
  [[nodiscard]] bool has_numbers() const { return targets == target_type::numbers; }
  [[nodiscard]] bool has_labels() const { return targets == target_type::labels; }

  /// Outputs are quantiles of one number.
  [[nodiscard]] bool has_quantiles() const { return loss == loss_kind::pinball; }

  /// How many numbers networks give for an example: one for each of so many classes, labels,
  /// quantiles or targets that have names. A single target has none.
  [[nodiscard]] std::int64_t outputs(std::size_t names) const {
    return names == 0 && !has_classes() ? 1 : static_cast<std::int64_t>(names);
  }

  /// Returns what an output means: the score of a class, the log-odds of a label, or the
  /// number in its own unit for a target that was standardised by that scale.
  [[nodiscard]] double decoded(double output, const target_scale& scale) const {
    return has_numbers() ? output * scale.deviation + scale.mean : output;
  }

  friend bool operator==(const learning_task& a, const learning_task& b) {
    return a.name == b.name;
  }
};

inline constexpr std::array<std::string_view, 2> metrics_of_classes{"accuracy", "loss"};
inline constexpr std::array<std::string_view, 4> metrics_of_numbers{"rmse", "mse", "r2",
                                                                    "loss"};

inline constexpr std::array<std::string_view, 3> metrics_of_labels{"loss", "f1_micro",
                                                                   "accuracy"};

inline constexpr std::array<std::string_view, 2> metrics_of_quantiles{"pinball", "loss"};

inline constexpr learning_task classification{.name = "classification",
                                              .targets = target_type::classes,
                                              .loss = loss_kind::cross_entropy,
                                              .decoding = output_decoding::probabilities,
                                              .metrics = metrics_of_classes};
inline constexpr learning_task regression{.name = "regression",
                                          .targets = target_type::numbers,
                                          .loss = loss_kind::squared_error,
                                          .decoding = output_decoding::own_unit,
                                          .metrics = metrics_of_numbers};
inline constexpr learning_task multilabel{.name = "multilabel",
                                          .targets = target_type::labels,
                                          .loss = loss_kind::binary_cross_entropy,
                                          .decoding =
                                              output_decoding::label_probabilities,
                                          .metrics = metrics_of_labels};
inline constexpr learning_task quantiles{.name = "quantiles",
                                         .targets = target_type::numbers,
                                         .loss = loss_kind::pinball,
                                         .decoding = output_decoding::quantiles,
                                         .metrics = metrics_of_quantiles};

/// All tasks. Cached data names them by their place here, so that new ones come last.
inline constexpr std::array learning_tasks{classification, regression, multilabel,
                                           quantiles};

/// The scale of an output, where there is one for each or the same for all.
[[nodiscard]] inline const target_scale& scale_of(std::span<const target_scale> scales,
                                                  std::size_t output) {
  return scales[scales.size() == 1 ? 0 : output];
}

/// "q0.9": the output that is that quantile.
[[nodiscard]] std::string quantile_name(double quantile);

/// Null: there is no task of that name.
[[nodiscard]] const learning_task* find_learning_task(std::string_view name);

/// The place of a task in `learning_tasks`.
[[nodiscard]] std::size_t place_of(const learning_task& task);

} // namespace clade
