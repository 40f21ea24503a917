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
// stand in a network many times. `inherits = "cell"`: the parameters of that composite are
// this one's as well, and layers that are it are given them.
#include "genome/base/text.hpp"
#include "search_spaces/files/composite_table.hpp"
#include "search_spaces/operators/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace clade {

namespace {

using kind = setting_entry::kind;

constexpr std::array<std::string_view, 6> composite_keys{
    "takes", "summary", "inherits", "repeat", "layers", "parameters"};
constexpr std::array<std::string_view, 3> merging{"add", "concat", "multiply"};
constexpr std::array<std::string_view, 4> layer_keys{"op", "name", "from", "zero"};

/// Reads one table of `[composites]`. The first complaint about it leaves it out.
class composite_reader {
public:
  composite_reader(std::string name, const toml::table& table, complaints& wrong,
                   const composite_source& others)
      : table_(table),
        wrong_(wrong),
        others_(others),
        path_("composites." + name),
        made_{.name = std::move(name)} {}

  std::optional<own_description> read();

private:
  void read_parameters();
  void inherit(own_layer& l) const;
  void read_repeat(const toml::node& node);
  void read_layer(const toml::node& node);
  void read_from(own_layer& l, const toml::node& node, const std::string& path);
  void read_settings(own_layer& l, const toml::table& table, const std::string& path);
  std::optional<own_layer::setting_source> read_setting(const setting_entry& entry,
                                                        const toml::node& node,
                                                        const std::string& path);
  void read_takes();
  void check_formula(const own_formula& f, const setting_entry& entry,
                     const toml::node& at, const std::string& path);
  const own_parameter* parameter(std::string_view name) const;
  const own_parameter* words_at(const std::string& text) const;
  std::vector<std::string> operators_at(const std::string& op) const;
  const operator_entry* row_of(const std::string& op);
  void read_name(own_layer& l, const toml::table& table, const std::string& path);
  std::string free_name(const std::string& op) const;

  const toml::table& table_;
  composite_complaints wrong_;
  const composite_source& others_;
  std::string path_;
  std::optional<error> why_not_; ///< The reason why a composite is no layer here.
  std::shared_ptr<const own_operator> heritage_; ///< The one whose parameters it has.
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

/// Returns the parameter that a name stands for, if that is one of words.
const own_parameter* composite_reader::words_at(const std::string& text) const {
  const auto name = parameter_named(text);
  const auto* p = name ? parameter(*name) : nullptr;
  return p == nullptr || p->type != kind::text ? nullptr : p;
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
  const auto other = others_(op);
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
           whole && entry.type == kind::integer)
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
  std::vector<std::string_view> known(layer_keys.begin(), layer_keys.end());
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

void composite_reader::read_layer(const toml::node& node) {
  const auto path = path_ + ".layers";
  const auto* table = node.as_table();
  const auto op = table == nullptr
                      ? std::string()
                      : (*table)["op"].value_exact<std::string>().value_or("");
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
  for (const auto& l : made_.layers) {
    const auto* row = row_of(operators_at(l.op).front());
    if (row->merges)
      continue;
    made_.takes = row->takes.front();
    break;
  }
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

void composite_reader::read_parameters() {
  if (const toml::node* parameters = table_.get("parameters"))
    made_.parameters = read_own_parameters(*parameters, path_ + ".parameters", wrong_);
  const auto* node = table_.get("inherits");
  if (node == nullptr)
    return;
  heritage_ = others_(node->value_exact<std::string>().value_or("")).value_or(nullptr);
  if (heritage_ == nullptr)
    return wrong_.note(*node, fmt::format("{}.inherits is {}, but must be the name of "
                                          "another composite",
                                          path_, describe(*node)));
  for (const auto& p : heritage_->description().parameters)
    if (parameter(p.name) == nullptr)
      made_.parameters.push_back(p);
  std::ranges::sort(made_.parameters, {}, &own_parameter::name);
}

/// Gives a layer that is the composite inherited from what its own settings leave out.
void composite_reader::inherit(own_layer& l) const {
  if (heritage_ == nullptr || l.op != heritage_->description().name)
    return;
  for (const auto& p : heritage_->description().parameters)
    if (std::ranges::find(l.settings, p.name, [](const auto& s) { return s.first; })
        == l.settings.end())
      l.settings.emplace_back(p.name, own_formula{.of = p.name});
}

std::optional<own_description> composite_reader::read() {
  refuse_unknown(table_, path_, composite_keys, wrong_.of_the_file());
  made_.summary = wrong_.text_at(table_, "summary", path_);
  read_parameters();
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

std::optional<own_description> read_composite(std::string name, const toml::table& table,
                                              complaints& wrong,
                                              const composite_source& others) {
  return composite_reader(std::move(name), table, wrong, others).read();
}

} // namespace clade
