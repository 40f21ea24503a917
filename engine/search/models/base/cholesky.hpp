#pragma once

#include <cstddef>
#include <vector>

namespace clade {

/// The factor L of a symmetric, positive definite matrix A = L L', lower triangle, row
/// after row. Sums are taken in a fixed order, so that every machine gets the same bits.
class cholesky {
public:
  /// From A's lower triangle, n (n + 1) / 2 numbers. `valid` is false where A is not
  /// positive definite, and nothing else may be called then.
  cholesky() = default;
  cholesky(std::vector<double> lower_triangle, std::size_t n);

  [[nodiscard]] bool valid() const { return valid_; }
  [[nodiscard]] std::size_t size() const { return size_; }

  /// The logarithm of A's determinant.
  [[nodiscard]] double log_determinant() const;

  /// L x = b and L' x = b, in place.
  void forward(std::vector<double>& b) const;
  void backward(std::vector<double>& b) const;

  /// A grows by a row, of which `cross` has what stands before the diagonal. False, and
  /// nothing has changed, where the larger A is not positive definite.
  [[nodiscard]] bool append(std::vector<double> cross, double diagonal);

private:
  std::vector<double> lower_;
  std::size_t size_ = 0;
  bool valid_ = false;
};

/// The sum of products, four sums side by side.
[[nodiscard]] double dot(const double* a, const double* b, std::size_t n);

} // namespace clade
