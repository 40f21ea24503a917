// Images stay in 8 bits until a batch of them is gathered on the device: that is a quarter
// of the memory, and of what is moved. LibTorch divides by a tensor on the device as the
// host does, but on CUDA by a number of the host it multiplies with its inverse.

#include "engine/training/network/example_tensors.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <system_error>

namespace clade {
namespace {

constexpr std::size_t block_bytes = std::size_t{64} << 20;

std::vector<std::int64_t> sizes_of(std::int64_t count, const tensor_shape& shape) {
  std::vector<std::int64_t> sizes{count};
  sizes.insert(sizes.end(), shape.sizes.begin(), shape.sizes.end());
  return sizes;
}

at::ScalarType scalar_type(stored_type type) {
  return type == stored_type::uint8     ? at::kByte
         : type == stored_type::float32 ? at::kFloat
                                        : at::kLong;
}

// ATen takes memory that it may write to; nothing here does.
at::Tensor view_of(std::span<const std::byte> bytes, at::IntArrayRef sizes,
                   at::ScalarType type) {
  return at::from_blob(const_cast<std::byte*>(bytes.data()), sizes, type);
}

std::span<std::byte> bytes_of(const at::Tensor& t) {
  return {static_cast<std::byte*>(t.data_ptr()), t.nbytes()};
}

expected<at::Tensor> held(const example_source& source, std::size_t input,
                          std::vector<std::int64_t> sizes, const at::Device& device) {
  const auto& d = source.description();
  const auto type = scalar_type(d.inputs[input].type);
  if (const auto bytes = source.in_place(input); !bytes.empty()) {
    TORCH_CHECK(bytes.size() == d.count * d.bytes_of_input(input),
                "a source does not hold the examples that it describes");
    return view_of(bytes, sizes, type).to(device);
  }
  auto all = at::empty(sizes, at::TensorOptions(device).dtype(type));
  const auto copied = for_each_block(
      source, input, block_bytes,
      [&](std::size_t from, std::span<const std::byte> block) {
        sizes[0] = static_cast<std::int64_t>(block.size() / d.bytes_of_input(input));
        all.narrow(0, static_cast<std::int64_t>(from), sizes[0])
            .copy_(view_of(block, sizes, type));
      });
  if (!copied)
    return tl::unexpected(copied.error());
  return all;
}

} // namespace

example_tensors::example_tensors(at::Tensor values)
    : sizes_(values.sizes().vec()),
      held_(std::move(values)),
      divisor_(at::ones({}, held_.options())),
      window_(static_cast<std::size_t>(sizes_.front())) {}

expected<example_tensors>
example_tensors::of(std::shared_ptr<const example_source> source, std::size_t input,
                    const at::Device& device, std::size_t most_bytes) {
  const auto& d = source->description();
  const auto& is = d.inputs.at(input);
  if (is.type == stored_type::int64)
    return fail(error_kind::invalid_input,
                fmt::format("the examples' {} holds tokens, and training learns from "
                            "images and from tables of numbers",
                            is.name));
  example_tensors out;
  out.input_ = input;
  out.sizes_ = sizes_of(static_cast<std::int64_t>(d.count), is.shape);
  out.divisor_ = at::full({}, is.divisor, at::TensorOptions(device).dtype(at::kFloat));
  out.divided_ = is.divisor != 1 || is.type != stored_type::float32;
  const auto row_bytes = std::max<std::size_t>(1, d.bytes_of_input(input));
  out.window_ = d.count;
  if (d.count * row_bytes > most_bytes) {
    out.window_ = std::max<std::size_t>(1, window_bytes(most_bytes) / row_bytes);
  } else {
    auto all = held(*source, input, out.sizes_, device);
    if (!all)
      return tl::unexpected(all.error());
    out.held_ = std::move(*all);
  }
  out.source_ = std::move(source);
  return out;
}

at::Tensor example_tensors::rows(const at::Tensor& indices) const {
  const auto stored =
      held_.defined() ? held_.index_select(0, indices) : read(indices).to(device());
  return divided_ ? stored.to(at::kFloat).div_(divisor_) : stored;
}

at::Tensor example_tensors::read(const at::Tensor& indices) const {
  const auto wanted = indices.cpu().contiguous();
  const std::span all(wanted.const_data_ptr<std::int64_t>(),
                      static_cast<std::size_t>(wanted.numel()));
  const std::vector<std::uint32_t> examples(all.begin(), all.end());
  auto sizes = sizes_;
  sizes[0] = wanted.numel();
  auto out = at::empty(sizes, scalar_type(source_->description().inputs[input_].type));
  if (const auto done = source_->read(input_, examples, bytes_of(out)); !done)
    throw std::system_error(std::make_error_code(std::errc::io_error),
                            done.error().message);
  return out;
}

expected<at::Tensor> targets_of(const example_source& source, const at::Device& device) {
  const auto& d = source.description();
  const bool one_class = d.target.kind == target_kind::one_class;
  if (d.target.kind == target_kind::sequence)
    return fail(error_kind::invalid_input,
                fmt::format("each example has {} as its target, and training learns a "
                            "class, numbers or labels",
                            to_text(d.target.kind)));
  const auto count = static_cast<std::int64_t>(d.count);
  auto all = one_class ? at::empty({count}, at::kLong)
                       : at::empty({count, d.target.shape.elements()}, at::kFloat);
  std::vector<std::uint32_t> examples(d.count);
  std::iota(examples.begin(), examples.end(), 0U);
  if (auto read = source.read_targets(examples, bytes_of(all)); !read)
    return tl::unexpected(read.error());
  return all.to(device);
}

} // namespace clade
