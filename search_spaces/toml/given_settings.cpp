#include "search_spaces/toml/parameter_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

void read_settings(const toml::table& table, const std::string& path,
                   std::vector<setting>& into, complaints& wrong) {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (name == "op")
      continue;
    if (const auto text = node.value_exact<std::string>())
      assign(into, name, *text);
    else if (const auto whole = node.value_exact<std::int64_t>())
      assign(into, name, *whole);
    else if (const auto real = node.value_exact<double>())
      assign(into, name, *real);
    else
      wrong.note(node.source(), fmt::format("{}.{} is {}, but must be a number or a word",
                                            path, name, describe(node)));
  }
}

/// `place`: the table of the file that lists what is known.
std::string misfit(std::vector<setting>& given, const std::vector<parameter>& known,
                   std::string_view place) {
  for (auto& s : given) {
    const auto p = std::ranges::find(known, s.name, &parameter::name);
    if (p == known.end())
      return fmt::format("there is no {} to set in this space; {} lists what there is",
                         s.name, place);
    const auto* whole = std::get_if<std::int64_t>(&s.value);
    const auto as_real = whole == nullptr ? s.value : value(static_cast<double>(*whole));
    if (!contains(*p, s.value) && contains(*p, as_real))
      s.value = as_real;
    const auto* trees = std::get_if<derivation_domain>(&p->domain);
    if (const auto* text = std::get_if<std::string>(&s.value); trees && text)
      if (const auto read = parse_derivation(*trees, *text); !read)
        return fmt::format("{}: {}", s.name, read.error().message);
    if (!contains(*p, s.value))
      return fmt::format("{} = {} is not in this space", s.name, to_text(s.value));
  }
  return {};
}

std::string misfit(node_gene& layer, const grammar& rules) {
  const auto* rule = find_operator(rules, layer.op);
  const auto why = rule == nullptr ? "there is no operators." + layer.op
                                   : misfit(layer.settings, rule->settings,
                                            fmt::format("[operators.{}]", layer.op));
  return why.empty() ? "" : fmt::format("{}: {}", layer.op, why);
}

} // namespace clade
