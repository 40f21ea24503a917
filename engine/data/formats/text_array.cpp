// value := code point{length}         of 'U': 32 bits each, in the type's byte order
//        | byte{length}               of 'S': UTF-8, or else Latin-1
//
// Zeros at the end of a text are not part of it.

#include "engine/data/formats/text_array.hpp"

#include "engine/data/formats/npy_header.hpp"
#include "genome/base/utf8.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <optional>

namespace clade {
namespace {

/// More than any name of a class has.
constexpr std::size_t longest_text = 1 << 16;

tl::unexpected<error> wrong(std::size_t byte, std::string message) {
  return fail(error_kind::invalid_input,
              fmt::format("byte {}: {}", byte, std::move(message)));
}

/// 'U' or 'S', and how many characters a text has.
struct text_type {
  bool wide = false, big_endian = false;
  std::size_t length = 0;

  [[nodiscard]] std::size_t bytes() const { return wide ? 4 * length : length; }
};

std::optional<text_type> type_of(std::string_view descr) {
  if (descr.size() < 3 || (descr[1] != 'U' && descr[1] != 'S'))
    return std::nullopt;
  text_type type{.wide = descr[1] == 'U', .big_endian = descr[0] == '>'};
  const auto [end, status] =
      std::from_chars(descr.data() + 2, descr.data() + descr.size(), type.length);
  if (status != std::errc{} || end != descr.data() + descr.size() || type.length == 0
      || type.length > (std::size_t{1} << 30))
    return std::nullopt;
  return type;
}

/// Returns false where `code` is no character.
bool append_utf8(std::string& out, std::uint32_t code) {
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
    return false;
  const auto tail = [&](int shift) {
    out += static_cast<char>(0x80 | ((code >> shift) & 0x3f));
  };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
  return true;
}

std::optional<std::string> wide_text(std::string_view bytes, bool big_endian) {
  std::string out;
  for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    std::uint32_t code = 0;
    for (std::size_t k = 0; k < 4; ++k)
      code = code << 8 | static_cast<unsigned char>(bytes[i + (big_endian ? k : 3 - k)]);
    if (!append_utf8(out, code))
      return std::nullopt;
  }
  return out;
}

std::string narrow_text(std::string_view bytes) {
  std::string out(bytes);
  bool utf8 = true;
  for (std::size_t i = 0; i < out.size() && utf8;) {
    const auto n = utf8_length(std::string_view(out).substr(i));
    utf8 = n > 0;
    i += n;
  }
  if (utf8)
    return out;
  out.clear();
  for (const char c : bytes)
    append_utf8(out, static_cast<unsigned char>(c));
  return out;
}

/// Returns the number of values that the sizes multiply to; nothing if that is more than
/// `most`.
std::optional<std::size_t> count_of(const std::vector<std::int64_t>& sizes,
                                    std::size_t most) {
  std::size_t count = 1;
  for (const std::int64_t size : sizes) {
    if (size == 0)
      return 0;
    if (count > most / static_cast<std::size_t>(size))
      return std::nullopt;
    count *= static_cast<std::size_t>(size);
  }
  return count;
}

} // namespace

bool holds_texts(std::string_view npy) {
  const auto header = read_npy_header(npy);
  return header && type_of(header->descr).has_value();
}

namespace {

expected<text_array> text_head(std::string_view front) {
  const auto header = read_npy_header(front);
  if (!header)
    return tl::unexpected(header.error());
  const auto type = type_of(header->descr);
  if (!type)
    return wrong(header->descr_at,
                 fmt::format("values of type '{}' are no texts", header->descr));
  text_array out{.sizes = header->shape,
                 .texts = {},
                 .offset = header->values_at,
                 .bytes_each = type->bytes()};
  if (type->length > longest_text)
    return wrong(
        header->descr_at,
        fmt::format("its texts have room for {} characters each, where at most {} "
                    "are read; save names of classes, y.astype(\"U100\")",
                    type->length, longest_text));
  return out;
}

} // namespace

expected<std::uint64_t> npy_text_file_bytes(std::string_view front) {
  return text_head(front).map([](const text_array& head) {
    constexpr auto most = std::numeric_limits<std::uint64_t>::max() / 2;
    const auto count = count_of(head.sizes, most / head.bytes_each);
    return head.offset + (count ? *count * head.bytes_each : most);
  });
}

expected<text_array> parse_npy_text_header(std::string_view front,
                                           std::uint64_t file_bytes) {
  auto head = text_head(front);
  if (!head)
    return head;
  auto& out = *head;
  const auto values = file_bytes - out.offset;
  const auto count = count_of(out.sizes, values / out.bytes_each);
  if (!count || *count * out.bytes_each != values)
    return wrong(file_bytes,
                 fmt::format("the file holds {} bytes of texts, which are not those of "
                             "its shape; it was cut off, fetch it again",
                             values));
  return head;
}

expected<text_array> parse_npy_texts(std::string_view npy) {
  auto read = parse_npy_text_header(npy, npy.size());
  if (!read)
    return read;
  auto& out = *read;
  const auto type = type_of(read_npy_header(npy)->descr);
  const auto values = npy.substr(out.offset);
  for (std::size_t i = 0; (i + 1) * out.bytes_each <= values.size(); ++i) {
    auto bytes = values.substr(i * out.bytes_each, out.bytes_each);
    while (!bytes.empty() && bytes.back() == '\0' && !type->wide)
      bytes.remove_suffix(1);
    auto text = type->wide ? wide_text(bytes, type->big_endian) : narrow_text(bytes);
    if (!text)
      return wrong(out.byte_of(i), "the text holds what is no character");
    text->resize(text->find_last_not_of('\0') + 1);
    out.texts.push_back(std::move(*text));
  }
  return read;
}

} // namespace clade
