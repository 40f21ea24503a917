#include "tools/bench/bench_rows.hpp"

#include "engine/search/bases/rungs.hpp"
#include "engine/search/strategies/registry/registry.hpp"
#include "engine/search/strategies/registry/validation.hpp"
#include "engine/simulation/table_front.hpp"
#include "genome/base/text.hpp"
#include "search_spaces/operators/nearest.hpp"
#include "search_spaces/toml/spelling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace clade {

namespace {

constexpr const char* automatic_rungs = "auto with rungs";

/// Candidates one at a time, one gene changed in each.
std::vector<std::string> one_by_one(const std::string& strategy) {
  return {"strategy=" + strategy, "in_flight=1"};
}

named_strategy ageing(std::size_t population, std::size_t tournament) {
  named_strategy s{fmt::format("regularized {}/{}", population, tournament),
                   one_by_one("regularized")};
  for (const auto& setting :
       {fmt::format("population={}", population),
        fmt::format("tournament={}", tournament), std::string("crossover=0.0"),
        std::string("mutation.again=0.0")})
    s.settings.push_back(setting);
  return s;
}

/// The reference rows, then every strategy that is not among them by its defaults, but
/// for those that a table cannot serve.
std::vector<named_strategy> known_strategies() {
  std::vector<named_strategy> rows{
      {"random", one_by_one("random")}, ageing(100, 25), ageing(20, 5), ageing(10, 5)};
  rows.push_back({automatic_row, one_by_one(automatic_row)});
  rows.push_back({automatic_rungs, one_by_one(automatic_row), true});
  const auto references = rows;
  for (const auto& s : strategy_rows()) {
    const std::string name(s.name);
    const auto usual = one_by_one(name);
    const bool is_reference = std::ranges::any_of(
        references, [&](const auto& r) { return r.settings.front() == usual.front(); });
    // A grid of a whole table is larger than a search.
    if (!is_reference && !s.traits.retunes && s.fits == nullptr)
      rows.push_back({name, usual, s.traits.rungs != rung_layout::none});
  }
  return rows;
}

} // namespace

std::optional<named_strategy> own_row(const std::string& text,
                                      std::vector<std::string> usual) {
  const auto colon = text.find(':');
  if (colon == std::string::npos)
    return std::nullopt;
  named_strategy row{text.substr(0, colon), std::move(usual)};
  std::istringstream words(text.substr(colon + 1));
  for (std::string word; words >> word;)
    row.settings.push_back(word);
  return row;
}

expected<named_strategy> choose_row(const std::string& text,
                                    std::vector<named_strategy> known,
                                    std::vector<std::string> usual) {
  if (auto own = own_row(text, std::move(usual)))
    return std::move(*own);
  std::string all;
  std::vector<std::string> names;
  for (auto& row : known) {
    if (row.name == american(text))
      return std::move(row);
    all += (all.empty() ? "" : ", ") + row.name;
    names.push_back(row.name);
  }
  if (const auto near = nearest(text, names); !near.empty())
    return fail(
        error_kind::invalid_input,
        fmt::format(
            "--strategies: \"{}\" is no strategy of this bench; did you mean \"{}\"?",
            text, near));
  return fail(error_kind::invalid_input,
              fmt::format("--strategies: \"{}\" is none of {}; one of your own is "
                          "written \"mine: strategy=regularized population=30\"",
                          text, all));
}

expected<named_strategy> parse_strategy(const std::string& text) {
  return choose_row(text, known_strategies(), one_by_one("regularized"));
}

expected<std::vector<named_strategy>>
strategies_for(const std::vector<std::filesystem::path>& descriptions,
               const std::vector<aim>& others) {
  auto rows = known_strategies();
  for (const auto& file : descriptions) {
    const auto d = load_table_description(file);
    if (!d)
      return tl::unexpected(d.error());
    const auto goal = objective_of(*d, others);
    if (!goal)
      return tl::unexpected(goal.error());
    std::erase_if(rows, [&](const named_strategy& s) {
      return row_of(s.name) != nullptr && !check_space(s.name, d->space);
    });
    if (!others.empty())
      std::erase_if(rows, [&](const named_strategy& s) {
        return s.climbs || !parse_evolution(s.settings, d->space, *goal);
      });
  }
  return rows;
}

std::vector<std::string> settings_of(const named_strategy& s,
                                     const std::vector<std::uint32_t>& fidelities) {
  auto settings = s.settings;
  if (s.name != automatic_rungs)
    return settings;
  const std::string rungs = joined(rungs_of(fidelities, usual_reduction));
  settings.push_back(fmt::format("rungs=[{}]", rungs));
  return settings;
}

} // namespace clade
