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
// what enters, times and divided by whole numbers. `zero`: it gives 0 at first.
#include "genome/base/text.hpp"
#include "search_spaces/files/composite_parameters.hpp"
#include "search_spaces/files/space_draft.hpp"
#include "search_spaces/operators/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace clade {

namespace {

using kind = setting_entry::kind;

constexpr std::array<std::string_view, 5> composite_keys{"takes", "summary", "repeat",
                                                         "layers", "parameters"};
constexpr std::array<std::string_view, 3> merging{"add", "concat", "multiply"};
constexpr std::array<std::string_view, 4> layer_keys{"op", "name", "from", "zero"};

/// Reads one table of `[composites]`. The first complaint about it leaves it out.
class composite_reader {
public:
  composite_reader(std::string name, const toml::table& table, complaints& wrong)
      : table_(table),
        wrong_(wrong),
        path_("composites." + name),
        made_{.name = std::move(name)} {}

  std::optional<own_description> read();

private:
  void read_repeat(const toml::node& node);
  void read_layer(const toml::node& node);
  void read_from(own_layer& l, const toml::node& node, const std::string& path);
  void read_settings(own_layer& l, const toml::table& table, const std::string& path);
  void read_setting(own_layer& l, const setting_entry& entry, const toml::node& node,
                    const std::string& path);
  void read_takes();
  void check_formula(const own_formula& f, const setting_entry& entry,
                     const toml::node& at, const std::string& path);
  const own_parameter* parameter(std::string_view name) const;
  std::string free_name(const std::string& op) const;

  const toml::table& table_;
  composite_complaints wrong_;
  std::string path_;
  own_description made_;
};

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

std::string composite_reader::free_name(const std::string& op) const {
  std::string name = op;
  for (std::size_t i = 2;
       std::ranges::find(made_.layers, name, &own_layer::name) != made_.layers.end(); ++i)
    name = op + std::to_string(i);
  return name;
}

void composite_reader::read_from(own_layer& l, const toml::node& node,
                                 const std::string& path) {
  const auto take = [&](const toml::node& one) {
    const auto name = one.value_exact<std::string>();
    if (!name
        || (*name != own_layer::entrance
            && std::ranges::find(made_.layers, *name, &own_layer::name)
                   == made_.layers.end()))
      return wrong_.note(
          one,
          fmt::format(
              "{}.from has {}, which is neither \"in\" nor the name of a layer above",
              path, describe(one)));
    l.from.push_back(*name);
  };
  if (const auto* list = node.as_array())
    for (const auto& one : *list)
      take(one);
  else
    take(node);
}

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
  const auto type = p == nullptr ? kind::integer : p->type;
  const bool fits =
      type == entry.type || (type == kind::integer && entry.type == kind::real);
  if (!fits || (type != kind::integer && !f.factors.empty()))
    wrong_.note(at, fmt::format("{}: \"{}\" gives no value for this setting; only whole "
                                "numbers are multiplied and divided",
                                path, to_text(f)));
}

void composite_reader::read_setting(own_layer& l, const setting_entry& entry,
                                    const toml::node& node, const std::string& path) {
  const std::string name(entry.name);
  const auto text = node.value_exact<std::string>();
  if (text && text->starts_with('=')) {
    auto formula = parse_formula(*text);
    if (!formula)
      return wrong_.note(
          node, fmt::format("{} is {}, which is no formula such as \"=filters / 4\"",
                            path, describe(node)));
    check_formula(*formula, entry, node, path);
    l.settings.emplace_back(name, std::move(*formula));
    return;
  }
  value v;
  if (text)
    v = *text;
  else if (const auto whole = node.value_exact<std::int64_t>();
           whole && entry.type == kind::integer)
    v = *whole;
  else if (const auto real = real_of(node))
    v = *real;
  else
    return wrong_.note(node,
                       fmt::format("{} is {}, but must be a number, a word or a formula",
                                   path, describe(node)));
  if (const auto why = objection(entry, v); !why.empty())
    return wrong_.note(node, fmt::format("{} {}", path, why));
  l.settings.emplace_back(name, std::move(v));
}

