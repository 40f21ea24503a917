#include "engine/export/rows/predictions.hpp"

#include "engine/export/rows/run_history.hpp"
#include "genome/base/text.hpp"
#include "genome/genes/genome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace clade {

namespace {

template<class Number>
std::string shortest(Number v) {
  std::array<char, 32> digits{};
  return {digits.data(),
          std::to_chars(digits.data(), digits.data() + digits.size(), v).ptr};
}

std::string class_row(std::span<const float> scores, const preprocessing& how,
                      const prediction_format& format) {
  const auto most = likeliest(scores);
  const auto& name = how.classes[most];
  std::string row = format.as_is ? csv_field(name) : csv_safe_field(name);
  if (!format.probabilities)
    return row + "\n";
  std::vector<double> parts;
  double sum = 0;
  for (const float s : scores)
    sum += parts.emplace_back(std::exp(static_cast<double>(s) - scores[most]));
  for (const double p : parts)
    row += "," + shortest(static_cast<float>(p / sum));
  return row + "\n";
}

/// The start of each line: the example's file, if it is one, or its series, with the time of
/// a forecast.
class line_starts {
public:
  line_starts(const new_examples& examples, const prediction_format& format)
      : examples_(examples),
        as_is_(format.as_is) {}

  [[nodiscard]] std::string title() const {
    if (!examples_.names.empty())
      return "file,";
    return fields(examples_.forecasts.names);
  }
  [[nodiscard]] std::string of(std::size_t example) const {
    if (!examples_.names.empty())
      return field(examples_.names[example]) + ",";
    return examples_.forecasts.rows.empty()
               ? std::string()
               : fields(examples_.forecasts.rows[example].labels);
  }

private:
  [[nodiscard]] std::string field(const std::string& text) const {
    return as_is_ ? csv_field(text) : csv_safe_field(text);
  }
  [[nodiscard]] std::string fields(std::span<const std::string> texts) const {
    std::string all;
    for (const auto& text : texts)
      all += field(text) + ",";
    return all;
  }

  const new_examples& examples_;
  bool as_is_;
};

std::string classes_csv(std::span<const float> outputs, const preprocessing& how,
                        const prediction_format& format, const line_starts& starts) {
  std::string text = starts.title() + "class";
  for (const auto& name : how.classes)
    if (format.probabilities)
      text += "," + csv_field(fmt::format("p({})", name));
  text += "\n";
  const auto width = how.classes.size();
  for (std::size_t i = 0; i < outputs.size(); i += width)
    text += starts.of(i / width) + class_row(outputs.subspan(i, width), how, format);
  return text;
}

} // namespace

expected<interval_rule> intervals_of(const error_quantiles& errors, double level) {
  auto examples = errors.examples;
  bool reaches = errors.reach(level).has_value();
  if (errors.targets) {
    reaches = true;
    for (std::size_t t = 0; t < errors.targets->size(); ++t) {
      reaches = reaches && errors.reach_of_target(level, t);
      examples = (*errors.targets)[t].examples;
    }
  }
  if (reaches)
    return interval_rule{errors, level};
  const auto n = static_cast<double>(examples);
  return fail(
      error_kind::invalid_input,
      fmt::format("intervals of {} take more than the {} validation examples that "
                  "the network was judged by; at most {} can be",
                  to_text(value{level}), examples,
                  to_text(value{std::floor(n / (n + 1) * 1000) / 1000})));
}

std::size_t likeliest(std::span<const float> scores) {
  return static_cast<std::size_t>(std::ranges::max_element(scores) - scores.begin());
}

double decoded(float output, const preprocessing& how, std::size_t place) {
  const std::size_t scales = how.target_scales.size();
  return how.task.decoded(output, how.target_scales[place % scales]);
}

namespace {

bool is_finite(std::span<const float> row, const preprocessing& how) {
  for (std::size_t i = 0; i < row.size(); ++i)
    if (!std::isfinite(decoded(row[i], how, i)))
      return false;
  return true;
}

} // namespace

void order_quantiles(std::span<float> outputs, const preprocessing& how) {
  if (!how.task.has_quantiles())
    return;
  const auto width = how.classes.size();
  for (std::size_t i = 0; i + width <= outputs.size(); i += width)
    std::ranges::sort(outputs.subspan(i, width));
}

