// Networks of steps over time: each step of a sequence [N, steps, features] goes through all
// computations of the body, one after the other.
#include "engine/program/kernels/kernel.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

namespace clade {
namespace {

class body_kernel {
public:
  explicit body_kernel(const kernel_context& c)
      : body_(c.step.body),
        is_recalled_(body_->steps.size()) {
    std::size_t next = 0;
    for (const auto& s : body_->steps) {
      const auto own = c.tensors.subspan(next, s.tensors.size());
      next += own.size();
      kernels_.push_back(kernel_of(s).make(
          {.step = s, .tensors = own, .random = c.random, .device = c.device}));
      for (const auto& in : s.inputs)
        if (in.delay > 0)
          is_recalled_[in.step] = true;
    }
  }

  [[nodiscard]] at::Tensor forward(const at::Tensor& sequence, bool training) const {
    pass p{.states = std::vector<std::vector<at::Tensor>>(kernels_.size()),
           .values = std::vector<at::Tensor>(kernels_.size()),
           .past = std::vector<std::vector<at::Tensor>>(kernels_.size()),
           .training = training};
    for (const auto& x : sequence.unbind(1)) {
      take_step(x, p);
      ++p.time;
    }
    return p.values.back();
  }

private:
  /// One pass over a sequence; all by the body's computations.
  struct pass {
    std::vector<std::vector<at::Tensor>> states;
    std::vector<at::Tensor> values;            ///< They say this of the step.
    std::vector<std::vector<at::Tensor>> past; ///< The same of all steps, where recalled.
    std::int64_t time = 0;
    bool training = false;
  };

  void take_step(const at::Tensor& x, pass& p) const {
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      p.values[i] = value_of(i, x, p);
      if (is_recalled_[i])
        p.past[i].push_back(p.values[i]);
    }
  }

  [[nodiscard]] at::Tensor value_of(std::size_t i, const at::Tensor& x, pass& p) const {
    const auto& s = body_->steps[i];
    std::vector<at::Tensor> in;
    for (const auto& [from, delay] : s.inputs) {
      if (delay > p.time) // A recall, which has one input, of what was before all steps.
        return at::zeros({x.size(0), s.out.units()}, x.options());
      in.push_back(delay > 0 ? p.past[from][static_cast<std::size_t>(p.time - delay)]
                             : p.values[from]);
    }
    if (in.empty())
      in.push_back(x);
    const auto& k = kernels_[i];
    return k.next ? k.next(in.front(), p.states[i]) : k.forward(in, p.training);
  }

  std::shared_ptr<const program> body_;
  std::vector<kernel> kernels_;
  std::vector<bool> is_recalled_;
};

kernel make_over_time(const kernel_context& c) {
  return {.forward = [body = body_kernel(c)](kernel::inputs in, bool training) {
    return body.forward(in[0], training);
  }};
}

constexpr std::array rows{kernel_row{"over_time", make_over_time}};

} // namespace

std::span<const kernel_row> time_kernels() {
  return rows;
}

} // namespace clade
