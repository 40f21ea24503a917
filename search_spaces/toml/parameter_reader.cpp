// The forms of a parameter:
//
//   kernel = 3                                    that value
//   filters = [8, 16, 32]                         one of these; ascending numbers are
//                                                 neighbours
//   rate = { low = 0.1, high = 0.5 }              a number between, a whole one if both
//                                                 are
//   units = { low = 16, high = 256, step = 16 }
//   learning_rate = { low = 1e-4, high = 0.1, log = true }
//   norm = { value = "batch" }                    that value
//   batch_size = { choice = [16, 32], ordered = false }
//   momentum = { low = 0.5, high = 0.99, when = { optimizer = "sgd" } }
//   beta = { choice = [0.9, 0.99], when = { optimizer = ["adam", "adamw"] } }
//
// If reals and whole numbers meet, all are reals; an operator's setting that is a real
// takes whole numbers as reals. TOML's other types (booleans, dates) are no values here.
#include "search_spaces/toml/parameter_reader.hpp"

#include "genome/base/text.hpp"
#include "search_spaces/operators/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace clade {

namespace {

constexpr std::size_t most_options = 1000;

constexpr std::array<std::string_view, 4> choice_keys{"choice", "ordered", "when",
                                                      "value"};
constexpr std::array<std::string_view, 5> range_keys{"low", "high", "step", "log",
                                                     "when"};
constexpr std::array<std::string_view, 8> all_keys{"low",    "high",    "step",  "log",
                                                   "choice", "ordered", "value", "when"};

bool ascending_numbers(const std::vector<value>& options) {
  return !std::holds_alternative<std::string>(options.front())
         && std::ranges::adjacent_find(options, std::greater_equal<>()) == options.end();
}

class parameter_reader {
public:
  parameter_reader(const std::string& path, const setting_entry* entry, complaints& wrong)
      : path_(path),
        entry_(entry),
        wrong_(wrong) {}

  parameter read(std::string_view name, const toml::node& node);

private:
  void note(const toml::node& at, const std::string& message) {
    sound_ = false;
    wrong_.note(at.source(), fmt::format("{} {}", path_, message));
  }

  std::optional<value> read_value(const toml::node& node);
  std::vector<value> read_values(const toml::node& node);
  void read_choice(const toml::node& list, parameter& into);
  void read_range(const toml::table& table, parameter& into);
  void read_real_range(const toml::node& low, const toml::node& high, parameter& into);
  void read_integer_range(const toml::table& table, parameter& into);
  void read_table(const toml::table& table, parameter& into);
  void read_condition(const toml::node& when, parameter& into);
  bool read_flag(const toml::table& table, std::string_view key, bool otherwise);
  void check_allowed(const toml::node& at, const value& v);

  const std::string& path_;
  const setting_entry* entry_;
  complaints& wrong_;
  bool sound_ = true;
};

/// A value as it stands; whole numbers become reals where the setting is one.
std::optional<value> parameter_reader::read_value(const toml::node& node) {
  if (const auto whole = node.value_exact<std::int64_t>()) {
    if (entry_ != nullptr && entry_->type == setting_entry::kind::real)
      return static_cast<double>(*whole);
    return *whole;
  }
  if (const auto real = node.value_exact<double>()) {
    if (std::isfinite(*real))
      return *real;
    note(node, fmt::format("is {}, but must be finite", describe(node)));
    return {};
  }
  if (auto text = node.value_exact<std::string>()) {
    if (!text->empty() && text->size() <= longest_setting_text && is_one_line(*text))
      return std::move(*text);
    note(node, fmt::format("is a text that is empty, longer than {} bytes or has control "
                           "characters",
                           longest_setting_text));
    return {};
  }
  note(node,
       fmt::format("is {}, but must be a number or a text in quotes", describe(node)));
  return {};
}

/// One value or a list of them.
std::vector<value> parameter_reader::read_values(const toml::node& node) {
  std::vector<value> values;
  const auto* list = node.as_array();
  if (list == nullptr) {
    if (auto v = read_value(node))
      values.push_back(std::move(*v));
    return values;
  }
  if (list->empty())
    note(node, "is an empty list; give at least one value");
  if (list->size() > most_options) {
    note(node, fmt::format("has more than {} values", most_options));
    return values;
  }
  for (const toml::node& item : *list)
    if (auto v = read_value(item))
      values.push_back(std::move(*v));
  return values;
}

void parameter_reader::check_allowed(const toml::node& at, const value& v) {
  if (entry_ == nullptr)
    return;
  if (const auto complaint = objection(*entry_, v); !complaint.empty())
    note(at, complaint);
}

void parameter_reader::read_choice(const toml::node& list, parameter& into) {
  auto values = read_values(list);
  if (values.empty() || !sound_)
    return;
  const auto is_real = [](const value& v) { return std::holds_alternative<double>(v); };
  const auto is_text = [](const value& v) {
    return std::holds_alternative<std::string>(v);
  };
  const auto texts = std::ranges::count_if(values, is_text);
  if (texts != 0 && texts != std::ssize(values))
    return note(list, "mixes numbers and text");
  if (entry_ == nullptr && std::ranges::any_of(values, is_real))
    for (value& v : values)
      if (const auto* whole = std::get_if<std::int64_t>(&v))
        v = static_cast<double>(*whole);
  const auto* items = list.as_array();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const toml::node& at = items == nullptr ? list : *items->get(i);
    check_allowed(at, values[i]);
    if (std::find(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(i),
                  values[i])
        != values.begin() + static_cast<std::ptrdiff_t>(i))
      note(at, fmt::format("has {} twice", to_text(values[i])));
  }
  const bool ordered = ascending_numbers(values);
  into.domain = choice_domain{.options = std::move(values), .ordered = ordered};
}

