// A fit: the best and the newest examples are taken in and their fitness is turned into
// normal scores; a Metropolis walk over a part of them learns the weights, and places it
// visits are the members' weights; then each member factors its covariance
//
//     K + noise I = L L',   mean = 1'K^-1 z / (1'K^-1 1 + 1),   alpha = K^-1 (z - mean)
//
// or, with a trend, mean + slope t, with a slope of 1 expected as that mean is of 0; and
// with variance (residuals' K^-1 residuals + 2) / (n + 2), its posterior mode under a
// weak prior around 1. A prediction is mean + k'alpha, with variance (1 - k'K^-1 k) times
// the variance.
#include "engine/search/models/fitted/surrogate.hpp"

#include "engine/search/models/base/normal_scores.hpp"
#include "genome/base/portable_math.hpp"
#include "genome/base/random.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace clade {

namespace {

constexpr double least_log_noise = -9; // of a variance of 1
constexpr double usual_log_noise = -3;
constexpr double usual_logit_share = -1;
constexpr double prior_examples = 2;

/// e to the power of -x for x >= 0: portable_exp with fewer divisions.
double decay(double x) {
  constexpr double ln2 = 0.693147180559945309417;
  constexpr std::array<double, 12> inverse{1.0,     1.0 / 2, 1.0 / 3,  1.0 / 4,
                                           1.0 / 5, 1.0 / 6, 1.0 / 7,  1.0 / 8,
                                           1.0 / 9, 0.1,     1.0 / 11, 1.0 / 12};
  if (x > 36)
    return 0;
  const double k = std::floor(x / ln2 + 0.5);
  const double r = k * ln2 - x;
  double sum = 1;
  for (std::size_t i = inverse.size(); i-- > 0;)
    sum = 1 + sum * r * inverse[i];
  const auto shift = static_cast<unsigned>(k);
  return sum / static_cast<double>(std::uint64_t{1} << shift);
}

/// How unlike two rows are in each block.
void differences(const std::vector<feature_block>& blocks, const double* a,
                 const double* b, double* out) {
  for (const feature_block& block : blocks) {
    const double *x = a + block.begin, *y = b + block.begin;
    double even = 0, odd = 0; // side by side, which is faster
    std::size_t i = 0;
    for (; i + 2 <= block.size; i += 2) {
      even += std::fabs(x[i] - y[i]);
      odd += std::fabs(x[i + 1] - y[i + 1]);
    }
    if (i < block.size)
      even += std::fabs(x[i] - y[i]);
    *out++ = even + odd;
  }
}

/// Medians of the priors of weights: the more blocks, the less each says.
std::vector<double> usual_log_weights(const std::vector<feature_block>& blocks) {
  const auto own = static_cast<double>(std::ranges::count_if(
      blocks, [](const auto& b) { return b.what != feature_block::kind::sum; }));
  std::vector<double> usual;
  for (const feature_block& b : blocks)
    usual.push_back(portable_log(b.what == feature_block::kind::sum ? 2.0
                                 : b.what == feature_block::kind::choice
                                     ? 2 / own
                                     : 3 / std::sqrt(own)));
  return usual;
}

} // namespace

/// The best half of the limit and the newest half, in the order of the examples.
void surrogate::take(std::span<const example> examples, std::size_t limit) {
  std::vector<double> fitness;
  for (const example& e : examples)
    fitness.push_back(
        std::isfinite(e.fitness) ? e.fitness : -std::numeric_limits<double>::infinity());
  std::vector<std::size_t> chosen(examples.size());
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  if (examples.size() > limit) {
    const auto newest = static_cast<std::ptrdiff_t>(limit / 2);
    std::stable_sort(
        chosen.begin(), chosen.end() - newest,
        [&](std::size_t a, std::size_t b) { return fitness[a] > fitness[b]; });
    chosen.erase(chosen.begin() + static_cast<std::ptrdiff_t>(limit) - newest,
                 chosen.end() - newest);
    std::ranges::sort(chosen);
  }
  std::vector<double> kept;
  for (const std::size_t i : chosen) {
    rows_.push_back(examples[i].features);
    kept.push_back(fitness[i]);
    lower_.push_back(examples[i].lower);
    centre_ += examples[i].lower / static_cast<double>(chosen.size());
  }
  for (double& t : lower_)
    t -= centre_;
  scores_ = normal_scores(kept);
  best_ = score_alone_at_top(kept);
}

