// quantity := (number unit)+          durations may add up several, sizes have one
// number   := digits ['.' digits]     exact: what is not a whole number of the smallest
//                                     unit is refused

#include "engine/config/file/units.hpp"

#include <fmt/format.h>

#include <span>

namespace clade {
namespace {

struct unit {
  std::string_view name;
  std::uint64_t factor;
};

// Ascending; the formatter takes the last that divides.
constexpr unit duration_units[] = {{"us", 1},           {"ms", 1'000},
                                   {"s", 1'000'000},    {"min", 60'000'000},
                                   {"h", 3600'000'000}, {"d", 86400'000'000}};
constexpr std::uint64_t kib = 1024;
constexpr unit binary_units[] = {{"B", 1},
                                 {"KiB", kib},
                                 {"MiB", kib* kib},
                                 {"GiB", kib* kib* kib},
                                 {"TiB", kib* kib* kib* kib}};
constexpr unit size_units[] = {{"B", 1},
                               {"kB", 1'000},
                               {"MB", 1'000'000},
                               {"GB", 1'000'000'000},
                               {"TB", 1'000'000'000'000},
                               {"KiB", kib},
                               {"MiB", kib* kib},
                               {"GiB", kib* kib* kib},
                               {"TiB", kib* kib* kib* kib}};
constexpr std::uint64_t largest = std::uint64_t{1} << 62;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// One (number unit), taken off the front of `text`; false if there is none.
bool take(std::string_view& text, std::span<const unit> units, std::uint64_t& total) {
  std::uint64_t number = 0, scale = 1;
  std::size_t at = 0;
  bool fraction = false;
  for (; at < text.size() && (is_digit(text[at]) || (text[at] == '.' && !fraction));
       ++at) {
    if (text[at] == '.') {
      fraction = true;
      continue;
    }
    if (number > largest / 10 || (fraction && scale > 100'000'000))
      return false;
    number = number * 10 + static_cast<std::uint64_t>(text[at] - '0');
    scale *= fraction ? 10 : 1;
  }
  if (at == 0 || !is_digit(text[0]) || !is_digit(text[at - 1]))
    return false;
  std::size_t end = at;
  while (end < text.size() && text[end] == ' ')
    ++end;
  const std::size_t name = end;
  while (end < text.size() && text[end] != ' ' && !is_digit(text[end]))
    ++end;
  for (const unit& u : units) {
    if (u.name != text.substr(name, end - name))
      continue;
    if (number != 0 && u.factor > largest / number)
      return false;
    const std::uint64_t scaled = number * u.factor;
    if (scaled % scale != 0 || total > largest - scaled / scale)
      return false;
    total += scaled / scale;
    text.remove_prefix(end);
    while (text.starts_with(' '))
      text.remove_prefix(1);
    return true;
  }
  return false;
}

std::string in_largest(std::uint64_t n, std::span<const unit> units,
                       std::string_view zero) {
  if (n == 0)
    return std::string(zero);
  const unit* fits = &units.front();
  for (const unit& u : units)
    if (n % u.factor == 0)
      fits = &u;
  return std::to_string(n / fits->factor) + std::string(fits->name);
}

} // namespace

expected<std::chrono::microseconds> parse_duration(std::string_view text) {
  std::string_view rest = text;
  std::uint64_t total = 0;
  do {
    if (!take(rest, duration_units, total))
      return fail(error_kind::invalid_input,
                  fmt::format("\"{}\" is not a time; write \"90s\", \"2min\" or "
                              "\"1h30min\" (units: us, ms, s, min, h, d)",
                              text));
  } while (!rest.empty());
  return std::chrono::microseconds(total);
}

expected<std::uint64_t> parse_size(std::string_view text) {
  std::string_view rest = text;
  std::uint64_t total = 0;
  if (!take(rest, size_units, total) || !rest.empty())
    return fail(error_kind::invalid_input,
                fmt::format("\"{}\" is not a size; write \"512MiB\" or \"2GiB\" (units: "
                            "B, kB, MB, GB, TB, KiB, MiB, GiB, TiB)",
                            text));
  return total;
}

std::string duration_literal(std::chrono::microseconds d) {
  return in_largest(static_cast<std::uint64_t>(d.count()), duration_units, "0s");
}

std::string size_literal(std::uint64_t bytes) {
  return in_largest(bytes, binary_units, "0B");
}

} // namespace clade
