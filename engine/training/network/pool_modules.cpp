// The average or resizing of pools is written as two matrix products, rows and columns
// apart, if LibTorch's own kernel does not place the windows in this way, or is not
// deterministic on every device.

#include "engine/training/network/pool_modules.hpp"

#include "search_spaces/operators/operators.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

namespace clade {
namespace {

using inputs = std::span<const at::Tensor>;

class max_pool_module final : public layer_module {
public:
  explicit max_pool_module(const layer& l)
      : kernel_(integer_setting(l.settings, "kernel")),
        stride_(integer_setting(l.settings, "stride")),
        rows_(windows(l.in[0].sizes[1], kernel_, stride_)),
        columns_(windows(l.in[0].sizes[2], kernel_, stride_)) {}

  at::Tensor forward(inputs in) override {
    const bool own_padding = kernel_ % 2 == 1;
    auto x = in[0];
    if (!own_padding && rows_.before + rows_.after + columns_.after > 0)
      x = at::constant_pad_nd(
          x, {columns_.before, columns_.after, rows_.before, rows_.after},
          -std::numeric_limits<float>::infinity());
    // LibTorch adds up the gradients of windows that overlap in no fixed order on a GPU.
    if (x.is_cuda() && stride_ < kernel_)
      return slice_maximum(own_padding ? pad_around(x) : x);
    const auto padding = own_padding ? kernel_ / 2 : 0;
    return at::max_pool2d(x, {kernel_, kernel_}, {stride_, stride_}, {padding, padding});
  }

private:
  [[nodiscard]] at::Tensor pad_around(const at::Tensor& x) const {
    const auto p = kernel_ / 2;
    return at::constant_pad_nd(x, {p, p, p, p}, -std::numeric_limits<float>::infinity());
  }

  // The maximum over rows, then over columns, of the shifted images.
  [[nodiscard]] at::Tensor slice_maximum(at::Tensor x) const {
    for (const auto& [dimension, places] :
         {std::pair{2, rows_}, std::pair{3, columns_}}) {
      at::Tensor most;
      for (std::int64_t i = 0; i < kernel_; ++i) {
        const auto shifted =
            x.slice(dimension, i, i + (places.out - 1) * stride_ + 1, stride_);
        most = most.defined() ? at::maximum(most, shifted) : shifted;
      }
      x = most;
    }
    return x;
  }

  std::int64_t kernel_, stride_;
  window_places rows_, columns_;
};

// Row i of the result averages positions [from(i), to(i)) of a side.
template<class From, class To>
at::Tensor averaging_matrix(std::int64_t out, std::int64_t in, From from, To to) {
  auto matrix = at::zeros({out, in}, at::kFloat);
  for (std::int64_t i = 0; i < out; ++i) {
    const auto first = std::max<std::int64_t>(from(i), 0);
    const auto last = std::min<std::int64_t>(to(i), in);
    matrix[i]
        .narrow(0, first, last - first)
        .fill_(1.0 / static_cast<double>(last - first));
  }
  return matrix;
}

// rows X columns', for each channel. Both products are over the last dimension, since
// LibTorch makes one multiplication of those, and one for each channel and example of the
// others.
class averaging_module : public layer_module {
public:
  averaging_module(const at::Tensor& rows, const at::Tensor& columns, layer_context& c)
      : rows_(rows.to(c.device)),
        columns_(columns.to(c.device)) {}

  at::Tensor forward(inputs in) override {
    const auto precision = in[0].scalar_type();
    const auto narrowed =
        at::linear(in[0], columns_.to(precision)).transpose(2, 3).contiguous();
    return at::linear(narrowed, rows_.to(precision)).transpose(2, 3).contiguous();
  }

private:
  // Constants: no buffers, since they are no part of the weights.
  at::Tensor rows_, columns_;
};

class avg_pool_module final : public layer_module {
public:
  explicit avg_pool_module(const layer& l)
      : kernel_(integer_setting(l.settings, "kernel")),
        stride_(integer_setting(l.settings, "stride")) {}

  at::Tensor forward(inputs in) override {
    const auto padding = (kernel_ - 1) / 2;
    return at::avg_pool2d(in[0], {kernel_, kernel_}, {stride_, stride_},
                          {padding, padding},
                          /*ceil_mode=*/false, /*count_include_pad=*/false);
  }

private:
  std::int64_t kernel_, stride_;
};

} // namespace

std::shared_ptr<layer_module> build_max_pool(const layer& l, layer_context&) {
  return std::make_shared<max_pool_module>(l);
}

std::shared_ptr<layer_module> build_avg_pool(const layer& l, layer_context& c) {
  const auto kernel = integer_setting(l.settings, "kernel");
  const auto stride = integer_setting(l.settings, "stride");
  const auto& in = l.in[0].sizes;
  const auto fits = [&](std::int64_t size) {
    const auto places = windows(size, kernel, stride);
    return places.before == 0 && places.after == 0;
  };
  if (kernel % 2 == 1 || (fits(in[1]) && fits(in[2])))
    return std::make_shared<avg_pool_module>(l);
  const auto side = [&](std::int64_t size) {
    const auto places = windows(size, kernel, stride);
    const auto from = [=](std::int64_t i) { return i * stride - places.before; };
    return averaging_matrix(places.out, size, from,
                            [=](std::int64_t i) { return from(i) + kernel; });
  };
  return std::make_shared<averaging_module>(side(in[1]), side(in[2]), c);
}

std::shared_ptr<layer_module> build_resize(const layer& l, layer_context& c) {
  const auto side = [](std::int64_t out, std::int64_t in) {
    return averaging_matrix(
        out, in, [=](std::int64_t i) { return i * in / out; },
        [=](std::int64_t i) { return ((i + 1) * in + out - 1) / out; });
  };
  const auto& in = l.in[0].sizes;
  return std::make_shared<averaging_module>(side(l.out.sizes[1], in[1]),
                                            side(l.out.sizes[2], in[2]), c);
}

} // namespace clade
