#include "engine/training/weights/inheritance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

// Tensors of a layer, by their role: weight [out, in, kernel...], or [units, 1,
// kernel...] of a depthwise convolution, which a separable one has as "depthwise" for its
// inputs; and one value a unit for all others. A kernel's middle stays its middle.

namespace clade {
namespace {

using origin = layer_inheritance::origin;

constexpr std::array per_unit{
    "bias",         "norm.weight", "norm.bias", "norm.running_mean", "norm.running_var",
    "running_mean", "running_var"};

std::size_t natural(std::int64_t n) {
  return static_cast<std::size_t>(n);
}

/// A tensor as rows x columns x kernels, which are of one row over the steps of a sequence.
struct grid {
  explicit grid(const weight_tensor& t)
      : rows(t.shape.empty() ? 1 : t.shape[0]),
        columns(t.shape.size() > 1 ? t.shape[1] : 1),
        height(t.shape.size() > 3 ? t.shape[2] : 1),
        width(t.shape.size() > 2 ? t.shape.back() : 1) {}

  [[nodiscard]] std::size_t at(std::int64_t row, std::int64_t column, std::int64_t y,
                               std::int64_t x) const {
    return natural(((row * columns + column) * height + y) * width + x);
  }
  [[nodiscard]] std::size_t middle(std::int64_t row, std::int64_t column) const {
    return at(row, column, height / 2, width / 2);
  }

  std::int64_t rows, columns, height, width;
};

/// Calls `each(y, x)` for the places of one kernel.
template<class Each>
void for_each_place(const grid& g, Each each) {
  for (std::int64_t y = 0; y < g.height; ++y)
    for (std::int64_t x = 0; x < g.width; ++x)
      each(y, x);
}

/// Adds `share` of one of the parent's kernels, middle on middle.
void add_kernel(weight_tensor& to, std::int64_t row, std::int64_t column,
                const weight_tensor& from, std::int64_t from_row,
                std::int64_t from_column, double share) {
  const grid a(to), b(from);
  if (from_row >= b.rows || from_column >= b.columns)
    return;
  const auto down = (a.height - b.height) / 2, right = (a.width - b.width) / 2;
  for_each_place(a, [&](std::int64_t y, std::int64_t x) {
    const auto v = y - down, u = x - right;
    if (v < 0 || u < 0 || v >= b.height || u >= b.width)
      return;
    auto& value = to.values[a.at(row, column, y, x)];
    value = static_cast<float>(
        static_cast<double>(value)
        + share * static_cast<double>(from.values[b.at(from_row, from_column, v, u)]));
  });
}

void clear(weight_tensor& t, std::int64_t row, std::int64_t column) {
  const grid g(t);
  for_each_place(
      g, [&](std::int64_t y, std::int64_t x) { t.values[g.at(row, column, y, x)] = 0; });
}

/// One kernel a unit.
void fill_units(weight_tensor& t, const weight_tensor* from,
                std::span<const std::int64_t> units) {
  const grid g(t);
  for (std::int64_t u = 0; u < g.rows && u < std::ssize(units); ++u) {
    const auto source = units[natural(u)];
    if (source < 0)
      continue;
    clear(t, u, 0);
    if (from != nullptr)
      add_kernel(t, u, 0, *from, source, 0, 1);
    else
      t.values[g.middle(u, 0)] = 1;
  }
}

class heir {
public:
  heir(std::span<const weight_tensor> parents, std::vector<weight_tensor>& own) {
    for (const auto& t : parents)
      parents_.emplace(t.name, &t);
    for (auto& t : own)
      own_.emplace(t.name, &t);
  }

