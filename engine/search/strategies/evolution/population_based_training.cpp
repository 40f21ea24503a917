#include "engine/search/strategies/evolution/population_based_training.hpp"

#include "genome/base/text.hpp"

#include <algorithm>

namespace clade {

namespace {

constexpr double redraw_chance = 0.25;

bool is_number(const parameter& p) {
  const auto* choices = std::get_if<choice_domain>(&p.domain);
  return choices == nullptr
         || std::none_of(
             choices->options.begin(), choices->options.end(),
             [](const value& v) { return std::holds_alternative<std::string>(v); });
}

class exploration final : public proposal {
public:
  expected<offspring> make(const breeding_rules& rules,
                           const breeding& order) const override {
    auto random = derive(rules.seed, purpose::exploration, order.generation, order.index,
                         order.attempt);
    offspring made{.child = *order.parents[0].genome,
                   .changes = {{.kind = change_kind::goes_on,
                                .before = numbered(order.parents[0].id),
                                .after = std::to_string(order.epochs)}}};
    for (const auto& p : rules.space.rules.hyperparameters) {
      const auto set = std::find_if(made.child.hyperparameters.begin(),
                                    made.child.hyperparameters.end(),
                                    [&](const setting& s) { return s.name == p.name; });
      if (set == made.child.hyperparameters.end() || !is_number(p) || !varies(p))
        continue;
      const auto before = set->value;
      set->value = random.chance(redraw_chance) ? sample(p, random)
                                                : perturb(p, set->value, random);
      if (set->value != before)
        made.changes.push_back({.kind = change_kind::change_hyperparameter,
                                .name = p.name,
                                .before = to_text(before),
                                .after = to_text(set->value)});
    }
    repair(rules.space.rules.hyperparameters, made.child.hyperparameters, random);
    return made;
  }
};

} // namespace

void population_based_training::close() {
  const auto step = generation() % params().rungs.size();
  generations::close();
  members_.clear();
  for (const auto& i : survivors())
    if (i.fitness.ok && i.epochs == params().rungs[step])
      members_.push_back(i);
}

void population_based_training::choose_parents(breeding& order) const {
  const auto step = order.generation % params().rungs.size();
  const auto epochs = params().rungs[step];
  if (step == 0 || members_.empty())
    return breed_new(order, survivors(), epochs, params(), seed(), 0);
  const auto quarter = params().population / 4;
  if (order.index < std::min(members_.size(), params().population - quarter))
    return train_on(order, members_[order.index], epochs);
  auto random = derive(seed(), purpose::selection, order.generation, order.index);
  const auto top = std::clamp<std::size_t>(quarter, 1, members_.size());
  train_on(order, members_[random.below(top)], epochs);
  order.how = breeding::kind::propose;
  order.proposal = std::make_shared<const exploration>();
}

expected<void> population_based_training::serves(const search_space& space) {
  const auto& all = space.rules.hyperparameters;
  if (std::any_of(all.begin(), all.end(), is_number))
    return {};
  return fail(error_kind::invalid_input,
              "evolution.strategy is \"population_based_training\": it changes numbers "
              "such as the learning rate within training, and the search space has none "
              "among its hyperparameters; take \"asha\"");
}

} // namespace clade