expected<void> check_finite(std::span<const float> outputs, const preprocessing& how,
                            const new_examples& examples, const std::string& data) {
  const auto width = static_cast<std::size_t>(how.task.outputs(how.classes.size()));
  std::size_t first = 0, wrong = 0;
  for (std::size_t row = 0; row < outputs.size() / width; ++row)
    if (!is_finite(outputs.subspan(row * width, width), how) && wrong++ == 0)
      first = row;
  if (wrong == 0)
    return {};
  const auto place = first < examples.lines.size()
                         ? fmt::format("{}:{}", data, examples.lines[first])
                         : fmt::format("{}: example {}", data, first + 1);
  const auto count = outputs.size() / width;
  return fail_in(
      place, {error_kind::invalid_input,
              "what the network computes of this row is not a finite number; "
                  + (wrong == count
                         ? fmt::format("so it is for all {} rows: is this the data, or "
                                       "the model, that is meant?",
                                       count)
                         : fmt::format("of {} rows this holds for {}: correct values "
                                       "that are far too large, or leave those rows out",
                                       count, wrong))});
}

namespace {

double probability_of(float log_odds) {
  return 1 / (1 + std::exp(-static_cast<double>(log_odds)));
}

/// A column for each of several targets, labels or quantiles; behind a number the ends of its
/// interval, behind all labels their probabilities.
std::string several_csv(std::span<const float> outputs, const preprocessing& how,
                        const prediction_format& format, const line_starts& starts) {
  const bool labels = how.task.has_labels();
  const std::size_t width = how.classes.size();
  const auto prefix =
      how.task.has_quantiles() && !how.target.empty() ? how.target + "_" : "";
  std::vector<std::string> fields;
  const auto add_name = [&](const std::string& name) {
    fields.push_back(format.as_is ? csv_field(name) : csv_safe_field(name));
  };
  for (const auto& name : how.classes) {
    add_name(prefix + name);
    if (format.intervals) {
      add_name(name + "_low");
      add_name(name + "_high");
    }
  }
  if (labels && format.probabilities)
    for (const auto& name : how.classes)
      fields.push_back(csv_field(fmt::format("p({})", name)));
  std::string text = starts.title() + joined(fields, ",") + "\n";
  for (std::size_t i = 0; i < outputs.size(); i += width) {
    const auto row = outputs.subspan(i, width);
    fields.clear();
    for (std::size_t k = 0; k < width; ++k) {
      const double v = decoded(row[k], how, k);
      fields.push_back(labels ? (row[k] >= 0 ? "1" : "0") : shortest(v));
      if (format.intervals) {
        const double reach = format.intervals->reach_of_target(k);
        fields.push_back(shortest(v - reach));
        fields.push_back(shortest(v + reach));
      }
    }
    if (labels && format.probabilities)
      for (const float log_odds : row)
        fields.push_back(shortest(static_cast<float>(probability_of(log_odds))));
    text += starts.of(i / width) + joined(fields, ",") + "\n";
  }
  return text;
}

} // namespace

std::string predictions_csv(std::span<const float> outputs, const preprocessing& how,
                            const prediction_format& format,
                            const new_examples& examples) {
  const line_starts starts(examples, format);
  if (how.task.has_classes())
    return classes_csv(outputs, how, format, starts);
  if (!how.classes.empty())
    return several_csv(outputs, how, format, starts);
  const auto name = how.target.empty() ? std::string("value") : how.target;
  const auto title = [&](const std::string& text) {
    return format.as_is ? csv_field(text) : csv_safe_field(text);
  };
  std::string text = starts.title() + title(name);
  if (format.intervals)
    text += fmt::format(",{},{}", title(name + "_low"), title(name + "_high"));
  text += "\n";
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& rows = examples.forecasts.rows;
    const auto row = rows.empty() ? forecast_row() : rows[i];
    const auto in_unit = [&](double v) { return shortest(row.offset + row.scale * v); };
    const double v = decoded(outputs[i], how);
    text += starts.of(i) + in_unit(v);
    if (format.intervals) {
      const double reach = format.intervals->reach(row.ahead);
      text += fmt::format(",{},{}", in_unit(v - reach), in_unit(v + reach));
    }
    text += "\n";
  }
  return text;
}

} // namespace clade
