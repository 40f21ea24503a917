// Results are put into their order here, as in a steady state, and told to the islands in
// it; so these hear them as they come. An island's generations are closed as soon as they
// can be, and nobody outside sees them. Orders are those of the islands with other
// numbers: id, generation and index are the run's, so that no two islands draw alike.
#include "engine/evolution/islands.hpp"

#include "engine/evolution/selection.hpp"

#include <algorithm>
#include <charconv>

namespace clade {

namespace {

constexpr candidate_id foreign = candidate_id{1} << 63;

std::uint64_t seed_of(std::uint64_t seed, std::size_t island) {
  return derive(seed, purpose::proposal, island, 0, ~std::uint64_t{0}).next();
}

} // namespace

std::vector<std::string> island_strategies(const evolution_params& params) {
  std::size_t count = 0;
  if (params.islands.size() == 1) {
    const auto& text = params.islands[0];
    const auto read = std::from_chars(text.data(), text.data() + text.size(), count);
    if (read.ec == std::errc() && read.ptr == text.data() + text.size())
      return std::vector<std::string>(std::min<std::size_t>(count, params.population),
                                      "regularised");
  }
  return params.islands;
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
  return own;
}

islands::islands(const evolution_params& params, std::uint64_t seed,
                 std::shared_ptr<const search_space> space)
    : params_(params) {
  for (const auto& name : island_strategies(params))
    islands_.push_back({.search = make_strategy(island_params(params, name),
                                                seed_of(seed, islands_.size()), space)
                                      .value()});
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

std::vector<breeding> islands::ask(candidate_id beyond, std::size_t limit) const {
  std::vector<breeding> orders;
  const auto last =
      changed_heard_ + (params_.generations - changed_closed_) * params_.population;
  for (auto id = std::max(born_, beyond) + 1; id <= last && orders.size() < limit; ++id) {
    const auto where = home(id);
    const auto own = inside(where, id);
    auto asked = islands_[where].search->ask(own - 1, 1);
    if (asked.empty() || asked[0].id != own)
      break;
    auto& order = asked[0];
    order.id = id;
    order.generation = changed_closed_ + (id - 1 - changed_heard_) / params_.population;
    order.index = (id - 1 - changed_heard_) % params_.population;
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

void islands::tell(const individual& evaluated) {
  ++arrived_;
  told_.emplace(params_.tell_order == "asked" ? evaluated.id : arrived_, evaluated);
  hear_due();
}

std::uint64_t islands::end_of_generation() const {
  return changed_heard_ + (closed_ + 1 - changed_closed_) * params_.population;
}

void islands::hear_due() {
  while (heard_ < end_of_generation()) {
    const auto next = told_.find(heard_ + 1);
    if (next == told_.end())
      return;
    ++heard_;
    hear(next->second);
    told_.erase(next);
  }
}

void islands::hear(const individual& evaluated) {
  const auto where = home(evaluated.id);
  auto& there = islands_[where];
  auto own = evaluated;
  own.id = inside(where, evaluated.id);
  there.search->tell(own);
  while (there.search->closing())
    there.search->close();
  ++there.heard;
  if (params_.migration > 0 && there.heard % params_.migration == 0)
    migrate(where);
}

void islands::migrate(std::size_t from) {
  const auto own = islands_[from].search->population();
  if (own.empty() || !own.front().fitness.ok || islands_.size() < 2)
    return;
  auto best = own.front();
  best.id = outside(from, best.id);
  if (params_.topology == "ring")
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
  auto migrant = best;
  migrant.id = inside(to, best.id);
  auto& there = *islands_[to].search;
  // Where no place is left, the migrant comes too late.
  if (!there.receive(migrant))
    std::ignore =
        there.give(best.genome, "migrated from island " + std::to_string(from + 1)
                                    + ", where it is #" + std::to_string(best.id));
}

std::optional<generation_closed> islands::closing() const {
  if (finished() || heard_ < end_of_generation())
    return std::nullopt;
  generation_closed closed{.generation = closed_, .survivors = {}};
  for (const auto& i : population())
    closed.survivors.push_back(i.id);
  return closed;
}

void islands::close() {
  ++closed_;
  hear_due();
}

void islands::extend(std::size_t more) {
  params_.generations += more;
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
  const auto begin = end_of_generation() - params_.population;
  if (heard_ != begin || names != island_strategies(params_))
    return false;
  for (const auto& i : islands_)
    if (i.heard != begin / islands_.size())
      return false;
  for (std::size_t i = 0; i < islands_.size(); ++i)
    if (!islands_[i].search->change(island_params(params, names[i]), seed_of(seed, i)))
      return false;
  changed_heard_ = begin;
  changed_closed_ = closed_;
  params_ = params;
  return true;
}

bool islands::finished() const {
  return closed_ == params_.generations;
}

std::vector<individual> islands::population() const {
  std::vector<individual> all;
  for (std::size_t i = 0; i < islands_.size(); ++i)
    for (auto one : islands_[i].search->population()) {
      one.id = outside(i, one.id);
      all.push_back(std::move(one));
    }
  sort_by_fitness(all);
  const auto again = std::ranges::unique(all, {}, &individual::id);
  all.erase(again.begin(), again.end());
  return all;
}

} // namespace clade
