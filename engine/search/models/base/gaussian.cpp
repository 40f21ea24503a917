// With n coordinates, lambda drawn, mu = lambda / 2 or as many as did not fail, weights
// w_i ~ ln((lambda + 1) / 2) - ln i of sum 1, mu_w = 1 / sum w_i^2, y_i = (x_i - m) /
// sigma and y_w = sum w_i y_i:
//
//   m      <- m + sigma y_w
//   p_s    <- (1 - c_s) p_s + sqrt(c_s (2 - c_s) mu_w) C^(-1/2) y_w
//   h       = |p_s| is not far beyond what it is by chance
//   p_c    <- (1 - c_c) p_c + h sqrt(c_c (2 - c_c) mu_w) y_w
//   C      <- (1 - c_1 - c_mu + (1 - h) c_1 c_c (2 - c_c)) C + c_1 p_c p_c^T
//             + c_mu sum w_i y_i y_i^T
//   sigma  <- sigma exp((c_s / d_s) (|p_s| / E|N(0, I)| - 1))
//
// The rates are the tutorial's defaults.
#include "engine/search/models/base/gaussian.hpp"

#include "genome/base/portable_math.hpp"

#include <algorithm>
#include <cmath>

namespace clade {

namespace {

constexpr int most_sweeps = 30;
constexpr double tiny = 1e-20;

double square(double v) {
  return v * v;
}

double norm(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v)
    sum += x * x;
  return std::sqrt(sum);
}

/// Returns the length of a normal vector of n, on average.
double usual_norm(double n) {
  return std::sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));
}

/// At walls at 0 and 1, as often as it takes.
double mirrored(double x) {
  const double folded = std::fabs(x) - 2 * std::floor(std::fabs(x) / 2);
  return folded > 1 ? 2 - folded : folded;
}

/// Makes a(p, q) zero by a rotation of rows and columns p and q.
void rotate(std::vector<double>& a, std::vector<double>& v, std::size_t n, std::size_t p,
            std::size_t q) {
  const double theta = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
  const double t =
      (theta < 0 ? -1 : 1) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
  const double c = 1 / std::sqrt(t * t + 1), s = t * c;
  for (std::size_t k = 0; k < n; ++k) {
    const double kp = a[k * n + p], kq = a[k * n + q];
    a[k * n + p] = c * kp - s * kq;
    a[k * n + q] = s * kp + c * kq;
  }
  for (std::size_t k = 0; k < n; ++k) {
    const double pk = a[p * n + k], qk = a[q * n + k];
    a[p * n + k] = c * pk - s * qk;
    a[q * n + k] = s * pk + c * qk;
    const double vp = v[k * n + p], vq = v[k * n + q];
    v[k * n + p] = c * vp - s * vq;
    v[k * n + q] = s * vp + c * vq;
  }
}

} // namespace

eigen_decomposition decompose(std::vector<double> a, std::size_t n) {
  std::vector<double> v(n * n, 0);
  for (std::size_t i = 0; i < n; ++i)
    v[i * n + i] = 1;
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    double off = 0, all = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        (i == j ? all : off) += square(a[i * n + j]);
    if (off <= 1e-30 * all)
      break;
    for (std::size_t p = 0; p + 1 < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q)
        if (a[p * n + q] != 0)
          rotate(a, v, n, p, q);
  }
  eigen_decomposition found{.values = std::vector<double>(n), .vectors = std::move(v)};
  for (std::size_t i = 0; i < n; ++i)
    found.values[i] = a[i * n + i];
  return found;
}

struct gaussian::rates {
  std::vector<double> weights;
  double mass = 0; ///< mu_w
  double path = 0, whitened_path = 0, damping = 0, one = 0, many = 0;

  rates(std::size_t coordinates, std::size_t drawn, std::size_t points) {
    const auto n = static_cast<double>(coordinates);
    const std::size_t better = std::max<std::size_t>(drawn / 2, 1);
    const double half = portable_log((static_cast<double>(drawn) + 1) / 2);
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < std::min(better, points); ++i) {
      weights.push_back(std::max(half - portable_log(static_cast<double>(i) + 1), tiny));
      sum += weights.back();
    }
    for (double& w : weights)
      squares += square(w /= sum);
    mass = 1 / squares;
    path = (4 + mass / n) / (n + 4 + 2 * mass / n);
    whitened_path = (mass + 2) / (n + mass + 5);
    damping = 1 + 2 * std::max(0.0, std::sqrt(std::max(0.0, mass - 1) / (n + 1)) - 1)
              + whitened_path;
    one = 2 / (square(n + 1.3) + mass);
    many = std::min(1 - one, 2 * (mass - 2 + 1 / mass) / (square(n + 2) + mass));
  }
};

gaussian::gaussian(std::vector<double> mean, double sigma)
    : mean_(std::move(mean)),
      sigma_(sigma),
      covariance_(size() * size(), 0),
      path_(size(), 0),
      whitened_path_(size(), 0),
      axes_(size() * size(), 0),
      lengths_(size(), 1) {
  for (std::size_t i = 0; i < size(); ++i)
    covariance_[i * size() + i] = axes_[i * size() + i] = 1;
}

