// The delimiter is the one of , ; tab | that parts the first 500 rows (of 256 KiB at
// most) into the same number of columns, two at least, nine rows of ten; if several do,
// the one by which most fields are numbers; of equals, the first of that list. If none
// does, spaces part them, where that makes numbers of half of the fields.
//
// The quote is ' where no field begins with " and at least one field both begins and ends
// with '; else ".
//
// The decimal mark is the one that more fields show ("3,5" or "1.234,5"; "3.5" or
// "1,234.5"). If none shows any, fields like "1,234" between semicolons or tabs are taken
// for decimals, and all else for a decimal point.

#include "engine/data/csv_form.hpp"

#include "engine/data/csv_fields.hpp"

#include <iconv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>

namespace clade {
namespace {

constexpr std::size_t sample_rows = 500, sample_bytes = 256 << 10;

std::string_view sample_of(std::string_view text) {
  if (text.size() <= sample_bytes)
    return text;
  const auto whole = text.rfind('\n', sample_bytes);
  return text.substr(0, whole == std::string_view::npos ? sample_bytes : whole + 1);
}

/// What a dialect makes of the sample.
struct reading {
  bool fits = false;
  double numbers = 0; ///< Share of the fields.
  std::size_t quoted = 0;
  std::array<std::size_t, 4> evidence{}; ///< By decimal_evidence.
};

bool in_single_quotes(std::string_view field) {
  return field.size() >= 2 && field.front() == '\'' && field.back() == '\'';
}

reading read_as(std::string_view sample, csv_dialect dialect) {
  reading out;
  std::map<std::size_t, std::size_t> widths;
  csv_rows rows(sample, dialect);
  csv_row r;
  std::size_t read = 0, fields = 0, numbers = 0;
  for (; read < sample_rows; ++read) {
    const auto more = rows.next(r);
    if (!more || !*more)
      break;
    ++widths[r.fields.size()];
    for (auto field : r.fields) {
      ++fields;
      if (in_single_quotes(field)) {
        ++out.quoted;
        field = field.substr(1, field.size() - 2);
      }
      numbers += field_number(field, '.') || field_number(field, ',') ? 1 : 0;
      ++out.evidence[static_cast<std::size_t>(decimal_of(field))];
    }
  }
  const auto usual = std::ranges::max_element(
      widths, {}, [](const auto& width) { return width.second; });
  if (usual == widths.end())
    return out;
  out.fits = usual->first > 1 && usual->second * 10 >= read * 9;
  out.numbers = static_cast<double>(numbers) / static_cast<double>(fields);
  return out;
}

char find_delimiter(std::string_view sample) {
  char best = ',';
  double most = -1;
  for (const char delimiter : {',', ';', '\t', '|'})
    if (const auto r = read_as(sample, {.delimiter = delimiter});
        r.fits && r.numbers > most) {
      best = delimiter;
      most = r.numbers;
    }
  if (most < 0)
    if (const auto r = read_as(sample, {.delimiter = ' '}); r.fits && r.numbers >= 0.5)
      return ' ';
  return best;
}

char find_decimal(const reading& r, char delimiter, char likely) {
  const auto count = [&](decimal_evidence e) {
    return r.evidence[static_cast<std::size_t>(e)];
  };
  const auto points = count(decimal_evidence::point);
  const auto commas = count(decimal_evidence::comma);
  if (points != commas)
    return points > commas ? '.' : ',';
  if (points == 0 && count(decimal_evidence::unclear) > 0 && delimiter != ',')
    return ',';
  return likely;
}

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
                  "byte " + std::to_string(bytes.size() - left) + " is not " + from);
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

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto length = character_length(text);
    if (length == 0)
      return false;
    text.remove_prefix(length);
  }
  return true;
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

} // namespace

csv_form find_form(std::string_view text, const data_params& params, char likely) {
  const auto sample = sample_of(text);
  csv_form out;
  const bool asked = params.delimiter != "auto";
  out.dialect.delimiter = asked ? params.delimiter.front() : find_delimiter(sample);
  auto shown = read_as(sample, out.dialect);
  if (!asked && shown.quoted > 0 && sample.find('"') == std::string_view::npos) {
    out.dialect.quote = '\'';
    shown = read_as(sample, out.dialect);
  }
  out.decimal = params.decimal != "auto"
                    ? params.decimal.front()
                    : find_decimal(shown, out.dialect.delimiter, likely);
  return out;
}

expected<csv_text> to_utf8(std::string bytes, const std::string& encoding) {
  if (encoding == "utf-8")
    return csv_text{std::move(bytes), "utf-8"};
  if (encoding == "latin-1")
    return from_latin1(std::move(bytes));
  const char* order = utf16_of(bytes);
  if (encoding == "utf-16" || *order != '\0')
    return from_utf16(std::move(bytes), order);
  if (is_utf8(bytes))
    return csv_text{std::move(bytes), "utf-8"};
  return from_latin1(std::move(bytes));
}

} // namespace clade
