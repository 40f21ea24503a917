#pragma once

#include "genome/base/random.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// The values of a tensor before any training.
struct initial_values {
  enum class kind : std::uint8_t {
    filled,  ///< Each is `by`.
    uniform, ///< They are drawn evenly between -by and by.
    normal,  ///< They are drawn with the deviation `by`.
    index,   ///< They are whole numbers, drawn from 0 up to, but not including, `by`.
    bins     ///< Each row goes from -2 to 2 in even steps.
  };

  kind how = kind::filled;
  double by = 0;
};

/// Returns uniform values with variance gain^2 / fan_in. `gain` is sqrt(2) before
/// activations that cut one half of their input (He et al., 2015), else 1 (LeCun et al.,
/// 1998); `fan_in` is the number of what one output adds up.
[[nodiscard]] initial_values uniform_for(double gain, std::int64_t fan_in);
/// Returns the gain before an activation, by its name.
[[nodiscard]] double gain_before(std::string_view activation);

/// One tensor of a layer.
struct tensor_entry {
  std::string role; ///< "weight", "norm.running_mean"; within steps over time "n3.weight"
  /// Its sizes; those behind the last are 0.
  std::array<std::int64_t, 4> sizes{};
  initial_values first{};
  /// Whether the optimiser changes it. Others are constants, or statistics such as running
  /// means.
  bool trained = true;

  [[nodiscard]] std::vector<std::int64_t> shape() const;
  [[nodiscard]] std::int64_t elements() const;
};

using tensor_entries = std::vector<tensor_entry>;

/// Fills `values`, one for each element, with the initial ones.
void draw(const tensor_entry& t, random_stream& random, std::span<float> values);

} // namespace clade