/// Sets mean and slope by generalised least squares under their prior; `z` is the
/// factor's solution of the scores, and then of what is left of them.
void surrogate::fit_mean(std::vector<double>& z, std::span<const std::size_t> rows,
                         member& m) const {
  const std::size_t n = rows.size();
  std::vector<double> ones(n, 1.0), t;
  m.factor.forward(ones);
  const double of_ones = dot(ones.data(), ones.data(), n) + 1;
  const double z_ones = dot(z.data(), ones.data(), n);
  m.mean = z_ones / of_ones;
  m.slope = 0;
  if (!lower_.empty()) {
    for (const std::size_t i : rows)
      t.push_back(lower_[i]);
    m.factor.forward(t);
    const double of_t = dot(t.data(), t.data(), n) + 1;
    const double both = dot(ones.data(), t.data(), n);
    const double z_t = dot(z.data(), t.data(), n) + 1;
    const double determinant = of_ones * of_t - both * both;
    m.mean = (z_ones * of_t - both * z_t) / determinant;
    m.slope = (of_ones * z_t - both * z_ones) / determinant;
  }
  for (std::size_t i = 0; i < n; ++i)
    z[i] -= m.mean * ones[i] + (t.empty() ? 0 : m.slope * t[i]);
}

double surrogate::covariance(const member& m, const double* differing) const {
  double own = 0, common = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const double far = m.weight[b] * differing[b];
    if (blocks_[b].what == feature_block::kind::sum)
      common += far;
    else {
      own += far;
      if (!blocks_[b].summed)
        common += far;
    }
  }
  if (m.share == 0)
    return decay(own);
  return (1 - m.share) * decay(own) + m.share * decay(common);
}

/// Factors the covariance of some rows and solves it for their scores; returns the
/// logarithm of the weights' posterior, up to a constant.
double surrogate::solve(const scales& s, std::span<const std::size_t> rows,
                        std::span<const double> differing, member& m) const {
  const std::size_t n = rows.size(), width = blocks_.size();
  m.weight.clear();
  for (const double w : s.log_weight)
    m.weight.push_back(portable_exp(w));
  m.noise = portable_exp(s.log_noise);
  m.share = has_sums_ ? 1 / (1 + portable_exp(-s.logit_share)) : 0;
  std::vector<double> lower(n * (n + 1) / 2);
  std::size_t pair = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j, ++pair)
      lower[pair] = i == j ? 1 + m.noise : covariance(m, differing.data() + pair * width);
  m.factor = cholesky(std::move(lower), n);
  if (!m.factor.valid())
    return -std::numeric_limits<double>::infinity();
  std::vector<double> z;
  for (const std::size_t i : rows)
    z.push_back(scores_[i]);
  m.factor.forward(z);
  fit_mean(z, rows, m);
  const double count = static_cast<double>(n) + prior_examples;
  m.variance = (dot(z.data(), z.data(), n) + prior_examples) / count;
  double posterior =
      -0.5 * count * portable_log(m.variance) - 0.5 * m.factor.log_determinant();
  m.factor.backward(z);
  m.alpha = std::move(z);
  const auto against = [&](double v, double usual) {
    posterior -= 0.5 * (v - usual) * (v - usual);
  };
  for (std::size_t b = 0; b < width; ++b)
    against(s.log_weight[b], usual_[b]);
  against(s.log_noise, usual_log_noise);
  against(s.logit_share, usual_logit_share);
  return posterior;
}

std::vector<double> surrogate::all_differences(std::span<const std::size_t> rows) const {
  const std::size_t n = rows.size(), width = blocks_.size();
  std::vector<double> differing(n * (n + 1) / 2 * width);
  double* out = differing.data();
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j, out += width)
      differences(blocks_, rows_[rows[i]].data(), rows_[rows[j]].data(), out);
  return differing;
}

