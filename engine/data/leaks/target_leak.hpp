#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace clade {

/// The values of a column in a sample of rows: numbers (NaN for a blank), or hashes of
/// texts, of which only equality counts.
struct sampled_column {
  bool number = false;
  std::vector<double> numbers;
  std::vector<std::uint64_t> codes;
};

/// How well one column predicts the target in rows that it was not fitted to: every
/// second row is predicted by the others, a text by the rows with the same text, a number
/// by the nearest one. Returns the share of right classes, or the coefficient of
/// determination, where that is suspiciously high: at least 0.99 (0.999 for numbers) and
/// a tenth of the errors of predicting the most frequent class; otherwise nothing.
/// Needs 50 rows.
[[nodiscard]] std::optional<double> gives_away(const sampled_column& feature,
                                               const sampled_column& target);

/// The same of whether a column is blank (`blanks`: codes 0 and 1), for classes: at least
/// 0.95 of them, and a tenth of the errors. Nothing where no field is blank.
[[nodiscard]] std::optional<double> blanks_give_away(const sampled_column& blanks,
                                                     const sampled_column& target);

} // namespace clade
