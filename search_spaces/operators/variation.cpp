// Variation within the limits is rejection: vary as the grammar allows, decode, draw
// again. Most children decode, so the first attempt is usually the only one. If every
// attempt failed, the change that remains cannot change the network and therefore fits as
// its parent did.
#include "search_spaces/operators/variation.hpp"

#include "genome/base/text.hpp"
#include "genome/variation/crossover.hpp"

#include <fmt/format.h>

#include <limits>

namespace clade {

namespace {

constexpr int sample_attempts = 1000;
constexpr int mutate_attempts = 100;

constexpr mutation_params hyperparameters_alone{.add_node = 0,
                                                .add_edge = 0,
                                                .remove_node = 0,
                                                .remove_edge = 0,
                                                .change_operator = 0,
                                                .widen = 0,
                                                .narrow = 0,
                                                .change_setting = 0,
                                                .change_hyperparameter = 1,
                                                .add_recurrent_edge = 0,
                                                .remove_recurrent_edge = 0,
                                                .again = 0};

/// Without the place that decode() puts before it.
std::string bare(const search_space& space, const std::string& message) {
  return message.starts_with(space.name + ": ") ? message.substr(space.name.size() + 2)
                                                : message;
}

} // namespace

expected<offspring> sample(const search_space& space, const problem& p,
                           random_stream& random) {
  std::string last;
  for (int i = 0; i < sample_attempts; ++i) {
    genome g = sample_genome(space.rules, random);
    const auto decoded = decode(space, g, p);
    if (decoded)
      return offspring{std::move(g), {{.kind = change_kind::sampled}}};
    last = bare(space, decoded.error().message);
  }
  return fail(error_kind::invalid_input,
              fmt::format("{}: no valid network fits examples of shape {}; the last of "
                          "{} random ones: {}; raise that limit, or offer smaller layers",
                          space.name, to_text(p.input), with_commas(sample_attempts),
                          last));
}

expected<void> check(const search_space& space, const problem& p) {
  // The smallest network there is, without limits: what it stumbles over is no matter of
  // luck.
  const genome least{
      .nodes = {{input_innovation, "input", {}}, {output_innovation, "output", {}}},
      .edges = {
          {.id = innovation{2}, .from = input_innovation, .to = output_innovation}}};
  search_space unlimited = space;
  unlimited.limits = {.max_parameters = std::numeric_limits<std::uint64_t>::max(),
                      .max_multiply_adds = std::numeric_limits<std::uint64_t>::max(),
                      .max_width = std::numeric_limits<std::int64_t>::max()};
  if (auto sound = decode(unlimited, least, p); !sound)
    return tl::unexpected(std::move(sound.error()));
  auto random = derive(0, purpose::sample, 0, 0);
  if (auto sampled = sample(space, p, random); !sampled)
    return tl::unexpected(std::move(sampled.error()));
  return {};
}

offspring mutate(const search_space& space, const problem& p, const genome& parent,
                 const mutation_params& params, random_stream& random) {
  for (int i = 0; i < mutate_attempts; ++i) {
    offspring made = mutate(space.rules, parent, params, random);
    if (decode(space, made.child, p))
      return made;
  }
  return mutate(space.rules, parent, hyperparameters_alone, random);
}

offspring cross(const search_space& space, const problem& p, const genome& fitter,
                const genome& other, random_stream& random) {
  genome child = cross(space.rules, fitter, other, random);
  if (decode(space, child, p))
    return {std::move(child), {{.kind = change_kind::crossed}}};
  return {fitter,
          {{.kind = change_kind::crossed,
            .after = "but over the limits: the fitter parent"}}};
}

} // namespace clade
