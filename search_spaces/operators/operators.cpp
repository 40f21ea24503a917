#include "search_spaces/operators/operators.hpp"

#include "search_spaces/operators/operator_rows.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace clade {

std::span<const operator_entry> operators() {
  static const auto all = [] {
    std::vector<operator_entry> rows{input_operator()};
    for (const auto family : {image_operators(),
                              plain_operators(),
                              adapter_operators(),
                              table_operators(),
                              sequence_operators(),
                              recurrent_operators(),
                              attention_operators(),
                              time_operators(),
                              random_convolution_operators(),
                              {&output_operator(), 1},
                              image_composites(),
                              table_composites(),
                              sequence_composites()})
      rows.insert(rows.end(), family.begin(), family.end());
    return rows;
  }();
  return all;
}

bool operator_entry::works_on(std::optional<layout> l) const {
  return std::ranges::find(takes, l) != takes.end();
}

tensor_entries operator_entry::tensors_of(const layer& l) const {
  if (tensors == nullptr)
    return {};
  auto all = tensors(l);
  if (!l.shares.empty())
    std::erase_if(all, &tensor_entry::trained);
  return all;
}

layer_cost operator_entry::cost_of(const layer& l) const {
  if (!l.body.empty())
    return cost_over_time(l.body, l.in.front().sizes.front());
  auto sum = cost(l.in, l.out, l.settings);
  for (const auto& t : tensors_of(l))
    if (t.trained)
      sum.parameters += static_cast<std::uint64_t>(t.elements());
  return sum;
}

const operator_entry* find_operator(std::string_view name) {
  const auto found = std::ranges::find(operators(), name, &operator_entry::name);
  return found == operators().end() ? nullptr : &*found;
}

const operator_entry* find_adapter(layout from, layout to) {
  const auto found = std::ranges::find_if(operators(), [&](const operator_entry& o) {
    return o.role == operator_role::adapter && o.works_on(from) && o.gives == to;
  });
  return found == operators().end() ? nullptr : &*found;
}

const operator_entry& operator_of(const layer& l) {
  const auto* found = find_operator(l.op);
  if (found == nullptr) {
    std::fprintf(stderr, "clade: a layer of the unknown operator '%s'\n", l.op.c_str());
    std::abort();
  }
  return *found;
}

window_places windows(std::int64_t size, std::int64_t kernel, std::int64_t stride,
                      std::int64_t dilation) {
  const auto out = (size + stride - 1) / stride;
  const auto before = dilation * (kernel - 1) / 2;
  const auto end = (out - 1) * stride - before + dilation * (kernel - 1) + 1;
  return {.out = out, .before = before, .after = std::max<std::int64_t>(end - size, 0)};
}

std::int64_t groups_of(std::int64_t in, std::int64_t out, std::int64_t asked) {
  const auto common = std::gcd(in, out);
  auto groups = std::min(asked, common);
  while (common % groups != 0)
    --groups;
  return groups;
}

} // namespace clade
