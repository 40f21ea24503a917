#include "engine/training/network/weight_average.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

namespace clade {

weight_average::weight_average(double decay, std::vector<at::Tensor> weights)
    : decay_(decay),
      weights_(std::move(weights)) {
  for (auto& w : weights_) {
    w = w.detach();
    values_.push_back(w.clone());
  }
}

void weight_average::add(std::uint64_t step) {
  if (values_.empty())
    return; // All weights are others'.
  const at::NoGradGuard no_grad;
  const auto t = static_cast<double>(step);
  const double keep = std::min(decay_, (1 + t) / (10 + t));
  at::_foreach_lerp_(values_, weights_, 1 - keep);
}

void weight_average::begin_again() {
  for (std::size_t i = 0; i < values_.size(); ++i)
    values_[i].copy_(weights_[i]);
}

void weight_average::set(const std::vector<at::Tensor>& values) {
  for (std::size_t i = 0; i < values_.size(); ++i)
    values_[i].copy_(values[i]);
}

void weight_average::exchange() {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const auto weights = weights_[i].clone();
    weights_[i].copy_(values_[i]);
    values_[i].copy_(weights);
  }
}

} // namespace clade
