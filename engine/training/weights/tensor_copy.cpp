#include "engine/training/weights/tensor_copy.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

namespace clade {

weight_tensor to_host(std::string name, const at::Tensor& t) {
  const auto values = t.detach().to(at::kCPU).contiguous();
  const auto* first = values.const_data_ptr<float>();
  return {std::move(name), values.sizes().vec(), {first, first + values.numel()}};
}

void copy_to(const at::Tensor& t, const weight_tensor& values) {
  const at::NoGradGuard no_grad;
  auto* from = const_cast<float*>(values.values.data()); // from_blob only reads here
  t.copy_(at::from_blob(from, values.shape, at::kFloat));
}

bool same_shape(const at::Tensor& t, const weight_tensor& values) {
  return t.sizes() == at::IntArrayRef(values.shape);
}

} // namespace clade
