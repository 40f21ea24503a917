// A descent's centre is the fittest that was heard in it, be it a neighbour or one of
// several starts. Whether an order is a neighbour or a start is decided by what was heard
// and ordered, never by what was born: births and results come in any order. A neighbour
// is a proposal that holds the genome; where it exceeds the space's limits, or turns out
// to be an equal of a start that was not heard yet, a mutation of the centre stands in.
#include "engine/search/strategies/evolution/local_search.hpp"

#include "engine/search/core/selection.hpp"
#include "genome/genes/hash.hpp"
#include "search_spaces/operators/network.hpp"

#include <algorithm>

namespace clade {

namespace {

class one_gene final : public proposal {
public:
  explicit one_gene(offspring made) : made_(std::move(made)) {}

  expected<offspring> make(const breeding_rules& rules,
                           const breeding& order) const override {
    if (order.attempt == 0 && decode(rules.space, made_.child, rules.problem))
      return made_;
    auto random = derive(rules.seed, purpose::mutation, order.generation, order.index,
                         order.attempt);
    return mutate(rules.space, rules.problem, *order.parents[0].genome, rules.mutation,
                  random);
  }

private:
  offspring made_;
};

/// Changes of the graph alone, one at a time.
mutation_params rewiring_of(mutation_params params) {
  params.widen = params.narrow = 0;
  params.change_setting = params.change_hyperparameter = 0;
  params.again = 0;
  return params;
}

std::size_t count_of_rewirings(const grammar& rules, const genome& g,
                               const mutation_params& params) {
  if (rules.operators.empty() || rules.max_nodes == 0 || !validate(rewiring_of(params)))
    return 0;
  const auto enabled = std::ranges::count_if(g.edges, &edge_gene::is_forward);
  return topological_order(g).size() - 2 + static_cast<std::size_t>(enabled);
}

} // namespace

local_search::local_search(const evolution_params& params, std::uint64_t seed,
                           std::shared_ptr<const search_space> space)
    : steady(params, seed),
      space_(std::move(space)) {}

void local_search::move_to(const individual& i) {
  centre_ = i;
  left_ = neighbours(space_->rules, *i.genome);
  rewirings_left_ = count_of_rewirings(space_->rules, *i.genome, params().mutation);
  auto random = derive(seed(), purpose::proposal, moves_++, 0);
  for (auto n = left_.size(); n > 1; --n)
    std::swap(left_[n - 1], left_[random.below(n)]);
}

void local_search::keep_optimum(const individual& i) {
  optima_.insert(std::ranges::upper_bound(optima_, i, fitter), i);
  changed();
}

void local_search::changed() {
  if (optima_.size() >= params().population)
    optima_.resize(params().population - 1);
}

void local_search::hear(const individual& evaluated) {
  take_in(evaluated, around_.erase(evaluated.id) > 0);
}

void local_search::take_in(const individual& i, bool neighbour) {
  asked_.insert(canonical_hash(*i.genome), i.id);
  if (i.fitness.ok) {
    if (!centre_ || fitter(i, *centre_))
      move_to(i);
    else if (!neighbour && (!next_start_ || fitter(i, *next_start_)))
      next_start_ = i;
  }
  if (!left_.empty() || rewirings_left_ > 0 || !around_.empty() || !next_start_)
    return;
  keep_optimum(*centre_);
  move_to(*std::exchange(next_start_, std::nullopt));
}

// Changes of the graph are spread evenly among those of settings.
bool local_search::ask_neighbour(breeding& order) {
  auto random = derive(seed(), purpose::proposal, order.generation, order.index, 1);
  while (!left_.empty() || rewirings_left_ > 0) {
    if (random.below(left_.size() + rewirings_left_) < rewirings_left_) {
      --rewirings_left_;
      order.how = breeding::kind::mutate;
      order.mutation = rewiring_of(params().mutation);
    } else {
      auto made = clade::changed(space_->rules, *centre_->genome, left_.back(), random);
      left_.pop_back();
      const auto network = canonical_hash(made.child);
      if (asked_.find(network) != 0)
        continue;
      asked_.insert(network, order.id);
      order.how = breeding::kind::propose;
      order.proposal = std::make_shared<const one_gene>(std::move(made));
    }
    order.parents.push_back(*centre_);
    around_.insert(order.id);
    return true;
  }
  return false;
}

bool local_search::receive(const individual& migrant) {
  take_in(migrant, false);
  return true;
}

void local_search::choose(breeding& order) {
  if (!centre_ || !ask_neighbour(order))
    order.how = breeding::kind::sample;
}

std::vector<individual> local_search::population() const {
  auto all = optima_;
  if (centre_)
    all.push_back(*centre_);
  sort_by_fitness(all);
  return all;
}

} // namespace clade
