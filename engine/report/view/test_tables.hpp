#pragma once

#include "engine/report/view/view.hpp"
#include "engine/run/records/test_details.hpp"

#include <span>
#include <string>
#include <vector>

namespace clade {

// The tables about a run's end, for the terminal and the report: rows of cells after
// their titles, not escaped.

using table_rows = std::vector<std::vector<std::string>>;

/// Returns the rows of the models that the champion is compared with, and of the
/// champion, in the order of `all`: the objective's metric on the validation data and,
/// unless `test_metric` is empty, on the test data, then, where `more`, the usual metrics
/// of the task on the test data, and the number of parameters.
[[nodiscard]] table_rows comparison_rows(std::span<const compared> all,
                                         const std::string& validation_metric,
                                         const std::string& test_metric, bool more);

/// "test data, 360 examples: accuracy 0.9722, auc 0.9990, ...; expected calibration error
/// 0.0100; 95 % interval of accuracy 0.9556 to 0.9889 (bootstrap)"; empty without details.
[[nodiscard]] std::string test_words(const std::shared_ptr<const test_details>& details);

/// The single models that the final one was chosen from, at most so many of the best:
/// what `metric` was on the validation part, and before it what it was by
/// cross-validation, where there is such, parameters, and their shares of the final model.
/// Empty where none are known.
[[nodiscard]] table_rows model_rows(const std::optional<model_composed>& composed,
                                    const std::string& metric, std::size_t most);

/// "cross_validation.accuracy decides: ...": how the models were compared; empty where that
/// was on the validation part alone.
[[nodiscard]] std::string model_words(const std::optional<model_composed>& composed,
                                      const std::string& metric);

/// By how much the model is worse without what a column tells, at most so many of the most
/// important: the mean, and its 95 % interval. Empty where nothing is known of columns.
[[nodiscard]] table_rows column_rows(const std::shared_ptr<const test_details>& details,
                                     std::size_t most);

/// "The values of a column are dealt anew among 2,000 examples of the validation part, 10
/// times: ..."; empty where `column_rows` is.
[[nodiscard]] std::string
column_words(const std::shared_ptr<const test_details>& details);

/// How often a classifier was right where it was so sure, on the test part, by tenths of
/// the probability of the predicted class. Empty of numbers.
[[nodiscard]] table_rows
reliability_rows(const std::shared_ptr<const test_details>& details);

/// A row for each class with its test examples, precision, recall, F1 and what it is most
/// often taken for; of more than `most` classes those with the lowest F1. Empty where no
/// confusion is known.
[[nodiscard]] table_rows class_rows(const std::shared_ptr<const test_details>& details,
                                    std::size_t most);

/// Counts: a row for each actual class, a column for each predicted one. Empty for more
/// than `most` classes.
[[nodiscard]] table_rows
confusion_rows(const std::shared_ptr<const test_details>& details, std::size_t most);

/// How far predictions were off on the validation data: shares of its examples, and the
/// error that so many do not exceed. Empty of classes.
[[nodiscard]] table_rows error_rows(const std::shared_ptr<const test_details>& details);

/// How far forecasts were off on the validation data by how many steps they look ahead, as
/// `error_rows` has it; of more than `most` rows some in even steps, and the last. Empty of
/// what is no forecast.
[[nodiscard]] table_rows ahead_rows(const std::shared_ptr<const test_details>& details,
                                    std::size_t most = 12);

/// The examples of the test data that were most wrong, at most so many: where each stands
/// in the file, what it is, what it was taken for and how surely. Empty where none was.
[[nodiscard]] table_rows
wrong_rows(const std::shared_ptr<const test_details>& details,
           std::size_t most = test_evidence::most_wrong_examples);

} // namespace clade
