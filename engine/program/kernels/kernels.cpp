#include "engine/program/kernels/kernel.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace clade {

std::span<const kernel_row> kernels() {
  static const auto all = [] {
    std::vector<kernel_row> rows;
    for (const auto family :
         {plain_kernels(), map_kernels(), pool_kernels(), norm_kernels(),
          sequence_kernels(), recurrent_kernels(), attention_kernels(), time_kernels(),
          table_kernels(), random_convolution_kernels()})
      rows.insert(rows.end(), family.begin(), family.end());
    return rows;
  }();
  return all;
}

const kernel_row& kernel_of(const program_step& s) {
  const auto found = std::ranges::find(kernels(), s.computes, &kernel_row::computes);
  if (found == kernels().end()) {
    std::fprintf(stderr, "clade: no kernel computes %s\n", s.name.c_str());
    std::abort();
  }
  return *found;
}

at::Tensor kernel_context::tensor(std::string_view role) const {
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (step.tensors[i].role == role)
      return tensors[i];
  return {};
}

} // namespace clade
