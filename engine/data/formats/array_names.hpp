#pragma once

#include <span>
#include <string>
#include <vector>

namespace clade {

/// The roles of the arrays of a .npz archive, as far as their names tell: x_train, y_train,
/// x_test and y_test as Keras has them, x and y, train_images and train_labels. A name
/// that is empty stands for an array that is not there.
struct named_arrays {
  std::string examples, targets;
  std::string test_examples, test_targets; ///< Both, or neither.
  std::vector<std::string> others;         ///< All that are none of these.
};

[[nodiscard]] named_arrays arrays_by_name(std::span<const std::string> names);

} // namespace clade
