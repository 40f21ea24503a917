// The fold keeps what was observed, and copies references to it into each proposal (10
// microseconds for 1000); densities are fitted when the proposal is carried out.
#include "engine/search/strategies/sampling/tpe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>

namespace clade {

namespace {

using observations = std::vector<std::shared_ptr<const tpe::observation>>;

constexpr std::size_t sampled_first = 10, least_successes = 4;
constexpr std::size_t most_good = 25, full_weights = 25;
constexpr int draws = 24, rounds = 16;
/// From this attempt on a mutation stands in: the next best were known as well.
constexpr std::uint64_t mutating_attempt = 7;

/// The best tenth.
std::size_t count_of_good(std::size_t heard) {
  return std::min((heard + 9) / 10, most_good);
}

/// From 1/n for the oldest, and 1 for the newest.
std::vector<double> weights_by_age(std::size_t count) {
  std::vector<double> weights(count, 1);
  const auto ramp = count > full_weights ? count - full_weights : 0;
  const auto n = static_cast<double>(count);
  for (std::size_t i = 0; i < ramp; ++i)
    weights[i] = 1 / n
                 + (1 - 1 / n) * static_cast<double>(i)
                       / std::max(static_cast<double>(ramp) - 1, 1.0);
  return weights;
}

parzen_estimator fitted(const std::vector<parameter>& parameters, observations some) {
  std::ranges::sort(some, {}, [](const auto& o) { return o->id; });
  std::vector<parzen_point> points;
  for (const auto& o : some)
    points.push_back(o->point);
  return {parameters, std::move(points), weights_by_age(some.size())};
}

double weight_of_graph(const mutation_params& m) {
  return m.add_node + m.add_edge + m.remove_node + m.remove_edge + m.change_operator
         + m.widen + m.narrow + m.change_setting;
}

class by_tpe final : public proposal {
public:
  /// `known`: what was heard; the first `good` are. `parent` is one of the best.
  by_tpe(observations known, std::size_t good, individual parent)
      : known_(std::move(known)),
        good_(good),
        parent_(std::move(parent)) {}

  expected<offspring> make(const breeding_rules& rules,
                           const breeding& order) const override {
    std::call_once(fitted_, [&] { fit(rules.space.rules); });
    auto random = derive(rules.seed, purpose::mutation, order.generation, order.index,
                         order.attempt);
    if (order.attempt < mutating_attempt)
      if (auto settings = draw(rules, order)) {
        auto made = graph_for(rules, order, random);
        made.child.hyperparameters = std::move(*settings);
        if (decode(rules.space, made.child, rules.problem))
          return made;
      }
    return mutate(rules.space, rules.problem, *parent_.genome, rules.mutation, random);
  }

private:
  void fit(const grammar& rules) const {
    const auto& parameters = rules.hyperparameters;
    const auto end_of_good = known_.begin() + static_cast<std::ptrdiff_t>(good_);
    of_good_.emplace(fitted(parameters, {known_.begin(), end_of_good}));
    of_rest_.emplace(fitted(parameters, {end_of_good, known_.end()}));
    if (!has_layers(rules))
      for (const auto& o : known_)
        tried_.insert(o->point);
  }

  /// The best of so many that were not tried, or, where that turned out to be in
  /// training already, the next best; nothing where none are found.
  std::optional<std::vector<setting>> draw(const breeding_rules& rules,
                                           const breeding& order) const {
    const auto& parameters = rules.space.rules.hyperparameters;
    auto random = derive(rules.seed, purpose::proposal, order.generation, order.index);
    auto seen = tried_;
    std::vector<std::pair<double, std::vector<setting>>> scored;
    for (int round = 0; round < rounds && scored.size() <= order.attempt; ++round)
      for (int i = 0; i < draws; ++i) {
        // If all around the good was tried, any that was not will do.
        auto settings =
            round < rounds / 2 ? of_good_->draw(random) : sample(parameters, random);
        const auto point = point_of(parameters, settings);
        if (!seen.insert(point).second)
          continue;
        const double score = of_good_->log_density(point) - of_rest_->log_density(point);
        scored.emplace_back(score, std::move(settings));
      }
    if (scored.size() <= order.attempt)
      return std::nullopt;
    std::ranges::stable_sort(scored, std::greater<>(),
                             [](const auto& s) { return s.first; });
    return std::move(scored[order.attempt].second);
  }

