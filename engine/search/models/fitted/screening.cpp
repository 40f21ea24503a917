// Screening: a pool of children and random genomes is ranked by what they promise;
// from the first few, climbs go to the best of some mutants while that is better than
// where they stand. Most of the time goes into predictions, about as many as children +
// samples + climbs * climb_steps * neighbours.
#include "engine/search/models/fitted/screening.hpp"

#include "genome/base/portable_math.hpp"
#include "genome/genes/hash.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

namespace clade {

namespace {

constexpr double log_sqrt_tau = 0.918938533204672741780;

double density(double u) {
  return portable_exp(-0.5 * u * u - log_sqrt_tau);
}

/// Phi(u) from the series 1/2 + phi(u) (u + u^3/3 + u^5/15 + ...).
double share_below(double u) {
  double term = u, sum = u;
  for (int k = 3; k < 160 && std::fabs(term) > 1e-17; k += 2) {
    term *= u * u / k;
    sum += term;
  }
  return 0.5 + density(u) * sum;
}

/// phi(u) + u Phi(u).
double improvement_nearby(double u) {
  return density(u) + u * share_below(u);
}

/// The c of Mills' ratio Phi(-x) / phi(x) = 1 / (x + c): the continued fraction
/// 1/(x + 2/(x + 3/(x + ...))).
double tail_fraction(double x) {
  double c = x;
  for (int k = 60; k > 1; --k)
    c = x + k / c;
  return 1 / c;
}

/// phi(u) + u Phi(u) far below 0, over phi(u), x = -u: c / (x + c).
double improvement_far(double x) {
  const double c = tail_fraction(x);
  return c / (x + c);
}

struct looked_at {
  genome made;
  double promise = 0;
};

/// Looks at each unknown genome once.
class pool {
public:
  pool(const promise_function& promise, const variation_operators& operators)
      : promise_(promise),
        operators_(operators) {}

  [[nodiscard]] std::optional<looked_at> look(genome g) {
    if (!seen_.insert(canonical_hash(g)).second || operators_.known(g))
      return std::nullopt;
    const double promise = promise_(operators_.encode(g));
    return looked_at{std::move(g), promise};
  }

private:
  const promise_function& promise_;
  const variation_operators& operators_;
  std::set<genome_hash> seen_;
};

genome child(std::span<const genome* const> parents, const variation_operators& operators,
             const screening_params& params, random_stream& random) {
  const auto count = static_cast<double>(parents.size());
  const double first = random.uniform() * random.uniform(); // the better the likelier
  const std::size_t a = static_cast<std::size_t>(count * first);
  if (!random.chance(params.crossover))
    return operators.mutate(*parents[a], random);
  const std::size_t b = random.below(parents.size());
  const genome crossed =
      operators.cross(*parents[std::min(a, b)], *parents[std::max(a, b)], random);
  return operators.mutate(crossed, random);
}

looked_at climb(looked_at at, pool& looking, const variation_operators& operators,
                const screening_params& params, random_stream& random) {
  for (std::size_t step = 0; step < params.climb_steps; ++step) {
    std::optional<looked_at> best;
    for (std::size_t i = 0; i < params.neighbours; ++i) {
      auto next = looking.look(operators.mutate(at.made, random));
      if (next && (!best || next->promise > best->promise))
        best = std::move(next);
    }
    if (!best || best->promise <= at.promise)
      return at;
    at = std::move(*best);
  }
  return at;
}

} // namespace

double log_expected_improvement(const prediction& p, double best) {
  const double u = (p.mean - best) / p.spread;
  const double log_spread = portable_log(p.spread);
  if (u < -1.5)
    return log_spread - 0.5 * u * u - log_sqrt_tau + portable_log(improvement_far(-u));
  return log_spread + portable_log(u > 6 ? u : improvement_nearby(u));
}

double expected_excess(const prediction& p, double above) {
  const double u = (p.mean - above) / p.spread;
  if (u > 6)
    return p.spread * u;
  if (u >= -1.5)
    return p.spread * improvement_nearby(u);
  return p.spread * density(u) * improvement_far(-u);
}

double chance_above(const prediction& p, double value) {
  const double u = (p.mean - value) / p.spread;
  if (u > 8)
    return 1;
  if (u > -1.5)
    return share_below(u);
  const double x = -u;
  return density(u) / (x + tail_fraction(x));
}

std::vector<genome> screen_several(const promise_function& promise,
                                   std::span<const genome* const> parents,
                                   const variation_operators& operators,
                                   const screening_params& params, random_stream& random,
                                   std::size_t count) {
  pool looking(promise, operators);
  std::vector<looked_at> found;
  const auto keep = [&](std::optional<looked_at> one) {
    if (one)
      found.push_back(std::move(*one));
  };
  const auto breeding = parents.first(std::min(parents.size(), params.parents));
  for (std::size_t i = 0; i < params.children; ++i)
    keep(looking.look(child(breeding, operators, params, random)));
  for (std::size_t i = 0; i < params.samples; ++i)
    keep(looking.look(operators.sample(random)));
  std::ranges::stable_sort(found, std::greater{}, &looked_at::promise);
  for (std::size_t i = 0; i < std::min(params.climbs, found.size()); ++i)
    found[i] = climb(std::move(found[i]), looking, operators, params, random);
  std::ranges::stable_sort(found, std::greater{}, &looked_at::promise);
  std::vector<genome> best;
  for (std::size_t i = 0; i < std::min(count, found.size()); ++i)
    best.push_back(std::move(found[i].made));
  return best;
}

} // namespace clade
