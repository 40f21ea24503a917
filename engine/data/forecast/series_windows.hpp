#pragma once

#include "engine/data/columns/data_params.hpp"
#include "engine/data/converted/table_text.hpp"
#include "engine/data/forecast/history.hpp"
#include "engine/data/forecast/smoothing.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace clade {

/// The columns of windows, the same for all series of a table.
struct window_columns {
  std::vector<std::string> names;
  std::vector<column_choice> kinds; ///< Kinds of columns that are no numbers.
  std::vector<bool> keys;           ///< By column of keys, whether it is one.
  bool month = false;               ///< Whether there is one of months.
};

/// Windows to learn from have a column for each key of which there are several values, and not
/// too many, and one of months only if they have seen all of them: a month that comes for the
/// first time would be answered by chance. Windows for a model have those of `learnt`, the
/// columns that it knows; empty: they are to learn from.
[[nodiscard]] window_columns columns_of_windows(const history& from,
                                                std::span<const std::string> learnt = {});

/// Writes the windows of one series, whose origins rise.
class series_windows {
public:
  /// The first `fitted` steps decide the scale as far as no window does. The smoothing is
  /// not fitted yet: refit comes before all else.
  series_windows(const history& from, const series_history& series,
                 const window_columns& columns, std::size_t fitted);
  series_windows(const series_windows&) = delete;
  series_windows& operator=(const series_windows&) = delete;

  /// Fits the smoothing, anew if it was, to so many of the first steps, two at least.
  void refit(std::size_t fitted);
  /// Moves the origin to this step, which counts from 0 and is not before the last one.
  void move_to(std::size_t origin);
  /// Writes the fields of the window that is so many steps ahead of the origin, without a
  /// target.
  void write(std::size_t ahead, table_text& out) const;

  /// The value that others count from, the forecast of exponential smoothing; where that
  /// is no number, the seasonal naive one.
  [[nodiscard]] double offset(std::size_t ahead) const;
  /// Their unit, the mean absolute error of the seasonal naive forecast in the last steps
  /// before the origin, from a quarter to four times of that in the fitted ones.
  [[nodiscard]] double scale() const;
  /// The seasonal naive forecast, counted so.
  [[nodiscard]] double naive(std::size_t ahead) const;

private:
  /// A covariate as it was known at each step.
  struct covariate_steps {
    std::vector<std::size_t> last;   ///< By step, the last one that has a value, or 0.
    std::vector<double> sums;        ///< By step, the sum of the numbers before it.
    std::vector<std::size_t> counts; ///< By step, how many there are before it.
    double scale = 1;                ///< The unit of its changes.
  };

  [[nodiscard]] double value(std::size_t step) const { return filled_[step]; }
  [[nodiscard]] double back(std::size_t steps) const;
  [[nodiscard]] std::size_t season_before(std::size_t ahead) const;
  [[nodiscard]] double mean(std::size_t from, std::size_t steps) const;
  void write_lags(std::size_t ahead, table_text& out) const;
  void write_covariates(std::size_t ahead, table_text& out) const;

  const history& from_;
  const series_history& series_;
  const window_columns& columns_;
  std::size_t season_ = 1;
  std::vector<double> filled_; ///< By step, without gaps.
  std::vector<double> sums_;   ///< By step, the sum of those before.
  std::vector<double> errors_; ///< By step, the sum of naive errors before it.
  std::vector<covariate_steps> covariates_;
  double scale_ = 1;
  smoothing_model model_;
  std::optional<smoothing_state> state_;
  std::size_t taken_ = 0; ///< How many steps the state has seen.
  std::size_t origin_ = 0;
};

} // namespace clade
