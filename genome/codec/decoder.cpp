#include "genome/codec/codec.hpp"

#include <fmt/format.h>

#include <bit>

// Pulls one msgpack value after another straight from the bytes, with no tree of objects
// in between (github.com/msgpack/msgpack/blob/master/spec.md):
//
//     00..7f  natural      80..8f  map          90..9f  list       a0..bf  text
//     c0      nil          c2, c3  booleans     c4..c6  bytes      ca, cb  float, double
//     cc..cf  naturals     d0..d3  integers     d9..db  text       dc, dd  list
//     de, df  map          e0..ff  negative
//
// Sizes and numbers behind the first byte are big-endian, of 1, 2, 4 or 8 bytes. Memory
// is allocated in proportion to bytes that are there, there is no recursion, and every
// read checks what is left first. The first error stops the cursor: from then on nothing
// is there.

namespace clade {

void decoder::fail(std::string message) {
  if (!failed_)
    message_ = std::move(message);
  failed_ = true;
}

void decoder::expected_here(const char* what) {
  if (!failed_)
    fail(fmt::format("byte {}{}{}", offset_,
                     offset_ < data_.size() ? ": not " : ": ends before ", what));
}

expected<void> decoder::finish() const {
  if (failed_)
    return clade::fail(error_kind::corrupt, message_);
  if (offset_ != data_.size())
    return clade::fail(error_kind::corrupt, fmt::format("byte {}: {} bytes too many",
                                                        offset_, data_.size() - offset_));
  return {};
}

/// 0xc1, which msgpack never uses, stands for "nothing to read".
std::uint8_t decoder::peek() const {
  if (failed_ || offset_ >= data_.size())
    return 0xc1;
  return static_cast<std::uint8_t>(data_[offset_]);
}

/// A number of that many bytes behind the one at the cursor; moves over both.
std::uint64_t decoder::big_endian(std::size_t width) {
  if (data_.size() - offset_ <= width) {
    offset_ = data_.size();
    expected_here("the end of a number");
    return 0;
  }
  std::uint64_t v = 0;
  for (std::size_t i = 1; i <= width; ++i)
    v = v << 8 | static_cast<std::uint8_t>(data_[offset_ + i]);
  offset_ += width + 1;
  return v;
}

decoder::number decoder::scalar() {
  using kind = number::kind;
  const std::uint8_t lead = peek();
  const auto is_signed = [](std::int64_t v) {
    return number{v < 0 ? kind::negative : kind::natural, static_cast<std::uint64_t>(v)};
  };
  if (lead < 0x80) {
    ++offset_;
    return {kind::natural, lead};
  }
  if (lead >= 0xe0) {
    ++offset_;
    return is_signed(static_cast<std::int8_t>(lead));
  }
  switch (lead) {
  case 0xca:
    return {kind::real,
            std::bit_cast<std::uint64_t>(static_cast<double>(
                std::bit_cast<float>(static_cast<std::uint32_t>(big_endian(4)))))};
  case 0xcb:
    return {kind::real, big_endian(8)};
  case 0xcc:
  case 0xcd:
  case 0xce:
  case 0xcf:
    return {kind::natural, big_endian(std::size_t{1} << (lead - 0xcc))};
  case 0xd0:
    return is_signed(static_cast<std::int8_t>(big_endian(1)));
  case 0xd1:
    return is_signed(static_cast<std::int16_t>(big_endian(2)));
  case 0xd2:
    return is_signed(static_cast<std::int32_t>(big_endian(4)));
  case 0xd3:
    return is_signed(static_cast<std::int64_t>(big_endian(8)));
  default:
    return {};
  }
}

std::int64_t decoder::integer() {
  const std::size_t start = offset_;
  const number n = scalar();
  const bool fits = n.what == number::kind::natural && n.bits <= INT64_MAX;
  if (!fits && n.what != number::kind::negative) {
    offset_ = failed_ ? offset_ : start;
    expected_here("a 64-bit integer");
  }
  return failed_ ? 0 : static_cast<std::int64_t>(n.bits);
}

std::uint64_t decoder::natural() {
  const std::size_t start = offset_;
  const number n = scalar();
  if (n.what != number::kind::natural) {
    offset_ = failed_ ? offset_ : start;
    expected_here("a natural number");
  }
  return failed_ ? 0 : n.bits;
}

double decoder::real() {
  const number n = scalar();
  if (n.what == number::kind::none)
    expected_here("a number");
  if (failed_)
    return 0;
  if (n.what == number::kind::real)
    return std::bit_cast<double>(n.bits);
  return n.what == number::kind::natural
             ? static_cast<double>(n.bits)
             : static_cast<double>(static_cast<std::int64_t>(n.bits));
}

bool decoder::boolean() {
  const std::uint8_t lead = peek();
  if (lead != 0xc2 && lead != 0xc3) {
    expected_here("true or false");
    return false;
  }
  ++offset_;
  return lead == 0xc3;
}

bool decoder::is_nil() {
  if (peek() != 0xc0)
    return false;
  ++offset_;
  return true;
}

std::string_view decoder::chunk(std::size_t size) {
  if (failed_)
    return {};
  if (size > data_.size() - offset_) {
    offset_ = data_.size();
    expected_here("the end of a text or of bytes");
    return {};
  }
  const std::string_view taken(data_.data() + offset_, size);
  offset_ += size;
  return taken;
}

std::string_view decoder::string() {
  const std::uint8_t lead = peek();
  if (lead >= 0xa0 && lead <= 0xbf) {
    ++offset_;
    return chunk(lead & 0x1f);
  }
  if (lead >= 0xd9 && lead <= 0xdb)
    return chunk(big_endian(std::size_t{1} << (lead - 0xd9)));
  expected_here("a text");
  return {};
}

std::string decoder::text() {
  return std::string(string());
}

bytes decoder::binary() {
  const std::uint8_t lead = peek();
  if (lead >= 0xc4 && lead <= 0xc6)
    return bytes(chunk(big_endian(std::size_t{1} << (lead - 0xc4))));
  expected_here("bytes");
  return {};
}

/// A list's size: in the low four bits of `fixed`, or in the 2 or 4 bytes behind `wide`.
std::size_t decoder::list(std::uint8_t fixed, std::uint8_t wide, std::size_t bytes_each,
                          const char* what) {
  const std::uint8_t lead = peek();
  std::uint64_t size = 0;
  if ((lead & 0xf0) == fixed) {
    size = lead & 0x0f;
    ++offset_;
  } else if (lead == wide || lead == wide + 1) {
    size = big_endian(lead == wide ? 2 : 4);
  } else {
    expected_here(what);
  }
  if (!failed_ && size > (data_.size() - offset_) / bytes_each)
    fail(fmt::format("byte {}: ends before {} of {}", offset_, what, size));
  return failed_ ? 0 : size;
}

std::size_t decoder::array() {
  return list(0x90, 0xdc, 1, "a list");
}
std::size_t decoder::map() {
  return list(0x80, 0xde, 2, "a map");
}

void decoder::array(std::size_t size) {
  const std::size_t start = offset_;
  const std::size_t found = array();
  if (!failed_ && found != size)
    fail(fmt::format("byte {}: a list of {}, not of {}", start, found, size));
}

clade::value decoder::value() {
  const std::uint8_t lead = peek();
  if (lead == 0xca || lead == 0xcb)
    return real();
  if ((lead >= 0xa0 && lead <= 0xbf) || (lead >= 0xd9 && lead <= 0xdb))
    return text();
  return integer();
}

} // namespace clade
