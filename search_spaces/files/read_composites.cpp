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
#include "search_spaces/files/space_draft.hpp"
#include "search_spaces/operators/nearest.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace clade {

namespace {

using kind = setting_entry::kind;

constexpr std::size_t longest_name = 32, most_parameters = 32, longest_text = 512;
constexpr double largest_number = 1e9;
constexpr std::array<std::string_view, 5> composite_keys{"takes", "summary", "repeat",
                                                         "layers", "parameters"};
constexpr std::array<std::string_view, 3> merging{"add", "concat", "multiply"};
constexpr std::array<std::string_view, 4> layer_keys{"op", "name", "from", "zero"};
constexpr std::array<std::string_view, 7> number_keys{"low",   "high",  "default", "odd",
                                                      "width", "first", "summary"};
constexpr std::array<std::string_view, 2> word_keys{"words", "summary"};

bool is_word(std::string_view name) {
  return !name.empty() && name.size() <= longest_name
         && std::ranges::all_of(name, [](char c) {
              return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
            });
}

bool is_plain(std::string_view text) {
  return text.size() <= longest_text && std::ranges::all_of(text, [](char c) {
           return static_cast<unsigned char>(c) >= ' ' && c != '\x7f';
         });
}

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
  void complain(const toml::node& at, const std::string& message) {
    wrong_.note(at.source(), message);
    sound_ = false;
  }
  std::string text_at(const toml::table& table, std::string_view key,
                      const std::string& path);
  bool flag_at(const toml::table& table, std::string_view key, const std::string& path);
  void read_parameters(const toml::node& node);
  void read_parameter(const std::string& name, const toml::node& node);
  void read_number(own_parameter& p, const toml::table& table, const std::string& path);
  void read_words(own_parameter& p, const toml::node& words, const std::string& path);
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
  complaints& wrong_;
  std::string path_;
  own_description made_;
  bool sound_ = true;
};

const own_parameter* composite_reader::parameter(std::string_view name) const {
  const auto found = std::ranges::find(made_.parameters, name, &own_parameter::name);
  return found == made_.parameters.end() ? nullptr : &*found;
}

std::string composite_reader::text_at(const toml::table& table, std::string_view key,
                                      const std::string& path) {
  const toml::node* node = table.get(key);
  if (node == nullptr)
    return {};
  auto text = node->value_exact<std::string>();
  if (text && is_plain(*text))
    return *text;
  complain(*node, path + "." + std::string(key) + " is " + describe(*node)
                      + ", but must be a text of one line");
  return {};
}

bool composite_reader::flag_at(const toml::table& table, std::string_view key,
                               const std::string& path) {
  const toml::node* node = table.get(key);
  if (node == nullptr)
    return false;
  if (const auto flag = node->value_exact<bool>())
    return *flag;
  complain(*node, path + "." + std::string(key) + " is " + describe(*node)
                      + ", but must be true or false");
  return false;
}

void composite_reader::read_words(own_parameter& p, const toml::node& words,
                                  const std::string& path) {
  p.type = kind::text;
  const auto* list = words.as_array();
  if (list == nullptr || list->empty() || list->size() > most_parameters)
    return complain(words, path + ".words is " + describe(words)
                               + ", but must be a list of words, the usual one first");
  for (const auto& one : *list) {
    const auto word = one.value_exact<std::string>();
    if (!word || !is_word(*word) || std::ranges::find(p.words, *word) != p.words.end())
      return complain(one, path + ".words has " + describe(one)
                               + ", which is no word, or is there twice");
    p.words.push_back(*word);
  }
}

void composite_reader::read_number(own_parameter& p, const toml::table& table,
                                   const std::string& path) {
  bool whole = true;
  const auto number = [&](const char* key, double& into) {
    const toml::node* node = table.get(key);
    const auto v = node == nullptr ? std::nullopt : real_of(*node);
    if (!v || !(std::abs(*v) <= largest_number))
      return complain(node == nullptr ? table : *node,
                      path + " needs " + key
                          + ", a number: {low = 1, high = 8, "
                            "default = 1}");
    whole = whole && node->is_integer();
    into = *v;
  };
  number("low", p.low);
  number("high", p.high);
  number("default", p.fallback);
  p.type = whole ? kind::integer : kind::real;
  p.odd = flag_at(table, "odd", path);
  p.width = flag_at(table, "width", path);
  p.first = flag_at(table, "first", path);
  if (!sound_)
    return;
  if (!(p.low <= p.fallback && p.fallback <= p.high))
    return complain(table, path + " has a default that is not from low to high");
  if (!whole && (p.odd || p.width))
    return complain(table, path + " is odd or a width, which whole numbers alone are");
  const auto is_even = [](double v) { return std::fmod(v, 2) == 0; };
  if (p.odd && (is_even(p.low) || is_even(p.fallback)))
    return complain(table, path + " is odd, but its low or its default is not");
}

