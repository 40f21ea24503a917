#include "engine/search/bases/numbers_alone.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

tl::unexpected<error> cannot_serve(const search_space& space, const char* name,
                                   const std::string& why, const char* others) {
  return fail(error_kind::invalid_input,
              fmt::format("evolution.strategy is \"{}\", which moves numbers alone, but "
                          "the search space {} {}: take {}",
                          name, space.name, why, others));
}

expected<void> check_numbers_alone(const search_space& space, const char* name) {
  if (has_layers(space.rules))
    return cannot_serve(space, name, "has layers to choose",
                        "\"regularized\", \"generational\" or \"mu_plus_lambda\"");
  if (std::ranges::none_of(space.rules.hyperparameters, varies))
    return cannot_serve(space, name, "has no hyperparameter that varies", "\"random\"");
  return {};
}

} // namespace clade
