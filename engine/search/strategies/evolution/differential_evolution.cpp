// The population has places, and a child its index for its place. Who the others are and
// which F and CR are tried is drawn when a child is asked for, from a stream of its place
// that is drawn from again when the generation is closed; which coordinates move, when it
// is bred. One whose network was known is bred with another F and other coordinates, and
// from the fourth time on a hyperparameter is moved besides, for what remains of a
// population that has gathered at one point has no differences.
#include "engine/search/strategies/evolution/differential_evolution.hpp"

#include "engine/search/bases/numbers_alone.hpp"
#include "engine/search/core/parameter_checks.hpp"
#include "engine/search/core/selection.hpp"
#include "genome/base/text.hpp"
#include "genome/genes/unit_cube.hpp"
#include "genome/variation/retuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace clade {

namespace {

constexpr double chance_of_other = 0.1;
constexpr double least_weight = 0.1;
constexpr double weight_range = 0.9;
constexpr std::uint64_t moved_from_attempt = 3;

using shared_genome = std::shared_ptr<const genome>;

std::string short_text(double v) {
  return to_text(value{static_cast<double>(static_cast<int>(v * 100 + 0.5)) / 100});
}

/// base + F (towards - base) + F (plus - minus), crossed with the target.
class difference final : public proposal {
public:
  struct parts {
    shared_genome target, base, towards, plus, minus;
    std::string named; ///< "#3 + F (#5 - #7)", for people.
    double weight, rate;
  };
  explicit difference(parts p) : p_(std::move(p)) {}

  [[nodiscard]] expected<offspring> make(const breeding_rules& rules,
                                         const breeding& order) const override {
    const auto& parameters = rules.space.rules.hyperparameters;
    auto random = derive(rules.seed, purpose::crossover, order.generation, order.index,
                         order.attempt);
    const auto point = [&](const shared_genome& g) {
      return to_unit(parameters, g->hyperparameters, random);
    };
    const double weight =
        order.attempt == 0 ? p_.weight : least_weight + weight_range * random.uniform();
    auto child = point(p_.target);
    const auto base = point(p_.base), towards = point(p_.towards), plus = point(p_.plus),
               minus = point(p_.minus);
    const auto always = one_that_varies(parameters, random);
    for (std::size_t i = 0; i < child.size(); ++i) {
      const bool moves = random.chance(p_.rate) || i == always;
      const double v =
          base[i] + weight * (towards[i] - base[i]) + weight * (plus[i] - minus[i]);
      if (moves)
        child[i] = v < 0 ? child[i] / 2 : v > 1 ? (child[i] + 1) / 2 : v;
    }
    offspring made{*p_.target,
                   {{.kind = change_kind::proposed,
                     .after = fmt::format("difference {}, F {}, CR {}", p_.named,
                                          short_text(weight), short_text(p_.rate))}}};
    made.child.hyperparameters = from_unit(parameters, child);
    if (order.attempt >= moved_from_attempt)
      if (auto moved = change_hyperparameter(rules.space.rules, made.child, random))
        made.changes.push_back(std::move(*moved));
    return made;
  }

private:
  static std::size_t one_that_varies(const std::vector<parameter>& parameters,
                                     random_stream& random) {
    std::vector<std::size_t> possible;
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (varies(parameters[i]))
        possible.push_back(i);
    return possible.empty() ? 0 : possible[random.below(possible.size())];
  }

  parts p_;
};

/// `count` of the population, all different and none of them `place`'s own.
std::vector<const individual*> draw_others(const std::vector<individual>& population,
                                           candidate_id own, std::size_t count,
                                           random_stream& random) {
  std::vector<std::size_t> taken;
  for (std::size_t i = 0; i < population.size() && taken.empty(); ++i)
    if (population[i].id == own)
      taken.push_back(i);
  if (population.size() < count + taken.size())
    return {};
  std::vector<const individual*> others;
  while (others.size() < count) {
    // One of those that are left, by their number among them.
    auto n = static_cast<std::size_t>(random.below(population.size() - taken.size()));
    std::sort(taken.begin(), taken.end());
    for (const auto t : taken)
      n += n >= t ? 1 : 0;
    taken.push_back(n);
    others.push_back(&population[n]);
  }
  return others;
}

bool not_worse(const individual& child, const individual& target) {
  return child.fitness == target.fitness || fitter(child, target);
}

} // namespace

