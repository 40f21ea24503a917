// The settings of a composite's layers: values, or formulas of its parameters.
#include "genome/base/text.hpp"
#include "search_spaces/composites/composite_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

void composite_reader::check_formula(const own_formula& f, const setting_entry& entry,
                                     const toml::node& at, const std::string& path) {
  const auto* p = parameter(f.of);
  if (p == nullptr && f.of != own_formula::channels) {
    std::vector<std::string_view> known{own_formula::channels};
    for (const auto& one : made_.parameters)
      known.push_back(one.name);
    return wrong_.note(at, fmt::format("{}: there is no parameter \"{}\"; there are {}",
                                       path, f.of, enumerated(known, " and ")));
  }
  const auto type = p == nullptr ? setting_entry::kind::integer : p->type;
  const bool fits = type == entry.type
                    || (type == setting_entry::kind::integer
                        && entry.type == setting_entry::kind::real);
  if (!fits || (type != setting_entry::kind::integer && !f.factors.empty()))
    wrong_.note(at, fmt::format("{}: \"{}\" gives no value for this setting; only whole "
                                "numbers are multiplied and divided",
                                path, to_text(f)));
}

std::optional<own_layer::setting_source>
composite_reader::read_setting(const setting_entry& entry, const toml::node& node,
                               const std::string& path) {
  const auto wrong = [&](const std::string& message) {
    wrong_.note(node, fmt::format("{} {}", path, message));
    return std::nullopt;
  };
  const auto text = node.value_exact<std::string>();
  if (text && text->starts_with('=')) {
    auto formula = parse_formula(*text);
    if (!formula)
      return wrong(fmt::format("is {}, which is no formula such as \"=filters / 4\"",
                               describe(node)));
    check_formula(*formula, entry, node, path);
    return std::move(*formula);
  }
  value v;
  if (text)
    v = *text;
  else if (const auto whole = node.value_exact<std::int64_t>();
           whole && entry.type == setting_entry::kind::integer)
    v = *whole;
  else if (const auto real = real_of(node))
    v = *real;
  else
    return wrong(
        fmt::format("is {}, but must be a number, a word or a formula", describe(node)));
  if (const auto why = objection(entry, v); !why.empty())
    return wrong(why);
  return v;
}

// Each of several operators is held to what is said, and what one has is said once.
void composite_reader::read_settings(own_layer& l, const toml::table& table,
                                     const std::string& path) {
  std::vector<std::string_view> known(composite_layer_keys.begin(),
                                      composite_layer_keys.end());
  for (const auto& op : operators_at(l.op))
    for (const auto& entry : row_of(op)->settings) {
      const bool first = std::ranges::find(known, entry.name) == known.end();
      if (first)
        known.push_back(entry.name);
      const toml::node* node = table.get(entry.name);
      if (node == nullptr)
        continue;
      auto source = read_setting(entry, *node, fmt::format("{}.{}", path, entry.name));
      if (first && source)
        l.settings.emplace_back(entry.name, std::move(*source));
    }
  refuse_unknown(table, path, known, wrong_.of_the_file());
}

} // namespace clade
