// field    := number | '(' number ')' | number '-'         the last two are negative
// number   := [sign] [currency] [sign] value [unit | currency]      spaces between them
// sign     := '+' | '-' | U+2212 | en dash
// value    := digits [decimals] [exponent] | digits mark dashes     "120.-" is 120
// digits   := digit* | groups
// groups   := 1 to 3 digits (mark 3 digits)+        the first of them is no 0; the same
//           | 1 or 2 digits (',' 2 digits)+ ',' 3 digits        mark throughout; "2,34,567"
// mark     := a point or a comma, whichever is not before the decimals, ' and U+2019, or
//             a space: U+0020, U+00A0, U+2007, U+2009, U+202F
// currency := a sign, with up to three letters before it ("US$"), or a code ("EUR", "Rs.")
// unit     := text without digits but m2, m3 and the like, that begins with a letter, %
//             or °, of 16 bytes at most

#include "engine/data/numbers/number_form.hpp"

#include "engine/data/bytes/csv_fields.hpp"
#include "engine/data/bytes/in_quotes.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace clade {
namespace {

using namespace std::string_view_literals;

constexpr std::array group_marks{" "sv,
                                 "'"sv,
                                 "\xC2\xA0"sv,
                                 "\xE2\x80\x87"sv,
                                 "\xE2\x80\x89"sv,
                                 "\xE2\x80\xAF"sv,
                                 "\xE2\x80\x99"sv};
constexpr std::array spaces{" "sv, "\xC2\xA0"sv, "\xE2\x80\x87"sv, "\xE2\x80\x89"sv,
                            "\xE2\x80\xAF"sv};
constexpr std::array minus_signs{"-"sv, "\xE2\x88\x92"sv, "\xE2\x80\x93"sv};
constexpr std::array dashes{"-"sv, "--"sv, "\xE2\x80\x93"sv, "\xE2\x80\x94"sv};
constexpr std::array currency_codes{
    "AED"sv, "ARS"sv, "AUD"sv, "BDT"sv, "BGN"sv, "BRL"sv, "CAD"sv, "CHF"sv, "CLP"sv,
    "CNY"sv, "COP"sv, "CZK"sv, "DKK"sv, "EGP"sv, "EUR"sv, "GBP"sv, "HKD"sv, "HUF"sv,
    "IDR"sv, "ILS"sv, "INR"sv, "JPY"sv, "KES"sv, "KRW"sv, "MXN"sv, "MYR"sv, "NGN"sv,
    "NOK"sv, "NZD"sv, "PEN"sv, "PHP"sv, "PKR"sv, "PLN"sv, "QAR"sv, "RMB"sv, "RON"sv,
    "RUB"sv, "SAR"sv, "SEK"sv, "SGD"sv, "THB"sv, "TRY"sv, "TWD"sv, "UAH"sv, "USD"sv,
    "VND"sv, "ZAR"sv, "Rs."sv, "Rs"sv,  "kr."sv, "kr"sv,  "Fr."sv};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::size_t digits_of(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n]))
    ++n;
  return n;
}

/// Returns that of these which the text begins with; empty: nothing.
std::string_view front_of(std::string_view text, const auto& known) {
  for (const std::string_view one : known)
    if (text.starts_with(one))
      return one;
  return {};
}

void skip_spaces(std::string_view& rest) {
  for (auto space = front_of(rest, spaces); !space.empty();
       space = front_of(rest, spaces))
    rest.remove_prefix(space.size());
}

void drop_spaces_behind(std::string_view& text) {
  for (bool more = true; more;) {
    more = false;
    for (const auto space : spaces)
      if (text.ends_with(space)) {
        text.remove_suffix(space.size());
        more = true;
      }
  }
}

/// Whether a sign stood there; it is passed over.
bool take_sign(std::string_view& rest, bool& negative) {
  if (rest.starts_with('+')) {
    rest.remove_prefix(1);
  } else {
    const auto minus = front_of(rest, minus_signs);
    if (minus.empty())
      return false;
    negative = true;
    rest.remove_prefix(minus.size());
  }
  skip_spaces(rest);
  return true;
}

