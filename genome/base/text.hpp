#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace clade {

/// Returns the number that a text is from its first to its last character; none for a text
/// with anything else in it (a blank and a '+' included), and for a number that T cannot
/// hold.
template<class T>
requires std::is_arithmetic_v<T>
[[nodiscard]] std::optional<T> parse_number(std::string_view text) {
  T number{};
  const auto [end, status] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || end != text.data() + text.size())
    return std::nullopt;
  return number;
}

/// Joins what `text_of` makes of each item: texts or whole numbers. `last` stands before the
/// last one of several.
template<class Items, class Text = std::identity>
[[nodiscard]] std::string enumerated(const Items& items, std::string_view last,
                                     const Text& text_of = {},
                                     std::string_view between = ", ") {
  std::string text;
  std::size_t left = std::size(items);
  for (bool first = true; const auto& item : items) {
    --left;
    if (!first)
      text += left == 0 ? last : between;
    first = false;
    const auto& part = std::invoke(text_of, item);
    if constexpr (std::integral<std::remove_cvref_t<decltype(part)>>)
      text += std::to_string(part);
    else
      text += part;
  }
  return text;
}

/// Joins them as `enumerated` does, with `between` before the last one too: "a, b, c".
template<class Items, class Text = std::identity>
[[nodiscard]] std::string joined(const Items& items, std::string_view between = ", ",
                                 const Text& text_of = {}) {
  return enumerated(items, between, text_of, between);
}

/// Returns "12,345".
[[nodiscard]] std::string with_commas(std::uint64_t v);

/// Returns a number as people read it, the same wherever a metric is shown: "0.9861",
/// "12.3457", "302.93", "1,302.9", "45,357", "1.234e-05". JSON has all digits.
[[nodiscard]] std::string metric_text(double v);

/// Returns "1 row", "12,345 rows".
[[nodiscard]] std::string counted(std::uint64_t n, std::string_view one,
                                  std::string_view several);
/// Counts them where several are called as one is, with an s: "1 row", "2 rows".
[[nodiscard]] std::string counted(std::uint64_t n, std::string_view one);

/// Returns "#12", as people name a candidate and an entry of a queue.
[[nodiscard]] std::string numbered(std::uint64_t id);

/// Returns the text without the characters of `blanks` before and after it.
[[nodiscard]] std::string_view trimmed(std::string_view text,
                                       std::string_view blanks = " \t\r\n");

/// Returns the value of an enumeration that has a text in the list of them, in the order of
/// its values; none for any other text.
template<class Enum, class Texts>
[[nodiscard]] std::optional<Enum> parse_one_of(const Texts& texts,
                                               std::string_view text) {
  std::size_t i = 0;
  for (const std::string_view known : texts) {
    if (known == text)
      return static_cast<Enum>(i);
    ++i;
  }
  return std::nullopt;
}

/// Returns what stands before the first line end.
[[nodiscard]] std::string first_line_of(std::string_view text);

/// Moves each line that holds something to the right by so many blanks.
[[nodiscard]] std::string indented(std::string_view text, std::size_t by);

} // namespace clade
