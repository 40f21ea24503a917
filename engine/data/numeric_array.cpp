// IDX   := 0 0 type dimensions size{dimensions} value*        (all big-endian)
// type  := 08 u8 | 09 i8 | 0B i16 | 0C i32 | 0D f32 | 0E f64
//
// npy   := 93 'NUMPY' major minor length dict value*          (length: u16 in version 1,
//                                                             u32 after)
// dict  := { 'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
//                                                             as Python writes it
//
// Sizes are multiplied with a check against the bytes that are there, so that no header,
// however absurd, makes the reader take memory or time that the file does not justify.

#include "engine/data/numeric_array.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <string>

namespace clade {
namespace {

constexpr std::string_view npy_magic = "\x93NUMPY";
constexpr std::size_t max_dimensions = 8;

tl::unexpected<error> wrong(std::size_t byte, std::string message) {
  return fail(error_kind::invalid_input,
              "byte " + std::to_string(byte) + ": " + std::move(message));
}

template<class T>
T load(const char* at, bool big_endian) {
  std::array<char, sizeof(T)> raw;
  std::memcpy(raw.data(), at, sizeof(T));
  if (big_endian != (std::endian::native == std::endian::big))
    std::reverse(raw.begin(), raw.end());
  return std::bit_cast<T>(raw);
}

// Takes as values what follows `offset`: exactly as many as the sizes multiply to.
expected<numeric_array> with_values(numeric_array a, std::string_view bytes,
                                    std::size_t offset) {
  const std::size_t there = bytes.size() - offset;
  std::string shape;
  bool empty = false;
  for (const std::int64_t size : a.sizes) {
    shape += (shape.empty() ? "" : " x ") + std::to_string(size);
    empty = empty || size == 0;
  }
  std::uint64_t wanted = empty ? 0 : size_of(a.type);
  // Past what is there only the fact counts; so the product never overflows.
  for (const std::int64_t size : a.sizes)
    if (wanted > 0 && wanted <= there)
      wanted = wanted > there / static_cast<std::uint64_t>(size)
                   ? std::uint64_t{there} + 1
                   : wanted * static_cast<std::uint64_t>(size);
  if (wanted > there)
    return wrong(bytes.size(), "the file ends here, too early: " + std::to_string(there)
                                   + " bytes of values are there, too few for " + shape
                                   + " of " + std::to_string(size_of(a.type))
                                   + " bytes each; it was cut off, fetch it again");
  if (wanted < there)
    return wrong(offset + wanted, std::to_string(there - wanted)
                                      + " bytes too many follow the " + shape
                                      + " values");
  a.offset = offset;
  a.values = bytes.substr(offset);
  return a;
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

// Reads the one Python literal that numpy writes; the first thing that is not in its
// grammar ends it, and `position` says where.
struct header_reader {
  std::string_view text;
  std::size_t position = 0;
  bool bad = false;

  bool take(std::string_view token) {
    while (position < text.size() && text[position] == ' ')
      ++position;
    if (!text.substr(position).starts_with(token))
      return false;
    position += token.size();
    return true;
  }

  void expect(std::string_view token) { bad = bad || !take(token); }

  std::string_view quoted() {
    const char* quote = take("'") ? "'" : "\"";
    if (*quote == '"')
      expect("\"");
    const std::size_t end = text.find(*quote, position);
    if (bad || end == std::string_view::npos) {
      bad = true;
      return {};
    }
    const std::string_view word = text.substr(position, end - position);
    position = end + 1;
    return word;
  }

  std::int64_t number() {
    std::int64_t n = 0;
    take(" ");
    const std::size_t start = position;
    for (; position < text.size() && text[position] >= '0' && text[position] <= '9';
         ++position) {
      if (n > (std::int64_t{1} << 58)) {
        bad = true;
        return 0;
      }
      n = n * 10 + (text[position] - '0');
    }
    bad = bad || position == start;
    return n;
  }
};

struct npy_header {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

std::vector<std::int64_t> read_shape(header_reader& in) {
  std::vector<std::int64_t> shape;
  in.expect("(");
  while (!in.bad && !in.take(")")) {
    shape.push_back(in.number());
    if (in.bad || shape.size() > max_dimensions) {
      in.bad = true;
      break;
    }
    if (!in.take(",")) {
      in.expect(")");
      break;
    }
  }
  return shape;
}

std::optional<npy_header> read_header(header_reader& in) {
  npy_header h;
  int seen = 0;
  in.expect("{");
  while (!in.bad && !in.take("}")) {
    const std::string_view key = in.quoted();
    in.expect(":");
    if (key == "descr") {
      h.descr = std::string(in.quoted());
      seen |= 1;
    } else if (key == "fortran_order") {
      h.fortran_order = in.take("True");
      if (!h.fortran_order)
        in.expect("False");
      seen |= 2;
    } else if (key == "shape") {
      h.shape = read_shape(in);
      seen |= 4;
    } else {
      in.bad = true;
    }
    if (!in.take(",") && !in.bad) {
      in.expect("}");
      break;
    }
  }
  if (in.bad || seen != 7)
    return std::nullopt;
  return h;
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

bool looks_like_idx(std::string_view bytes) {
  return bytes.size() >= 4 && bytes[0] == 0 && bytes[1] == 0
         && idx_type(static_cast<unsigned char>(bytes[2])).has_value();
}

bool looks_like_npy(std::string_view bytes) {
  return bytes.starts_with(npy_magic);
}

expected<numeric_array> parse_idx(std::string_view bytes) {
  if (bytes.size() < 4)
    return wrong(bytes.size(),
                 "the file ends here, too early: an IDX file begins with 4 bytes "
                 "that say what it holds");
  if (bytes[0] != 0 || bytes[1] != 0)
    return wrong(0, "not an IDX file: it would begin with two zero bytes");
  const auto type = idx_type(static_cast<unsigned char>(bytes[2]));
  if (!type)
    return wrong(2, "IDX knows no type "
                        + std::to_string(static_cast<unsigned char>(bytes[2]))
                        + "; the types are 8, 9, 11, 12, 13 and 14");
  const std::size_t dimensions = static_cast<unsigned char>(bytes[3]);
  if (dimensions == 0 || dimensions > max_dimensions)
    return wrong(3, std::to_string(dimensions) + " dimensions; 1 to 8 are read");
  const std::size_t offset = 4 + 4 * dimensions;
  if (bytes.size() < offset)
    return wrong(bytes.size(), "the file ends here, too early: the sizes of "
                                   + std::to_string(dimensions)
                                   + " dimensions end at byte " + std::to_string(offset));
  numeric_array a;
  a.type = *type;
  a.big_endian = true;
  for (std::size_t i = 0; i < dimensions; ++i)
    a.sizes.push_back(load<std::uint32_t>(bytes.data() + 4 + 4 * i, true));
  return with_values(std::move(a), bytes, offset);
}

expected<numeric_array> parse_npy(std::string_view bytes) {
  if (!looks_like_npy(bytes))
    return wrong(0, "not a .npy file: it would begin with \\x93NUMPY");
  const auto version = bytes.size() > 6 ? static_cast<unsigned char>(bytes[6]) : 1;
  if (version < 1 || version > 3)
    return wrong(6, ".npy of version " + std::to_string(version) + "; 1 to 3 are read");
  const std::size_t start = version == 1 ? 10 : 12;
  const auto too_early = [&] {
    return wrong(bytes.size(),
                 "the file ends here, too early: within its header; it was cut "
                 "off, fetch it again");
  };
  if (bytes.size() < start)
    return too_early();
  const std::size_t length = version == 1 ? load<std::uint16_t>(bytes.data() + 8, false)
                                          : load<std::uint32_t>(bytes.data() + 8, false);
  if (bytes.size() - start < length)
    return too_early();
  header_reader in{bytes.substr(start, length)};
  const auto header = read_header(in);
  if (!header)
    return wrong(start + in.position, "the header is not one that numpy writes");
  const std::string_view descr = header->descr;
  const auto type = descr.size() == 3 ? npy_type(descr.substr(1)) : std::nullopt;
  if (!type || std::string_view("<>|=").find(descr[0]) == std::string_view::npos)
    return wrong(start, "values of type '" + header->descr
                            + "' are not read; use float32, float64 or whole numbers");
  if (header->fortran_order)
    return wrong(start, "the array is in Fortran order; save numpy.ascontiguousarray(x)");
  numeric_array a;
  a.sizes = header->shape;
  a.type = *type;
  a.big_endian = descr[0] == '>';
  return with_values(std::move(a), bytes, start + length);
}

} // namespace clade
