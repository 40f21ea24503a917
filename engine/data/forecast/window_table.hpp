#pragma once

#include "engine/data/columns/data_params.hpp"
#include "engine/data/columns/forecast_steps.hpp"
#include "engine/data/forecast/history.hpp"
#include "genome/base/error.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

// Forecasting as regression on windows: a row is a step that is to be forecast from an
// origin, so many steps before it. Its columns are what is known at the origin (the last
// values, means, the seasonal naive forecast, ...) and of the step (calendar, known
// columns), and its target is the value. All values count from the forecast of exponential
// smoothing, so that to predict 0 is that forecast, and in units of the mean absolute error
// that the seasonal naive forecast, the last value of the same season, had in the steps
// before the origin. So the mean absolute error of predictions is a mean absolute scaled
// error (MASE; Hyndman and Koehler, 2006, who scale by all steps before), one network
// learns from series of any size, and quiet times count as much as others.

/// Turns a prediction for a window into the forecast: offset + scale * prediction.
struct forecast_row {
  std::vector<std::string> labels; ///< The key of its series, and the step's time.
  std::uint32_t ahead = 0;         ///< How many steps it is after the origin, from 1.
  double offset = 0, scale = 1;
};

/// The forecasts, or the series, that rows stand for.
struct forecast_rows {
  std::vector<std::string> names; ///< The names of the labels.
  std::vector<forecast_row> rows;
};

/// The part that a window belongs to.
enum class window_part : std::uint8_t { train, validation, test };

/// Windows as the text of a CSV with names.
struct window_table {
  std::string text;
  std::vector<column_choice> kinds; ///< Kinds of columns that are no numbers.
  std::size_t inputs = 0;           ///< Columns but the target.
  std::vector<std::string> names;   ///< The names of `forecast_row::labels`.
  std::vector<forecast_row> rows{};
  /// By row, where steps are held back, what they are as targets; NaN is a gap.
  std::vector<double> held{};
  /// By window for training, which ends before validation, and that before the test; and
  /// the line that has its value.
  std::vector<window_part> parts{};
  std::vector<std::uint64_t> lines{};
  forecast_steps steps{}; ///< By window for training.
  /// The series that are too short to be of use.
  std::uint64_t too_short = 0;
  /// The MASE on the test part of the seasonal naive forecast and of exponential smoothing.
  double naive_error = 0, smoothing_error = 0;
};

/// The column that holds the targets of windows.
inline constexpr std::string_view window_target = "value";

/// Windows of all series to train on and to judge by. Parts are cut out of each series by
/// the shares of `params`, at least one horizon for validation and for the test; windows of
/// one part have all their steps in it. Scale and smoothing of a series are fitted on its
/// training part. An error if all series are too short.
[[nodiscard]] expected<window_table> training_windows(const history& from,
                                                      const data_params& params);

/// How the text of windows is read.
[[nodiscard]] data_params params_of(const window_table& windows);

/// The windows of the steps that follow each series; with `hold_back`, of the last ones.
/// `learnt` are the columns that the model knows.
[[nodiscard]] expected<window_table> new_windows(const history& from,
                                                 const data_params& params,
                                                 std::span<const std::string> learnt);

} // namespace clade