/// The length of the sign of a currency at the front: $, the signs of Latin-1, U+20A0 to
/// U+20CF, the baht's, and the wide forms of the dollar's and the yen's.
std::size_t currency_sign(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.starts_with('$'))
    return 1;
  if (text.size() >= 2 && byte(0) == 0xC2 && byte(1) >= 0xA2 && byte(1) <= 0xA5)
    return 2;
  const bool block =
      text.size() >= 3 && byte(0) == 0xE2
      && ((byte(1) == 0x82 && byte(2) >= 0xA0) || (byte(1) == 0x83 && byte(2) <= 0x8F));
  return block || text.starts_with("\xE0\xB8\xBF") || text.starts_with("\xEF\xBC\x84")
                 || text.starts_with("\xEF\xBF\xA5")
             ? 3
             : 0;
}

/// A currency at the front, which is passed over; empty: there is none.
std::string_view take_currency(std::string_view& rest) {
  if (rest.empty() || is_digit(rest.front()))
    return {};
  std::size_t length = 0;
  while (length < std::min<std::size_t>(rest.size(), 4) && is_letter(rest[length]))
    ++length;
  const auto sign = length < 4 ? currency_sign(rest.substr(length)) : 0;
  length = sign > 0 ? length + sign : front_of(rest, currency_codes).size();
  const auto currency = rest.substr(0, length);
  rest.remove_prefix(length);
  skip_spaces(rest);
  return currency;
}

/// The end of 1st, 2nd, 3rd and 4th, which are names and no amounts.
bool ends_ordinal(std::string_view text) {
  return std::ranges::any_of(
      std::array<std::string_view, 4>{"st", "nd", "rd", "th"}, [&](std::string_view end) {
        return text.substr(0, end.size()) == end
               && (text.size() == end.size() || text[end.size()] == ' ');
      });
}

bool is_unit(std::string_view text) {
  constexpr std::size_t longest = 16;
  if (text.empty() || text.size() > longest || ends_ordinal(text))
    return false;
  if (!is_letter(text.front()) && text.front() != '%' && currency_sign(text) == 0
      && (static_cast<unsigned char>(text.front()) < 0x80
          || !front_of(text, minus_signs).empty()
          || !front_of(text, group_marks).empty()))
    return false;
  auto plain = text;
  if (plain.size() > 1 && (plain.back() == '2' || plain.back() == '3')
      && (plain[plain.size() - 2] == 'm' || plain.ends_with("ft2")
          || plain.ends_with("ft3")))
    plain.remove_suffix(1);
  return std::ranges::none_of(plain, [](char c) {
    return is_digit(c) || c == '"' || c == '(' || c == ')' || c == '+' || c == ':'
           || c == ';' || c == ',' || c == '@' || c == '=' || c == '<' || c == '>';
  });
}

/// How many of the bytes at the front are digits in groups, of `n` digits in the first;
/// 0: they are in none. `mark` stands between them.
std::size_t grouped_digits(std::string_view text, std::size_t n, std::string_view mark) {
  const auto group = [&](std::size_t at, std::size_t digits) {
    return text.substr(at).starts_with(mark)
           && digits_of(text.substr(at + mark.size())) == digits;
  };
  std::size_t at = n;
  while (group(at, 3))
    at += mark.size() + 3;
  if (at > n || mark != "," || n > 2)
    return at > n ? at : 0;
  while (group(at, 2))
    at += 3;
  return at > n && group(at, 3) ? at + 4 : 0;
}

/// Takes digits, in groups or not, as digits alone.
void take_whole(std::string_view& rest, char decimal, std::string& plain) {
  const std::size_t n = digits_of(rest);
  std::size_t length = n;
  if (n >= 1 && n <= 3 && rest.front() != '0') {
    const std::string_view other = decimal == '.' ? "," : ".";
    const auto mark =
        rest.substr(n).starts_with(other) ? other : front_of(rest.substr(n), group_marks);
    if (!mark.empty())
      length = std::max(n, grouped_digits(rest, n, mark));
  }
  for (const char c : rest.substr(0, length))
    if (is_digit(c))
      plain += c;
  rest.remove_prefix(length);
}

