#include "engine/search/strategies/rungs/dehb.hpp"

#include "genome/genes/unit_cube.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

namespace {

constexpr std::size_t fewest = 4, most = 200;
constexpr double difference_weight = 0.5, crossover_chance = 0.5;
// So often trials that are known already are drawn anew; then they are mutated too.
constexpr std::uint64_t patience = 5;

/// A trial from the order's parents x, r1, r2, r3.
class trial final : public proposal {
public:
  expected<offspring> make(const breeding_rules& rules,
                           const breeding& order) const override {
    const auto& parameters = rules.space.rules.hyperparameters;
    auto random = derive(rules.seed, purpose::difference, order.generation, order.index,
                         order.attempt);
    std::vector<std::vector<double>> points;
    for (const auto& p : order.parents)
      points.push_back(to_unit(parameters, p.genome->hyperparameters, random));
    offspring made{.child = *order.parents[random.below(2)].genome, .changes = {}};
    made.child.hyperparameters = from_unit(parameters, mixed(points, random));
    made.changes = {{.kind = change_kind::proposed,
                     .after = fmt::format("trial of #{} by #{} + 0.5 (#{} - #{})",
                                          order.parents[0].id, order.parents[1].id,
                                          order.parents[2].id, order.parents[3].id)}};
    if (rules.space.rules.operators.empty() && order.attempt < patience)
      return made;
    auto mutating = derive(rules.seed, purpose::mutation, order.generation, order.index,
                           order.attempt);
    auto mutated =
        mutate(rules.space, rules.problem, made.child, rules.mutation, mutating);
    mutated.changes.insert(mutated.changes.begin(), std::move(made.changes.front()));
    return mutated;
  }

private:
  static std::vector<double> mixed(const std::vector<std::vector<double>>& points,
                                   random_stream& random) {
    auto point = points[0];
    if (point.empty())
      return point;
    const auto always = random.below(point.size());
    for (std::size_t j = 0; j < point.size(); ++j) {
      const bool moved = random.chance(crossover_chance) || j == always;
      const auto v = points[1][j] + difference_weight * (points[2][j] - points[3][j]);
      const auto instead = random.uniform();
      if (moved)
        point[j] = v >= 0 && v <= 1 ? v : instead;
    }
    return point;
  }
};

} // namespace

dehb::dehb(const evolution_params& params, std::uint64_t seed)
    : hyperband(params, seed),
      members_(params.rungs.size()),
      sizes_(params.rungs.size(), 0) {}

const std::vector<individual>& dehb::pool(std::size_t rung) const {
  return rung > 0 && members_[rung - 1].size() >= fewest ? members_[rung - 1]
                                                         : members_[rung];
}

// Trials of a generation go through the members in turn.
std::size_t dehb::member_of(candidate_id trial, std::size_t rung) const {
  return trial % sizes_[rung];
}

void dehb::choose_new(breeding& order, std::size_t rung) const {
  if (sizes_[rung] < fewest)
    return hyperband::choose_new(order, rung);
  const auto& target = members_[rung][member_of(order.id, rung)];
  auto random = derive(seed(), purpose::selection, order.generation, order.index);
  auto others = pool(rung);
  std::erase_if(others, [&](const individual& i) { return i.id == target.id; });
  order.how = breeding::kind::propose;
  order.proposal = std::make_shared<const trial>();
  order.epochs = ladder().epochs(rung);
  order.parents = {target};
  for (int r = 0; r < 3; ++r) {
    const auto drawn =
        others.begin() + static_cast<std::ptrdiff_t>(random.below(others.size()));
    order.parents.push_back(*drawn);
    others.erase(drawn);
  }
}

void dehb::heard(const individual& evaluated, std::size_t rung, bool promoted) {
  auto& members = members_[rung];
  const auto capacity =
      std::clamp(params().population / reduction_of(params()), fewest, most);
  if (!evaluated.fitness.ok)
    return;
  if (!promoted && sizes_[rung] >= fewest) {
    auto& target = members[member_of(evaluated.id, rung)];
    if (fitter(evaluated, target))
      target = evaluated;
  } else if (members.size() < capacity) {
    members.push_back(evaluated);
  } else {
    auto& worst = *std::max_element(members.begin(), members.end(), fitter);
    if (fitter(evaluated, worst))
      worst = evaluated;
  }
}

expected<void> dehb::serves(const search_space& space) {
  if (!space.rules.hyperparameters.empty())
    return {};
  return fail(error_kind::invalid_input,
              "evolution.strategy is \"dehb\": it moves hyperparameters, and the search "
              "space has none; take \"hyperband\"");
}

void dehb::close() {
  hyperband::close();
  for (std::size_t rung = 0; rung < members_.size(); ++rung)
    sizes_[rung] = members_[rung].size();
}

} // namespace clade
