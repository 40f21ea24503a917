#pragma once

#include "engine/evaluation/fitness_function.hpp"

#include <functional>

namespace clade {

/// A fitness function as one thread uses it; seeds and limits are set behind it.
struct evaluating {
  std::function<evaluated_job(job j)> evaluate;
  std::function<expected<examination>(job j, const bytes& weights)> examine;
  /// Processor seconds that this process has taken: what others do on the machine is not
  /// in them.
  std::function<double()> processor_seconds;
};

} // namespace clade
