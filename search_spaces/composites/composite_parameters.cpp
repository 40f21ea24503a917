#include "search_spaces/composites/composite_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace clade {

namespace {

using kind = setting_entry::kind;

constexpr std::size_t longest_name = 32, most_parameters = 32, longest_text = 512;
constexpr double largest_number = 1e9;
constexpr std::array<std::string_view, 7> number_keys{"low",   "high",  "default", "odd",
                                                      "width", "first", "summary"};
constexpr std::array<std::string_view, 2> word_keys{"words", "summary"};
constexpr std::array<std::string_view, 4> rule_keys{"rule", "depth", "size", "summary"};

/// Reads `[composites.NAME.parameters]`.
class own_parameters_reader {
public:
  own_parameters_reader(const std::string& path, const rule_table& rules,
                        composite_complaints& wrong)
      : path_(path),
        rules_(rules),
        wrong_(wrong) {}

  std::vector<own_parameter> read(const toml::node& node);

private:
  void read_parameter(const std::string& name, const toml::node& node);
  void read_number(own_parameter& p, const toml::table& table, const std::string& path);
  void read_words(own_parameter& p, const toml::node& words, const std::string& path);
  void read_rule(own_parameter& p, const toml::table& table, const std::string& path);
  std::size_t read_bound(const toml::table& table, std::string_view key, std::size_t most,
                         std::size_t otherwise, const std::string& path);

