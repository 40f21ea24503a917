// Operators that a search-space file makes of known ones:
//
//   [composites.bottleneck]
//   takes = "image"                     or "vector"; without it what the first layer takes
//   summary = "three convolutions, added to what enters"
//   repeat = "repeats"                  a parameter or a number; without it 1
//   layers = [
//     {op = "conv", name = "reduce", filters = "=filters / 4", activation = "relu"},
//     {op = "conv", name = "expand", filters = "=filters", zero = true},
//     {op = "add", from = ["in", "expand"]},
//   ]
//   [composites.bottleneck.parameters]
//   filters = {low = 1, high = 512, default = 32, width = true}
//   repeats = {low = 1, high = 8, default = 1}
//
// A layer takes what the one before it gives, or what `from` names; "in" is what enters
// the repetition. A setting is a value or a formula: "=" and a parameter, or `channels` of
// what enters, times and divided by whole numbers. `zero`: it gives 0 at first. A layer may
// be another composite of the file, and its operator and what it takes may be the words of a
// parameter, {op = "=edge", from = "=source"}: so are cells, which are searched once and
// stand in a network many times. `inherits = "cell"`, or a list of such names: the parameters
// of those composites are this one's as well, and layers that are them are given them. A parameter {rule = "module"}
// is a derivation by the rules of the file (read_rules.cpp), and its layers stand where a
// layer's operator is "=" and its name.
#include "genome/base/text.hpp"
#include "search_spaces/composites/composite_reader.hpp"
#include "search_spaces/operators/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace clade {

namespace {

using kind = setting_entry::kind;

constexpr std::array<std::string_view, 7> composite_keys{
    "takes", "summary", "inherits", "repeat", "share", "layers", "parameters"};
constexpr std::array<std::string_view, 2> production_keys{"weight", "layers"};
constexpr std::array<std::string_view, 3> merging{"add", "concat", "multiply"};
constexpr std::array<std::string_view, 3> rule_layer_keys{"op", "name", "from"};

} // namespace

const own_parameter* composite_reader::parameter(std::string_view name) const {
  const auto found = std::ranges::find(made_.parameters, name, &own_parameter::name);
  return found == made_.parameters.end() ? nullptr : &*found;
}

void composite_reader::read_repeat(const toml::node& node) {
  if (const auto number = node.value_exact<std::int64_t>();
      number && *number >= 1 && *number <= own_description::most_repeats) {
    made_.repeat = *number;
    return;
  }
  const auto name = node.value_exact<std::string>();
  const auto* p = name ? parameter(*name) : nullptr;
  if (p == nullptr || p->type != kind::integer || p->low < 1
      || p->high > static_cast<double>(own_description::most_repeats))
    return wrong_.note(node,
                       fmt::format("{}.repeat is {}, but must be a number from 1 to {}, "
                                   "or a parameter that is one",
                                   path_, describe(node), own_description::most_repeats));
  made_.repeat = *name;
}

void composite_reader::read_share() {
  made_.share = wrong_.flag_at(table_, "share", path_);
  const auto* number = std::get_if<std::int64_t>(&made_.repeat);
  if (made_.share && number != nullptr && *number == 1)
    wrong_.note(
        *table_.get("share"),
        fmt::format("{}.share is true, and nothing is repeated; write how often, as "
                    "repeat = 3, or a parameter",
                    path_));
}

/// Returns the parameter that a name stands for, if that is one of words.
const own_parameter* composite_reader::words_at(const std::string& text) const {
  const auto name = parameter_named(text);
  const auto* p = name ? parameter(*name) : nullptr;
  return p == nullptr || p->type != kind::text || p->derivations ? nullptr : p;
}

/// Returns the rule that makes layers where this stands for an operator; empty: none.
std::string composite_reader::rule_at(const std::string& op) const {
  const auto& names = parts_.rules.names;
  if (is_production_)
    return std::ranges::find(names, op) != names.end() ? op : "";
  const auto name = parameter_named(op);
  const auto* p = name ? parameter(*name) : nullptr;
  return p != nullptr && p->derivations ? names[p->derivations->start] : "";
}

/// Returns the operators that a layer may be: the one of that name, or the words of the
/// parameter that it stands for.
std::vector<std::string> composite_reader::operators_at(const std::string& op) const {
  const auto* words = words_at(op);
  return words == nullptr ? std::vector{op} : words->words;
}

