// A file with many sound letters of UTF-8 and few bytes that are none is UTF-8 that was
// damaged or pasted together: only these bytes are taken for Latin-1.

#include "engine/data/columns/csv_form.hpp"
#include "engine/data/formats/data_format.hpp"

#include <fmt/format.h>
#include <iconv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace clade {
namespace {

struct converter {
  iconv_t descriptor;
  explicit converter(const char* from) : descriptor(::iconv_open("UTF-8", from)) {}
  converter(const converter&) = delete;
  converter& operator=(const converter&) = delete;
  ~converter() {
    if (descriptor != reinterpret_cast<iconv_t>(-1))
      ::iconv_close(descriptor);
  }
};

expected<std::string> convert(std::string bytes, const char* from) {
  const converter c(from);
  if (c.descriptor == reinterpret_cast<iconv_t>(-1))
    return fail(error_kind::internal,
                "this machine's iconv does not know " + std::string(from));
  std::string out;
  std::array<char, 64 << 10> buffer{};
  char* in = bytes.data();
  std::size_t left = bytes.size();
  while (left > 0) {
    char* to = buffer.data();
    std::size_t room = buffer.size();
    const auto done = ::iconv(c.descriptor, &in, &left, &to, &room);
    const bool full = done == static_cast<std::size_t>(-1) && errno == E2BIG;
    out.append(buffer.data(), buffer.size() - room);
    if (done == static_cast<std::size_t>(-1) && !full)
      return fail(error_kind::invalid_input,
                  fmt::format("byte {} is not {}", bytes.size() - left, from));
  }
  return out;
}

/// The length of the character of UTF-8 at the front of `text`; 0: there is none.
std::size_t character_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xC2 ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
  if (length > text.size())
    return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80)
      return 0;
  return length;
}

/// Counts of the characters that a text has beyond ASCII.
struct utf8_count {
  std::uint64_t letters = 0, bad = 0;
  std::uint64_t bad_line = 0; ///< The line of the first bad byte.
};

/// How many of the bytes at the front are ASCII.
std::size_t ascii_length(std::string_view text) {
  std::size_t at = 0;
  for (std::uint64_t eight = 0; at + sizeof eight <= text.size(); at += sizeof eight) {
    std::memcpy(&eight, text.data() + at, sizeof eight);
    if ((eight & 0x8080808080808080U) != 0)
      break;
  }
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80)
    ++at;
  return at;
}

utf8_count count_utf8(std::string_view text) {
  utf8_count out;
  for (auto rest = text; !rest.empty();) {
    rest.remove_prefix(ascii_length(rest));
    if (rest.empty())
      break;
    const auto length = character_length(rest);
    if (length > 0) {
      ++out.letters;
    } else if (++out.bad == 1) {
      const auto before = text.substr(0, text.size() - rest.size());
      out.bad_line = 1 + static_cast<std::uint64_t>(std::ranges::count(before, '\n'));
    }
    rest.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

/// "UTF-16LE" or "UTF-16BE", by the byte-order mark or by the zeros; else empty.
const char* utf16_of(std::string_view bytes) {
  if (bytes.starts_with("\xFF\xFE"))
    return "UTF-16LE";
  if (bytes.starts_with("\xFE\xFF"))
    return "UTF-16BE";
  const auto head = bytes.substr(0, 1024);
  if (head.size() < 4 || bytes.size() % 2 != 0)
    return "";
  std::array<std::size_t, 2> zeros{};
  for (std::size_t i = 0; i < head.size(); ++i)
    zeros[i % 2] += head[i] == '\0' ? 1 : 0;
  const auto most = head.size() / 2;
  if (zeros[0] == 0 && zeros[1] * 10 >= most * 9)
    return "UTF-16LE";
  return zeros[1] == 0 && zeros[0] * 10 >= most * 9 ? "UTF-16BE" : "";
}

expected<csv_text> from_utf16(std::string bytes, const char* order) {
  if (*order == '\0')
    return fail(error_kind::invalid_input, "is not UTF-16");
  const bool marked = bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF");
  return convert(marked ? bytes.substr(2) : std::move(bytes), order)
      .map([](std::string&& text) {
        return csv_text{std::move(text), "utf-16"};
      });
}

/// A byte that code page 1252 does not use stays the control character it is in Latin-1.
expected<csv_text> from_latin1(std::string bytes) {
  auto text = convert(bytes, "CP1252");
  if (!text)
    text = convert(std::move(bytes), "ISO-8859-1");
  return std::move(text).map([](std::string&& t) {
    return csv_text{std::move(t), "latin-1"};
  });
}

/// UTF-8 whose bad bytes are taken for Latin-1.
expected<csv_text> from_utf8(std::string bytes, const utf8_count& count) {
  csv_text out{.text = {},
               .encoding = "utf-8",
               .bad_bytes = count.bad,
               .bad_line = count.bad_line};
  if (count.bad == 0) {
    out.text = std::move(bytes);
    return out;
  }
  for (std::string_view rest = bytes; !rest.empty();) {
    const auto length = std::max(ascii_length(rest), character_length(rest));
    if (length > 0) {
      out.text += rest.substr(0, length);
    } else {
      auto letter = from_latin1(std::string(1, rest.front()));
      if (!letter)
        return letter;
      out.text += letter->text;
    }
    rest.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

expected<csv_text> decoded(std::string bytes, const std::string& encoding) {
  constexpr std::uint64_t letters_of_a_bad_byte = 10;
  if (encoding == "latin-1")
    return from_latin1(std::move(bytes));
  const char* order = encoding == "utf-8" ? "" : utf16_of(bytes);
  if (encoding == "utf-16" || *order != '\0')
    return from_utf16(std::move(bytes), order);
  const auto count = count_utf8(bytes);
  if (encoding == "utf-8" || count.letters >= letters_of_a_bad_byte * count.bad)
    return from_utf8(std::move(bytes), count);
  return from_latin1(std::move(bytes));
}

} // namespace

expected<csv_text> to_utf8(std::string bytes, const std::string& encoding) {
  auto text = decoded(std::move(bytes), encoding);
  // Old Macs ended lines by a carriage return alone.
  if (text && text->text.find('\n') == std::string::npos)
    std::ranges::replace(text->text, '\r', '\n');
  return text;
}

expected<csv_text> text_of_file(std::string bytes, const std::string& origin,
                                const std::string& encoding) {
  auto text = to_utf8(std::move(bytes), encoding);
  if (!text)
    return fail_in(origin, std::move(text).error());
  if (const std::size_t nul = text->text.find('\0'); nul != std::string::npos)
    return fail_in(fmt::format("{}: byte {}", origin, nul),
                   {error_kind::invalid_input, std::string(zero_byte)});
  return text;
}

bool is_utf16(std::string_view bytes) {
  return *utf16_of(bytes) != '\0';
}

std::string encoding_note(const csv_text& text) {
  if (text.encoding == "utf-16")
    return "the file is read as UTF-16, as it is not UTF-8";
  if (text.encoding == "latin-1")
    return "the file is read as Latin-1, as it is not UTF-8";
  if (text.bad_bytes == 0)
    return "";
  const bool one = text.bad_bytes == 1;
  return fmt::format(
      "line {} has {} read as Latin-1; if letters are wrong there, mend the file",
      text.bad_line,
      one ? "a byte that is not UTF-8, as the rest of the file is; it is"
          : fmt::format("the first of {} bytes that are not UTF-8, as the rest of the "
                        "file is; they are",
                        text.bad_bytes));
}

} // namespace clade
