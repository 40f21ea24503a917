#include "engine/training/parallel/exchange/parameter_holder.hpp"

#include "engine/training/parallel/common/shares.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <numeric>

namespace clade {

std::vector<holder_layout> deal_parameters(std::span<const at::Tensor> all,
                                           std::size_t holders, bool copies) {
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<holder_layout> layouts(holders);
  if (copies) {
    for (auto& l : layouts)
      l = {.parameters = order, .statistics = true};
    return layouts;
  }
  layouts.front().statistics = true;
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::size_t i) { return all[i].numel(); });
  std::vector<std::int64_t> sizes(holders);
  for (const auto i : order) {
    const auto least = std::ranges::min_element(sizes);
    *least += all[i].numel();
    layouts[static_cast<std::size_t>(least - sizes.begin())].parameters.push_back(i);
  }
  for (auto& l : layouts)
    std::ranges::sort(l.parameters);
  return layouts;
}

parameter_holder::parameter_holder(const recipe& r, std::span<const at::Tensor> whole,
                                   std::size_t parameters, std::size_t statistics,
                                   std::uint64_t steps)
    : parameters_(parameters),
      steps_(steps) {
  const at::NoGradGuard no_grad;
  const auto own = whole.first(parameters + statistics);
  values_ = row_of(own);
  tensors_ = views_of(values_, own);
  auto unclipped = r;
  unclipped.gradient_clip = 0;
  optimiser_.emplace(
      unclipped,
      tensor_list(tensors_.begin(), tensors_.begin() + std::ptrdiff_t(parameters)));
  optimiser_->go_on_after(steps);
  auto rest = whole.subspan(own.size());
  for (const auto& m : optimiser_->moments()) {
    m.copy_(rest.front());
    rest = rest.subspan(1);
  }
  if (rest.empty() || r.ema == 0)
    return;
  average_.emplace(r.ema, tensors_);
  for (std::size_t i = 0; i < rest.size(); ++i)
    average_->values()[i].copy_(rest[i]);
}

void parameter_holder::step(const at::Tensor& row, double learning_rate,
                            bool takes_statistics) {
  const at::NoGradGuard no_grad;
  const auto given = views_of(row, tensors_);
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (i < parameters_)
      tensors_[i].mutable_grad() = given[i];
    else if (takes_statistics)
      tensors_[i].copy_(given[i]);
  }
  optimiser_->step(learning_rate);
  ++steps_;
  if (average_)
    average_->add(steps_);
}

at::Tensor parameter_holder::state() const {
  auto all = tensors_;
  const auto moments = optimiser_->moments();
  all.insert(all.end(), moments.begin(), moments.end());
  if (average_)
    all.insert(all.end(), average_->values().begin(), average_->values().end());
  return row_of(all);
}

std::vector<held_part> parts_of(const holder_layout& layout,
                                std::span<const std::int64_t> offsets,
                                std::size_t shares) {
  std::vector<held_part> parts;
  std::int64_t at = 0; // In the row.
  for (const auto i : layout.parameters) {
    for (const auto& c : cut_by_chunks(offsets[i], offsets[i + 1], offsets.back(),
                                       static_cast<std::int64_t>(shares)))
      parts.push_back(
          {.parameter = i, .begin = at + c.begin, .size = c.size, .chunk = c.chunk});
    at += offsets[i + 1] - offsets[i];
  }
  return parts;
}

at::Tensor norms_of_parts(const at::Tensor& row, std::span<const held_part> parts) {
  if (parts.empty())
    return at::empty({0}, at::kFloat);
  tensor_list cut;
  for (const auto& p : parts)
    cut.push_back(row.narrow(0, p.begin, p.size));
  return at::stack(norms_of(cut));
}

namespace {

void add_up_held(std::span<const at::Tensor> rows, const held_part& p, float* sum) {
  bool first = true;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& row = rows[(p.chunk + i) % rows.size()];
    if (!row.defined())
      continue;
    const auto* from = row.const_data_ptr<float>() + p.begin;
    if (first)
      std::copy_n(from, p.size, sum + p.begin);
    else
      for (std::int64_t e = 0; e < p.size; ++e)
        sum[p.begin + e] += from[e];
    first = false;
  }
}

} // namespace

void add_up_shares(std::span<const at::Tensor> rows, const holder_layout& layout,
                   std::span<const std::int64_t> offsets, const at::Tensor& sum) {
  auto* to = sum.mutable_data_ptr<float>();
  for (const auto& p : parts_of(layout, offsets, rows.size()))
    add_up_held(rows, p, to);
  std::int64_t at = 0; // The place at which statistics begin.
  for (const auto i : layout.parameters)
    at += offsets[i + 1] - offsets[i];
  const auto row =
      std::ranges::find_if(rows, [](const at::Tensor& r) { return r.defined(); });
  std::copy_n(row->const_data_ptr<float>() + at, sum.numel() - at, to + at);
}

} // namespace clade