/// Returns the operator for layers of that name, or the one that merges; null: there is none.
const operator_entry* composite_reader::row_of(const std::string& op) {
  if (const auto* row = find_operator(op))
    return row->role == operator_role::layer
                   || std::ranges::find(merging, op) != merging.end()
               ? row
               : nullptr;
  const auto known = std::ranges::find(
      made_.uses, op, [](const auto& one) { return one->description().name; });
  if (known != made_.uses.end())
    return &(*known)->row();
  const auto other = parts_.others(op);
  if (!other)
    why_not_ = other.error();
  if (!other || *other == nullptr)
    return nullptr;
  made_.uses.push_back(*other);
  return &(*other)->row();
}

std::string composite_reader::free_name(const std::string& op) const {
  std::string name = op;
  for (std::size_t i = 2;
       std::ranges::find(made_.layers, name, &own_layer::name) != made_.layers.end(); ++i)
    name = op + std::to_string(i);
  return name;
}

void composite_reader::read_from(own_layer& l, const toml::node& node,
                                 const std::string& path) {
  const auto is_there = [&](const std::string& name) {
    return name == own_layer::entrance
           || std::ranges::find(made_.layers, name, &own_layer::name)
                  != made_.layers.end();
  };
  const auto take = [&](const toml::node& one) {
    const auto name = one.value_exact<std::string>().value_or("");
    const auto* words = words_at(name);
    if (words == nullptr ? !is_there(name) : !std::ranges::all_of(words->words, is_there))
      return wrong_.note(
          one, fmt::format("{}.from has {}, which is neither \"in\" nor the name of a "
                           "layer above, nor a parameter whose words are such names",
                           path, describe(one)));
    l.from.push_back(name);
  };
  if (const auto* list = node.as_array())
    for (const auto& one : *list)
      take(one);
  else
    take(node);
}

void composite_reader::read_name(own_layer& l, const toml::table& table,
                                 const std::string& path) {
  l.name = wrong_.text_at(table, "name", path);
  if (l.name.empty())
    l.name = free_name(std::string(parameter_named(l.op).value_or(l.op)));
  else if (!is_composite_word(l.name) || l.name == own_layer::entrance
           || free_name(l.name) != l.name)
    wrong_.note(table, fmt::format("{}: \"{}\" is no name, or is there twice; a name is "
                                   "up to 32 small letters, digits and \"_\", not \"in\"",
                                   path, l.name));
}

void composite_reader::read_rule_layer(const toml::node& node, const toml::table& table,
                                       const std::string& op, const std::string& rule) {
  own_layer l{.op = op, .rule = rule};
  read_name(l, table, path_ + ".layers");
  const auto path = fmt::format("{}.layers.{}", path_, l.name);
  refuse_unknown(table, path, rule_layer_keys, wrong_.of_the_file());
  if (const toml::node* from = table.get("from"))
    read_from(l, *from, path);
  if (l.from.size() > 1)
    return wrong_.note(node, path + " takes one input");
  made_.layers.push_back(std::move(l));
}

void composite_reader::read_layer(const toml::node& node) {
  const auto path = path_ + ".layers";
  const auto* table = node.as_table();
  const auto op = table == nullptr
                      ? std::string()
                      : (*table)["op"].value_exact<std::string>().value_or("");
  if (const auto rule = rule_at(op); !rule.empty())
    return read_rule_layer(node, *table, op, rule);
  const auto ops = operators_at(op);
  const auto unknown =
      std::ranges::find_if(ops, [&](const auto& one) { return row_of(one) == nullptr; });
  if (unknown != ops.end() && why_not_)
    return why_not_->message.empty()
               ? wrong_.leave_out()
               : wrong_.note(node, fmt::format("{}: {}", path, why_not_->message));
  if (unknown != ops.end()) {
    std::vector<std::string_view> known(merging.begin(), merging.end());
    for (const auto& o : operators())
      if (o.role == operator_role::layer)
        known.push_back(o.name);
    const auto near = nearest(*unknown, known);
    const auto what = *unknown == op ? describe(node) : fmt::format("\"{}\"", *unknown);
    return wrong_.note(
        node,
        fmt::format("{}: {} is no layer of a known operator, such as {{op = \"dense\", "
                    "units = 64}}{}",
                    path, what,
                    near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near)));
  }
  own_layer l{.op = op};
  read_name(l, *table, path);
  if (const toml::node* from = table->get("from"))
    read_from(l, *from, fmt::format("{}.{}", path, l.name));
  const bool merges =
      std::ranges::all_of(ops, [&](const auto& one) { return row_of(one)->merges; });
  if (merges ? l.from.size() < 2 : l.from.size() > 1)
    return wrong_.note(node,
                       fmt::format("{}.{}{}", path, l.name,
                                   merges ? " needs from = [...] with at least two names"
                                          : " takes one input"));
  l.starts_at_zero = wrong_.flag_at(*table, "zero", fmt::format("{}.{}", path, l.name));
  read_settings(l, *table, fmt::format("{}.{}", path, l.name));
  inherit(l);
  std::ranges::sort(
      l.settings, {}, [](const auto& s) -> const auto& { return s.first; });
  made_.layers.push_back(std::move(l));
}

