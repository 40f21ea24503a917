#include "search_spaces/rows/operator_rules.hpp"

#include <cmath>
#include <numeric>

namespace clade::operator_rules {

tensor_shape same(shapes in, const settings_list&) {
  return in[0];
}

tensor_shape outputs_shape(shapes in, const settings_list& settings) {
  return in[0].with_units(integer_setting(settings, "outputs"));
}

layer_cost kept(shapes, const tensor_shape& out, const settings_list&) {
  return {.activation_bytes = float_bytes * natural(out.elements())};
}

layer_cost mean_cost(shapes in, const tensor_shape& out, const settings_list&) {
  return {.multiply_adds = natural(in[0].elements()),
          .activation_bytes = float_bytes * natural(out.elements())};
}

layer_cost after_map(const tensor_shape& out, const settings_list& settings) {
  const auto elements = natural(out.elements());
  const bool norm = text_setting(settings, "norm") != "none";
  const bool activation = text_setting(settings, "activation") != "none";
  return {.multiply_adds = norm ? elements : 0,
          .activation_bytes = float_bytes * elements * (1u + norm + activation)};
}

layer_cost map_cost(shapes in, const tensor_shape& out, const settings_list&) {
  const auto elements = natural(out.elements());
  return {.multiply_adds = natural(in[0].units()) * elements,
          .activation_bytes = float_bytes * elements};
}

tensor_entries block_tensors(const layer& l, std::array<std::int64_t, 4> weight,
                             const tensor_entries& before) {
  const auto& norm = text_setting(l.settings, "norm");
  const auto units = units_out(l);
  tensor_entries all;
  all.reserve(before.size() + 5);
  const auto* bias = find(l.settings, "bias");
  if (norm == "none" && (bias == nullptr || *bias == value(std::string("yes"))))
    all.push_back({"bias", {units}});
  all.insert(all.end(), before.begin(), before.end());
  const auto fan_in = std::accumulate(
      weight.begin() + 1, weight.end(), std::int64_t{1},
      [](auto product, auto size) { return size == 0 ? product : product * size; });
  const bool zero = norm == "none" && l.starts_at_zero;
  // A batch norm takes out the scale of what it normalizes, so that smaller weights make
  // larger first steps: those of LibTorch's own convolutions.
  static const double before_norm = 1 / std::sqrt(3.0);
  const bool convolved = norm == "batch" && l.out.layout() != layout::vector;
  const double gain =
      convolved ? before_norm : gain_before(text_setting(l.settings, "activation"));
  all.push_back({"weight", weight, zero ? initial_values{} : uniform_for(gain, fan_in)});
  if (norm == "none")
    return all;
  all.push_back({"norm.weight", {units}, {.by = l.starts_at_zero ? 0.0 : 1.0}});
  all.push_back({"norm.bias", {units}});
  if (norm == "batch") {
    all.push_back({.role = "norm.running_mean", .sizes = {units}, .trained = false});
    all.push_back({"norm.running_var", {units}, {.by = 1}, false});
  }
  return all;
}

tensor_entries map_tensors(const layer& l) {
  const auto in = units_in(l), out = units_out(l);
  const bool vector = l.out.layout() == layout::vector,
             image = l.out.layout() == layout::image;
  return {{"weight", {out, in, vector ? 0 : 1, image ? 1 : 0}, uniform_for(1, in)},
          {"bias", {out}}};
}

tensor_entries norm_tensors(const layer& l) {
  return {{"weight", {units_in(l)}, {.by = 1}}, {"bias", {units_in(l)}}};
}

} // namespace clade::operator_rules
