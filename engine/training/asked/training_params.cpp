#include "engine/training/asked/training_params.hpp"

#include "engine/training/asked/private_network.hpp"
#include "engine/training/asked/recipe.hpp"

#include <fmt/format.h>

namespace clade {

namespace {

std::string names_on_cuda() {
  std::string names;
  for (const auto& row : distribution_rows())
    if (row.divides && row.on_cuda)
      names += fmt::format("{}{}\"", names.empty() ? "\"" : " or \"", row.name);
  return names;
}

} // namespace

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
                fmt::format("training.precision = \"float16\" is for CUDA devices, not "
                            "for {}; take \"bfloat16\" or \"float32\"",
                            device));
  const auto& how = params.distribution;
  if (how.divided() && device.starts_with("cuda") && !how.row().on_cuda)
    return fail(error_kind::invalid_input,
                fmt::format("training.distribution = \"{}\" is for CPU slots so far; on "
                            "CUDA devices such as {} take {}",
                            how.name, device, names_on_cuda()));
  if (const auto& c = how.collectives; how.by_team() && c.by_gloo())
    if (auto own = own_address_in(c.network); !own)
      return fail_in("training.collectives", own.error());
  return {};
}

} // namespace clade