void parameter_reader::read_real_range(const toml::node& low, const toml::node& high,
                                       parameter& into) {
  const real_domain d{.low = *real_of(low), .high = *real_of(high)};
  if (!std::isfinite(d.low) || !std::isfinite(d.high))
    return note(std::isfinite(d.low) ? high : low, "has a bound that is not finite");
  check_allowed(low, d.low);
  check_allowed(high, d.high);
  into.domain = d;
}

void parameter_reader::read_integer_range(const toml::table& table, parameter& into) {
  integer_domain d{.low = *table["low"].value<std::int64_t>(),
                   .high = *table["high"].value<std::int64_t>()};
  if (const toml::node* step = table.get("step")) {
    const auto v = step->value_exact<std::int64_t>();
    if (!v || *v < 1)
      return note(*step,
                  fmt::format("has step = {}, which must be a whole number of 1 or more",
                              describe(*step)));
    d.step = *v;
  }
  check_allowed(*table.get("low"), d.low);
  check_allowed(*table.get("high"), d.high);
  if (entry_ != nullptr && entry_->odd && d.low != d.high && d.step % 2 != 0)
    note(table, "must be odd; say step = 2, or list the values");
  into.domain = d;
}

void parameter_reader::read_range(const toml::table& table, parameter& into) {
  const toml::node* low = table.get("low");
  const toml::node* high = table.get("high");
  if (low == nullptr || high == nullptr)
    return note(table, fmt::format("has no \"{}\"", low == nullptr ? "low" : "high"));
  for (const toml::node* bound : {low, high})
    if (!bound->is_number())
      return note(*bound,
                  fmt::format("has a bound that is {} and no number", describe(*bound)));
  if (entry_ != nullptr && entry_->type == setting_entry::kind::text)
    return note(table, "is a text; list the words that it may be");
  const bool real = low->is_floating_point() || high->is_floating_point()
                    || (entry_ != nullptr && entry_->type == setting_entry::kind::real);
  const bool log = read_flag(table, "log", false);
  if (real ? *real_of(*low) > *real_of(*high)
           : *low->value<std::int64_t>() > *high->value<std::int64_t>())
    return note(*low, fmt::format("has low = {} above high = {}", describe(*low),
                                  describe(*high)));
  if (log && !(*real_of(*low) > 0))
    return note(*low, fmt::format("has low = {}, but log = true needs a bound above 0",
                                  describe(*low)));
  if (real) {
    if (const toml::node* step = table.get("step"))
      return note(*step, "has a step, which only whole numbers have");
    read_real_range(*low, *high, into);
  } else {
    read_integer_range(table, into);
  }
  if (auto* d = std::get_if<real_domain>(&into.domain))
    d->log = log;
  if (auto* d = std::get_if<integer_domain>(&into.domain))
    d->log = log;
}

bool parameter_reader::read_flag(const toml::table& table, std::string_view key,
                                 bool otherwise) {
  const toml::node* node = table.get(key);
  if (node == nullptr)
    return otherwise;
  if (const auto v = node->value_exact<bool>())
    return *v;
  note(*node,
       fmt::format("has {} = {}, which must be true or false", key, describe(*node)));
  return otherwise;
}

void parameter_reader::read_condition(const toml::node& when, parameter& into) {
  const auto* table = when.as_table();
  if (table == nullptr || table->size() != 1)
    return note(when, "has a \"when\" that is not like { optimizer = \"sgd\" }");
  const auto only = table->begin();
  const setting_entry* own = entry_;
  entry_ = nullptr; // These are values of the other parameter.
  into.when = condition{.parameter = std::string(only->first.str()),
                        .values = read_values(only->second)};
  entry_ = own;
}

