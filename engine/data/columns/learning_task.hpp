#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace clade {

/// The target of an example is one of these.
enum class target_type : std::uint8_t {
  classes, ///< One of several names. Networks give a score for each.
  numbers  ///< A number, which training sees standardised. Networks give one number.
};

/// Training lowers one of these (engine/training/network/loss.hpp;
/// engine/training/metrics/metrics.cpp measures it without LibTorch).
enum class loss_kind : std::uint8_t { cross_entropy, squared_error };

/// How outputs become predictions: `learning_task::decoded` does it, and for the formats
/// of other programs engine/export/source/output_decoder.cpp.
enum class output_decoding : std::uint8_t { probabilities, own_unit };

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

  /// How many numbers networks give for an example.
  [[nodiscard]] std::int64_t outputs(std::size_t classes) const {
    return has_classes() ? static_cast<std::int64_t>(classes) : 1;
  }

  /// Returns what an output means: the score of a class, or the number in its own unit
  /// for a target that was standardised by that `mean` and `deviation`.
  [[nodiscard]] double decoded(double output, double mean, double deviation) const {
    return decoding == output_decoding::own_unit ? output * deviation + mean : output;
  }

  friend bool operator==(const learning_task& a, const learning_task& b) {
    return a.name == b.name;
  }
};

inline constexpr std::array<std::string_view, 2> metrics_of_classes{"accuracy", "loss"};
inline constexpr std::array<std::string_view, 4> metrics_of_numbers{"rmse", "mse", "r2",
                                                                    "loss"};

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

/// All tasks. Cached data names them by their place here, so that new ones come last.
inline constexpr std::array learning_tasks{classification, regression};

/// Null: there is no task of that name.
[[nodiscard]] const learning_task* find_learning_task(std::string_view name);

/// The place of a task in `learning_tasks`.
[[nodiscard]] std::size_t place_of(const learning_task& task);

} // namespace clade