void keys(own_keys& v, difference_params& p) {
  const difference_params usual;
  v.unusual(describe("difference_weight", "How far a child moves, from 0 to 2; 0 adapts "
                                          "it. Strategy differential_evolution."),
            p.weight, usual.weight);
  v.unusual(describe("difference_base",
                     "Where the move starts: \"random\", or \"current_to_best\", which "
                     "is faster and gets stuck sooner. Strategy differential_evolution."),
            p.base, usual.base);
}

expected<void> differential_evolution::serves(const search_space& space) {
  return check_numbers_alone(space, "differential_evolution");
}

expected<void> differential_evolution::validate(const evolution_params& params) {
  if (auto ok = check_number("population", params.population, 4, most_candidates); !ok)
    return ok;
  const auto& own = params.own.of<difference_params>();
  if (!(own.weight >= 0 && own.weight <= 2))
    return wrong_parameter("difference_weight", to_text(value{own.weight}),
                           "it must be from 0 to 2");
  return check_word("difference_base", own.base, {"random", "current_to_best"});
}

random_stream differential_evolution::choices(std::uint64_t generation,
                                              std::size_t place) const {
  return derive(seed(), purpose::selection, generation, place);
}

differential_evolution::control
differential_evolution::try_control(std::size_t place, random_stream& random) const {
  const auto& kept = targets_[place].with;
  const bool other_weight = random.chance(chance_of_other);
  const double weight = least_weight + weight_range * random.uniform();
  const bool other_rate = random.chance(chance_of_other);
  const double rate = random.uniform();
  if (own().weight > 0)
    return {own().weight, params().crossover};
  return {other_weight ? weight : kept.weight, other_rate ? rate : kept.rate};
}

// Too few that did not fail to take a difference of: the child is sampled.
void differential_evolution::choose_parents(breeding& order) const {
  if (order.index >= targets_.size())
    return;
  auto random = choices(order.generation, order.index);
  const auto with = try_control(order.index, random);
  const bool to_best = own().base == "current_to_best";
  const auto& target = targets_[order.index].who;
  const auto others = draw_others(survivors(), target.id, to_best ? 2 : 3, random);
  if (others.empty() || !survivors().front().fitness.ok)
    return;
  const auto& base = to_best ? target : *others.back();
  const auto& towards = to_best ? survivors().front() : base;
  order.how = breeding::kind::propose;
  for (const auto* parent : {&target, &base, &towards, others[0], others[1]})
    if (std::ranges::find(order.parents, parent->id, &individual::id)
        == order.parents.end())
      order.parents.push_back(*parent);
  order.proposal = std::make_shared<difference>(difference::parts{
      .target = target.genome,
      .base = base.genome,
      .towards = towards.genome,
      .plus = others[0]->genome,
      .minus = others[1]->genome,
      .named = fmt::format("{} + F ({} - {})",
                           to_best ? fmt::format("{} + F ({} - {})", numbered(base.id),
                                                 numbered(towards.id), numbered(base.id))
                                   : numbered(base.id),
                           numbered(others[0]->id), numbered(others[1]->id)),
      .weight = with.weight,
      .rate = with.rate});
}

std::vector<differential_evolution::target> differential_evolution::replaced() const {
  auto next = targets_;
  next.resize(params().population);
  for (const auto& child : children()) {
    const auto place = static_cast<std::size_t>(child.id - 1 - before());
    if (place >= targets_.size()) {
      next[place].who = child;
      continue;
    }
    auto random = choices(generation(), place);
    if (not_worse(child, targets_[place].who))
      next[place] = {child, try_control(place, random)};
  }
  return next;
}

std::vector<individual> differential_evolution::select() const {
  std::vector<individual> survivors;
  for (auto& t : replaced())
    survivors.push_back(std::move(t.who));
  sort_by_use(survivors);
  return survivors;
}

void differential_evolution::close() {
  auto next = replaced();
  generations::close();
  targets_ = std::move(next);
}

// If a population has become smaller, the best keep their places; if it has become
// larger, the new places are sampled.
bool differential_evolution::change(const evolution_params& params, std::uint64_t seed) {
  if (!generations::change(params, seed))
    return false;
  if (targets_.size() > params.population) {
    std::ranges::sort(targets_, fitter, &target::who);
    targets_.resize(params.population);
  }
  return true;
}

} // namespace clade