  void fill(const layer_inheritance& l) {
    if (l.how == origin::copied)
      return copy(l.layer + ".");
    if (l.how == origin::silent)
      return silence(l.layer);
    if (l.how == origin::by_name) {
      for (const auto& recall : l.recalls)
        if (auto* weight = own(fmt::format("{}.{}.weight", l.layer, recall)))
          std::ranges::fill(weight->values, 0.F);
      return copy(l.layer + ".");
    }
    if (auto* weight = own(l.layer + ".weight"); weight != nullptr) {
      const grid g(*weight);
      if (l.how == origin::zero)
        std::ranges::fill(weight->values, 0.F);
      else if (weight->shape.size() == 1)
        fill_values(l, "weight");
      else if (g.columns == 1 && std::ssize(l.inputs) != 1)
        fill_units(*weight, l, ".weight", l.units);
      else
        fill_map(*weight, l);
    }
    std::vector<std::int64_t> inputs;
    for (const auto& parts : l.inputs)
      inputs.push_back(parts.empty() ? -1 : parts.front().unit);
    if (auto* depthwise = own(l.layer + ".depthwise"))
      fill_units(*depthwise, l, ".depthwise", inputs);
    for (const auto* role : per_unit)
      fill_values(l, role);
  }

private:
  void silence(const std::string& layer) const {
    auto* t = own(layer + ".norm.weight");
    if (t == nullptr)
      t = own(layer + ".weight");
    if (t != nullptr)
      std::ranges::fill(t->values, 0.F);
  }

  void copy(const std::string& before) const {
    for (auto t = own_.lower_bound(before);
         t != own_.end() && t->first.starts_with(before); ++t)
      if (const auto* from = parents(t->first);
          from != nullptr && from->shape == t->second->shape)
        t->second->values = from->values;
  }
  weight_tensor* own(const std::string& name) const {
    const auto found = own_.find(name);
    return found == own_.end() ? nullptr : found->second;
  }
  const weight_tensor* parents(const std::string& name) const {
    const auto found = parents_.find(name);
    return found == parents_.end() ? nullptr : found->second;
  }

  void fill_units(weight_tensor& t, const layer_inheritance& l, const char* role,
                  std::span<const std::int64_t> units) const {
    const auto* from = parents(l.layer + role);
    if (l.how == origin::identity)
      clade::fill_units(t, nullptr, units);
    else if (l.how == origin::taken && from != nullptr)
      clade::fill_units(t, from, units);
  }

  /// A linear map. Input units unlike any of the parent's get no weight, beside others
  /// that have one.
  void fill_map(weight_tensor& t, const layer_inheritance& l) const {
    const auto* from = parents(l.layer + ".weight");
    if (l.how == origin::fresh || (l.how == origin::taken && from == nullptr)
        || std::ranges::all_of(l.inputs, [](const auto& p) { return p.empty(); }))
      return;
    const grid g(t);
    for (std::int64_t o = 0; o < g.rows && o < std::ssize(l.units); ++o) {
      const auto unit = l.units[natural(o)];
      for (std::int64_t i = 0; unit >= 0 && i < g.columns && i < std::ssize(l.inputs);
           ++i) {
        clear(t, o, i);
        for (const auto& p : l.inputs[natural(i)])
          if (l.how == origin::taken)
            add_kernel(t, o, i, *from, unit, p.unit, p.share);
          else if (p.unit == unit)
            t.values[g.middle(o, i)] += static_cast<float>(p.share);
      }
    }
  }

  void fill_values(const layer_inheritance& l, const std::string& role) const {
    auto* t = own(fmt::format("{}.{}", l.layer, role));
    const auto* from = parents(fmt::format("{}.{}", l.layer, role));
    if (t == nullptr || from == nullptr || l.how != origin::taken)
      return;
    for (std::size_t u = 0; u < l.units.size() && u < t->values.size(); ++u)
      if (l.units[u] >= 0 && natural(l.units[u]) < from->values.size())
        t->values[u] = from->values[natural(l.units[u])];
  }

  std::map<std::string, const weight_tensor*, std::less<>> parents_;
  std::map<std::string, weight_tensor*, std::less<>> own_;
};

} // namespace

std::vector<weight_tensor> inherit_weights(std::span<const layer_inheritance> plan,
                                           std::span<const weight_tensor> parents_weights,
                                           std::vector<weight_tensor> fresh) {
  heir child(parents_weights, fresh);
  for (const auto& l : plan)
    child.fill(l);
  return fresh;
}

} // namespace clade
