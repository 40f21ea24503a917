// Results are put into their order here, as in a steady state, and told to the islands in
// it; so these hear them as they come. An island's generations are closed as soon as they
// can be, and nobody outside sees them. Orders are those of the islands with other
// numbers: id, generation and index are the run's, so that no two islands draw alike.
#include "engine/search/strategies/registry/islands.hpp"

#include "engine/search/core/known_points.hpp"
#include "engine/search/core/parameter_checks.hpp"
#include "engine/search/core/selection.hpp"
#include "engine/search/strategies/registry/registry.hpp"
#include "engine/search/strategies/registry/validation.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

namespace {

constexpr candidate_id foreign = candidate_id{1} << 63;

std::uint64_t seed_of(std::uint64_t seed, std::size_t island) {
  return derive(seed, purpose::proposal, island, 0, ~std::uint64_t{0}).next();
}

} // namespace

std::vector<std::string> island_strategies(const evolution_params& params) {
  const auto& named = params.own.of<islands_params>().strategies;
  if (named.size() == 1) {
    if (const auto count = parse_number<std::size_t>(named[0]))
      return std::vector<std::string>(std::min<std::size_t>(*count, params.population),
                                      "regularized");
  }
  return named;
}

evolution_params island_params(const evolution_params& params,
                               const std::string& strategy) {
  const auto count = std::max<std::size_t>(island_strategies(params).size(), 1);
  auto own = params;
  own.strategy = strategy;
  own.population = params.population / count;
  own.in_flight = std::max<std::size_t>(params.in_flight / count, 1);
  own.tournament = std::min(params.tournament, own.population);
  own.elites = std::min(params.elites, own.population);
  own.tell_order = "arrived";
  const auto* row = row_of(strategy);
  own.zero_cost = params.zero_cost && row != nullptr && row->traits.scores;
  return own;
}

void keys(own_keys& v, islands_params& p) {
  const islands_params usual;
  v.unusual_strategies(
      describe("islands",
               "The strategies of the islands, or how many islands. The population must "
               "be a multiple of their number. Strategy islands."),
      p.strategies, usual.strategies);
  v.unusual(
      describe("topology",
               "Who sends its best to whom: \"ring\" or \"star\". Strategy islands."),
      p.topology, usual.topology);
  v.unusual(describe("migration",
                     "After how many results an island sends its best; 0 for "
                     "never. Strategy islands."),
            p.migration, usual.migration);
}

islands::islands(const evolution_params& params, std::uint64_t seed,
                 std::shared_ptr<const search_space> space)
    : turns(params) {
  for (const auto& own : parts(params))
    islands_.push_back(
        {.search = make_strategy(own, seed_of(seed, islands_.size()), space).value()});
}

std::vector<evolution_params> islands::parts(const evolution_params& params) {
  std::vector<evolution_params> all;
  for (const auto& name : island_strategies(params))
    all.push_back(island_params(params, name));
  // Known points are dealt out, so that none begins twice.
  for (auto& own : all)
    own.own.of<known_points>().points.clear();
  for (std::size_t i = 0; i < points_of(params).size() && !all.empty(); ++i)
    all[i % all.size()].own.of<known_points>().points.push_back(points_of(params)[i]);
  return all;
}

expected<void> islands::validate(const evolution_params& params) {
  if (auto ok = check_word("topology", params.own.of<islands_params>().topology,
                           {"ring", "star"});
      !ok)
    return ok;
  const auto names = island_strategies(params);
  if (names.empty())
    return wrong_parameter(
        "islands", "empty",
        "name a strategy for each island, or write how many there are");
  auto known = strategy_names();
  std::erase(known, "islands");
  for (const auto& name : names)
    if (auto ok = check_word("islands", name, known); !ok)
      return ok;
  if (params.population % names.size() != 0)
    return wrong_parameter(
        "population", std::to_string(params.population),
        fmt::format("it must be a multiple of the {} islands", names.size()));
  const auto own = parts(params);
  for (std::size_t i = 0; i < own.size(); ++i)
    if (auto ok = clade::validate(own[i]); !ok)
      return fail(ok.error().kind,
                  fmt::format("{} (island {}, which has its share of the population)",
                              ok.error().message, i + 1));
  return {};
}

std::size_t islands::home(candidate_id id) const {
  return (id - 1) % islands_.size();
}

