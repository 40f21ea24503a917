#include "engine/export/torch/torch_work.hpp"

#include "engine/export/source/row_source.hpp"
#include "engine/export/source/torchscript_source.hpp"
#include "engine/training/network/network_module.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/jit/api/module.h>

#include <algorithm>
#include <sstream>
#include <utility>

namespace clade {
namespace {

// So many examples at once, and fewer where their activations take more memory than that:
// those of all would not fit.
constexpr std::int64_t most_at_once = 256;
constexpr std::uint64_t memory_at_once = std::uint64_t{4} << 30;

std::int64_t batch_size(const network& n) {
  const auto each = std::max<std::uint64_t>(n.cost().activation_bytes, 1);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(memory_at_once / each), 1,
                                  most_at_once);
}

std::string first_line(const std::string& text) {
  const auto from = std::min(text.find_first_not_of('\n'), text.size());
  return text.substr(from, text.find('\n', from) - from);
}

template<class Number>
at::Tensor tensor_of(const std::vector<Number>& values, at::IntArrayRef shape) {
  constexpr auto type = std::is_integral_v<Number> ? at::kLong
                        : sizeof(Number) == 8      ? at::kDouble
                                                   : at::kFloat;
  // ATen takes memory that it may write to; the copy is its own.
  return at::from_blob(const_cast<Number*>(values.data()), shape, type).clone();
}

void add_texts(torch::jit::Module& module, const std::string& name,
               const std::vector<std::string>& texts) {
  c10::List<std::string> list;
  for (const auto& t : texts)
    list.push_back(t);
  module.register_attribute(name, c10::ListType::ofStrings(), list);
}

void add_tensors(torch::jit::Module& module, const exported_model& m) {
  const auto& how = m.how;
  const auto columns = static_cast<std::int64_t>(how.inputs());
  if (!how.mean.empty()) {
    module.register_buffer("input_mean", tensor_of(how.mean, {columns}));
    module.register_buffer("input_deviation", tensor_of(how.deviation, {columns}));
  }
  if (!how.limit.empty())
    module.register_buffer("input_limit", tensor_of(how.limit, {columns}).to(at::kFloat));
  if (const auto fills = fills_of(how); !fills.empty())
    module.register_buffer(
        "input_blank",
        tensor_of(fills, {columns}).to(takes_doubles(how) ? at::kDouble : at::kFloat));
  if (const auto order = input_order(how); !order.empty())
    module.register_buffer("input_order", tensor_of(order, {columns}));
  if (how.largest > 0)
    module.register_buffer("input_largest", at::full({}, how.largest, at::kFloat));
  for (const auto& s : m.steps)
    for (const auto& t : s.tensors) {
      const auto& w = m.weights[t.index];
      module.register_parameter(attribute_name(w.name), tensor_of(w.values, w.shape),
                                !t.trained);
    }
  for (const auto& s : m.steps)
    if (const auto constants = writer_of(s).script_constants)
      for (const auto& c : constants(written(m, s)))
        module.register_buffer(
            c.name,
            std::visit([&](const auto& v) { return tensor_of(v, c.shape); }, c.values));
}

class work final : public torch_work {
public:
  expected<std::vector<float>> outputs(const network& n,
                                       std::span<const weight_tensor> weights,
                                       std::span<const float> examples) override {
    try {
      const at::NoGradGuard no_grad;
      network_module module(n, {}, at::kCPU);
      if (auto loaded = module.load(weights); !loaded)
        return tl::unexpected(loaded.error());
      module.eval();
      const auto width = n.layers.front().out.elements();
      const auto count = static_cast<std::int64_t>(examples.size()) / width;
      std::vector<std::int64_t> shape{count};
      const auto& sizes = n.layers.front().out.sizes;
      shape.insert(shape.end(), sizes.begin(), sizes.end());
      const auto all =
          at::from_blob(const_cast<float*>(examples.data()), shape, at::kFloat);
      std::vector<float> out;
      const auto size = batch_size(n);
      for (std::int64_t from = 0; from < count; from += size) {
        const auto some = all.narrow(0, from, std::min(size, count - from));
        const auto values = module.forward(some).contiguous();
        const auto* first = values.const_data_ptr<float>();
        out.insert(out.end(), first, first + values.numel());
      }
      return out;
    } catch (const std::exception& e) {
      return fail(error_kind::io, "predicting: " + first_line(e.what()));
    }
  }

  expected<std::string> torchscript(const exported_model& m) override {
    try {
      torch::jit::Module module("CladeNetwork");
      add_tensors(module, m);
      add_texts(module, "classes", m.how.classes);
      add_texts(module, "columns", names_of(m.how));
      for (const auto& known : known_values_of(m.how))
        add_texts(module, known.name, known.values);
      module.define(torchscript_source(m));
      module.eval();
      std::ostringstream file;
      module.save(file);
      return std::move(file).str();
    } catch (const std::exception& e) {
      return fail(error_kind::io, "TorchScript: " + first_line(e.what()));
    }
  }
};

} // namespace

std::unique_ptr<torch_work> make_torch_work() {
  return std::make_unique<work>();
}

} // namespace clade
