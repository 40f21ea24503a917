#pragma once

#include "engine/data/columns/data_params.hpp"
#include "engine/data/forecast/time_grid.hpp"
#include "genome/base/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// One of the series of a table: its values by step.
struct series_history {
  std::vector<std::string> key; ///< Its values of `history::keys`.
  std::int64_t first = 0;       ///< The position of its first value.
  /// By step from `first`; NaN where the table has none. The last is one.
  std::vector<double> values;
  /// By step, the line of the table; 0: there is none.
  std::vector<std::uint64_t> lines;
  /// By column of `history::covariates` and by step, also of steps behind the values; an
  /// empty field where there is none.
  std::vector<std::vector<std::string>> fields;
};

/// A column beside the target that tells of a step.
struct covariate {
  std::string name;
  bool numbers = true; ///< Else categories.
  bool known = false;  ///< It is known for steps that are to be forecast.
};

/// The series that a table holds, row by row: (key, time, value, ...).
struct history {
  std::string target; ///< The name of the values.
  std::string time;   ///< The name of the times; empty: rows are in order of time.
  std::vector<std::string> keys;
  std::vector<covariate> covariates;
  time_grid grid;
  std::int64_t season = 1;            ///< Steps.
  std::vector<series_history> series; ///< In order of appearance.
};

/// Reads a table of series as `params` (`horizon`, `time`, `series`, ...) say. Rows may be
/// in any order of time. Errors have a line for each thing that is wrong: a time that is
/// there twice in a series, that is no time, or lies between two steps; a target that is
/// no number; a series of which most steps are missing.
[[nodiscard]] expected<history>
read_history(std::string_view text, std::string_view origin, const data_params& params);

} // namespace clade
