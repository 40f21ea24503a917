// The grammar is that of `to_json`; what is not named here is passed over, so that a
// program need not know how ranks are worked out. Means and intervals are taken anew from
// the seeds.
#include "engine/simulation/search_statistics.hpp"
#include "genome/base/json_depth.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <string>
#include <string_view>

namespace clade {

namespace {

using nlohmann::json;

constexpr const char* remedy = "; have it written by \"clade bench search --json\" or "
                               "experiments/peers/optuna_tables.py";

/// The member of an object, or null.
const json& member(const json& object, const std::string& name) {
  static const json null;
  if (!object.is_object())
    return null;
  const auto found = object.find(name);
  return found == object.end() ? null : *found;
}

std::optional<std::vector<std::size_t>> naturals(const json& list) {
  std::vector<std::size_t> all;
  if (!list.is_array())
    return std::nullopt;
  for (const auto& n : list) {
    if (!n.is_number_unsigned())
      return std::nullopt;
    all.push_back(n.get<std::size_t>());
  }
  return all;
}

std::optional<std::vector<double>> finite_numbers(const json& list) {
  std::vector<double> all;
  if (!list.is_array())
    return std::nullopt;
  for (const auto& n : list) {
    if (!n.is_number() || !std::isfinite(n.get<double>()))
      return std::nullopt;
    all.push_back(n.get<double>());
  }
  return all;
}

double seconds_of(const json& milliseconds) {
  return milliseconds.is_number() ? 1e-3 * milliseconds.get<double>() : 0;
}

evaluations_until read_until(const json& from, std::string_view what) {
  evaluations_until u;
  if (const auto& at = member(from, fmt::format("median_to_{}", what)); at.is_number())
    u.median = at.get<double>();
  if (const auto& at = member(from, fmt::format("mean_to_{}", what)); at.is_number())
    u.mean = at.get<double>();
  if (const auto& n = member(from, fmt::format("reached_{}", what));
      n.is_number_unsigned())
    u.seeds = n.get<std::size_t>();
  return u;
}

std::optional<search_row> read_row(const json& from, std::size_t checkpoints) {
  const auto& name = member(from, "name");
  const auto& of_seeds = member(from, "regret_of_seeds");
  if (!name.is_string() || !of_seeds.is_array() || of_seeds.size() != checkpoints)
    return std::nullopt;
  search_row row{.name = name.get<std::string>()};
  for (const auto& at : of_seeds) {
    auto values = finite_numbers(at);
    if (!values || values->empty()
        || (!row.regret.empty() && values->size() != row.regret_of_seeds.front().size()))
      return std::nullopt;
    row.regret.push_back(mean_of(*values));
    row.regret_of_seeds.push_back(std::move(*values));
  }
  row.top = read_until(from, "top");
  if (member(from, "reached_best").is_number_unsigned())
    row.best = read_until(from, "best");
  row.ask_mean_seconds = seconds_of(member(from, "ask_mean_ms"));
  row.ask_max_seconds = seconds_of(member(from, "ask_max_ms"));
  return row;
}

} // namespace

expected<search_comparison> parse_comparison(std::string_view text,
                                             const std::string& origin) {
  const auto refuse = [&](const std::string& what) {
    return fail(error_kind::invalid_input, fmt::format("{}: {}{}", origin, what, remedy));
  };
  const auto read = parse_shallow<json>(text);
  if (!read.is_object())
    return refuse("is not one JSON object");
  search_comparison c;
  const auto checkpoints = naturals(member(read, "checkpoints"));
  const auto& tables = member(read, "tables");
  if (!checkpoints || checkpoints->empty() || !tables.is_array())
    return refuse("has no list of checkpoints, or none of tables");
  c.checkpoints = *checkpoints;
  c.evaluations = checkpoints->back();
  for (const auto& t : tables) {
    const auto& name = member(t, "name");
    const auto& rows = member(t, "rows");
    if (!name.is_string() || !rows.is_array())
      return refuse("one of its tables has no name, or no rows");
    auto& into = c.tables.emplace_back();
    into.name = name.get<std::string>();
    for (const auto& r : rows) {
      auto row = read_row(r, checkpoints->size());
      if (!row)
        return refuse(fmt::format("a row of the table {} has no name, or not the regret "
                                  "of each seed at each checkpoint (regret_of_seeds)",
                                  into.name));
      c.seeds = std::max(c.seeds, row->regret_of_seeds.front().size());
      into.rows.push_back(std::move(*row));
    }
  }
  return c;
}

} // namespace clade
