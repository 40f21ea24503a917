#include "engine/program/lower/windows.hpp"

#include <algorithm>
#include <limits>

namespace clade {
namespace {

using span_list = averaged_spans::span_list;

span_list windows_of(std::int64_t size, std::int64_t kernel, std::int64_t stride) {
  span_list out;
  const auto places = windows(size, kernel, stride);
  for (std::int64_t i = 0; i < places.out; ++i) {
    const auto from = i * stride - places.before;
    out.emplace_back(std::max<std::int64_t>(from, 0), std::min(from + kernel, size));
  }
  return out;
}

span_list shares_of(std::int64_t out, std::int64_t in) {
  span_list all;
  for (std::int64_t i = 0; i < out; ++i)
    all.emplace_back(i * in / out, ((i + 1) * in + out - 1) / out);
  return all;
}

step_window steps_in(const tensor_shape& in, const std::vector<setting>& settings) {
  const auto kernel = integer_setting(settings, "kernel");
  const auto stride = integer_setting(settings, "stride");
  const auto half = kernel / 2;
  if (kernel % 2 == 1)
    return {kernel, stride, half, half};
  const auto places = windows(in.sizes[0], kernel, stride);
  return {kernel, stride, places.before, places.after};
}

pool_window pool_in(const tensor_shape& in, const std::vector<setting>& settings) {
  const auto kernel = integer_setting(settings, "kernel");
  const auto stride = integer_setting(settings, "stride");
  if (const auto half = kernel / 2; kernel % 2 == 1)
    return {kernel, stride, half, half, half, half};
  const auto rows = windows(in.sizes[1], kernel, stride);
  const auto columns = windows(in.sizes[2], kernel, stride);
  return {kernel, stride, rows.before, columns.before, rows.after, columns.after};
}

} // namespace

convolution_window window_of(const program_step& s) {
  const auto kernel = integer_setting(s.settings, "kernel");
  const auto dilation = integer_setting(s.settings, "dilation");
  const auto* sees = find(s.settings, "sees");
  const bool before = sees != nullptr && *sees == value(std::string("before"));
  return {.kernel = kernel,
          .stride = integer_setting(s.settings, "stride"),
          .padding = dilation * (kernel - 1) / (before ? 1 : 2),
          .dilation = dilation,
          .groups = s.computes == "depthwise_conv" ? s.in.sizes[0]
                    : s.computes == "grouped_conv1d"
                        ? groups_of(s.in.units(), s.out.units(),
                                    integer_setting(s.settings, "groups"))
                        : 1,
          .before = before};
}

pool_window pool_of(const program_step& s) {
  return pool_in(s.in, s.settings);
}

step_window steps_of(const program_step& s) {
  return steps_in(s.in, s.settings);
}

patch_window patches_of(const program_step& s) {
  const auto size = integer_setting(s.settings, "size");
  const auto beyond = [size](std::int64_t side) { return (size - side % size) % size; };
  return {.size = size, .below = beyond(s.in.sizes[1]), .right = beyond(s.in.sizes[2])};
}

std::vector<float> later_steps(std::int64_t steps) {
  std::vector<float> all;
  for (std::int64_t row = 0; row < steps; ++row)
    for (std::int64_t column = 0; column < steps; ++column)
      all.push_back(column > row ? -std::numeric_limits<float>::infinity() : 0);
  return all;
}

bool has_even_windows(const layer& l) {
  if (l.in.front().layout() == layout::sequence) {
    const auto w = steps_in(l.in.front(), l.settings);
    return w.odd() || w.before + w.after == 0;
  }
  const auto w = pool_in(l.in.front(), l.settings);
  return w.odd() || w.top + w.left + w.bottom + w.right == 0;
}

averaged_spans averaged(const program_step& s) {
  const auto &in = s.in.sizes, &out = s.out.sizes;
  if (find(s.settings, "kernel") == nullptr)
    return {shares_of(out[1], in[1]), shares_of(out[2], in[2])};
  const auto kernel = integer_setting(s.settings, "kernel");
  const auto stride = integer_setting(s.settings, "stride");
  return {windows_of(in[1], kernel, stride), windows_of(in[2], kernel, stride)};
}

span_list averaged_steps(const program_step& s) {
  const auto in = s.in.sizes[0];
  if (find(s.settings, "kernel") == nullptr)
    return shares_of(s.out.sizes[0], in);
  return windows_of(in, integer_setting(s.settings, "kernel"),
                    integer_setting(s.settings, "stride"));
}

std::vector<float> averaging_matrix(const span_list& spans, std::int64_t size) {
  std::vector<float> matrix(spans.size() * static_cast<std::size_t>(size), 0);
  auto row = matrix.begin();
  for (const auto& [from, to] : spans) {
    std::fill(row + from, row + to,
              static_cast<float>(1.0 / static_cast<double>(to - from)));
    row += size;
  }
  return matrix;
}

} // namespace clade
