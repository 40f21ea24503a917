#include "engine/report/view/test_tables.hpp"

#include "engine/report/base/format.hpp"
#include "engine/run/records/cross_validation.hpp"
#include "engine/training/metrics/class_metrics.hpp"
#include "genome/base/text.hpp"
#include "search_spaces/operators/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace clade {

namespace {

constexpr std::string_view test_part = "test.";

/// The metrics that people look at first, beside the objective's.
constexpr std::array usual_metrics{"test.accuracy", "test.balanced_accuracy",
                                   "test.auc",      "test.f1_macro",
                                   "test.rmse",     "test.mae",
                                   "test.r2"};

confusion_counts counts_of(const test_details& t) {
  return {t.classes.size(), t.confusion};
}

/// The class that examples of `actual` are most often wrongly taken for.
std::string most_often_taken_for(const test_details& t, const confusion_counts& c,
                                 std::size_t actual) {
  std::size_t most = actual;
  for (std::size_t j = 0; j < c.classes; ++j)
    if (j != actual && (most == actual || c.at(actual, j) > c.at(actual, most)))
      most = j;
  if (most == actual || c.at(actual, most) == 0)
    return "";
  return fmt::format("{} ({})", t.classes[most], with_commas(c.at(actual, most)));
}

/// Returns the name of the metric by which models were cross-validated; empty: none was.
std::string cross_validated(const model_composed& composed, const std::string& metric) {
  constexpr std::string_view prefix = "validation.";
  if (!metric.starts_with(prefix))
    return "";
  const auto crossed = std::string(cross_validation) + metric.substr(prefix.size());
  const auto has = [&](const ranked_model& m) {
    return find(m.metrics, crossed).has_value();
  };
  return std::ranges::any_of(*composed.models, has) ? crossed : "";
}

} // namespace