void parameter_reader::read_table(const toml::table& table, parameter& into) {
  const toml::node* choice = table.get("choice");
  const toml::node* fixed = table.get("value");
  const bool range = table.contains("low") || table.contains("high");
  if (static_cast<int>(choice != nullptr) + static_cast<int>(fixed != nullptr) + range
      != 1) {
    refuse_unknown(table, path_, all_keys, wrong_);
    return note(table, "needs low and high, or a choice, or a value: one of the three");
  }
  refuse_unknown(table, path_,
                 range ? std::span<const std::string_view>(range_keys) : choice_keys,
                 wrong_);
  if (range) {
    read_range(table, into);
  } else {
    read_choice(choice != nullptr ? *choice : *fixed, into);
    if (auto* d = std::get_if<choice_domain>(&into.domain))
      d->ordered = read_flag(table, "ordered", d->ordered);
  }
  if (const toml::node* when = table.get("when"))
    read_condition(*when, into);
}

parameter parameter_reader::read(std::string_view name, const toml::node& node) {
  parameter p{.name = std::string(name),
              .domain = choice_domain{.options = {std::int64_t{0}}},
              .width = entry_ != nullptr && entry_->width};
  if (const auto* table = node.as_table())
    read_table(*table, p);
  else
    read_choice(node, p);
  return p;
}

} // namespace

void complaints::note(const toml::source_region& at, std::string message) {
  if (first_ && line_ <= at.begin.line)
    return;
  first_ = error{error_kind::invalid_input,
                 fmt::format("{}: {}", place(at), std::move(message))};
  line_ = at.begin.line;
}

std::string complaints::place(const toml::source_region& at) const {
  // An included file's tables name it themselves.
  return fmt::format("{}:{}", at.path ? *at.path : origin_,
                     std::max<toml::source_index>(at.begin.line, 1));
}

std::string describe(const toml::node& node) {
  if (node.is_table())
    return "a table";
  if (node.is_array())
    return "a list";
  if (const auto text = node.value_exact<std::string>())
    return fmt::format("\"{}\"", *text);
  if (const auto whole = node.value_exact<std::int64_t>())
    return to_text(value(*whole));
  if (const auto real = node.value_exact<double>())
    return to_text(value(*real));
  if (const auto truth = node.value_exact<bool>())
    return *truth ? "true" : "false";
  return "a date or time";
}

// `node.value<double>()` has nothing for a whole number beyond 2^53 that it would round.
bool is_one_line(std::string_view text) {
  return std::ranges::none_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

std::optional<double> real_of(const toml::node& node) {
  if (const auto whole = node.value_exact<std::int64_t>())
    return static_cast<double>(*whole);
  return node.value_exact<double>();
}

std::optional<std::int64_t> whole_from(const toml::node& node, const std::string& path,
                                       std::int64_t low, std::int64_t high,
                                       complaints& wrong) {
  const auto v = node.value_exact<std::int64_t>();
  if (v && *v >= low && *v <= high)
    return v;
  wrong.note(node.source(),
             fmt::format("{} is {}, but must be a whole number from {} to {}", path,
                         describe(node), low, high));
  return std::nullopt;
}

std::optional<double> weight_from(const toml::node& node, const std::string& path,
                                  complaints& wrong) {
  constexpr int largest = 1'000'000;
  const auto v = real_of(node);
  if (v && *v >= 0 && *v <= largest)
    return v;
  wrong.note(node.source(),
             fmt::format("{}.weight is {}, but must be a number from 0 to {}", path,
                         describe(node), largest));
  return std::nullopt;
}

void refuse_unknown(const toml::table& table, std::string_view where,
                    std::span<const std::string_view> known, complaints& wrong) {
  for (const auto& [key, node] : table) {
    if (std::ranges::find(known, key.str()) != known.end())
      continue;
    const auto near = nearest(key.str(), known);
    const std::string all = joined(known);
    wrong.note(key.source(),
               fmt::format("unknown key \"{}\"{}{}", key.str(),
                           where.empty() ? "" : " in " + std::string(where),
                           near.empty() ? "; known are " + all
                                        : fmt::format("; did you mean \"{}\"?", near)));
  }
}

parameter read_parameter(std::string_view name, const std::string& path,
                         const toml::node& node, const setting_entry* entry,
                         complaints& wrong) {
  return parameter_reader(path, entry, wrong).read(name, node);
}

} // namespace clade
