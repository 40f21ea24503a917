#include "engine/training/training_params.hpp"

#include "engine/training/recipe.hpp"

namespace clade {

expected<void> validate(const training_params& params) {
  if (params.epochs == 0)
    return fail(error_kind::invalid_input, "training.epochs is 0; give at least 1");
  if (auto r = recipe_of(params, {}); !r)
    return fail(r.error().kind, "training." + r.error().message);
  return validate(params.class_weights);
}

} // namespace clade
