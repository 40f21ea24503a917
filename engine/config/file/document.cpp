// An override is KEY=VALUE with a dotted key of bare parts. VALUE is tried as TOML first,
// so that numbers, booleans, lists and quoted strings are what they look like; what TOML
// does not know (cpu:2, 2min, a path) is a string, unless it begins like a list, a table
// or a quoted string.

#include "engine/config/file/document.hpp"

#include "genome/base/text.hpp"
#include "genome/base/utf8.hpp"
#include "search_spaces/toml/parse_toml.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {
namespace {

bool is_bare_key(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
           || c == '_' || c == '-';
  });
}

// A table that holds the value under "value".
expected<toml::table> parse_value(std::string_view text) {
  if (text.find_first_of("\r\n") != std::string_view::npos)
    return fail(error_kind::invalid_input, "the value holds a line break");
  auto parsed = parse_toml("value = " + std::string(text), "");
  if (parsed && parsed->size() == 1)
    return parsed;
  // Not TOML: a bare word, unless it set out to be something else.
  if (!text.empty() && std::string_view("[{\"'").find(text[0]) != std::string_view::npos)
    return fail(
        error_kind::invalid_input,
        fmt::format("the value {} is not TOML that closes what it opens", clipped(text)));
  toml::table word;
  word.insert("value", std::string(text));
  return word;
}

} // namespace

std::string document::place(const std::string& key, const toml::node* node) const {
  // The key itself may have been set, or a table around it.
  for (std::string part = key; !part.empty();) {
    if (const auto set = overridden.find(part); set != overridden.end())
      return set->second.option + set->second.key;
    const std::size_t dot = part.rfind('.');
    part.resize(dot == std::string::npos ? 0 : dot);
  }
  const auto line = node == nullptr ? 0 : node->source().begin.line;
  // A value that another file was merged into this document from names that file itself.
  const bool named = node != nullptr && node->source().path;
  return fmt::format("{}:{}", named ? *node->source().path : origin,
                     line == 0 ? 1 : line);
}

expected<document> parse_document(std::string_view text, std::string_view origin) {
  return parse_toml(text, origin).map([&](toml::table&& root) {
    document d;
    d.root = std::move(root);
    d.origin = std::string(origin);
    return d;
  });
}

expected<void> apply_override(document& d, std::string_view assignment,
                              const std::string& option) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos)
    return fail_in(option + clipped(assignment),
                   {error_kind::invalid_input, "has no value; write KEY=VALUE, as in "
                                               "evolution.population=48"});
  const std::string key(trimmed(assignment.substr(0, equals), " "));
  const std::string place = option + clipped(key);
  if (std::ranges::count(key, '.') >= static_cast<std::ptrdiff_t>(deepest_toml))
    return fail_in(place, {error_kind::invalid_input, "has more parts than any key has"});
  auto value = parse_value(trimmed(assignment.substr(equals + 1), " "));
  if (!value)
    return fail_in(place, std::move(value).error());
  toml::table* table = &d.root;
  std::string_view rest = key;
  for (;;) {
    const std::size_t dot = rest.find('.');
    const std::string_view part = rest.substr(0, dot);
    if (!is_bare_key(part))
      return fail_in(place,
                     {error_kind::invalid_input, "is not a key; write KEY=VALUE, as in "
                                                 "evolution.population=48"});
    if (dot == std::string_view::npos) {
      table->insert_or_assign(part, std::move(*value->get("value")));
      d.overridden[key] = {option, clipped(key)};
      return {};
    }
    if (table->get(part) == nullptr)
      table->insert(part, toml::table{});
    table = table->get(part)->as_table();
    if (table == nullptr)
      return fail_in(place, {error_kind::invalid_input,
                             std::string(part) + " is a value and holds no keys"});
    rest.remove_prefix(dot + 1);
  }
}

} // namespace clade
