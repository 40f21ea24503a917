#pragma once

#include "engine/data/columns/examples.hpp"
#include "engine/data/forecast/long_table.hpp"
#include "engine/data/formats/series_set.hpp"
#include "engine/data/reading/preprocessing.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace clade {

/// The lengths of series, and their gaps.
struct series_lengths {
  std::size_t shortest = 0, longest = 0; ///< Each by its longest channel.
  std::size_t mean = 0;                  ///< The mean over all channels, rounded up.
  std::size_t steps = 0;                 ///< The length that all of them get.
  std::uint64_t gaps = 0;
};

/// Returns them. All series get the length of the longest, but no more than eight times
/// the mean, so that memory is bounded by the file, and no more than 16,384 steps or than
/// an example has room for.
[[nodiscard]] series_lengths lengths_of(const series_set& set);

/// Fills gaps on a straight line between the values around them; before the first value
/// and behind the last one by that. A channel of gaps alone stays so.
void fill_gaps(std::span<double> values);

/// Returns values that stand for the same time in so many steps: shorter ones are
/// stretched on straight lines between them, of longer ones each step has the mean of its
/// share. There is a value at least.
[[nodiscard]] std::vector<double> resized(std::span<const double> values,
                                          std::size_t steps);

/// Makes examples of [steps, channels] of series and their targets. `params.shape` says
/// the number of steps, if it is not empty; the errors are those of targets, and of
/// channels that are not as many as the shape has.
[[nodiscard]] expected<examples> series_examples(const series_set& set,
                                                 std::string_view origin,
                                                 const data_params& params);

/// Makes rows of the shape of the training data, with the targets that the file has.
[[nodiscard]] expected<raw_rows>
new_series(const series_set& set, std::string_view origin, const preprocessing& how);

/// Makes the same of the series of a table.
[[nodiscard]] expected<examples> series_examples(const long_table& table,
                                                 std::string_view origin,
                                                 const data_params& params);
[[nodiscard]] expected<raw_rows>
new_series(const long_table& table, std::string_view origin, const preprocessing& how);

} // namespace clade
