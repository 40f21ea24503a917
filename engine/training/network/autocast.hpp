#pragma once

#include "engine/training/asked/training_params.hpp"

#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

namespace clade {

/// While it lives, LibTorch computes convolutions and matrix products of this thread in
/// the precision, from float32 weights, and the operations that need more digits in
/// float32 (Micikevicius et al., "Mixed Precision Training", ICLR 2018). Backward passes
/// belong after it: each step has the type of its forward step. float32 changes nothing.
class autocast_guard {
public:
  autocast_guard(c10::DeviceType device, float_format p);
  ~autocast_guard();

  autocast_guard(const autocast_guard&) = delete;
  autocast_guard& operator=(const autocast_guard&) = delete;

private:
  c10::DeviceType device_;
  bool active_;
  bool was_enabled_ = false;
  c10::ScalarType old_type_ = c10::ScalarType::Float;
};

} // namespace clade
