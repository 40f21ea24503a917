#pragma once

#include "genome/base/random.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace clade {

/// A symmetric n x n matrix A = V diag(values) V^T; vectors are the columns of V. Rows
/// one behind the other.
struct eigen_decomposition {
  std::vector<double> values;
  std::vector<double> vectors;
};

/// Jacobi's method, by rows: exact to rounding, O(n^3) a sweep and 6 to 10 of them, in
/// additions, multiplications, divisions and square roots alone, which every machine
/// rounds alike.
[[nodiscard]] eigen_decomposition decompose(std::vector<double> matrix, std::size_t n);

/// The normal distribution that CMA-ES draws from, N(mean, sigma^2 C), in the unit cube,
/// and how it follows what was good (Hansen, "The CMA Evolution Strategy: A Tutorial",
/// arXiv 1604.00772, 2016; figure 6, with positive weights alone). All draws and updates
/// are the same on every machine.
class gaussian {
public:
  gaussian() = default;
  /// C is the unit matrix.
  gaussian(std::vector<double> mean, double sigma);

  /// A point; what leaves the cube is mirrored at its wall.
  [[nodiscard]] std::vector<double> draw(random_stream& random) const;

  /// Moves to the better half of `drawn` points, of which the best are given, best first;
  /// fewer where others failed. Points that are farther away than those drawn are
  /// (another's, or the draw of a population before) count as nearer ones in their
  /// direction (Hansen, "Injecting external solutions into CMA-ES", 2011). Deviations
  /// stay above `least`, one for each coordinate, and within the cube.
  void follow(const std::vector<std::vector<double>>& points, std::size_t drawn,
              std::span<const double> least);

  [[nodiscard]] std::size_t size() const { return mean_.size(); }
  [[nodiscard]] const std::vector<double>& mean() const { return mean_; }
  /// The standard deviation along that coordinate.
  [[nodiscard]] double deviation(std::size_t i) const;

private:
  struct rates;
  [[nodiscard]] std::vector<double> whitened(const std::vector<double>& step) const;
  [[nodiscard]] std::vector<double> step_to(const std::vector<double>& point) const;
  void adapt_covariance(const rates& r, const std::vector<std::vector<double>>& steps,
                        const std::vector<double>& mean_step, bool steady);
  void keep_within(std::span<const double> least);

  std::vector<double> mean_;
  double sigma_ = 0;
  std::vector<double> covariance_;
  /// Evolution paths: of C, and of sigma.
  std::vector<double> path_, whitened_path_;
  /// C = axes diag(lengths^2) axes^T.
  std::vector<double> axes_, lengths_;
  std::uint64_t follows_ = 0;
};

} // namespace clade
