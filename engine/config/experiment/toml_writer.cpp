#include "engine/config/experiment/toml_writer.hpp"

#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace clade {

void toml_writer::numbers(std::string_view name, const std::vector<std::uint32_t>& v) {
  if (!v.empty())
    raw(name, fmt::format("[{}]", joined(v)));
}

namespace {

std::string list_text(const std::vector<std::string>& v) {
  return fmt::format("[{}]", joined(v, ", ", toml_writer::quoted));
}

} // namespace

void toml_writer::list(std::string_view name, const std::vector<std::string>& v) {
  raw(name, list_text(v));
}

void toml_writer::lists(std::string_view name,
                        const std::map<std::string, std::vector<std::string>>& v) {
  std::string items;
  for (const auto& [key, list] : v)
    items +=
        fmt::format("{}{} = {}", items.empty() ? "" : ", ", quoted(key), list_text(list));
  raw(name, fmt::format("{{{}}}", items));
}

void toml_writer::texts(std::string_view name, const std::vector<named_text>& v) {
  std::string items;
  for (const auto& [word, text] : v)
    items +=
        fmt::format("{}{} = {}", items.empty() ? "" : ", ", quoted(word), quoted(text));
  if (!v.empty())
    raw(name, fmt::format("{{{}}}", items));
}

std::string toml_writer::inline_table(std::string lines) {
  std::string items;
  while (!lines.empty()) {
    const auto end = lines.find('\n');
    items += (items.empty() ? "" : ", ") + lines.substr(0, end);
    lines.erase(0, end + 1);
  }
  return fmt::format("{{{}}}", items);
}

void toml_writer::slots_of_training(std::string_view name, const distribution_params& p) {
  if (p.fit_bytes)
    raw(name, quoted("fit"));
  else if (p.workers == 0)
    unusual(name, p.devices, distribution_params{}.devices);
  else
    raw(name, fmt::format("{{servers = {}, workers = {}}}", p.servers, p.workers));
}

void toml_writer::collectives(std::string_view name, const collectives_params& p) {
  if (p != collectives_params{})
    raw(name, fmt::format("{{backend = {}, network = {}}}", quoted(p.backend),
                          quoted(p.network)));
}

void toml_writer::split(std::string_view name, const data_params& p) {
  std::string items = fmt::format("train = {}, validation = {}, test = {}",
                                  number(p.train), number(p.validation), number(p.test));
  if (p.split_by != split_rule::random)
    items += fmt::format(", by = {}, column = {}",
                         p.split_by == split_rule::time ? "\"time\"" : "\"group\"",
                         quoted(p.split_column));
  raw(name, fmt::format("{{{}}}", items));
}

void toml_writer::columns(std::string_view name, std::vector<column_choice> choices) {
  std::ranges::sort(choices, {}, &column_choice::column);
  std::string items;
  for (const column_choice& c : choices)
    items += fmt::format("{}{} = {}", items.empty() ? "" : ", ", quoted(c.column),
                         quoted(to_text(c.kind)));
  if (!choices.empty())
    raw(name, fmt::format("{{{}}}", items));
}

void toml_writer::weights(std::string_view name, const class_weights& v) {
  std::string items;
  for (const auto& [label, weight] : v.by_class)
    items += fmt::format("{}{} = {}", items.empty() ? "" : ", ", quoted(label),
                         number(weight));
  if (v.balanced)
    key(name, std::string("balanced"));
  else if (!items.empty())
    raw(name, fmt::format("{{{}}}", items));
}

std::string toml_writer::number(double v) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), v).ptr;
  std::string text(digits.data(), end);
  // TOML takes a number without point or exponent for a whole one.
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

std::string toml_writer::quoted(std::string_view v) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  std::string out = "\"";
  for (const char c : v) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (u < 0x20 || u == 0x7F)
      ((out += "\\u00") += hex[u >> 4]) += hex[u & 15];
    else
      out += c;
  }
  return out + "\"";
}

} // namespace clade
