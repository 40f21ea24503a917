#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace clade {

/// Exponential smoothing with additive errors (Hyndman, Koehler, Ord and Snyder, 2008): a
/// level, with or without a damped trend and a season, of the values or of their
/// logarithms.
struct smoothing_model {
  bool trend = false, seasonal = false, logarithm = false;
  double level_weight = 0.5, trend_weight = 0.1, season_weight = 0.1, damping = 0.9;
  std::size_t season = 1; ///< Steps.

  friend bool operator==(const smoothing_model&, const smoothing_model&) = default;
};

/// The state of a model behind a value.
class smoothing_state {
public:
  /// Begins with the first values; `of` is kept by reference.
  smoothing_state(const smoothing_model& of, std::span<const double> values);

  /// Takes the value of the next step.
  void add(double value);
  /// The forecast of the value so many steps ahead, from 1 on.
  [[nodiscard]] double ahead(std::size_t steps) const;
  [[nodiscard]] double level() const;

private:
  [[nodiscard]] std::size_t phase(std::size_t steps) const;

  const smoothing_model& of_;
  double level_ = 0, trend_ = 0;
  std::vector<double> season_;
  std::size_t next_ = 0; ///< The phase of the next step.
};

/// Chooses the form by Akaike's criterion of one-step errors and weights that make their
/// squares least, on a grid. `values` have no blanks and are two at least.
[[nodiscard]] smoothing_model fit_smoothing(std::span<const double> values,
                                            std::size_t season);

} // namespace clade
