#include "engine/evaluation/command/placeholders.hpp"

namespace clade {

namespace {

bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Returns the name that `text`, which begins with a brace, has in its braces; empty if
/// it has none.
std::string_view name_in(std::string_view text) {
  std::size_t end = 1;
  while (end < text.size()
         && (begins_name(text[end]) || (end > 1 && text[end] >= '0' && text[end] <= '9')))
    ++end;
  return end > 1 && text.substr(end, 1) == "}" ? text.substr(1, end - 1)
                                               : std::string_view();
}

} // namespace

std::string fill_placeholders(
    std::string_view text,
    const std::function<std::optional<std::string>(const std::string& name)>& value_of) {
  std::string out;
  while (!text.empty()) {
    const auto brace = text.find('{');
    out += text.substr(0, brace);
    if (brace == std::string_view::npos)
      break;
    text.remove_prefix(brace);
    const bool doubled = text.starts_with("{{");
    const auto name = name_in(text.substr(doubled ? 1 : 0));
    if (doubled && !name.empty() && text.substr(name.size() + 3, 1) == "}") {
      (out += '{').append(name) += '}';
      text.remove_prefix(name.size() + 4);
    } else if (!doubled && !name.empty()) {
      const auto value = value_of(std::string(name));
      out += value ? *value : text.substr(0, name.size() + 2);
      text.remove_prefix(name.size() + 2);
    } else {
      out += text.front();
      text.remove_prefix(1);
    }
  }
  return out;
}

std::vector<std::string> placeholders_of(std::string_view text) {
  std::vector<std::string> names;
  static_cast<void>(fill_placeholders(text, [&](const std::string& name) {
    names.push_back(name);
    return std::nullopt;
  }));
  return names;
}

} // namespace clade