/// Takes "e5", "E-05".
void take_exponent(std::string_view& rest, std::string& plain) {
  if (!rest.starts_with('e') && !rest.starts_with('E'))
    return;
  std::size_t at = 1;
  if (at < rest.size() && (rest[at] == '+' || rest[at] == '-'))
    ++at;
  const auto digits = digits_of(rest.substr(at));
  if (digits == 0)
    return;
  plain += rest.substr(0, at + digits);
  rest.remove_prefix(at + digits);
}

/// Takes a value without a sign. Whether it ends in dashes that stand for no decimals,
/// `dashed` says.
std::optional<double> take_value(std::string_view& rest, char decimal) {
  std::string plain;
  take_whole(rest, decimal, plain);
  const bool whole = !plain.empty();
  if (whole && rest.size() >= 2 && (rest.front() == '.' || rest.front() == ',')
      && std::ranges::find(dashes, rest.substr(1)) != dashes.end()) {
    rest = {};
    return field_number(plain);
  }
  if (rest.starts_with(decimal)) {
    const auto digits = digits_of(rest.substr(1));
    if (digits == 0 && !whole)
      return std::nullopt;
    plain += '.';
    plain += rest.substr(1, digits);
    rest.remove_prefix(1 + digits);
  }
  if (plain.empty())
    return std::nullopt;
  take_exponent(rest, plain);
  return field_number(plain);
}

/// Takes a minus at the end. Behind a sign there is none.
bool take_trailing_minus(std::string_view& rest, bool& negative) {
  for (const auto minus : minus_signs)
    if (rest.ends_with(minus)) {
      rest.remove_suffix(minus.size());
      drop_spaces_behind(rest);
      negative = true;
      return true;
    }
  return false;
}

std::optional<written_number> read_signed(std::string_view rest, char decimal) {
  bool negative = false;
  bool has_sign = take_sign(rest, negative);
  auto unit = take_currency(rest);
  has_sign = (!has_sign && take_sign(rest, negative)) || has_sign;
  const bool open = !has_sign && rest.starts_with('(');
  if (open) {
    rest.remove_prefix(1);
    skip_spaces(rest);
    if (unit.empty())
      unit = take_currency(rest);
    negative = true;
  }
  const auto value = take_value(rest, decimal);
  if (!value)
    return std::nullopt;
  skip_spaces(rest);
  drop_spaces_behind(rest);
  if (open) {
    const auto close = rest.find(')');
    if (close == std::string_view::npos || (close > 0 && close + 1 < rest.size()))
      return std::nullopt;
    rest = close > 0 ? rest.substr(0, close) : rest.substr(1);
    skip_spaces(rest);
    drop_spaces_behind(rest);
  } else if (!has_sign) {
    take_trailing_minus(rest, negative);
  }
  if (!rest.empty() && (!unit.empty() || !is_unit(rest)))
    return std::nullopt;
  return written_number{negative ? -*value : *value, unit.empty() ? rest : unit};
}

} // namespace

std::string number_words(const number_form& form) {
  return form.unit.empty() ? "a number" : "a number with " + in_quotes(form.unit);
}

std::optional<written_number> read_number(std::string_view field, char decimal) {
  if (decimal == '.' || field.find('.') == std::string_view::npos)
    if (const auto plain = field_number(field))
      return written_number{*plain, {}};
  if (std::ranges::none_of(field, is_digit))
    return std::nullopt;
  return read_signed(field, decimal);
}

std::optional<double> field_number(std::string_view field, const number_form& form) {
  const auto read = read_number(field, form.decimal);
  if (!read || (read->unit != form.unit && !(read->unit.empty() && read->value == 0)))
    return std::nullopt;
  return read->value;
}

decimal_evidence decimal_of(std::string_view field) {
  if (field.find_first_of(".,") == std::string_view::npos)
    return decimal_evidence::none;
  const auto as_point = read_number(field, '.'), as_comma = read_number(field, ',');
  if (as_point && as_comma)
    return as_point->value == as_comma->value ? decimal_evidence::none
                                              : decimal_evidence::unclear;
  if (as_point)
    return decimal_evidence::point;
  return as_comma ? decimal_evidence::comma : decimal_evidence::none;
}

} // namespace clade