void composite_reader::read_settings(own_layer& l, const toml::table& table,
                                     const std::string& path) {
  std::vector<std::string_view> known(layer_keys.begin(), layer_keys.end());
  const auto settings = find_operator(l.op)->settings;
  for (const auto& entry : settings) {
    known.push_back(entry.name);
    if (const toml::node* node = table.get(entry.name))
      read_setting(l, entry, *node, fmt::format("{}.{}", path, entry.name));
  }
  refuse_unknown(table, path, known, wrong_.of_the_file());
}

void composite_reader::read_layer(const toml::node& node) {
  const auto path = path_ + ".layers";
  const auto* table = node.as_table();
  const auto op =
      table == nullptr ? std::nullopt : (*table)["op"].value_exact<std::string>();
  const auto* entry = op ? find_operator(*op) : nullptr;
  const bool merges = op && std::ranges::find(merging, *op) != merging.end();
  if (entry == nullptr || (entry->role != operator_role::layer && !merges)) {
    std::vector<std::string_view> known(merging.begin(), merging.end());
    for (const auto& o : operators())
      if (o.role == operator_role::layer)
        known.push_back(o.name);
    const auto near = op ? nearest(*op, known) : "";
    return wrong_.note(
        node,
        fmt::format("{}: {} is no layer of a known operator, such as {{op = \"dense\", "
                    "units = 64}}{}",
                    path, describe(node),
                    near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near)));
  }
  own_layer l{.name = wrong_.text_at(*table, "name", path), .op = *op};
  if (l.name.empty())
    l.name = free_name(l.op);
  else if (!is_composite_word(l.name) || l.name == own_layer::entrance
           || free_name(l.name) != l.name)
    return wrong_.note(node,
                       fmt::format("{}: \"{}\" is no name, or is there twice; a name is "
                                   "up to 32 small letters, digits and \"_\", not \"in\"",
                                   path, l.name));
  if (const toml::node* from = table->get("from"))
    read_from(l, *from, fmt::format("{}.{}", path, l.name));
  if (merges ? l.from.size() < 2 : l.from.size() > 1)
    return wrong_.note(node,
                       fmt::format("{}.{}{}", path, l.name,
                                   merges ? " needs from = [...] with at least two names"
                                          : " takes one input"));
  l.starts_at_zero = wrong_.flag_at(*table, "zero", fmt::format("{}.{}", path, l.name));
  read_settings(l, *table, fmt::format("{}.{}", path, l.name));
  made_.layers.push_back(std::move(l));
}

void composite_reader::read_takes() {
  const auto first = std::ranges::find_if(made_.layers, [](const own_layer& l) {
    return find_operator(l.op)->role == operator_role::layer;
  });
  if (first != made_.layers.end())
    made_.takes = find_operator(first->op)->takes.front();
  const auto* node = table_.get("takes");
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

std::optional<own_description> composite_reader::read() {
  refuse_unknown(table_, path_, composite_keys, wrong_.of_the_file());
  made_.summary = wrong_.text_at(table_, "summary", path_);
  if (const toml::node* parameters = table_.get("parameters"))
    made_.parameters = read_own_parameters(*parameters, path_ + ".parameters", wrong_);
  if (const toml::node* repeat = table_.get("repeat"))
    read_repeat(*repeat);
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
  read_takes();
  return wrong_.none() ? std::optional(std::move(made_)) : std::nullopt;
}

} // namespace

void read_composites(const toml::table& table, space_draft& into, complaints& wrong) {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    const auto* one = node.as_table();
    if (!is_composite_word(name) || find_operator(name) != nullptr || one == nullptr) {
      wrong.note(
          node.source(),
          fmt::format("composites.{}{}", name,
                      find_operator(name) != nullptr
                          ? ": there is an operator of that name already"
                          : ": a composite is a table, [composites.NAME], with a name "
                            "of up to 32 small letters, digits and \"_\""));
      continue;
    }
    if (auto made = composite_reader(name, *one, wrong).read())
      into.composites.insert_or_assign(
          name, located<std::shared_ptr<const own_operator>>{
                    std::make_shared<const own_operator>(std::move(*made)),
                    wrong.place(node.source())});
  }
}

} // namespace clade
