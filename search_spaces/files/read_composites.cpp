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
#include "search_spaces/files/composite_parameters.hpp"
#include "search_spaces/files/space_draft.hpp"
#include "search_spaces/operators/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <set>

namespace clade {

namespace {

using kind = setting_entry::kind;

constexpr std::array<std::string_view, 6> composite_keys{
    "takes", "summary", "inherits", "repeat", "layers", "parameters"};
constexpr std::array<std::string_view, 3> merging{"add", "concat", "multiply"};
constexpr std::array<std::string_view, 4> layer_keys{"op", "name", "from", "zero"};

/// Gives another composite of the file by its name; null: there is none. An error says why it
/// cannot be within the one that is read, and nothing where its own faults are noted.
using composite_source =
    std::function<expected<std::shared_ptr<const own_operator>>(const std::string& name)>;

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
  void read_setting(own_layer& l, const setting_entry& entry, const toml::node& node,
                    const std::string& path);
  void read_takes();
  void check_formula(const own_formula& f, const setting_entry& entry,
                     const toml::node& at, const std::string& path);
  const own_parameter* parameter(std::string_view name) const;
  const own_parameter* words_at(const std::string& text) const;
  const operator_entry* row_of(const std::string& op);
  bool merges_all(const std::vector<std::string>& ops);
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
  const auto* words = words_at(l.op);
  const auto ops = words == nullptr ? std::vector{l.op} : words->words;
  for (const auto& op : ops)
    for (const auto& entry : row_of(op)->settings) {
      const bool first = std::ranges::find(known, entry.name) == known.end();
      if (first)
        known.push_back(entry.name);
      const toml::node* node = table.get(entry.name);
      if (node == nullptr)
        continue;
      read_setting(l, entry, *node, fmt::format("{}.{}", path, entry.name));
      if (!first && wrong_.none())
        l.settings.pop_back(); // One holds it for all operators.
    }
  refuse_unknown(table, path, known, wrong_.of_the_file());
}

/// Returns whether operators that a layer may be take several inputs; noted where some do.
bool composite_reader::merges_all(const std::vector<std::string>& ops) {
  return std::ranges::all_of(ops, [&](const auto& op) { return row_of(op)->merges; });
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
  const auto* words = words_at(op);
  const auto ops = words == nullptr ? std::vector{op} : words->words;
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
    const auto what = words == nullptr ? describe(node) : fmt::format("\"{}\"", *unknown);
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
  const bool merges = merges_all(ops);
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
    const auto* words = words_at(l.op);
    const auto* row = row_of(words == nullptr ? l.op : words->words.front());
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

/// Reads the tables of `[composites]`, each behind those that it is made of.
class composites_reader {
public:
  composites_reader(const toml::table& table, space_draft& into, complaints& wrong)
      : table_(table),
        draft_(into),
        wrong_(wrong) {}

  void read_all() {
    for (const auto& [key, node] : table_)
      read(std::string(key.str()), node);
  }

private:
  expected<std::shared_ptr<const own_operator>> find(const std::string& name);
  void read(const std::string& name, const toml::node& node);

  const toml::table& table_;
  space_draft& draft_;
  complaints& wrong_;
  std::vector<std::string> open_; ///< The ones that are being read, one within the other.
  std::set<std::string> done_;
};

expected<std::shared_ptr<const own_operator>>
composites_reader::find(const std::string& name) {
  const toml::node* node = table_.get(name);
  if (node != nullptr && std::ranges::find(open_, name) != open_.end())
    return fail(error_kind::invalid_input,
                fmt::format("{} is within itself ({}, {})", name, joined(open_), name));
  if (node != nullptr && std::ssize(open_) == own_description::deepest)
    return fail(error_kind::invalid_input,
                fmt::format("{} is more than {} deep within other composites", name,
                            own_description::deepest));
  if (node != nullptr)
    read(name, *node);
  const auto found = draft_.composites.find(name);
  if (found != draft_.composites.end())
    return found->second.content;
  if (node != nullptr)
    return fail(error_kind::invalid_input, "");
  return nullptr;
}

void composites_reader::read(const std::string& name, const toml::node& node) {
  if (!done_.insert(name).second)
    return;
  const auto* one = node.as_table();
  if (!is_composite_word(name) || find_operator(name) != nullptr || one == nullptr) {
    wrong_.note(
        node.source(),
        fmt::format("composites.{}{}", name,
                    find_operator(name) != nullptr
                        ? ": there is an operator of that name already"
                        : ": a composite is a table, [composites.NAME], with a name "
                          "of up to 32 small letters, digits and \"_\""));
    return;
  }
  open_.push_back(name);
  const composite_source others = [&](const std::string& other) { return find(other); };
  if (auto made = composite_reader(name, *one, wrong_, others).read())
    draft_.composites.insert_or_assign(
        name, located<std::shared_ptr<const own_operator>>{
                  std::make_shared<const own_operator>(std::move(*made)),
                  wrong_.place(node.source())});
  open_.pop_back();
}

} // namespace

void read_composites(const toml::table& table, space_draft& into, complaints& wrong) {
  composites_reader(table, into, wrong).read_all();
}

} // namespace clade
