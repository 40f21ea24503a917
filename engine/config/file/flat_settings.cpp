#include "engine/config/file/flat_settings.hpp"

#include "engine/config/file/document.hpp"
#include "genome/genes/genome.hpp"

#include <fmt/format.h>

#include <sstream>

namespace clade {

namespace {

/// Returns the text as TOML has it; reals with the shortest digits that give them back.
std::string text_of(const toml::node& node) {
  if (const auto* real = node.as_floating_point())
    return to_text(value(real->get()));
  if (const auto* list = node.as_array()) {
    std::string items;
    for (const toml::node& item : *list)
      items += (items.empty() ? "" : ", ") + text_of(item);
    return fmt::format("[{}]", items);
  }
  if (const auto* table = node.as_table()) {
    std::string items;
    for (const auto& [key, item] : *table)
      items +=
          fmt::format("{}{} = {}", items.empty() ? "" : ", ", key.str(), text_of(item));
    return fmt::format("{{{}}}", items);
  }
  std::ostringstream text;
  node.visit([&](const auto& one) { text << one; });
  return text.str();
}

void flatten(const toml::table& table, const std::string& prefix,
             std::map<std::string, std::string>& into) {
  for (const auto& [key, node] : table) {
    const auto name = prefix + std::string(key.str());
    if (const auto* inner = node.as_table())
      flatten(*inner, name + ".", into);
    else
      into[name] = text_of(node);
  }
}

} // namespace

expected<std::map<std::string, std::string>> flat_settings(std::string_view text,
                                                           std::string_view origin) {
  return parse_document(text, origin).map([](const document& d) {
    std::map<std::string, std::string> settings;
    flatten(d.root, "", settings);
    return settings;
  });
}

} // namespace clade