table_rows comparison_rows(std::span<const compared> all,
                           const std::string& validation_metric,
                           const std::string& test_metric, bool more) {
  std::vector<std::string> others;
  for (const char* name : usual_metrics)
    if (more && name != test_metric && std::ranges::any_of(all, [&](const compared& c) {
          return find(c.test_metrics, name).has_value();
        }))
      others.emplace_back(name);
  std::vector<std::string> head{"", validation_metric};
  if (!test_metric.empty())
    head.push_back(test_metric);
  head.insert(head.end(), others.begin(), others.end());
  head.emplace_back("parameters");
  table_rows rows{head};
  for (const auto& c : all) {
    std::vector<std::string> row{c.subject + (c.id == 0 ? "" : fmt::format(" #{}", c.id)),
                                 metric_text(c.validation)};
    if (!test_metric.empty())
      row.push_back(metric_text(c.test));
    for (const auto& name : others)
      row.push_back(metric_text(find(c.test_metrics, name)));
    row.push_back(with_commas(c.parameters));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string test_words(const std::shared_ptr<const test_details>& details) {
  if (!details || details->metrics.empty())
    return "";
  std::string text = fmt::format("test data, {} examples: ", with_commas(details->test));
  bool first = true;
  for (const auto& m : details->metrics) {
    text += fmt::format("{}{} {}", first ? "" : ", ", m.name.substr(test_part.size()),
                        metric_text(m.value));
    first = false;
  }
  if (details->reliability)
    text += "; expected calibration error " + metric_text(details->reliability->error);
  if (const auto& e = details->evidence; e && e->interval)
    text += fmt::format("; 95 % interval of {} {} to {} (bootstrap)",
                        e->interval->metric.substr(test_part.size()),
                        metric_text(e->interval->low), metric_text(e->interval->high));
  return text;
}

table_rows model_rows(const std::optional<model_composed>& composed,
                      const std::string& metric, std::size_t most) {
  if (!composed || !composed->models || composed->models->empty())
    return {};
  const auto& all = *composed->models;
  const auto crossed = cross_validated(*composed, metric);
  table_rows rows{{"model", metric, "parameters", "share of the final model"}};
  if (!crossed.empty())
    rows.front().insert(rows.front().begin() + 1, crossed);
  for (const auto& m : std::span(all).first(std::min(most, all.size()))) {
    std::vector<std::string> row{m.subject, metric_text(find(m.metrics, metric)),
                                 with_commas(m.parameters),
                                 m.share > 0 ? metric_text(m.share) : "-"};
    if (!crossed.empty())
      row.insert(row.begin() + 1, metric_text(find(m.metrics, crossed)));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string model_words(const std::optional<model_composed>& composed,
                        const std::string& metric) {
  const auto crossed =
      composed && composed->models ? cross_validated(*composed, metric) : std::string();
  return crossed.empty()
             ? crossed
             : fmt::format(
                 "{} decides: all examples of the train and the validation part "
                 "judge a model, each what was trained without it.",
                 crossed);
}

table_rows column_rows(const std::shared_ptr<const test_details>& details,
                       std::size_t most) {
  if (!details || !details->columns || details->columns->columns.empty())
    return {};
  const auto& all = details->columns->columns;
  table_rows rows{{"column", "worse by", "95 % interval"}};
  for (const auto& c : std::span(all).first(std::min(most, all.size())))
    rows.push_back({c.column, metric_text(c.worse),
                    fmt::format("{} to {}", metric_text(c.low), metric_text(c.high))});
  return rows;
}

std::string column_words(const std::shared_ptr<const test_details>& details) {
  if (column_rows(details, 1).empty())
    return "";
  const auto& c = *details->columns;
  return fmt::format(
      "{} of {} validation examples, if the values of one column are dealt "
      "anew among them ({} times; the mean and its interval). Columns that "
      "say the same stand in for each other.",
      c.metric.substr(c.metric.find('.') + 1), with_commas(c.examples), c.times);
}

table_rows reliability_rows(const std::shared_ptr<const test_details>& details) {
  if (!details || !details->reliability)
    return {};
  table_rows rows{{"probability of the predicted class", "test examples", "right"}};
  for (const auto& b : details->reliability->bins)
    rows.push_back({metric_text(b.said), with_commas(b.examples), metric_text(b.right)});
  return rows;
}

table_rows class_rows(const std::shared_ptr<const test_details>& details,
                      std::size_t most) {
  if (!details || details->confusion.empty())
    return {};
  const auto& t = *details;
  const auto counts = counts_of(t);
  std::vector<std::size_t> order(t.classes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.size() > most) {
    std::ranges::stable_sort(order, {}, [&](std::size_t c) { return f1(counts, c); });
    order.resize(most);
  }
  table_rows rows{
      {"class", "examples", "precision", "recall", "f1", "most often taken for"}};
  for (const auto c : order)
    rows.push_back({t.classes[c], with_commas(counts.actual(c)),
                    metric_text(precision(counts, c)), metric_text(recall(counts, c)),
                    metric_text(f1(counts, c)), most_often_taken_for(t, counts, c)});
  return rows;
}

table_rows confusion_rows(const std::shared_ptr<const test_details>& details,
                          std::size_t most) {
  if (!details || details->confusion.empty() || details->classes.size() > most)
    return {};
  const auto& t = *details;
  const auto counts = counts_of(t);
  table_rows rows{{"actual"}};
  for (const auto& name : t.classes)
    rows.front().push_back(name);
  for (std::size_t i = 0; i < t.classes.size(); ++i) {
    std::vector<std::string> row{t.classes[i]};
    for (std::size_t j = 0; j < t.classes.size(); ++j)
      row.push_back(with_commas(counts.at(i, j)));
    rows.push_back(std::move(row));
  }
  return rows;
}

namespace {

/// The error that this share of examples stays within.
std::string error_within(double share, const std::vector<double>& ascending) {
  const auto at =
      static_cast<std::size_t>(std::ceil(share * static_cast<double>(ascending.size())));
  return metric_text(ascending[std::max<std::size_t>(at, 1) - 1]);
}

} // namespace

table_rows error_rows(const std::shared_ptr<const test_details>& details) {
  if (!details || details->validation_errors.values.empty())
    return {};
  const auto& values = details->validation_errors.values;
  table_rows rows{{"share of validation examples", "error at most"}};
  for (const double share : {0.5, 0.8, 0.9, 0.95, 0.99, 1.0}) {
    char text[16];
    std::snprintf(text, sizeof text, "%.0f %%", share * 100);
    rows.push_back({text, error_within(share, values)});
  }
  return rows;
}

table_rows ahead_rows(const std::shared_ptr<const test_details>& details,
                      std::size_t most) {
  if (!details || !details->validation_errors.ahead)
    return {};
  table_rows rows{{"steps ahead", "half within", "90 % within", "largest error"}};
  std::uint32_t first = 1;
  const auto& groups = *details->validation_errors.ahead;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto& group = groups[i];
    const auto before = std::exchange(first, group.last + 1);
    if (group.values.empty()
        || (i + 1) * most / groups.size() == i * most / groups.size())
      continue;
    rows.push_back({before == group.last ? std::to_string(before)
                                         : fmt::format("{} to {}", before, group.last),
                    error_within(0.5, group.values), error_within(0.9, group.values),
                    error_within(1, group.values)});
  }
  return rows;
}

table_rows wrong_rows(const std::shared_ptr<const test_details>& details,
                      std::size_t most) {
  if (!details || !details->evidence)
    return {};
  const auto& e = *details->evidence;
  const bool files = !e.classes.empty() && e.classes.front().file;
  const auto where = fmt::format("most wrong, {}", files       ? "file"
                                                   : e.by_line ? "line"
                                                               : "index");
  table_rows rows;
  if (!e.classes.empty())
    rows.push_back({where, "actual", "predicted", "P(predicted)", "P(actual)"});
  for (const auto& m : std::span(e.classes).first(std::min(most, e.classes.size())))
    rows.push_back({m.file.value_or(std::to_string(m.place)), m.actual, m.predicted,
                    metric_text(m.predicted_probability),
                    metric_text(m.actual_probability)});
  if (!e.values.empty())
    rows.push_back({where, "actual", "predicted", "off by"});
  for (const auto& m : std::span(e.values).first(std::min(most, e.values.size())))
    rows.push_back({std::to_string(m.place), metric_text(m.actual),
                    metric_text(m.predicted), metric_text(m.predicted - m.actual)});
  return rows;
}

} // namespace clade