  const std::string& path_;
  const rule_table& rules_;
  composite_complaints& wrong_;
  std::vector<own_parameter> made_;
};

void own_parameters_reader::read_words(own_parameter& p, const toml::node& words,
                                       const std::string& path) {
  p.type = kind::text;
  const auto* list = words.as_array();
  if (list == nullptr || list->empty() || list->size() > most_parameters)
    return wrong_.note(
        words,
        fmt::format("{}.words is {}, but must be a list of words, the usual one first",
                    path, describe(words)));
  for (const auto& one : *list) {
    const auto word = one.value_exact<std::string>();
    if (!word || !is_composite_word(*word)
        || std::ranges::find(p.words, *word) != p.words.end())
      return wrong_.note(
          one, fmt::format("{}.words has {}, which is no word, or is there twice", path,
                           describe(one)));
    p.words.push_back(*word);
  }
}

std::size_t own_parameters_reader::read_bound(const toml::table& table,
                                              std::string_view key, std::size_t most,
                                              std::size_t otherwise,
                                              const std::string& path) {
  const toml::node* node = table.get(key);
  if (node == nullptr)
    return otherwise;
  const auto v = whole_from(*node, fmt::format("{}.{}", path, key), 1,
                            static_cast<std::int64_t>(most), wrong_.of_the_file());
  if (!v)
    wrong_.leave_out();
  return v ? static_cast<std::size_t>(*v) : otherwise;
}

void own_parameters_reader::read_rule(own_parameter& p, const toml::table& table,
                                      const std::string& path) {
  const auto& node = *table.get("rule");
  const auto name = node.value_exact<std::string>().value_or("");
  const auto rule = std::ranges::find(rules_.names, name);
  if (rule == rules_.names.end())
    return wrong_.note(node, fmt::format("{}.rule is {}, but must be the name of one of "
                                         "the [rules] of this file",
                                         path, describe(node)));
  if (rules_.failed)
    return wrong_.leave_out();
  if (rules_.read == nullptr)
    return wrong_.note(node,
                       fmt::format("{}: a composite that stands in a rule cannot be "
                                   "made by rules itself",
                                   path));
  derivation_domain domain{.rules = rules_.read->rules,
                           .start =
                               static_cast<std::size_t>(rule - rules_.names.begin())};
  domain.depth =
      read_bound(table, "depth", production_rules::deepest, domain.depth, path);
  domain.size = read_bound(table, "size", derivation_domain::largest, domain.size, path);
  if (const auto least = domain.rules->least(domain.start, domain.depth);
      least > domain.size)
    return wrong_.note(
        table, fmt::format("{}: the rule {} makes nothing that is at most {} deep and of "
                           "at most {} parts; allow more depth or size",
                           path, name, domain.depth, domain.size));
  p.type = kind::text;
  p.words = {to_text(*domain.rules, least_derivation(domain))};
  p.derivations = std::move(domain);
}

void own_parameters_reader::read_number(own_parameter& p, const toml::table& table,
                                        const std::string& path) {
  bool whole = true;
  const auto number = [&](const char* key, double& into) {
    const toml::node* node = table.get(key);
    const auto v = node == nullptr ? std::nullopt : real_of(*node);
    if (!v || !(std::abs(*v) <= largest_number))
      return wrong_.note(
          node == nullptr ? table : *node,
          fmt::format("{} needs {}, a number: {{low = 1, high = 8, default = 1}}", path,
                      key));
    whole = whole && node->is_integer();
    into = *v;
  };
  number("low", p.low);
  number("high", p.high);
  number("default", p.fallback);
  p.type = whole ? kind::integer : kind::real;
  p.odd = wrong_.flag_at(table, "odd", path);
  p.width = wrong_.flag_at(table, "width", path);
  p.first = wrong_.flag_at(table, "first", path);
  if (!wrong_.none())
    return;
  if (!(p.low <= p.fallback && p.fallback <= p.high))
    return wrong_.note(table, path + " has a default that is not from low to high");
  if (!whole && (p.odd || p.width))
    return wrong_.note(table, path + " is odd or a width, which whole numbers alone are");
  const auto is_even = [](double v) { return std::fmod(v, 2) == 0; };
  if (p.odd && (is_even(p.low) || is_even(p.fallback)))
    return wrong_.note(table, path + " is odd, but its low or its default is not");
}

void own_parameters_reader::read_parameter(const std::string& name,
                                           const toml::node& node) {
  const auto path = fmt::format("{}.{}", path_, name);
  const auto* table = node.as_table();
  if (table == nullptr)
    return wrong_.note(node,
                       fmt::format("{} is {}, but must be like {{low = 1, high = 8, "
                                   "default = 1}}, {{words = [\"relu\", \"gelu\"]}} or "
                                   "{{rule = \"NAME\"}}",
                                   path, describe(node)));
  if (!is_composite_word(name) || name == own_formula::channels || name == "weight"
      || made_.size() == most_parameters)
    return wrong_.note(
        node, fmt::format("{}: a name is up to 32 small letters, digits and \"_\", not "
                          "channels or weight, of at most {} parameters",
                          path, most_parameters));
  own_parameter p{.name = name};
  const toml::node* words = table->get("words");
  const bool by_rule = table->contains("rule");
  refuse_unknown(*table, path,
                 words != nullptr ? std::span<const std::string_view>(word_keys)
                 : by_rule        ? std::span<const std::string_view>(rule_keys)
                                  : std::span<const std::string_view>(number_keys),
                 wrong_.of_the_file());
  if (words != nullptr)
    read_words(p, *words, path);
  else if (by_rule)
    read_rule(p, *table, path);
  else
    read_number(p, *table, path);
  p.sentence = wrong_.text_at(*table, "summary", path);
  made_.push_back(std::move(p));
}

std::vector<own_parameter> own_parameters_reader::read(const toml::node& node) {
  const auto* table = node.as_table();
  if (table == nullptr) {
    wrong_.note(node, fmt::format("{} is {}, but must be a table: [{}]", path_,
                                  describe(node), path_));
    return {};
  }
  for (const auto& [key, one] : *table) // By name, as TOML's tables are kept.
    read_parameter(std::string(key.str()), one);
  return std::move(made_);
}

} // namespace

bool is_composite_word(std::string_view text) {
  return text.size() <= longest_name && is_own_name(text);
}

std::string composite_complaints::text_at(const toml::table& table, std::string_view key,
                                          const std::string& path) {
  const toml::node* node = table.get(key);
  if (node == nullptr)
    return {};
  auto text = node->value_exact<std::string>();
  if (text && text->size() <= longest_text && is_one_line(*text))
    return *text;
  note(*node, fmt::format("{}.{} is {}, but must be a text of one line", path, key,
                          describe(*node)));
  return {};
}

bool composite_complaints::flag_at(const toml::table& table, std::string_view key,
                                   const std::string& path) {
  const toml::node* node = table.get(key);
  if (node == nullptr)
    return false;
  if (const auto flag = node->value_exact<bool>())
    return *flag;
  note(*node,
       fmt::format("{}.{} is {}, but must be true or false", path, key, describe(*node)));
  return false;
}

std::vector<own_parameter> read_own_parameters(const toml::node& node,
                                               const std::string& path,
                                               const rule_table& rules,
                                               composite_complaints& wrong) {
  return own_parameters_reader(path, rules, wrong).read(node);
}

} // namespace clade
