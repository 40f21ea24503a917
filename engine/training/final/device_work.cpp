#include "engine/training/final/device_work.hpp"

#include "engine/training/final/failure.hpp"

#include <ATen/detail/CUDAHooksInterface.h>
#include <fmt/format.h>
#include <torch/torch.h>
#include <torch/version.h>

namespace clade {

namespace {

class torch_products final : public device_work {
public:
  explicit torch_products(std::string device) : device_(std::move(device)) {}

  expected<void> multiply(unsigned times) override {
    try {
      const torch::NoGradGuard no_gradients;
      const torch::Device device(device_);
      const auto rows = torch::arange(side, torch::kFloat32).remainder(7).to(device);
      const auto left = rows.unsqueeze(1).expand({side, side}).contiguous();
      const auto right = rows.unsqueeze(0).expand({side, side}).contiguous();
      torch::Tensor product;
      for (unsigned i = 0; i < times; ++i)
        product = torch::mm(left, right);
      // Each entry is the sum of `side` equal terms.
      const auto expected_product = rows.unsqueeze(1) * rows.unsqueeze(0) * side;
      if (times > 0 && !torch::equal(product, expected_product))
        return fail(error_kind::io, device_ + " multiplies wrongly");
      return {};
    } catch (...) {
      return fail(error_kind::io, failure_of_exception().reason);
    }
  }

private:
  std::string device_;
};

/// CUDA's 13000 is "13.0".
std::string cuda_version() {
  const auto& hooks = at::detail::getCUDAHooks();
  const auto version = hooks.hasCUDART() ? hooks.versionCUDART() : 0;
  return version == 0 ? "" : fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

} // namespace

std::unique_ptr<device_work> make_device_work(const std::string& device) {
  return std::make_unique<torch_products>(device);
}

torch_build built_torch() {
  return {.version = TORCH_VERSION, .cuda = cuda_version()};
}

} // namespace clade