void composite_reader::read_parameter(const std::string& name, const toml::node& node) {
  const auto path = path_ + ".parameters." + name;
  const auto* table = node.as_table();
  if (table == nullptr)
    return complain(node, path + " is " + describe(node)
                              + ", but must be like {low = 1, high = 8, default = 1} or "
                                "{words = [\"relu\", \"gelu\"]}");
  if (!is_word(name) || name == own_formula::channels || name == "weight"
      || made_.parameters.size() == most_parameters)
    return complain(node, path
                              + ": a name is up to 32 small letters, digits and \"_\", "
                                "not channels or weight, of at most "
                              + std::to_string(most_parameters) + " parameters");
  own_parameter p{.name = name};
  const toml::node* words = table->get("words");
  refuse_unknown(*table, path,
                 words != nullptr ? std::span<const std::string_view>(word_keys)
                                  : std::span<const std::string_view>(number_keys),
                 wrong_);
  if (words != nullptr)
    read_words(p, *words, path);
  else
    read_number(p, *table, path);
  p.sentence = text_at(*table, "summary", path);
  made_.parameters.push_back(std::move(p));
}

void composite_reader::read_parameters(const toml::node& node) {
  const auto* table = node.as_table();
  if (table == nullptr)
    return complain(node, path_ + ".parameters is " + describe(node)
                              + ", but must be a table: [" + path_ + ".parameters]");
  for (const auto& [key, one] : *table) // By name, as TOML's tables are kept.
    read_parameter(std::string(key.str()), one);
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
    return complain(node, path_ + ".repeat is " + describe(node)
                              + ", but must be a number from 1 to "
                              + std::to_string(own_description::most_repeats)
                              + ", or a parameter that is one");
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
      return complain(one, path + ".from has " + describe(one)
                               + ", which is neither \"in\" nor the name of a layer "
                                 "above");
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
    return complain(at, path + ": there is no parameter \"" + f.of + "\"; there are "
                            + enumerated(known, " and "));
  }
  const auto type = p == nullptr ? kind::integer : p->type;
  const bool fits =
      type == entry.type || (type == kind::integer && entry.type == kind::real);
  if (!fits || (type != kind::integer && !f.factors.empty()))
    complain(at, path + ": \"" + to_text(f)
                     + "\" gives no value for this setting; "
                       "only whole numbers are multiplied and divided");
}

void composite_reader::read_setting(own_layer& l, const setting_entry& entry,
                                    const toml::node& node, const std::string& path) {
  const std::string name(entry.name);
  const auto text = node.value_exact<std::string>();
  if (text && text->starts_with('=')) {
    auto formula = parse_formula(*text);
    if (!formula)
      return complain(node, path + " is " + describe(node)
                                + ", which is no formula such as \"=filters / 4\"");
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
    return complain(node, path + " is " + describe(node)
                              + ", but must be a number, a word or a formula");
  if (const auto why = objection(entry, v); !why.empty())
    return complain(node, path + " " + why);
  l.settings.emplace_back(name, std::move(v));
}

void composite_reader::read_settings(own_layer& l, const toml::table& table,
                                     const std::string& path) {
  std::vector<std::string_view> known(layer_keys.begin(), layer_keys.end());
  const auto settings = find_operator(l.op)->settings;
  for (const auto& entry : settings) {
    known.push_back(entry.name);
    if (const toml::node* node = table.get(entry.name))
      read_setting(l, entry, *node, path + "." + std::string(entry.name));
  }
  refuse_unknown(table, path, known, wrong_);
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
    return complain(node, path + ": " + describe(node)
                              + " is no layer of a known "
                                "operator, such as {op = \"dense\", units = 64}"
                              + (near.empty() ? "" : "; did you mean \"" + near + "\"?"));
  }
  own_layer l{.name = text_at(*table, "name", path), .op = *op};
  if (l.name.empty())
    l.name = free_name(l.op);
  else if (!is_word(l.name) || l.name == own_layer::entrance
           || free_name(l.name) != l.name)
    return complain(node, path + ": \"" + l.name
                              + "\" is no name, or is there twice; a name is up to 32 "
                                "small letters, digits and \"_\", not \"in\"");
  if (const toml::node* from = table->get("from"))
    read_from(l, *from, path + "." + l.name);
  if (merges ? l.from.size() < 2 : l.from.size() > 1)
    return complain(node, path + "." + l.name
                              + (merges ? " needs from = [...] with at least two names"
                                        : " takes one input"));
  l.starts_at_zero = flag_at(*table, "zero", path + "." + l.name);
  read_settings(l, *table, path + "." + l.name);
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
    return complain(*node, path_ + ".takes is " + describe(*node)
                               + ", but must be \"image\" or \"vector\"");
  made_.takes = *found;
}

std::optional<own_description> composite_reader::read() {
  refuse_unknown(table_, path_, composite_keys, wrong_);
  made_.summary = text_at(table_, "summary", path_);
  if (const toml::node* parameters = table_.get("parameters"))
    read_parameters(*parameters);
  if (const toml::node* repeat = table_.get("repeat"))
    read_repeat(*repeat);
  const auto* layers = table_.get_as<toml::array>("layers");
  if (layers == nullptr || layers->empty()
      || layers->size() > own_description::most_layers)
    complain(table_, path_
                         + " needs layers = [{op = \"dense\", units = 64}, ...], at most "
                         + std::to_string(own_description::most_layers));
  else
    for (const auto& one : *layers)
      if (sound_)
        read_layer(one);
  read_takes();
  return sound_ ? std::optional(std::move(made_)) : std::nullopt;
}

} // namespace

void read_composites(const toml::table& table, space_draft& into, complaints& wrong) {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    const auto* one = node.as_table();
    if (!is_word(name) || find_operator(name) != nullptr || one == nullptr) {
      wrong.note(node.source(),
                 "composites." + name
                     + (find_operator(name) != nullptr
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
