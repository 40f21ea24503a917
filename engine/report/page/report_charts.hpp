#pragma once

#include "engine/report/page/run_report.hpp"
#include "engine/run/records/test_details.hpp"

#include <string>

namespace clade {

/// The charts of a report as SVG with their legends; empty where there is nothing to
/// draw.

/// Best so far, median and quartiles by generation.
[[nodiscard]] std::string fitness_chart(const run_report& story);

/// A metric by epochs, a line for each of its parts: "train.loss", "validation.loss".
[[nodiscard]] std::string learning_charts(const std::vector<epoch>& curve);

/// Fitness by size of all candidates, with those that none of their size beats.
[[nodiscard]] std::string size_chart(const run_report& story);

/// Returns a chart of a regression's predictions for test examples against the true
/// values, with the line on which both are equal.
[[nodiscard]] std::string predictions_chart(const test_details& details);

/// Returns how often a classifier was right on the test part where it was so sure.
[[nodiscard]] std::string reliability_chart(const test_details& details);

/// A row for each slot, dark where it worked; at most `most_rows`.
[[nodiscard]] std::string slots_chart(const run_report& story);
inline constexpr std::size_t most_rows = 48;

/// A bar from the middle to the right where `value` is for the better, else to the left.
[[nodiscard]] std::string change_bar(double value, double largest, bool better);

} // namespace clade
