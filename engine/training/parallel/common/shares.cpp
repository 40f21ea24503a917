#include "engine/training/parallel/common/shares.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

namespace clade {

batch share_of_batch(const batch& b, std::size_t share, std::size_t of) {
  const auto all = b.targets.size(0);
  const auto i = static_cast<std::int64_t>(share), n = static_cast<std::int64_t>(of);
  const auto begin = all * i / n, size = all * (i + 1) / n - begin;
  batch out = b;
  for (auto* t : {&out.features, &out.targets, &out.other_targets, &out.weights,
                  &out.other_weights})
    if (t->defined())
      *t = t->narrow(0, begin, size);
  return out;
}

std::int64_t elements_of(std::span<const at::Tensor> tensors) {
  std::int64_t all = 0;
  for (const auto& t : tensors)
    all += t.numel();
  return all;
}

tensor_list views_of(const at::Tensor& row, std::span<const at::Tensor> like) {
  tensor_list views;
  std::int64_t begin = 0;
  for (const auto& t : like) {
    views.push_back(row.as_strided(t.sizes(), t.strides(), begin));
    begin += t.numel();
  }
  return views;
}

at::Tensor row_of(std::span<const at::Tensor> tensors) {
  const at::NoGradGuard no_grad;
  auto row = at::empty({elements_of(tensors)}, at::kFloat);
  const auto views = views_of(row, tensors);
  for (std::size_t i = 0; i < tensors.size(); ++i)
    views[i].copy_(tensors[i]);
  return row;
}

void copy_row(const at::Tensor& row, std::span<const at::Tensor> tensors,
              std::size_t skipped) {
  const at::NoGradGuard no_grad;
  const auto views = views_of(row, tensors);
  for (std::size_t i = skipped; i < tensors.size(); ++i)
    tensors[i].detach().copy_(views[i]);
}

std::span<float> values_of(const at::Tensor& row) {
  return {row.mutable_data_ptr<float>(), static_cast<std::size_t>(row.numel())};
}

} // namespace clade
