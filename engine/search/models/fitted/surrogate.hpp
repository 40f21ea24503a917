#pragma once

#include "engine/search/models/base/cholesky.hpp"
#include "engine/search/models/base/genome_features.hpp"
#include "genome/base/random.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace clade {

/// The measurement of a genome. Greater fitness is better; what is not finite counts as
/// failed, the worst there is.
struct example {
  std::vector<double> features; ///< genome_features::encode
  double fitness = -std::numeric_limits<double>::infinity();
  /// The value that a model of a lower fidelity expects of it, if there is one
  /// (surrogate_params::trend).
  double lower = 0;
};

/// The values that a model expects of a genome, in units of the examples' normal scores:
/// 0 is the median example, 1 is better than 84 % of them.
struct prediction {
  double mean = 0;
  double spread = 1; ///< Standard deviation, positive.
};

struct surrogate_params {
  /// Models of which each draws its own length scales. More are steadier; a fit and a
  /// prediction cost in proportion.
  std::size_t members = 2;
  /// Examples that a fit takes in at most: the best and the newest. The time of a fit
  /// grows with the cube.
  std::size_t examples = 120;
  /// Examples among them from which length scales are learnt.
  std::size_t learnt_from = 60;
  /// Steps of the walk over length scales. 0: the medians of their priors are taken.
  std::size_t steps = 40;
  /// Fitness follows `example::lower` (rung_models.hpp).
  bool trend = false;
};

/// A few Gaussian processes that predict fitness from features, for tens to hundreds of
/// evaluations: what is known is worth little computation beside a training.
///
/// Fitness enters as normal scores (the quantiles of the normal distribution at the
/// ranks), so that networks that failed to learn do not drown the differences between
/// good ones. Two genomes covary as
///
///     k(x, x') = (1 - b) exp(-sum over places p of  w_p d_p(x, x'))
///                   + b  exp(-sum over sums s   of  w_s d_s(x, x')
///                            -sum over places p outside all sums of w_p d_p(x, x'))
///
/// where d is the difference of a block of features (0 to 1; for a choice without an
/// order, whether it differs): the exponential kernel, Matern 1/2, of numbers and the one
/// of Hamming distance for choices, with a weight for each block (automatic relevance
/// determination). The second part generalises over parameters with the same domain and
/// is what makes a model useful after ten evaluations. The weights w, the share b and
/// the noise have log-normal priors; each member takes its own from a Metropolis walk
/// over their posterior, rather than the maximum, which is over-confident with few
/// examples. Members' predictions are mixed: the spread contains their disagreement.
///
/// Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006 (algorithm 2.1);
/// Hutter, Hoos and Leyton-Brown, LION 2011 (Hamming kernel); Snoek, Larochelle and
/// Adams, NeurIPS 2012 (weights from their posterior).
///
/// When to take it: a training costs more than 20 ms, and some hundred of them are all
/// that there will be. Beyond a few hundred evaluations the model no longer sees all of
/// the history, and evolution without a model catches up.
///
/// It rests on these measurements, made on NAS-Bench-201 (mean regret after 100
/// evaluations with 95 % interval, CIFAR-10 / CIFAR-100 / ImageNet16-120, and the median
/// evaluations until one of the 16 best cells; all with expected improvement):
///
///     local search               .23+-.05  .84+-.18  1.29+-.15    45   39   67
///     raw fitness, no sums       .16+-.08  .45+-.21   .98+-.14    30   31   36
///     normal scores, no sums     .12+-.04  .29+-.07   .86+-.07
///     sums, cut-off raw fitness  .07+-.03  .23+-.05   .89+-.08    31   30   30
///     sums, normal scores        .05+-.03  .23+-.05   .84+-.08    26   29   27
///     upper confidence, no sums  .17+-.09  .59+-.26   .88+-.17    31   36   32
///
/// (40 to 150 seeds a row.) Weights at the maximum of their posterior did a little worse,
/// within the intervals. The medians of the priors matter little: halved or doubled, the
/// rank correlation on unseen networks of search_spaces/image.toml stays the same to 0.01
/// (Kendall's, 0.35 after 20 examples, 0.57 after 100).
///
/// Plain arithmetic in a fixed order: equal arguments give equal bits on every machine.
class surrogate {
public:
  /// Rows as long as the blocks say; at least one example. Equal rows and equal or failed
  /// fitness do no harm.
  [[nodiscard]] static surrogate fit(std::span<const example> examples,
                                     const std::vector<feature_block>& blocks,
                                     std::uint64_t seed,
                                     const surrogate_params& params = {});

  [[nodiscard]] prediction predict(std::span<const double> features) const {
    return predict(features, {.mean = centre_, .spread = 0});
  }
  /// Predicts by a model with a trend, for a genome of which the lower one predicts that.
  [[nodiscard]] prediction predict(std::span<const double> features,
                                   const prediction& lower) const;

  /// Takes what is predicted of a genome for measured, so that what is being trained
  /// already is not asked for again, nor its close relations (the kriging believer of
  /// Ginsbourger, Le Riche and Carraro, 2010).
  void believe(std::span<const double> features);

  /// Returns the score that a child has to beat: the best example's score, as it would be
  /// if no other equalled it. If many are equal to it, as on the plateaus of accuracies
  /// and of tables that are looked up by the nearest row, being as good as they are is no
  /// improvement.
  [[nodiscard]] double best() const { return best_; }
  /// Returns the scores of the examples that were taken in, in their order: of all, if
  /// there are no more than `examples`.
  [[nodiscard]] std::span<const double> scores() const { return scores_; }

private:
  /// Logarithms of the weights, the logit of `b` and the logarithm of the noise.
  struct scales {
    std::vector<double> log_weight;
    double logit_share = 0;
    double log_noise = 0;
  };
  struct member {
    std::vector<double> weight;
    double share = 0;
    double noise = 0;
    double mean = 0;
    double slope = 0; ///< The slope of the trend.
    double variance = 1;
    cholesky factor;
    std::vector<double> alpha; ///< The covariance's inverse times the residuals.
  };

  void take(std::span<const example> examples, std::size_t limit);
  void fit_mean(std::vector<double>& z, std::span<const std::size_t> rows,
                member& m) const;
  void learn(std::uint64_t seed, const surrogate_params& params);
  [[nodiscard]] std::vector<double>
  all_differences(std::span<const std::size_t> rows) const;
  [[nodiscard]] std::vector<double>
  differences_to(std::span<const double> features) const;
  [[nodiscard]] scales moved(scales s, random_stream& random) const;
  [[nodiscard]] double solve(const scales& s, std::span<const std::size_t> rows,
                             std::span<const double> differing, member& m) const;
  [[nodiscard]] double covariance(const member& m, const double* differing) const;

  std::vector<feature_block> blocks_;
  std::vector<double> usual_; ///< Medians of the log weights.
  bool has_sums_ = false;
  std::vector<std::vector<double>> rows_;
  std::vector<double> scores_;
  /// The lower prediction of each row, from the centre; empty without a trend.
  std::vector<double> lower_;
  double centre_ = 0;
  std::vector<member> members_;
  double best_ = 0;
};

} // namespace clade
