// Sums and products of costs stay at the largest number where they would overflow.
#include "search_spaces/operators/network.hpp"

#include <algorithm>
#include <limits>

namespace clade {

namespace {

constexpr auto most = std::numeric_limits<std::uint64_t>::max();

void add(std::uint64_t& to, std::uint64_t more) {
  to = more > most - to ? most : to + more;
}

std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  return a != 0 && b > most / a ? most : a * b;
}

layer_cost sum_of(std::span<const layer> layers) {
  layer_cost sum;
  for (const layer& l : layers) {
    add(sum.parameters, l.cost.parameters);
    add(sum.multiply_adds, l.cost.multiply_adds);
    add(sum.activation_bytes, l.cost.activation_bytes);
  }
  return sum;
}

} // namespace

layer_cost network::cost() const {
  return sum_of(layers);
}

layer_cost cost_over_time(std::span<const layer> body, std::int64_t steps) {
  auto cost = sum_of(body);
  cost.multiply_adds = product(cost.multiply_adds, static_cast<std::uint64_t>(steps));
  cost.activation_bytes =
      product(cost.activation_bytes, static_cast<std::uint64_t>(steps));
  return cost;
}

std::uint64_t training_bytes(const network& n, std::uint64_t batch_size,
                             std::uint64_t state_copies) {
  constexpr std::uint64_t float_bytes = 4;
  const auto cost = n.cost();
  return cost.parameters * float_bytes * (2 + state_copies)
         + batch_size * cost.activation_bytes;
}

std::uint64_t peak_bytes(const network& n, std::uint64_t batch_size,
                         std::uint64_t state_copies) {
  constexpr std::uint64_t validated_at_once = 256;
  // Both sides of the widest layer live at once.
  std::uint64_t widest = 0;
  for (const layer& l : n.layers) {
    auto sides = l.cost.activation_bytes;
    for (const auto input : l.inputs)
      sides += n.layers[input].cost.activation_bytes;
    widest = std::max(widest, sides);
  }
  const auto training = training_bytes(n, batch_size, state_copies);
  const auto activations = batch_size * n.cost().activation_bytes;
  const auto validation = training - activations + validated_at_once * widest;
  // LibTorch has each tensor in several layouts, and scratch memory: in the median of 80
  // networks 2.5 times as much.
  return std::max(training, validation) / 2 * 5;
}

} // namespace clade
