#include "search_spaces/operators/tensors.hpp"

#include <algorithm>
#include <cmath>

namespace clade {
namespace {

template<class Draw>
void fill(std::span<float> values, Draw draw) {
  std::ranges::generate(values, [&] { return static_cast<float>(draw()); });
}

// From both ends, so that the last is 2 and not nearly.
void fill_bins(std::span<float> values, std::int64_t edges) {
  const auto bins = edges - 1;
  const float step = 4.0F / static_cast<float>(bins);
  std::int64_t i = 0;
  fill(values, [&] {
    const auto at = i++ % edges;
    return at < edges / 2 ? -2 + step * static_cast<float>(at)
                          : 2 - step * static_cast<float>(bins - at);
  });
}

} // namespace

double gain_before(std::string_view activation) {
  constexpr std::array<std::string_view, 3> whole{"none", "tanh", "sigmoid"};
  static const double half = std::sqrt(2.0);
  return std::ranges::find(whole, activation) == whole.end() ? half : 1;
}

initial_values uniform_for(double gain, std::int64_t fan_in) {
  return {initial_values::kind::uniform,
          gain * std::sqrt(3.0 / static_cast<double>(fan_in))};
}

std::vector<std::int64_t> tensor_entry::shape() const {
  return {sizes.begin(), std::ranges::find(sizes, 0)};
}

std::int64_t tensor_entry::elements() const {
  std::int64_t product = 1;
  for (const auto size : sizes)
    product *= size == 0 ? 1 : size;
  return product;
}

void draw(const tensor_entry& t, random_stream& random, std::span<float> values) {
  using kind = initial_values::kind;
  const double by = t.first.by;
  switch (t.first.how) {
  case kind::filled:
    return fill(values, [&] { return by; });
  case kind::uniform:
    return fill(values, [&] { return (2 * random.uniform() - 1) * by; });
  case kind::normal:
    return fill(values, [&] { return by * random.normal(); });
  case kind::index:
    return fill(values, [&] { return random.below(static_cast<std::uint64_t>(by)); });
  case kind::bins:
    return fill_bins(values, t.sizes[1]);
  }
}

} // namespace clade