void surrogate::learn(std::uint64_t seed, const surrogate_params& params) {
  std::vector<std::size_t> all(rows_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  auto random = derive(seed, purpose::surrogate, 0, rows_.size());
  std::vector<std::size_t> part = all;
  if (part.size() > params.learnt_from) {
    for (std::size_t i = part.size(); i > 1; --i)
      std::swap(part[i - 1], part[random.below(i)]);
    const std::size_t best = params.learnt_from / 2;
    std::partial_sort(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(best),
                      part.end(), [&](std::size_t a, std::size_t b) {
                        return scores_[a] != scores_[b] ? scores_[a] > scores_[b] : a < b;
                      });
    part.resize(params.learnt_from);
  }
  const auto some = all_differences(part), whole = all_differences(all);
  scales at{usual_, usual_logit_share, usual_log_noise};
  member tried;
  double here = solve(at, part, some, tried);
  const std::size_t members = std::max<std::size_t>(params.members, 1);
  for (std::size_t k = 0; k < members; ++k) {
    // The first half of the walk finds the way; members are taken from the second.
    const std::size_t until =
        (k == 0 ? params.steps / 2 : 0) + params.steps / (2 * members);
    for (std::size_t step = 0; step < until; ++step) {
      const scales next = moved(at, random);
      const double there = solve(next, part, some, tried);
      if (portable_log(1 - random.uniform()) < there - here) {
        at = next;
        here = there;
      }
    }
    // The noise on the diagonal keeps it positive definite.
    (void)solve(at, all, whole, members_.emplace_back());
  }
}

/// A step of the walk: all weights a little, all by one factor, or one thing much.
surrogate::scales surrogate::moved(scales s, random_stream& random) const {
  const double kind = random.uniform();
  if (kind < 0.2) {
    for (double& w : s.log_weight)
      w += 0.3 * random.normal();
  } else if (kind < 0.4) {
    const double factor = 0.7 * random.normal();
    for (double& w : s.log_weight)
      w += factor;
  } else {
    const std::size_t which = random.below(s.log_weight.size() + (has_sums_ ? 2 : 1));
    (which < s.log_weight.size()    ? s.log_weight[which]
     : which == s.log_weight.size() ? s.log_noise
                                    : s.logit_share) += random.normal();
  }
  s.log_noise = std::max(s.log_noise, least_log_noise);
  return s;
}

surrogate surrogate::fit(std::span<const example> examples,
                         const std::vector<feature_block>& blocks, std::uint64_t seed,
                         const surrogate_params& params) {
  surrogate made;
  made.blocks_ = blocks;
  made.usual_ = usual_log_weights(blocks);
  made.has_sums_ = std::ranges::any_of(
      blocks, [](const auto& b) { return b.what == feature_block::kind::sum; });
  made.take(examples, std::max<std::size_t>(params.examples, 1));
  if (!params.trend) {
    made.lower_.clear();
    made.centre_ = 0;
  }
  made.learn(seed, params);
  return made;
}

std::vector<double> surrogate::differences_to(std::span<const double> features) const {
  std::vector<double> differing(rows_.size() * blocks_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i)
    differences(blocks_, rows_[i].data(), features.data(),
                differing.data() + i * blocks_.size());
  return differing;
}

prediction surrogate::predict(std::span<const double> features,
                              const prediction& lower) const {
  const std::size_t n = rows_.size(), width = blocks_.size();
  const auto differing = differences_to(features);
  double mean = 0, squares = 0, variance = 0;
  std::vector<double> k(n);
  for (const member& m : members_) {
    for (std::size_t i = 0; i < n; ++i)
      k[i] = covariance(m, differing.data() + i * width);
    const double expected =
        m.mean + m.slope * (lower.mean - centre_) + dot(k.data(), m.alpha.data(), n);
    m.factor.forward(k);
    mean += expected;
    squares += expected * expected;
    variance += m.variance * std::max(1 - dot(k.data(), k.data(), n), 1e-6)
                + m.slope * m.slope * lower.spread * lower.spread;
  }
  const auto count = static_cast<double>(members_.size());
  mean /= count;
  return {mean,
          std::sqrt(variance / count + std::max(squares / count - mean * mean, 0.0))};
}

void surrogate::believe(std::span<const double> features) {
  const std::size_t n = rows_.size(), width = blocks_.size();
  const auto differing = differences_to(features);
  for (member& m : members_) {
    std::vector<double> k(n);
    for (std::size_t i = 0; i < n; ++i)
      k[i] = covariance(m, differing.data() + i * width);
    // A value that was predicted leaves no residual: the mean stays, the spread falls.
    if (m.factor.append(std::move(k), 1 + m.noise))
      m.alpha.push_back(0);
  }
  rows_.emplace_back(features.begin(), features.end());
}

} // namespace clade