  static change by_model(const char* text) {
    return {.kind = change_kind::proposed, .name = "TPE", .after = text};
  }

  /// Without layers, there is but one graph.
  static offspring graph_for(const breeding_rules& rules, const breeding& order,
                             random_stream& random) {
    if (order.parents.empty())
      return {sample_genome(rules.space.rules, random), {by_model("proposed by TPE")}};
    const auto& parent = *order.parents[0].genome;
    auto mutation = rules.mutation;
    const double graph = weight_of_graph(mutation), own = mutation.change_hyperparameter;
    if (!(graph > 0) || random.chance(own / (graph + own)))
      return {parent, {by_model("hyperparameters by TPE")}};
    mutation.change_hyperparameter = 0;
    auto made = mutate(rules.space, rules.problem, parent, mutation, random);
    made.changes.push_back(by_model("hyperparameters by TPE"));
    return made;
  }

  observations known_;
  std::size_t good_;
  individual parent_;
  mutable std::once_flag fitted_;
  mutable std::optional<parzen_estimator> of_good_, of_rest_;
  mutable std::set<parzen_point> tried_;
};

} // namespace

bool tpe::observation::fitter_than(const observation& other) const {
  return fitter({.id = id, .genome = {}, .fitness = fitness},
                {.id = other.id, .genome = {}, .fitness = other.fitness});
}

tpe::tpe(const evolution_params& params, std::uint64_t seed,
         std::shared_ptr<const search_space> space)
    : steady(params, seed),
      space_(std::move(space)) {}

void tpe::take_in(const individual& evaluated) {
  const auto observed = std::make_shared<const observation>(
      observation{.id = evaluated.id,
                  .fitness = evaluated.fitness,
                  .point = point_of(space_->rules.hyperparameters,
                                    evaluated.genome->hyperparameters)});
  newest_.push_back(observed);
  if (newest_.size() > kept)
    newest_.pop_front();
  if (!evaluated.fitness.ok)
    return;
  const auto before = [](const auto& a, const auto& b) { return a->fitter_than(*b); };
  best_.insert(std::ranges::upper_bound(best_, observed, before), observed);
  if (best_.size() > kept)
    best_.pop_back();
  parents_.insert(std::ranges::upper_bound(parents_, evaluated, fitter), evaluated);
  changed();
}

void tpe::changed() {
  if (parents_.size() > params().population)
    parents_.resize(params().population);
}

bool tpe::receive(const individual& migrant) {
  take_in(migrant);
  return true;
}

void tpe::choose(breeding& order) {
  if (order.id <= sampled_first || best_.size() < least_successes)
    return;
  const auto good = std::min(count_of_good(heard()), best_.size());
  auto known = best_;
  for (const auto& o : newest_)
    if (!o->fitness.ok || best_.back()->fitter_than(*o))
      known.push_back(o);
  auto random = derive(seed(), purpose::selection, order.generation, order.index);
  const auto& parent = parents_[random.below(std::min(good, parents_.size()))];
  order.how = breeding::kind::propose;
  if (has_layers(space_->rules))
    order.parents.push_back(parent);
  order.proposal = std::make_shared<const by_tpe>(std::move(known), good, parent);
}

expected<void> tpe::serves(const search_space& space) {
  if (std::ranges::any_of(space.rules.hyperparameters, varies))
    return {};
  return fail(error_kind::invalid_input,
              fmt::format("evolution.strategy = \"tpe\" models hyperparameters, and {} "
                          "has none with more than one value; take \"regularized\"",
                          space.name));
}

} // namespace clade
