#include "engine/training/weights/initial_weights.hpp"

#include "search_spaces/operators/operators.hpp"

#include <fmt/format.h>

namespace clade {

std::vector<weight_tensor>
initial_weights(const network& n,
                const std::function<random_stream(std::string_view layer)>& stream_of) {
  std::vector<weight_tensor> all;
  for (const auto& l : n.layers) {
    auto random = stream_of(l.name);
    for (const auto& t : operator_of(l).tensors_of(l)) {
      weight_tensor drawn{
          .name = fmt::format("{}.{}", l.name, t.role), .shape = t.shape(), .values = {}};
      drawn.values.resize(static_cast<std::size_t>(t.elements()));
      draw(t, random, drawn.values);
      all.push_back(std::move(drawn));
    }
  }
  return all;
}

} // namespace clade
