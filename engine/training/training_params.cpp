#include "engine/training/training_params.hpp"

#include "engine/training/recipe.hpp"

namespace clade {

expected<void> validate(const training_params& params) {
  if (params.epochs == 0)
    return fail(error_kind::invalid_input, "training.epochs is 0; give at least 1");
  if (auto r = recipe_of(params, {}); !r)
    return fail(r.error().kind, "training." + r.error().message);
  if (params.checkpoint_every.count() < 0)
    return fail(error_kind::invalid_input, "checkpoint_every must not be negative");
  if (auto d = validate(params.distribution); !d)
    return fail(d.error().kind, "training." + d.error().message);
  return validate(params.class_weights);
}

expected<void> check_device(const training_params& params, std::string_view device) {
  if (params.precision == float_format::float16 && !device.starts_with("cuda"))
    return fail(error_kind::invalid_input,
                "training.precision = \"float16\" is for CUDA devices, not for "
                    + std::string(device) + "; take \"bfloat16\" or \"float32\"");
  if (params.distribution.devices > 1 && device.starts_with("cuda"))
    return fail(error_kind::invalid_input,
                "training.devices: only CPU slots can share a training yet; "
                    + std::string(device) + " trains alone, with training.devices = 1");
  return {};
}

} // namespace clade
