#pragma once

#include "engine/config/experiment/experiment.hpp"
#include "engine/store/run/store.hpp"

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>

namespace clade {

/// A candidate and what became of it.
struct trial {
  clade::candidate candidate;
  std::optional<evaluation> evaluated; ///< None: not yet.
  std::int64_t born_ms = 0;            ///< Since 1970.
  std::int64_t evaluated_ms = 0;
};

/// Visits those of a run that are evaluated, in the order of their evaluation, and then
/// the others. Holds no more than are open at a time.
[[nodiscard]] expected<void>
for_each_trial(const store& s, const std::function<expected<void>(const trial&)>& visit);

/// Returns the experiment that the run was started with.
[[nodiscard]] expected<experiment> read_experiment_of(const store& s,
                                                      const std::filesystem::path& file);

/// All evaluations as comma-separated text (RFC 4180) with names in the first line: the
/// candidate, what became of it, a column for each metric, for each of the test data
/// (empty but for those that met it) and for each hyperparameter, and the network on one
/// line. Times are milliseconds since 1970. Reads the store twice.
[[nodiscard]] expected<void> write_csv(const store& s, const experiment& e,
                                       std::ostream& out);

/// Returns a field as it stands in a CSV.
[[nodiscard]] std::string csv_field(std::string_view text);

/// Returns `csv_field` of a text of others, with an apostrophe before one that a spreadsheet
/// would take for a formula: two characters or more of which the first is "=", "+", "-", "@",
/// a tabulator or a return. Numbers stay numbers.
[[nodiscard]] std::string csv_safe_field(std::string_view text);

} // namespace clade
