// The table of strategies: a name, and what makes one. A new algorithm is a file that
// implements `strategy` and a row here; the law tests
// (tests/engine/evolution/strategy_test.cpp) run over the names.
#include "engine/evolution/strategy.hpp"

#include "engine/evolution/generational.hpp"
#include "engine/evolution/random.hpp"
#include "engine/evolution/regularised.hpp"

#include <algorithm>
#include <array>

namespace clade {

namespace {

struct row {
  const char* name;
  expected<void> (*serves)(const search_space& space);
  std::unique_ptr<strategy> (*make)(const evolution_params& params, std::uint64_t seed,
                                    std::shared_ptr<const search_space> space);
};

template<class Strategy>
std::unique_ptr<strategy> make(const evolution_params& params, std::uint64_t seed,
                               std::shared_ptr<const search_space> space) {
  if constexpr (std::is_constructible_v<Strategy, const evolution_params&, std::uint64_t,
                                        std::shared_ptr<const search_space>>)
    return std::make_unique<Strategy>(params, seed, std::move(space));
  else
    return std::make_unique<Strategy>(params, seed);
}

expected<void> any_space(const search_space&) {
  return {};
}

constexpr std::array rows{
    row{"random", any_space, make<random_search>},
    row{"generational", any_space, make<generational>},
    row{"regularised", any_space, make<regularised>},
};

const row& row_of(const evolution_params& params) {
  return *std::find_if(rows.begin(), rows.end(),
                       [&](const row& r) { return params.strategy == r.name; });
}

auto wrong(const char* name, const std::string& given, const std::string& advice) {
  return fail(error_kind::invalid_input,
              "evolution." + std::string(name) + " is " + given + ": " + advice);
}

expected<void> natural(const char* name, std::size_t given, std::size_t low,
                       std::size_t high) {
  if (given >= low && given <= high)
    return {};
  return wrong(name, std::to_string(given),
               "it must be from " + std::to_string(low) + " to " + std::to_string(high));
}

expected<void> word(const char* name, const std::string& given,
                    const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), given) != known.end())
    return {};
  std::string list;
  for (const auto& k : known)
    list += (list.empty() ? "\"" : ", \"") + k + "\"";
  return wrong(name, "\"" + given + "\"", "it must be one of " + list);
}

// What only one strategy reads is checked for that one alone, so that its defaults are in
// nobody else's way.
expected<void> validate_own(const evolution_params& p) {
  const bool generational = p.strategy == "generational";
  const bool regularised = p.strategy == "regularised";
  if (regularised || (generational && p.selection == "tournament"))
    if (auto ok = natural("tournament", p.tournament, 1, p.population); !ok)
      return ok;
  if (generational)
    if (auto ok = natural("elites", p.elites, 0, p.population); !ok)
      return ok;
  if (regularised)
    return natural("in_flight", p.in_flight, 1, p.population);
  return {};
}

} // namespace

expected<void> validate(const evolution_params& params) {
  constexpr std::size_t most = 1'000'000;
  if (auto ok = word("strategy", params.strategy, strategy_names()); !ok)
    return ok;
  if (auto ok = natural("population", params.population, 1, most); !ok)
    return ok;
  if (auto ok = natural("generations", params.generations, 1, most); !ok)
    return ok;
  if (auto ok = word("selection", params.selection, {"tournament", "truncation"}); !ok)
    return ok;
  if (auto ok = word("tell_order", params.tell_order, {"asked", "arrived"}); !ok)
    return ok;
  if (!(params.truncation > 0 && params.truncation <= 1))
    return wrong("truncation", to_text(value{params.truncation}),
                 "it is a share, above 0 and at most 1");
  if (!(params.crossover >= 0 && params.crossover <= 1))
    return wrong("crossover", to_text(value{params.crossover}),
                 "it is a chance, from 0 to 1");
  if (auto ok = validate_own(params); !ok)
    return ok;
  return validate(params.mutation);
}

expected<std::unique_ptr<strategy>>
make_strategy(const evolution_params& params, std::uint64_t seed,
              std::shared_ptr<const search_space> space) {
  if (auto ok = validate(params); !ok)
    return tl::unexpected(ok.error());
  return row_of(params).make(params, seed, std::move(space));
}

expected<void> check_strategy(const evolution_params& params, const search_space& space) {
  if (auto ok = validate(params); !ok)
    return ok;
  return row_of(params).serves(space);
}

bool starts_from_others(const evolution_params& params) {
  return params.inherit;
}

std::vector<std::string> strategy_names() {
  std::vector<std::string> names;
  for (const auto& r : rows)
    names.emplace_back(r.name);
  return names;
}

} // namespace clade
