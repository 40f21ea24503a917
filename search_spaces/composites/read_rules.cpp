// The rules by which composites have layers, as in einspace (Ericsson et al., NeurIPS 2024):
//
//   [rules.module]
//   sequence = {weight = 2, layers = [{op = "module", name = "a"}, {op = "module", name = "b"}]}
//   branch = {layers = [
//     {op = "module", name = "left", from = "in"},
//     {op = "module", name = "right", from = "in"},
//     {op = "add", from = ["left", "right"]},
//   ]}
//   conv = {weight = 3, layers = [{op = "conv", filters = "=channels", kernel = 3}]}
//
// A rule is a table of productions, of which one is drawn by weight, 1 without one. Their
// layers are written as those of composites (read_composite.cpp), and where an operator is
// the name of a rule, there stand the layers that this rule makes. Settings are values, or
// formulas of `channels`.
#include "genome/base/text.hpp"
#include "search_spaces/composites/composite_table.hpp"
#include "search_spaces/composites/divisions.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

namespace {

/// Reads the rules. The first complaint leaves all of them out.
class rules_reader {
public:
  rules_reader(complaints& wrong, const composite_parts& parts)
      : wrong_(wrong),
        parts_(parts) {}

  std::shared_ptr<const layer_rules> read(const toml::table& table);

private:
  using own_layers = std::vector<std::shared_ptr<const own_operator>>;

  void read_rule(const std::string& name, const toml::node& node);
  void read_production(const std::string& name, const std::string& rule,
                       const toml::node& node);
  double read_weight(const toml::table& table, const std::string& path);

  composite_complaints wrong_;
  const composite_parts& parts_;
  std::vector<production_rule> rules_;
  std::vector<own_layers> layers_;
};

double rules_reader::read_weight(const toml::table& table, const std::string& path) {
  const toml::node* node = table.get("weight");
  if (node == nullptr)
    return 1;
  const auto weight = weight_from(*node, path, wrong_.of_the_file());
  if (!weight)
    wrong_.leave_out();
  return weight.value_or(1);
}

void rules_reader::read_production(const std::string& name, const std::string& rule,
                                   const toml::node& node) {
  const auto path = fmt::format("rules.{}.{}", rule, name);
  const auto* table = node.as_table();
  if (!is_composite_word(name) || table == nullptr)
    return wrong_.note(node,
                       fmt::format("{} is no production such as {{weight = 2, layers = "
                                   "[...]}}, with a name of up to 32 small letters, "
                                   "digits and \"_\"",
                                   path));
  const auto weight = read_weight(*table, path);
  auto made = clade::read_production(name, rule, *table, wrong_.of_the_file(), parts_);
  if (!made)
    return wrong_.leave_out();
  production p{.name = name, .weight = weight};
  for (const auto& l : made->layers)
    if (!l.rule.empty())
      p.parts.push_back(static_cast<std::size_t>(
          std::ranges::find(parts_.rules.names, l.rule) - parts_.rules.names.begin()));
  layers_.back().push_back(std::make_shared<const own_operator>(std::move(*made)));
  if (auto fits = check_divisions(*layers_.back().back(), {}); !fits)
    wrong_.note(node, fmt::format("{}: its layer {}", path, fits.error().message));
  rules_.back().productions.push_back(std::move(p));
}

void rules_reader::read_rule(const std::string& name, const toml::node& node) {
  layers_.emplace_back();
  rules_.push_back({.name = name, .productions = {}});
  const auto* table = node.as_table();
  if (!is_composite_word(name) || table == nullptr || table->empty()
      || table->size() > production_rules::most)
    return wrong_.note(node,
                       fmt::format("rules.{} is no rule: a table of 1 to {} productions, "
                                   "with a name of up to 32 small letters, digits and "
                                   "\"_\"",
                                   name, production_rules::most));
  if (find_operator(name) != nullptr)
    return wrong_.note(node,
                       fmt::format("rules.{}: there is an operator of that name", name));
  for (const auto& [key, one] : *table)
    read_production(std::string(key.str()), name, one);
  if (wrong_.none()
      && std::ranges::none_of(rules_.back().productions,
                              [](const production& p) { return p.weight > 0; }))
    wrong_.note(node,
                fmt::format("rules.{}: all its productions have the weight 0", name));
}

std::shared_ptr<const layer_rules> rules_reader::read(const toml::table& table) {
  if (parts_.rules.names.size() > production_rules::most)
    wrong_.note(table,
                fmt::format("there are more than {} rules", production_rules::most));
  else
    for (const auto& [key, node] : table)
      read_rule(std::string(key.str()), node);
  if (!wrong_.none())
    return nullptr;
  auto rules = std::make_shared<const production_rules>(std::move(rules_));
  for (std::size_t i = 0; i < parts_.rules.names.size(); ++i) {
    const auto& name = parts_.rules.names[i];
    if (rules->least(i, production_rules::deepest) == production_rules::endless)
      wrong_.note(
          *table.get(name),
          fmt::format("rules.{} has no end: none of its productions comes to operators "
                      "alone, at most {} rules deep",
                      name, production_rules::deepest));
  }
  if (!wrong_.none())
    return nullptr;
  return std::make_shared<const layer_rules>(
      layer_rules{.rules = std::move(rules), .layers = std::move(layers_)});
}

} // namespace

std::shared_ptr<const layer_rules> read_rules(const toml::table& table, complaints& wrong,
                                              const composite_parts& parts) {
  return rules_reader(wrong, parts).read(table);
}

} // namespace clade
