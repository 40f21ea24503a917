// toml++ describes a mistake by the grammar's rule that fails. People make few kinds of
// them, and each shows in its line: a text without quotes, a quote without its partner, a
// list or table that stays open, a line without "=".

#include "search_spaces/toml/toml_mistake.hpp"

#include "genome/base/text.hpp"
#include "genome/base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace clade {

namespace {

std::string_view line_of(std::string_view text, std::size_t number) {
  for (std::size_t i = 1; i < number; ++i) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos)
      return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string without_rule(std::string_view description) {
  constexpr std::string_view before = "Error while parsing ";
  if (!description.starts_with(before))
    return std::string(description);
  return "broken " + std::string(description.substr(before.size()));
}

/// Returns the mistake in a value that begins like a word, a number or a path, and is
/// none that TOML knows.
std::string unquoted(std::string_view key, std::string_view value) {
  std::string lower(value);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return std::tolower(c); });
  if (lower == "true" || lower == "false")
    return fmt::format("{} is written in small letters: {} = {}", value, key, lower);
  return fmt::format("a text needs quotes: write {} = \"{}\"", key, clipped(value));
}

bool holds_letters(std::string_view value) {
  return std::ranges::any_of(value, [](unsigned char c) { return std::isalpha(c) != 0; });
}

/// Returns the mistake in the value of a line "key = value".
std::string value_mistake(std::string_view line, std::string_view key,
                          std::string_view value, std::string_view description) {
  const bool text = has(description, "string:");
  if (text && has(description, "escape sequence"))
    return "a backslash in a text is written twice (\\\\), or the text stands in single "
           "quotes";
  if (text && (value.starts_with('"') || value.starts_with('\'')))
    return fmt::format("the text is not closed: write {}{}", clipped(line),
                       value.front());
  if (text)
    return "a text is not closed: " + clipped(line);
  if (value.empty())
    return std::string(key) + " has no value";
  if (has(description, "inline table"))
    return "what { opens must be closed by } on the same line";
  if (value.front() == '[' || value.front() == '{')
    return holds_letters(value) ? "texts need quotes: " + clipped(line)
                                : without_rule(description);
  return value.front() != '"' && value.front() != '\'' && holds_letters(value)
             ? unquoted(key, value)
             : without_rule(description);
}

} // namespace

std::string toml_mistake(std::string_view text, std::size_t number,
                         std::string_view description) {
  if (has(description, "parsing array: expected"))
    return "what [ opens before this line is not closed by ]";
  if (has(description, "utf-8"))
    return "is no text in UTF-8";
  if (has(description, "end-of-file") && has(text, "\"\"\""))
    return "the text that \"\"\" opens is not closed";
  if (has(description, "redefine"))
    return without_rule(description);
  const auto line = trimmed(line_of(text, number));
  const auto equals = line.find('=');
  if (equals != std::string_view::npos && equals > 0 && line.front() != '[')
    return value_mistake(line, trimmed(line.substr(0, equals)),
                         trimmed(line.substr(equals + 1)), description);
  if (has(description, "table header"))
    return "the name of a section stands in brackets, such as [data]: " + clipped(line);
  if (has(description, "expected '='"))
    return "a line is KEY = VALUE, and this one has no \"=\": " + clipped(line);
  return without_rule(description);
}

} // namespace clade
