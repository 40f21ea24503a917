// Fixed random convolutions of sequences. Examples are taken in parts of a batch, and
// kernels by distance, so that what the kernels say of a long sequence stays small.
#include "engine/program/kernels/kernel.hpp"
#include "engine/program/kernels/random_convolutions.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>

namespace clade {
namespace {

using inputs = kernel::inputs;

// The shares of the steps [N, kernels, steps] that are above each threshold.
at::Tensor shares_above(const at::Tensor& thresholds, const at::Tensor& said) {
  std::vector<at::Tensor> shares;
  for (const auto& t : thresholds.unbind(1))
    shares.push_back(said.gt(t.unsqueeze(1)).to(said.scalar_type()).mean(2));
  return at::cat(shares, 1);
}

// The root of the mean of what a kernel says where it is the highest of its group.
at::Tensor won(const at::Tensor& by_group) {
  const auto highest = by_group.amax(2, /*keepdim=*/true);
  return at::where(by_group.eq(highest), by_group, 0)
      .clamp_min(0)
      .mean(3)
      .sqrt()
      .flatten(1);
}

at::Tensor features_of(const at::Tensor& weight, const at::Tensor& thresholds,
                       const at::Tensor& sequences) {
  const convolved_sequences convolved(sequences);
  const auto with_thresholds = thresholds.size(1);
  std::vector<at::Tensor> features;
  for (std::int64_t part = 0; part < weight.size(0); ++part) {
    const auto said = convolved.by_part(weight, part);
    const auto by_group =
        said.slice(1, with_thresholds).unflatten(1, {-1, kernels_of_group});
    features.push_back(
        shares_above(thresholds.select(0, part), said.narrow(1, 0, with_thresholds)));
    features.push_back(won(by_group));
    features.push_back(won(-by_group));
  }
  return at::cat(features, 1);
}

kernel make_random_convolutions(const kernel_context& c) {
  // So many values are computed at once, which bounds the memory of a large batch.
  constexpr auto most_values = std::int64_t{1} << 20;
  return {[weight = c.tensor("weight"), thresholds = c.tensor("thresholds")](inputs in,
                                                                             bool) {
    const auto rows =
        std::max<std::int64_t>(1, most_values / (weight.size(1) * in[0].size(1)));
    std::vector<at::Tensor> batches;
    for (const auto& some : in[0].detach().split(rows))
      batches.push_back(features_of(weight, thresholds, some));
    const auto all = batches.size() == 1 ? batches.front() : at::cat(batches);
    // Nothing is learnt through them; an optimiser wants a gradient of every parameter.
    return in[0].requires_grad() ? all + 0 * in[0].flatten(1).narrow(1, 0, 1) : all;
  }};
}

constexpr std::array rows{kernel_row{"random_convolutions", make_random_convolutions}};

} // namespace

convolved_sequences::convolved_sequences(const at::Tensor& sequences)
    : values(sequences.transpose(1, 2).contiguous()),
      differences(values.slice(2, 1) - values.slice(2, 0, values.size(2) - 1)) {}

at::Tensor convolved_sequences::by_part(const at::Tensor& weight,
                                        std::int64_t part) const {
  const auto distance = std::int64_t{1} << (part / 2);
  return at::conv1d(part % 2 == 0 ? values : differences,
                    weight.select(0, part).to(values.scalar_type()), {}, 1,
                    (random_kernel_length - 1) / 2 * distance, distance);
}

std::span<const kernel_row> random_convolution_kernels() {
  return rows;
}

} // namespace clade
