#pragma once

#include "genome/base/error.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace clade {

/// `training.class_weights`: what an error in an example of a class weighs in the loss
/// that training lowers. "none": each 1. "balanced": n / (k n_c) for class c with n_c of
/// the n training examples, of k classes, as scikit-learn has it. Or a table, in which a
/// class that is not named has 1. Metrics do not weigh.
struct class_weights {
  bool balanced = false;
  std::vector<std::pair<std::string, double>> by_class{};

  [[nodiscard]] bool none() const { return !balanced && by_class.empty(); }
  friend bool operator==(const class_weights&, const class_weights&) = default;
};

/// Weights must be positive and finite.
[[nodiscard]] expected<void> validate(const class_weights& weights);

/// The weight of each class: `classes` names them by label, `train` indexes `labels`.
/// Empty where `weights` are none. An error names a class that the data does not have.
[[nodiscard]] expected<std::vector<float>>
weights_by_label(const class_weights& weights, std::span<const std::string> classes,
                 std::span<const std::int64_t> labels,
                 std::span<const std::uint32_t> train);

/// Says which of the weights names no class of the data.
[[nodiscard]] expected<void> check_classes(const class_weights& weights,
                                           std::span<const std::string> classes);

} // namespace clade
