// A generator's work: the genome is drawn from streams keyed by (seed, purpose,
// generation, index, attempt), one for each of sampling, crossing and mutating; then
// decoded, for its cost:
//
//   work = 3 * multiply-adds + (200,000 * layers + 4 * parameters) / batch size
//
// for one example. A backward pass costs about twice the forward one, hence 3. Each step
// (one batch) costs every layer about 20 microseconds for its calls, whatever its size,
// in which a core could do 200,000 multiply-adds; this is most of the time of small
// networks. The optimiser passes over all parameters once a step.
#include "engine/search/core/breeding.hpp"

#include "genome/genes/hash.hpp"
#include "search_spaces/files/seeds.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

namespace {

constexpr double backward_factor = 3;
constexpr double layer_overhead = 200'000;
constexpr double optimiser_factor = 4;
constexpr double usual_batch_size = 32;

double batch_size(const genome& g) {
  if (const auto* found = find(g.hyperparameters, "batch_size"))
    if (const auto* size = std::get_if<std::int64_t>(found))
      return static_cast<double>(std::max<std::int64_t>(*size, 1));
  return usual_batch_size;
}

expected<offspring> carry_out(const breeding_rules& rules, const breeding& order) {
  const auto& space = rules.space;
  const auto& p = rules.problem;
  const auto& mutation = order.mutation ? *order.mutation : rules.mutation;
  const auto stream = [&](purpose what) {
    return derive(rules.seed, what, order.generation, order.index, order.attempt);
  };
  if (order.how == breeding::kind::given) {
    if (!order.genome)
      return fail(error_kind::internal,
                  fmt::format("an order to breed #{} has no genome to give", order.id));
    return offspring{.child = *order.genome, .changes = {{.after = order.origin}}};
  }
  if (order.how == breeding::kind::propose) {
    if (!order.proposal)
      return fail(error_kind::internal,
                  fmt::format("an order to breed #{} has no proposal", order.id));
    return order.proposal->make(rules, order);
  }
  const auto needed =
      order.how == breeding::kind::train_on ? 1 : static_cast<std::size_t>(order.how);
  if (order.parents.size() != needed)
    return fail(error_kind::internal,
                fmt::format("an order to breed #{} has {} parents instead of {}",
                            order.id, order.parents.size(), needed));
  if (order.how == breeding::kind::sample) {
    auto random = stream(purpose::sample);
    // An equal network gives way to a random one.
    if (order.generation == 0 && order.attempt == 0 && order.index < space.seeds.size()) {
      const auto& seed = space.seeds[order.index];
      return offspring{.child = genome_of(seed, space.rules, random),
                       .changes = {{.kind = change_kind::seeded, .name = seed.name}}};
    }
    return sample(space, p, random);
  }
  if (order.how == breeding::kind::train_on)
    return offspring{.child = *order.parents[0].genome,
                     .changes = {{.kind = change_kind::goes_on,
                                  .after = std::to_string(order.epochs)}}};
  auto mutating = stream(purpose::mutation);
  if (order.how == breeding::kind::mutate)
    return mutate(space, p, *order.parents[0].genome, mutation, mutating);
  auto crossing = stream(purpose::crossover);
  auto crossed =
      cross(space, p, *order.parents[0].genome, *order.parents[1].genome, crossing);
  auto mutated = mutate(space, p, crossed.child, mutation, mutating);
  mutated.changes.insert(mutated.changes.begin(), crossed.changes.begin(),
                         crossed.changes.end());
  return mutated;
}

} // namespace

bool may_be_parents(const breeding& order, const std::vector<candidate_id>& parents) {
  if (order.how != breeding::kind::propose)
    return std::ranges::equal(parents, order.parents, {}, {}, &individual::id);
  return std::ranges::all_of(parents, [&](candidate_id id) {
    return std::ranges::find(order.parents, id, &individual::id) != order.parents.end();
  });
}

double training_work(const network& n, const genome& g) {
  const auto cost = n.cost();
  return backward_factor * static_cast<double>(cost.multiply_adds)
         + (layer_overhead * static_cast<double>(n.layers.size())
            + optimiser_factor * static_cast<double>(cost.parameters))
               / batch_size(g);
}

std::uint32_t start_epoch_of(const breeding& order) {
  return order.start == 0 || order.epochs == 0 || order.parents.empty()
             ? 0
             : order.parents.front().epochs;
}

void inherit_weights(const evolution_params& params, breeding& order) {
  const bool bred =
      order.how == breeding::kind::mutate || order.how == breeding::kind::cross;
  if (!params.inherit || !bred || order.start != 0 || order.epochs != 0
      || order.parents.empty() || !order.parents.front().fitness.ok)
    return;
  const auto& fitter = order.parents.front();
  order.start = fitter.trained != 0 ? fitter.trained : fitter.id;
}

expected<candidate> breed(const breeding_rules& rules, const breeding& order) {
  return breed_and_count(rules, order).map([](counted_candidate&& c) {
    return std::move(c.made);
  });
}

expected<counted_candidate> breed_and_count(const breeding_rules& rules,
                                            const breeding& order) {
  std::optional<scoring_log> log;
  if (rules.scorer != nullptr)
    log.emplace(*rules.scorer);
  auto made = carry_out(
      {rules.space, rules.problem, rules.mutation, rules.seed, log ? &*log : nullptr},
      order);
  if (!made)
    return tl::unexpected(std::move(made.error()));
  const auto decoded = decode(rules.space, made->child, rules.problem);
  if (!decoded)
    return tl::unexpected(decoded.error());
  candidate c;
  c.id = order.id;
  c.generation = order.generation;
  c.index = order.index;
  c.attempt = order.attempt;
  c.network = canonical_hash(made->child);
  c.work = training_work(*decoded, made->child);
  c.genome = std::make_shared<const genome>(std::move(made->child));
  if (made->from.empty())
    for (const auto& parent : order.parents)
      c.parents.push_back(parent.id);
  for (const auto place : made->from)
    c.parents.push_back(order.parents.at(place).id);
  c.changes = std::move(made->changes);
  c.epochs = order.epochs;
  c.start = order.start;
  c.start_epoch = start_epoch_of(order);
  if (log) {
    c.zero_cost = log->score(*c.genome, c.id);
    c.looked_at = order.looked_at;
    c.looked_at.insert(c.looked_at.end(), log->all().begin(), log->all().end());
  }
  return counted_candidate{std::move(c), decoded->cost().parameters};
}

} // namespace clade
