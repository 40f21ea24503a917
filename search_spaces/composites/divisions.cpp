#include "search_spaces/composites/divisions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

namespace clade {

namespace {

/// Returns the values of an integer setting, of a long range its first: none has other
/// remainders by a divisor of 64 at most.
std::vector<std::int64_t> values_of(const setting_entry& s, const operator_rule& rule) {
  const auto given = std::ranges::find(rule.settings, s.name, &parameter::name);
  if (given == rule.settings.end())
    return {static_cast<std::int64_t>(s.fallback)};
  std::vector<std::int64_t> all;
  constexpr std::size_t most = 128;
  if (const auto* range = std::get_if<integer_domain>(&given->domain))
    for (auto v = range->low; v <= range->high && all.size() < most; v += range->step)
      all.push_back(v);
  else
    for (const auto& v : std::get<choice_domain>(given->domain).options)
      all.push_back(std::get<std::int64_t>(v));
  return all;
}

/// Returns the parameters of which a setting of a layer is made; none where it is made of
/// what enters.
std::optional<std::set<std::string>> parameters_of(const own_layer& l,
                                                   const setting_entry& s) {
  std::set<std::string> all;
  for (const auto& [name, source] : l.settings)
    if (const auto* f = std::get_if<own_formula>(&source);
        f != nullptr && (name == s.name || name == s.divides)) {
      if (f->of == own_formula::channels)
        return std::nullopt;
      all.insert(f->of);
    }
  return all;
}

/// Returns what a space may say of these parameters, each with each.
std::vector<std::vector<setting>> combinations(const own_operator& own,
                                               const operator_rule& rule,
                                               const std::set<std::string>& used) {
  std::vector<std::vector<setting>> all{{}};
  for (const auto& p : own.row().settings) {
    if (!used.contains(std::string(p.name)))
      continue;
    std::vector<std::vector<setting>> more;
    for (const auto& given : all)
      for (const auto v : values_of(p, rule)) {
        more.push_back(given);
        assign(more.back(), p.name, v);
      }
    all = std::move(more);
  }
  return all;
}

/// Checks a layer that is this operator by all that the space may say. A formula of the
/// channels that enter is known when a genome is decoded.
expected<void> check_divisions_of(const own_operator& own, const own_layer& l,
                                  const operator_entry& entry,
                                  const operator_rule& rule) {
  for (const auto& s : entry.settings) {
    const auto used = s.divides.empty() ? std::nullopt : parameters_of(l, s);
    if (!used)
      continue;
    for (const auto& given : combinations(own, rule, *used)) {
      const auto settings = complete(own.row(), given);
      if (!settings)
        continue; // A value out of range, of which the reading has told.
      if (const auto fits = complete(entry, own.settings_of(l, entry, *settings, 1, 1));
          !fits)
        return tl::unexpected(fits.error());
    }
  }
  return {};
}

} // namespace

expected<void> check_divisions(const operator_entry& entry, const operator_rule& rule) {
  for (const auto& s : entry.settings) {
    if (s.divides.empty())
      continue;
    const auto& whole =
        *std::ranges::find(entry.settings, s.divides, &setting_entry::name);
    for (const auto w : values_of(whole, rule))
      for (const auto v : values_of(s, rule))
        if (const auto wrong = discord(s, v, w); !wrong.empty())
          return fail(error_kind::invalid_input,
                      fmt::format("operators.{}: {}; any two of their values may meet",
                                  entry.name, wrong));
  }
  return {};
}

expected<void> check_divisions(const own_operator& own, const operator_rule& rule) {
  for (const auto& l : own.description().layers)
    for (const auto& op : own.operators_of(l))
      if (const auto* entry = own.row_of(op))
        if (auto fits = check_divisions_of(own, l, *entry, rule); !fits)
          return fits;
  return {};
}

} // namespace clade
