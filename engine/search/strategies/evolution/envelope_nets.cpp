#include "engine/search/strategies/evolution/envelope_nets.hpp"

#include "engine/search/strategies/evolution/branches.hpp"
#include "genome/variation/retuning.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

namespace {

constexpr double chance_to_restructure = 2.0 / 3;
constexpr double chance_of_retuning = 0.3;
constexpr std::size_t most_pruned_of = 4; ///< At most one of so many.
constexpr int most_tries = 20;

/// A network is pruned, grown, or pruned and then grown.
enum class restructuring : std::uint8_t { prune, grow, both };

class restructured final : public proposal {
public:
  [[nodiscard]] expected<offspring> make(const breeding_rules& rules,
                                         const breeding& order) const override {
    auto random = derive(rules.seed, purpose::mutation, order.generation, order.index,
                         order.attempt);
    for (int i = 0; i < most_tries; ++i) {
      auto made = restructure(rules.space.rules, order.parents[0], order.attempt, random);
      if (!made.changes.empty() && decode(rules.space, made.child, rules.problem))
        return made;
    }
    return mutate(rules.space, rules.problem, *order.parents[0].genome, rules.mutation,
                  random);
  }

private:
  static offspring restructure(const grammar& rules, const individual& parent,
                               std::uint64_t attempt, random_stream& random) {
    offspring made{*parent.genome, {}};
    const auto all = branches_of(rules, made.child, parent.branches);
    const auto how = static_cast<restructuring>(random.below(3));
    if (how != restructuring::grow) {
      const auto there =
          all.size()
          - static_cast<std::size_t>(std::ranges::count_if(all, &branch::pruned));
      const auto count =
          1 + random.below(std::max<std::size_t>(there / most_pruned_of, 1));
      made.changes = prune_branches(made.child, all, count, attempt, random);
    }
    if (how != restructuring::prune) {
      // A branch that was just pruned does not come back at once: `all` is of before.
      auto grown = random.chance(0.5) ? grow_branch(rules, made.child, all, random)
                                      : grow_node(rules, made.child, all, random);
      if (grown)
        made.changes.push_back(std::move(*grown));
    }
    if (!made.changes.empty() && random.chance(chance_of_retuning))
      if (auto moved = change_hyperparameter(rules, made.child, random))
        made.changes.push_back(std::move(*moved));
    repair_nodes(rules, made.child, random);
    return made;
  }
};

} // namespace

expected<void> envelope_nets::serves(const search_space& space) {
  const auto has_branches = [](const operator_rule& rule) {
    return std::ranges::any_of(rule.settings, may_be_pruned);
  };
  if (std::ranges::any_of(space.rules.operators, has_branches))
    return {};
  return fail(error_kind::invalid_input,
              fmt::format("evolution.strategy = \"envelopenets\" prunes and grows "
                          "branches, and no operator of {} has a parameter for which "
                          "\"zero\" is a word (as search_spaces/envelope.toml has); take "
                          "\"regularized\"",
                          space.name));
}

void envelope_nets::choose(breeding& order) {
  if (order.generation == 0)
    return;
  auto random = choices(order);
  const auto winner = win(random);
  if (random.chance(chance_to_restructure)) {
    static const auto how = std::make_shared<const restructured>();
    const auto& parent = living()[winner];
    order.how = breeding::kind::propose;
    order.proposal = how;
    order.parents = {parent};
    if (params().inherit && parent.fitness.ok)
      order.start = parent.trained != 0 ? parent.trained : parent.id;
    return;
  }
  breed_from_winner(order, winner, random);
}

} // namespace clade
