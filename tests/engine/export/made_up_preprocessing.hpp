#pragma once

#include "engine/data/reading/preprocessing.hpp"

namespace clade::test {

/// A price, 100 in the mean.
inline preprocessing of_prices() {
  return {.task = regression,
          .target = "price",
          .target_scales = {{.mean = 100, .deviation = 10}}};
}

} // namespace clade::test
