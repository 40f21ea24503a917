#pragma once

#include "genome/genes/grammar.hpp"

#include <cstdint>
#include <vector>

namespace clade {

/// Settings as coordinates in the unit cube (genome/genes/unit_cube.hpp), one for each of a
/// list of parameters; `absent` where one does not apply.
using parzen_point = std::vector<double>;
inline constexpr double absent = -1;

[[nodiscard]] parzen_point point_of(const std::vector<parameter>& parameters,
                                    const std::vector<setting>& settings);

/// A density over the settings of a list of parameters: a mixture of one kernel for each
/// observation and of the prior,
///
///     p(x) = sum_i w_i prod_d k_d(x_d | x_i,d)
///
/// It is multivariate: what goes together in an observation goes together in what is
/// drawn. k_d is, by the parameter's domain,
///
///     real, or more than 64 values   a normal density, truncated to [0, 1]
///     ordered values                 the same, taken at each value
///     unordered choice               (a + [x_d = x_i,d]) / (a n_d + 1), with n_d options
///                                    and a = prior weight / number of kernels
///
/// with the width s = 0.2 n^(-1 / (d + 4)) for n observations in d dimensions (Scott's
/// rule, as in Optuna), but no less than 1 / min(100, n + 2): the "magic clip", without
/// which few observations close to each other hide all else. The prior (mean 0.5, width
/// 1; every option alike) weighs as much as one observation, and stands in where an
/// observation lacks a parameter, since it says nothing of that one.
class parzen_estimator {
public:
  /// `weights`: one for each point, above 0. `parameters` must outlive it.
  parzen_estimator(const std::vector<parameter>& parameters,
                   std::vector<parzen_point> points, std::vector<double> weights);

  /// Settings for all parameters that apply, sorted by name.
  [[nodiscard]] std::vector<setting> draw(random_stream& random) const;

  /// Up to a constant for each parameter that is the same for all estimators over these.
  [[nodiscard]] double log_density(const parzen_point& x) const;

private:
  /// How one parameter's kernels look.
  struct axis {
    enum class kind { continuous, ordered, unordered } how = kind::continuous;
    double width = 1;
    /// The number of values of an axis that is not continuous.
    std::size_t values = 0;
    std::vector<double> middles; ///< The place of each value of an ordered axis.
    /// For ordered axes, from x values: the logarithms of kernels; the last row is the
    /// prior's.
    std::vector<double> log_masses;
    /// The logarithms of an unordered axis.
    double log_same = 0, log_other = 0, log_prior = 0;
    /// For continuous axes and each point: the logarithm of the norm of its kernel; the
    /// last is the prior's.
    std::vector<double> log_norms;
  };

  void prepare(axis& a, const parameter& p, std::size_t d) const;
  struct coordinate {
    double at = absent;
    std::size_t place = 0; ///< The place of the value, if the axis tells values apart.
  };
  /// Returns the place of x; if x is absent, the number of values.
  [[nodiscard]] static std::size_t place_in(const axis& a, double x);
  [[nodiscard]] double log_kernel(std::size_t d, std::size_t i,
                                  const coordinate& x) const;
  [[nodiscard]] double draw_from(std::size_t d, std::size_t i,
                                 random_stream& random) const;

  const std::vector<parameter>& parameters_;
  std::vector<parzen_point> points_; ///< The last is the prior: absent everywhere.
  std::vector<double> weights_, log_weights_;
  std::vector<std::size_t> places_; ///< The places of each point, axis by axis.
  std::vector<axis> axes_;
};

/// A normal density's mass below x, to within 1e-7, from portable arithmetic alone.
[[nodiscard]] double normal_below(double x);

} // namespace clade
