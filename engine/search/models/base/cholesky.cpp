#include "engine/search/models/base/cholesky.hpp"

#include "genome/base/portable_math.hpp"

#include <cmath>
#include <utility>

namespace clade {

namespace {

constexpr double least_pivot = 1e-10;

std::size_t row_begin(std::size_t i) {
  return i * (i + 1) / 2;
}

} // namespace

double dot(const double* a, const double* b, std::size_t n) {
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    s0 += a[i] * b[i];
    s1 += a[i + 1] * b[i + 1];
    s2 += a[i + 2] * b[i + 2];
    s3 += a[i + 3] * b[i + 3];
  }
  for (; i < n; ++i)
    s0 += a[i] * b[i];
  return (s0 + s1) + (s2 + s3);
}

cholesky::cholesky(std::vector<double> lower_triangle, std::size_t n)
    : lower_(std::move(lower_triangle)),
      size_(n) {
  for (std::size_t i = 0; i < n; ++i) {
    double* row = lower_.data() + row_begin(i);
    for (std::size_t j = 0; j < i; ++j) {
      const double* other = lower_.data() + row_begin(j);
      row[j] = (row[j] - dot(row, other, j)) / other[j];
    }
    const double pivot = row[i] - dot(row, row, i);
    if (!(pivot > least_pivot))
      return;
    row[i] = std::sqrt(pivot);
  }
  valid_ = true;
}

double cholesky::log_determinant() const {
  double sum = 0;
  for (std::size_t i = 0; i < size_; ++i)
    sum += 2 * portable_log(lower_[row_begin(i) + i]);
  return sum;
}

void cholesky::forward(std::vector<double>& b) const {
  for (std::size_t i = 0; i < size_; ++i) {
    const double* row = lower_.data() + row_begin(i);
    b[i] = (b[i] - dot(row, b.data(), i)) / row[i];
  }
}

void cholesky::backward(std::vector<double>& b) const {
  for (std::size_t i = size_; i-- > 0;) {
    const double* row = lower_.data() + row_begin(i);
    b[i] /= row[i];
    for (std::size_t j = 0; j < i; ++j)
      b[j] -= row[j] * b[i];
  }
}

bool cholesky::append(std::vector<double> cross, double diagonal) {
  forward(cross);
  const double pivot = diagonal - dot(cross.data(), cross.data(), size_);
  if (!(pivot > least_pivot))
    return false;
  lower_.insert(lower_.end(), cross.begin(), cross.end());
  lower_.push_back(std::sqrt(pivot));
  ++size_;
  return true;
}

} // namespace clade
