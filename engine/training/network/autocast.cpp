#include "engine/training/network/autocast.hpp"

#include <ATen/autocast_mode.h>

namespace clade {

// The weights that a pass has converted are kept until it ends.
autocast_guard::autocast_guard(c10::DeviceType device, float_format p)
    : device_(device),
      active_(p != float_format::float32) {
  if (!active_)
    return;
  was_enabled_ = at::autocast::is_autocast_enabled(device_);
  old_type_ = at::autocast::get_autocast_dtype(device_);
  at::autocast::set_autocast_enabled(device_, true);
  at::autocast::set_autocast_dtype(device_, p == float_format::bfloat16 ? at::kBFloat16
                                                                        : at::kHalf);
  at::autocast::increment_nesting();
}

autocast_guard::~autocast_guard() {
  if (!active_)
    return;
  if (at::autocast::decrement_nesting() == 0)
    at::autocast::clear_cache();
  at::autocast::set_autocast_dtype(device_, old_type_);
  at::autocast::set_autocast_enabled(device_, was_enabled_);
}

} // namespace clade
