#include "engine/training/weights/weights.hpp"

#include "engine/training/weights/sealed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

// Grammar (msgpack):
//
//     weights = [ "clade-weights", 1, payload, checksum ]     sealed.hpp
//     payload = [ tensor... ]
//     tensor  = [ name: text, "float32", [ size: integer... ], values: binary ]
//
// Values are IEEE 754 little-endian, row-major. Tensors come in the order of the
// network's layers.

namespace clade {
namespace {

static_assert(std::endian::native == std::endian::little, "weights are little-endian");

constexpr sealed_format format{
    .name = "clade-weights", .version = 1, .place = "weights", .one = "weights"};
constexpr std::string_view type_name = "float32";
constexpr std::size_t max_rank = 8;

// The number of values, or nothing if it is negative or overflows.
std::optional<std::uint64_t> count(const std::vector<std::int64_t>& shape) {
  std::uint64_t n = 1;
  for (const auto size : shape) {
    if (size < 0 || __builtin_mul_overflow(n, static_cast<std::uint64_t>(size), &n))
      return std::nullopt;
  }
  return n;
}

weight_tensor decode_tensor(decoder& in) {
  weight_tensor t;
  in.array(4);
  t.name = in.text();
  if (in.text() != type_name)
    in.fail("a tensor that is not float32");
  const auto rank = in.array();
  if (rank > max_rank)
    in.fail(fmt::format("a tensor of rank {}", rank));
  for (std::size_t i = 0; i < rank && !in.failed(); ++i)
    t.shape.push_back(in.integer());
  const auto raw = in.binary();
  const auto values = count(t.shape);
  if (in.failed() || !values || *values != raw.size() / sizeof(float)
      || raw.size() % sizeof(float) != 0) {
    in.fail(fmt::format("the values of {} do not fill its shape", t.name));
    return t;
  }
  t.values.resize(*values);
  std::ranges::copy(raw, reinterpret_cast<char*>(t.values.data()));
  return t;
}

} // namespace

bytes encode_weights(std::span<const weight_tensor> tensors) {
  encoder payload;
  payload.array(tensors.size());
  for (const auto& t : tensors) {
    payload.array(4).text(t.name).text(type_name).array(t.shape.size());
    for (const auto size : t.shape)
      payload.integer(size);
    payload.binary({reinterpret_cast<const char*>(t.values.data()),
                    t.values.size() * sizeof(float)});
  }
  return seal(format, payload.take());
}

expected<std::vector<weight_tensor>> decode_weights(std::span<const char> data) {
  const auto body = unseal(format, data);
  if (!body)
    return tl::unexpected(body.error());

  decoder in(*body);
  std::vector<weight_tensor> tensors(in.array());
  for (auto& t : tensors)
    t = decode_tensor(in);
  if (auto whole = in.finish(); !whole)
    return fail_in("weights", whole.error());
  return tensors;
}

} // namespace clade