void composite_reader::read_takes() {
  const auto* node = table_.get("takes");
  const auto first = std::ranges::find_if(made_.layers, [&](const own_layer& l) {
    return l.rule.empty() && !row_of(operators_at(l.op).front())->merges;
  });
  if (first != made_.layers.end())
    made_.takes = row_of(operators_at(first->op).front())->takes.front();
  else if (node == nullptr)
    return wrong_.note(table_, path_
                                   + " needs takes = \"image\", \"sequence\" or "
                                     "\"vector\", since rules alone make its layers");
  if (node == nullptr)
    return;
  const auto named = node->value_exact<std::string>().value_or("");
  const auto found =
      std::ranges::find(known_layouts, named, [](layout l) { return to_text(l); });
  if (found == known_layouts.end())
    return wrong_.note(
        *node,
        fmt::format("{}.takes is {}, but must be \"image\", \"sequence\" or \"vector\"",
                    path_, describe(*node)));
  made_.takes = *found;
}

void composite_reader::read_parameters() {
  if (const toml::node* parameters = table_.get("parameters"))
    made_.parameters =
        read_own_parameters(*parameters, path_ + ".parameters", parts_.rules, wrong_);
  const auto* node = table_.get("inherits");
  if (node == nullptr)
    return;
  if (const auto* names = node->as_array(); names != nullptr && !names->empty())
    for (const auto& one : *names)
      read_heritage(one);
  else
    read_heritage(*node);
  std::ranges::sort(made_.parameters, {}, &own_parameter::name);
}

void composite_reader::read_heritage(const toml::node& name) {
  auto heritage =
      parts_.others(name.value_exact<std::string>().value_or("")).value_or(nullptr);
  if (heritage == nullptr)
    return wrong_.note(name, fmt::format("{}.inherits is {}, but must be the name of "
                                         "another composite, or a list of such names",
                                         path_, describe(name)));
  for (const auto& p : heritage->description().parameters)
    if (parameter(p.name) == nullptr)
      made_.parameters.push_back(p);
  heritages_.push_back(std::move(heritage));
}

/// Gives a layer that is the composite inherited from what its own settings leave out.
void composite_reader::inherit(own_layer& l) const {
  const auto heritage = std::ranges::find(
      heritages_, l.op, [](const auto& h) { return h->description().name; });
  if (heritage == heritages_.end())
    return;
  for (const auto& p : (*heritage)->description().parameters)
    if (std::ranges::find(l.settings, p.name, [](const auto& s) { return s.first; })
        == l.settings.end())
      l.settings.emplace_back(p.name, own_formula{.of = p.name});
}

void composite_reader::read_layers() {
  const auto* layers = table_.get_as<toml::array>("layers");
  if (layers == nullptr || layers->empty()
      || layers->size() > own_description::most_layers)
    wrong_.note(
        table_,
        fmt::format("{} needs layers = [{{op = \"dense\", units = 64}}, ...], at most {}",
                    path_, own_description::most_layers));
  else
    for (const auto& one : *layers)
      if (wrong_.none())
        read_layer(one);
}

std::optional<own_description> composite_reader::read_composite() {
  refuse_unknown(table_, path_, composite_keys, wrong_.of_the_file());
  made_.summary = wrong_.text_at(table_, "summary", path_);
  read_parameters();
  if (std::ranges::any_of(made_.parameters, [](const own_parameter& p) {
        return p.derivations.has_value();
      }))
    made_.rules = parts_.rules.read;
  if (const toml::node* repeat = table_.get("repeat"))
    read_repeat(*repeat);
  read_share();
  if (wrong_.none())
    read_layers();
  if (wrong_.none())
    read_takes();
  return wrong_.none() ? std::optional(std::move(made_)) : std::nullopt;
}

std::optional<own_description> composite_reader::read_production() {
  is_production_ = true;
  refuse_unknown(table_, path_, production_keys, wrong_.of_the_file());
  read_layers();
  return wrong_.none() ? std::optional(std::move(made_)) : std::nullopt;
}

std::optional<own_description> read_composite(std::string name, const toml::table& table,
                                              complaints& wrong,
                                              const composite_parts& parts) {
  return composite_reader(std::move(name), "composites", table, wrong, parts)
      .read_composite();
}

std::optional<own_description> read_production(std::string name, const std::string& rule,
                                               const toml::table& table,
                                               complaints& wrong,
                                               const composite_parts& parts) {
  return composite_reader(std::move(name), "rules." + rule, table, wrong, parts)
      .read_production();
}

} // namespace clade
