// IDX   := 0 0 type dimensions size{dimensions} value*        (all big-endian)
// type  := 08 u8 | 09 i8 | 0B i16 | 0C i32 | 0D f32 | 0E f64
//
// npy   := header value*                                      (npy_header.cpp)
//
// Sizes are multiplied with a check against the bytes that are there, so that no header,
// however absurd, makes the reader take memory or time that the file does not justify.

#include "engine/data/formats/numeric_array.hpp"

#include "engine/data/formats/npy_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <string>

namespace clade {
namespace {

constexpr std::size_t max_dimensions = 8;

tl::unexpected<error> wrong(std::size_t byte, std::string message) {
  return fail(error_kind::invalid_input,
              fmt::format("byte {}: {}", byte, std::move(message)));
}

template<class T>
T load(const char* at, bool big_endian) {
  std::array<char, sizeof(T)> raw;
  std::memcpy(raw.data(), at, sizeof(T));
  if (big_endian != (std::endian::native == std::endian::big))
    std::reverse(raw.begin(), raw.end());
  return std::bit_cast<T>(raw);
}

/// Returns the bytes that the values take, or `most` + 1 where they are more than `most`;
/// so the product never overflows.
std::uint64_t bytes_of_values(const numeric_array& a, std::uint64_t most) {
  if (std::ranges::find(a.sizes, 0) != a.sizes.end())
    return 0;
  std::uint64_t bytes = size_of(a.type);
  for (const std::int64_t size : a.sizes)
    if (bytes <= most)
      bytes = bytes > most / static_cast<std::uint64_t>(size)
                  ? most + 1
                  : bytes * static_cast<std::uint64_t>(size);
  return bytes;
}

// Takes as values what follows `offset`: in the file, exactly as many as the sizes multiply
// to.
expected<numeric_array> with_values(expected<numeric_array> head, std::string_view bytes,
                                    std::uint64_t file_bytes) {
  if (!head)
    return head;
  auto& a = *head;
  const std::uint64_t there = file_bytes - a.offset;
  std::string shape;
  for (const std::int64_t size : a.sizes)
    shape += fmt::format("{}{}", shape.empty() ? "" : " x ", size);
  const std::uint64_t wanted = bytes_of_values(a, there);
  if (wanted > there)
    return wrong(
        file_bytes,
        fmt::format("the file ends here, too early: {} bytes of values are there, too "
                    "few for {} of {} bytes each; it was cut off, fetch it again",
                    there, shape, size_of(a.type)));
  if (wanted < there)
    return wrong(a.offset + wanted, fmt::format("{} bytes too many follow the {} values",
                                                there - wanted, shape));
  a.values = bytes.substr(a.offset);
  return head;
}

std::optional<number_type> idx_type(unsigned char code) {
  switch (code) {
  case 0x08:
    return number_type::u8;
  case 0x09:
    return number_type::i8;
  case 0x0B:
    return number_type::i16;
  case 0x0C:
    return number_type::i32;
  case 0x0D:
    return number_type::f32;
  case 0x0E:
    return number_type::f64;
  default:
    return std::nullopt;
  }
}

std::optional<number_type> npy_type(std::string_view kind) {
  constexpr std::pair<std::string_view, number_type> known[] = {
      {"b1", number_type::u8},  {"u1", number_type::u8},  {"i1", number_type::i8},
      {"u2", number_type::u16}, {"i2", number_type::i16}, {"u4", number_type::u32},
      {"i4", number_type::i32}, {"u8", number_type::u64}, {"i8", number_type::i64},
      {"f4", number_type::f32}, {"f8", number_type::f64}};
  for (const auto& [name, type] : known)
    if (name == kind)
      return type;
  return std::nullopt;
}

std::string why_not_read(std::string_view descr) {
  const char kind = descr.size() > 1 ? descr[1] : ' ';
  if (kind == 'O')
    return "its values are objects of Python, which are saved as a pickle, a program "
           "that "
           "is never run here; save numbers, or texts by y.astype(str)";
  if (kind == 'U' || kind == 'S')
    return "its values are texts, where numbers must be; texts are read as targets alone";
  return fmt::format(
      "values of type '{}' are not read; use float32, float64 or whole numbers", descr);
}

} // namespace

std::size_t size_of(number_type t) {
  switch (t) {
  case number_type::u8:
  case number_type::i8:
    return 1;
  case number_type::u16:
  case number_type::i16:
    return 2;
  case number_type::u32:
  case number_type::i32:
  case number_type::f32:
    return 4;
  case number_type::u64:
  case number_type::i64:
  case number_type::f64:
    return 8;
  }
  return 1;
}

double numeric_array::operator[](std::size_t i) const {
  const char* at = values.data() + i * size_of(type);
  switch (type) {
  case number_type::u8:
    return static_cast<unsigned char>(*at);
  case number_type::i8:
    return static_cast<signed char>(*at);
  case number_type::u16:
    return load<std::uint16_t>(at, big_endian);
  case number_type::i16:
    return load<std::int16_t>(at, big_endian);
  case number_type::u32:
    return load<std::uint32_t>(at, big_endian);
  case number_type::i32:
    return load<std::int32_t>(at, big_endian);
  case number_type::u64:
    return static_cast<double>(load<std::uint64_t>(at, big_endian));
  case number_type::i64:
    return static_cast<double>(load<std::int64_t>(at, big_endian));
  case number_type::f32:
    return load<float>(at, big_endian);
  case number_type::f64:
    return load<double>(at, big_endian);
  }
  return 0;
}

namespace {

/// Reads what comes before the values.
expected<numeric_array> idx_head(std::string_view bytes) {
  if (bytes.size() < 4)
    return wrong(bytes.size(),
                 "the file ends here, too early: an IDX file begins with 4 bytes "
                 "that say what it holds");
  if (bytes[0] != 0 || bytes[1] != 0)
    return wrong(0, "not an IDX file: it would begin with two zero bytes");
  const auto type = idx_type(static_cast<unsigned char>(bytes[2]));
  if (!type)
    return wrong(
        2, fmt::format("IDX knows no type {}; the types are 8, 9, 11, 12, 13 and 14",
                       static_cast<unsigned char>(bytes[2])));
  const std::size_t dimensions = static_cast<unsigned char>(bytes[3]);
  if (dimensions == 0 || dimensions > max_dimensions)
    return wrong(3, fmt::format("{} dimensions; 1 to 8 are read", dimensions));
  const std::size_t offset = 4 + 4 * dimensions;
  if (bytes.size() < offset)
    return wrong(
        bytes.size(),
        fmt::format(
            "the file ends here, too early: the sizes of {} dimensions end at byte {}",
            dimensions, offset));
  numeric_array a;
  a.type = *type;
  a.big_endian = true;
  for (std::size_t i = 0; i < dimensions; ++i)
    a.sizes.push_back(load<std::uint32_t>(bytes.data() + 4 + 4 * i, true));
  a.offset = offset;
  return a;
}

expected<numeric_array> npy_head(std::string_view bytes) {
  const auto header = read_npy_header(bytes);
  if (!header)
    return tl::unexpected(header.error());
  const std::string_view descr = header->descr;
  const auto type = descr.size() == 3 ? npy_type(descr.substr(1)) : std::nullopt;
  if (!type || std::string_view("<>|=").find(descr[0]) == std::string_view::npos)
    return wrong(header->descr_at, why_not_read(descr));
  if (header->fortran_order)
    return wrong(header->descr_at,
                 "the array is in Fortran order; save numpy.ascontiguousarray(x)");
  numeric_array a;
  a.sizes = header->shape;
  a.type = *type;
  a.big_endian = descr[0] == '>';
  a.offset = header->values_at;
  return a;
}

std::uint64_t file_bytes_of(const numeric_array& head) {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max() / 2;
  return head.offset + bytes_of_values(head, most);
}

} // namespace

bool looks_like_idx(std::string_view bytes) {
  return bytes.size() >= 4 && bytes[0] == 0 && bytes[1] == 0
         && idx_type(static_cast<unsigned char>(bytes[2])).has_value();
}

expected<numeric_array> parse_idx(std::string_view bytes) {
  return parse_idx(bytes, bytes.size());
}

expected<numeric_array> parse_idx(std::string_view bytes, std::uint64_t file_bytes) {
  return with_values(idx_head(bytes), bytes, file_bytes);
}

expected<std::uint64_t> idx_file_bytes(std::string_view front) {
  return idx_head(front).map(file_bytes_of);
}

expected<numeric_array> parse_npy(std::string_view bytes) {
  return parse_npy(bytes, bytes.size());
}

expected<numeric_array> parse_npy(std::string_view bytes, std::uint64_t file_bytes) {
  return with_values(npy_head(bytes), bytes, file_bytes);
}

expected<std::uint64_t> npy_file_bytes(std::string_view front) {
  return npy_head(front).map(file_bytes_of);
}

} // namespace clade
