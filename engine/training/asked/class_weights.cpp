#include "engine/training/asked/class_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace clade {

namespace {

/// At most so many names in a message.
constexpr std::size_t most_listed = 20;

std::string listed(std::span<const std::string> classes) {
  std::string text;
  for (std::size_t i = 0; i < std::min(classes.size(), most_listed); ++i)
    text += fmt::format("{}{}\"", i == 0 ? "\"" : ", \"", classes[i]);
  return text + (classes.size() > most_listed ? ", ..." : "");
}

} // namespace

expected<void> validate(const class_weights& weights) {
  for (const auto& [name, weight] : weights.by_class)
    if (!std::isfinite(weight) || weight <= 0)
      return fail(
          error_kind::invalid_input,
          fmt::format("class_weights: the weight of \"{}\" must be a positive number",
                      name));
  return {};
}

expected<void> check_classes(const class_weights& weights,
                             std::span<const std::string> classes) {
  for (const auto& [name, weight] : weights.by_class)
    if (std::ranges::find(classes, name) == classes.end())
      return fail(error_kind::invalid_input,
                  fmt::format("training.class_weights names the class \"{}\", which the "
                              "data does not have; it has {}",
                              name, listed(classes)));
  return {};
}

expected<std::vector<float>> weights_by_label(const class_weights& weights,
                                              std::span<const std::string> classes,
                                              std::span<const std::int64_t> labels,
                                              std::span<const std::uint32_t> train) {
  if (weights.none())
    return std::vector<float>();
  if (auto known = check_classes(weights, classes); !known)
    return tl::unexpected(known.error());
  std::vector<float> out(classes.size(), 1.0F);
  for (const auto& [name, weight] : weights.by_class)
    out[static_cast<std::size_t>(std::ranges::find(classes, name) - classes.begin())] =
        static_cast<float>(weight);
  if (!weights.balanced)
    return out;
  std::vector<std::size_t> counts(classes.size());
  for (const auto i : train)
    ++counts[static_cast<std::size_t>(labels[i])];
  for (std::size_t c = 0; c < out.size(); ++c)
    if (counts[c] > 0)
      out[c] = static_cast<float>(static_cast<double>(train.size())
                                  / static_cast<double>(classes.size() * counts[c]));
  return out;
}

} // namespace clade