candidate_id islands::inside(std::size_t island, candidate_id id) const {
  return home(id) == island ? (id - 1) / islands_.size() + 1 : id | foreign;
}

candidate_id islands::outside(std::size_t island, candidate_id id) const {
  return (id & foreign) != 0 ? id & ~foreign : (id - 1) * islands_.size() + island + 1;
}

individual islands::inside(std::size_t island, individual of_run) const {
  of_run.id = inside(island, of_run.id);
  if (of_run.trained != 0)
    of_run.trained = inside(island, of_run.trained);
  return of_run;
}

individual islands::outside(std::size_t island, individual of_island) const {
  of_island.id = outside(island, of_island.id);
  if (of_island.trained != 0)
    of_island.trained = outside(island, of_island.trained);
  return of_island;
}

std::vector<breeding> islands::ask(candidate_id beyond, std::size_t limit) const {
  std::vector<breeding> orders;
  const auto last = last_candidate();
  for (auto id = std::max(born_, beyond) + 1; id <= last && orders.size() < limit; ++id) {
    const auto where = home(id);
    const auto own = inside(where, id);
    auto asked = islands_[where].search->ask(own - 1, 1);
    if (asked.empty() || asked[0].id != own)
      break;
    auto& order = asked[0];
    order.id = id;
    place(order);
    for (auto& parent : order.parents)
      parent.id = outside(where, parent.id);
    if (order.start != 0)
      order.start = outside(where, order.start);
    orders.push_back(std::move(order));
  }
  return orders;
}

void islands::born(const candidate& c) {
  ++born_;
  const auto where = home(c.id);
  auto own = c;
  own.id = inside(where, c.id);
  for (auto& parent : own.parents)
    parent = inside(where, parent);
  if (own.start != 0)
    own.start = inside(where, own.start);
  islands_[where].search->born(own);
}

void islands::take(const individual& evaluated) {
  const auto where = home(evaluated.id);
  auto& there = islands_[where];
  there.search->tell(inside(where, evaluated));
  while (there.search->closing())
    there.search->close();
  ++there.heard;
  if (own().migration > 0 && there.heard % own().migration == 0)
    migrate(where);
}

void islands::migrate(std::size_t from) {
  const auto there = islands_[from].search->population();
  if (there.empty() || !there.front().fitness.ok || islands_.size() < 2)
    return;
  const auto best = outside(from, there.front());
  if (own().topology == "ring")
    return send(best, from, (from + 1) % islands_.size());
  if (from != 0)
    return send(best, from, 0);
  for (std::size_t to = 1; to < islands_.size(); ++to)
    send(best, from, to);
}

void islands::send(const individual& best, std::size_t from, std::size_t to) {
  auto& last = islands_[from].sent[to];
  if (home(best.id) == to || last == best.id)
    return;
  last = best.id;
  auto& there = *islands_[to].search;
  // If no place is left, the migrant comes too late.
  if (!there.receive(inside(to, best)))
    std::ignore =
        there.give(best.genome, fmt::format("migrated from island {}, where it is #{}",
                                            from + 1, best.id));
}

void islands::extend(std::size_t more) {
  turns::extend(more);
  for (auto& i : islands_)
    i.search->extend(more);
}

bool islands::give(std::shared_ptr<const clade::genome> genome,
                   const std::string& origin) {
  for (std::size_t i = 0; i < islands_.size(); ++i)
    if (islands_[gifts_++ % islands_.size()].search->give(genome, origin))
      return true;
  return false;
}

bool islands::change(const evolution_params& params, std::uint64_t seed) {
  const auto names = island_strategies(params);
  const auto begin = heard_before();
  if (heard() != begin || names != island_strategies(this->params()))
    return false;
  for (const auto& i : islands_)
    if (i.heard != begin / islands_.size())
      return false;
  const auto own = parts(params);
  for (std::size_t i = 0; i < islands_.size(); ++i)
    if (!islands_[i].search->change(own[i], seed_of(seed, i)))
      return false;
  go_on_with(params);
  return true;
}

std::vector<individual> islands::population() const {
  std::vector<individual> all;
  for (std::size_t i = 0; i < islands_.size(); ++i)
    for (const auto& one : islands_[i].search->population())
      all.push_back(outside(i, one));
  sort_by_fitness(all);
  const auto again = std::ranges::unique(all, {}, &individual::id);
  all.erase(again.begin(), again.end());
  return all;
}

} // namespace clade
