#include "search_spaces/operators/own_operator.hpp"

#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

namespace {

constexpr std::int64_t most_factor = 1024;

/// Takes what stands before the next '*' or '/' off the text.
std::string_view next_term(std::string_view& text) {
  const auto end = std::min(text.find_first_of("*/"), text.size());
  const auto term = trimmed(text.substr(0, end));
  text.remove_prefix(end);
  return term;
}

std::int64_t worked_out(const own_formula& f, std::int64_t n) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  for (const auto& factor : f.factors)
    n = std::clamp<std::int64_t>(factor.divides ? n / factor.by : n * factor.by, 0, most);
  return f.factors.empty() ? n : std::max<std::int64_t>(n, 1);
}

} // namespace

bool is_own_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::optional<own_formula> parse_formula(std::string_view text) {
  if (!text.starts_with('='))
    return std::nullopt;
  text.remove_prefix(1);
  own_formula f{.of = std::string(next_term(text))};
  if (!is_own_name(f.of))
    return std::nullopt;
  while (!text.empty()) {
    const bool divides = text.front() == '/';
    text.remove_prefix(1);
    const auto by = parse_number<std::int64_t>(next_term(text));
    if (!by || *by < 1 || *by > most_factor)
      return std::nullopt;
    f.factors.push_back({.divides = divides, .by = *by});
  }
  return f;
}

std::string to_text(const own_formula& f) {
  std::string text = "=" + f.of;
  for (const auto& factor : f.factors)
    text += fmt::format("{}{}", factor.divides ? " / " : " * ", factor.by);
  return text;
}

own_operator::own_operator(own_description d) : description_(std::move(d)) {
  words_.reserve(description_.parameters.size());
  for (const auto& p : description_.parameters) {
    words_.emplace_back(p.words.begin(), p.words.end());
    settings_.push_back({.name = p.name,
                         .type = p.type,
                         .low = p.low,
                         .high = p.high,
                         .fallback = p.fallback,
                         .words = words_.back(),
                         .odd = p.odd,
                         .width = p.width,
                         .sentence = p.sentence,
                         .derivations = p.derivations ? &*p.derivations : nullptr});
  }
  row_ = {.name = description_.name,
          .summary = description_.summary,
          .output = "what its last layer gives",
          .costs = "what its layers cost",
          .settings = settings_,
          .units = unit_origin::made,
          .takes = std::span(&description_.takes, 1)};
}

std::optional<std::string_view> parameter_named(std::string_view text) {
  return text.starts_with('=') ? std::optional(trimmed(text.substr(1))) : std::nullopt;
}

bool own_operator::shares_weights() const {
  const auto shares = [](const auto& one) { return one->shares_weights(); };
  if (description_.share || std::ranges::any_of(description_.uses, shares))
    return true;
  return description_.rules != nullptr
         && std::ranges::any_of(description_.rules->layers, [&](const auto& productions) {
              return std::ranges::any_of(productions, [&](const auto& p) {
                return std::ranges::any_of(p->description().uses, shares);
              });
            });
}

const own_operator* own_operator::used(std::string_view name) const {
  const auto found = std::ranges::find(description_.uses, name, [](const auto& one) {
    return std::string_view(one->description().name);
  });
  return found == description_.uses.end() ? nullptr : found->get();
}

const operator_entry* own_operator::row_of(std::string_view op) const {
  const auto* own = used(op);
  const auto* row = own != nullptr ? &own->row() : find_operator(op);
  return row == nullptr || row->merges ? nullptr : row;
}

std::vector<std::string> own_operator::operators_of(const own_layer& l) const {
  if (!l.rule.empty())
    return {};
  const auto name = parameter_named(l.op);
  if (!name)
    return {l.op};
  return std::ranges::find(description_.parameters, *name, &own_parameter::name)->words;
}

std::string own_operator::resolved(const std::string& name,
                                   const std::vector<setting>& complete) const {
  const auto parameter = parameter_named(name);
  return parameter ? text_setting(complete, *parameter) : name;
}

std::int64_t own_operator::repeats(const std::vector<setting>& complete) const {
  if (const auto* number = std::get_if<std::int64_t>(&description_.repeat))
    return *number;
  return integer_setting(complete, std::get<std::string>(description_.repeat));
}

value own_operator::parameter_value(const std::string& name,
                                    const std::vector<setting>& complete,
                                    std::int64_t repetition) const {
  const auto& p = *std::ranges::find(description_.parameters, name, &own_parameter::name);
  if (p.first && repetition > 1)
    return p.type == setting_entry::kind::integer
               ? value(static_cast<std::int64_t>(p.low))
               : value(p.low);
  return *find(complete, name);
}

std::optional<std::string> own_operator::passed_on(const own_layer& l,
                                                   std::string_view setting) const {
  const auto found = std::ranges::find(
      l.settings, setting, [](const auto& s) { return std::string_view(s.first); });
  if (found == l.settings.end())
    return std::nullopt;
  const auto* f = std::get_if<own_formula>(&found->second);
  return f != nullptr && f->factors.empty() ? std::optional(f->of) : std::nullopt;
}

std::vector<setting> own_operator::settings_of(const own_layer& l,
                                               const operator_entry& op,
                                               const std::vector<setting>& complete,
                                               std::int64_t repetition,
                                               std::int64_t channels) const {
  std::vector<setting> all;
  for (const auto& [name, source] : l.settings) {
    const auto entry = std::ranges::find(op.settings, name, &setting_entry::name);
    if (entry == op.settings.end())
      continue;
    if (const auto* given = std::get_if<value>(&source)) {
      all.push_back({name, *given});
      continue;
    }
    const auto& f = std::get<own_formula>(source);
    value v = f.of == own_formula::channels ? value(channels)
                                            : parameter_value(f.of, complete, repetition);
    if (const auto* whole = std::get_if<std::int64_t>(&v)) {
      const auto n = worked_out(f, *whole);
      v = entry->type == setting_entry::kind::real ? value(static_cast<double>(n))
                                                   : value(n);
    }
    all.push_back({name, std::move(v)});
  }
  return all;
}

} // namespace clade