std::vector<double> gaussian::draw(random_stream& random) const {
  const auto n = size();
  auto point = mean_;
  for (std::size_t j = 0; j < n; ++j) {
    const double along = sigma_ * lengths_[j] * random.normal();
    for (std::size_t i = 0; i < n; ++i)
      point[i] += axes_[i * n + j] * along;
  }
  std::ranges::transform(point, point.begin(), mirrored);
  return point;
}

double gaussian::deviation(std::size_t i) const {
  return sigma_ * std::sqrt(covariance_[i * size() + i]);
}

/// C^(-1/2) step
std::vector<double> gaussian::whitened(const std::vector<double>& step) const {
  const auto n = size();
  std::vector<double> out(n, 0);
  for (std::size_t j = 0; j < n; ++j) {
    double along = 0;
    for (std::size_t i = 0; i < n; ++i)
      along += axes_[i * n + j] * step[i];
    for (std::size_t i = 0; i < n; ++i)
      out[i] += axes_[i * n + j] * along / lengths_[j];
  }
  return out;
}

std::vector<double> gaussian::step_to(const std::vector<double>& point) const {
  std::vector<double> step(size());
  for (std::size_t i = 0; i < size(); ++i)
    step[i] = (point[i] - mean_[i]) / sigma_;
  const auto n = static_cast<double>(size());
  const double most = std::sqrt(n) + 2 * n / (n + 2);
  if (const double length = norm(whitened(step)); length > most)
    for (double& s : step)
      s *= most / length;
  return step;
}

void gaussian::adapt_covariance(const rates& r,
                                const std::vector<std::vector<double>>& steps,
                                const std::vector<double>& mean_step, bool steady) {
  const auto n = size();
  const double gain = std::sqrt(r.path * (2 - r.path) * r.mass);
  for (std::size_t i = 0; i < n; ++i)
    path_[i] = (1 - r.path) * path_[i] + (steady ? gain * mean_step[i] : 0);
  const double kept = 1 - r.one - r.many + (steady ? 0 : r.one * r.path * (2 - r.path));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double spread = 0;
      for (std::size_t k = 0; k < steps.size(); ++k)
        spread += r.weights[k] * steps[k][i] * steps[k][j];
      auto& c = covariance_[i * n + j];
      c = kept * c + r.one * path_[i] * path_[j] + r.many * spread;
      covariance_[j * n + i] = c;
    }
}

// A coordinate is scaled with its row and column of C, which leaves C as definite as it
// was and all correlations alike.
void gaussian::keep_within(std::span<const double> least) {
  const auto n = size();
  double widest = 0;
  for (std::size_t i = 0; i < n; ++i)
    widest = std::max(widest, deviation(i));
  if (widest > 1)
    sigma_ /= widest;
  for (std::size_t i = 0; i < n; ++i)
    if (const double now = deviation(i); now < least[i]) {
      const double by = least[i] / std::max(now, tiny);
      path_[i] *= by;
      for (std::size_t j = 0; j < n; ++j) {
        covariance_[i * n + j] *= by;
        covariance_[j * n + i] *= by;
      }
    }
  // The scale that one of the two loses goes to the other: numbers stay in the middle.
  double mean_variance = 0;
  for (std::size_t i = 0; i < n; ++i)
    mean_variance += covariance_[i * n + i] / static_cast<double>(n);
  const double scale = std::sqrt(mean_variance);
  sigma_ *= scale;
  for (double& c : covariance_)
    c /= mean_variance;
  for (double& p : path_)
    p /= scale;
  auto found = decompose(covariance_, n);
  axes_ = std::move(found.vectors);
  for (std::size_t i = 0; i < n; ++i)
    lengths_[i] = std::sqrt(std::max(found.values[i], tiny));
}

void gaussian::follow(const std::vector<std::vector<double>>& points, std::size_t drawn,
                      std::span<const double> least) {
  if (points.empty() || size() == 0)
    return;
  const rates r(size(), drawn, points.size());
  const auto n = static_cast<double>(size());
  std::vector<std::vector<double>> steps;
  std::vector<double> mean_step(size(), 0);
  for (std::size_t k = 0; k < r.weights.size(); ++k) {
    steps.push_back(step_to(points[k]));
    for (std::size_t i = 0; i < size(); ++i)
      mean_step[i] += r.weights[k] * steps[k][i];
  }
  const auto white = whitened(mean_step);
  const double gain = std::sqrt(r.whitened_path * (2 - r.whitened_path) * r.mass);
  for (std::size_t i = 0; i < size(); ++i) {
    mean_[i] = std::clamp(mean_[i] + sigma_ * mean_step[i], 0.0, 1.0);
    whitened_path_[i] = (1 - r.whitened_path) * whitened_path_[i] + gain * white[i];
  }
  ++follows_;
  const double begun = 1
                       - portable_exp(2 * static_cast<double>(follows_)
                                      * portable_log(1 - r.whitened_path));
  const double length = norm(whitened_path_);
  const bool steady = length / std::sqrt(begun) < (1.4 + 2 / (n + 1)) * usual_norm(n);
  adapt_covariance(r, steps, mean_step, steady);
  sigma_ *= portable_exp(
      std::min(1.0, r.whitened_path / r.damping * (length / usual_norm(n) - 1)));
  keep_within(least);
}

} // namespace clade
