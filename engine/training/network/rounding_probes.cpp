#include "engine/training/network/rounding_probes.hpp"

#include <ATen/ATen.h>

#include <array>
#include <vector>

namespace clade {

namespace {

/// Returns numbers between -0.5 and 0.5 that are the same bits everywhere: each is made of
/// operations that IEEE 754 rounds in one way.
at::Tensor fixed(at::IntArrayRef sizes) {
  std::int64_t count = 1;
  for (const auto size : sizes)
    count *= size;
  std::vector<float> values(static_cast<std::size_t>(count));
  std::uint32_t state = 1;
  for (auto& v : values) {
    state = state * 1664525U + 1013904223U;
    v = static_cast<float>(state >> 8U) / 16777216.0F - 0.5F;
  }
  return at::tensor(values).reshape(sizes);
}

void add(running_hash& bits, const at::Tensor& result) {
  const auto whole = result.contiguous();
  bits.add({static_cast<const char*>(whole.const_data_ptr()), whole.nbytes()});
}

} // namespace

void add_rounding_probes(running_hash& bits) {
  // Rows, summands and columns; few columns and long sums take other paths than squares.
  constexpr std::array<std::array<std::int64_t, 3>, 5> products{
      {{32, 64, 10}, {32, 784, 256}, {128, 128, 128}, {7, 1000, 33}, {64, 16, 64}}};
  for (const auto& [rows, summands, columns] : products) {
    const auto a = fixed({rows, summands}), b = fixed({summands, columns});
    add(bits, a.mm(b));
    add(bits, b.t().mm(a.t()));
    add(bits, at::addmm(fixed({columns}), a, b));
    add(bits, a.to(at::kDouble).mm(b.to(at::kDouble)));
  }
  add(bits, fixed({64, 200}).mv(fixed({200})));
  for (const std::int64_t channels : {3, 16})
    add(bits, at::conv2d(fixed({8, channels, 16, 16}), fixed({16, channels, 3, 3}), {},
                         /*stride=*/1, /*padding=*/1));
  const auto values = fixed({1003}) * 6;
  for (const auto& result :
       {values.exp(), values.tanh(), values.sigmoid(), values.erf(), values.sin(),
        values.abs().log(), values.sum(), values.softmax(0)})
    add(bits, result);
}

} // namespace clade
