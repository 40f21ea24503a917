// Everything that is estimated (means, deviations, the largest magnitude) comes from the
// train part alone, so that nothing of the other parts leaks into training. Sums run in
// order of examples, in double. Indicators of categories stay 0 and 1: a rare one, scaled
// to deviation 1, would be a rare and huge input.

#include "engine/data/features.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace clade {
namespace {

// By code, the place of its value in the sorted order of `all`; `all.size()` if it is not
// there.
std::vector<std::size_t> places(const std::vector<std::string>& values,
                                const std::vector<std::string>& all) {
  std::vector<std::size_t> out;
  for (const std::string& v : values) {
    const auto at = std::lower_bound(all.begin(), all.end(), v);
    out.push_back(at != all.end() && *at == v ? static_cast<std::size_t>(at - all.begin())
                                              : all.size());
  }
  return out;
}

// `sorted`: by category of `e`, its values.
expected<void> expand(examples& e, const std::string& known_from,
                      const std::vector<std::vector<std::string>>& sorted) {
  const std::size_t width = e.features.size() / e.count;
  std::vector<std::vector<std::size_t>> place;
  std::size_t added = 0;
  for (std::size_t c = 0; c < e.categories.size(); ++c) {
    place.push_back(places(e.categories[c].values, sorted[c]));
    added += sorted[c].size() - 1;
  }
  std::vector<float> out;
  out.reserve(e.count * (width + added));
  for (std::size_t i = 0; i < e.count; ++i)
    for (std::size_t column = 0, c = 0; column < width; ++column) {
      const float value = e.features[i * width + column];
      if (c == e.categories.size() || e.categories[c].column != column) {
        out.push_back(value);
        continue;
      }
      const auto code = static_cast<std::size_t>(value);
      if (place[c][code] == sorted[c].size())
        return fail(error_kind::invalid_input,
                    e.place(i) + ": " + e.categories[c].name + " is \""
                        + e.categories[c].values[code] + "\", which " + known_from
                        + " does not have there");
      for (std::size_t v = 0; v < sorted[c].size(); ++v)
        out.push_back(v == place[c][code] ? 1.0F : 0.0F);
      ++c;
    }
  e.features = std::move(out);
  e.shape.sizes = {static_cast<std::int64_t>(width + added)};
  return {};
}

} // namespace

expected<std::vector<bool>> expand_categories(examples& e, examples* test) {
  const std::size_t width = e.features.size() / e.count;
  std::vector<bool> indicators;
  if (e.categories.empty())
    return std::vector<bool>(width, false);
  std::vector<std::vector<std::string>> sorted;
  for (const category_column& c : e.categories) {
    sorted.push_back(c.values);
    std::sort(sorted.back().begin(), sorted.back().end());
    indicators.resize(
        indicators.size()
            + (c.column
               - (sorted.size() == 1 ? 0 : e.categories[sorted.size() - 2].column + 1)),
        false);
    indicators.resize(indicators.size() + c.values.size(), true);
  }
  indicators.resize(indicators.size() + width - 1 - e.categories.back().column, false);
  const std::string from = e.origin;
  if (auto expanded = expand(e, from, sorted); !expanded)
    return tl::unexpected(std::move(expanded).error());
  if (test != nullptr && test->categories.size() == sorted.size())
    if (auto expanded = expand(*test, from, sorted); !expanded)
      return tl::unexpected(std::move(expanded).error());
  return indicators;
}

expected<std::vector<float>> fill_blanks(const feature_rows& rows) {
  std::vector<double> sum(rows.width, 0);
  std::vector<std::size_t> count(rows.width, 0);
  for (const std::uint32_t i : rows.train)
    for (std::size_t c = 0; c < rows.width; ++c)
      if (const float v = rows.values[i * rows.width + c]; !std::isnan(v)) {
        sum[c] += v;
        ++count[c];
      }
  for (std::size_t i = 0; i < rows.values.size(); ++i) {
    const std::size_t c = i % rows.width;
    if (!std::isnan(rows.values[i]))
      continue;
    if (count[c] == 0)
      return fail(error_kind::invalid_input,
                  "feature " + std::to_string(c + 1)
                      + " has no value in the train part, so blanks = \"mean\" has no "
                        "mean; remove the column or say blanks = \"drop\"");
    rows.values[i] = static_cast<float>(sum[c] / static_cast<double>(count[c]));
  }
  std::vector<float> means(rows.width, std::numeric_limits<float>::quiet_NaN());
  for (std::size_t c = 0; c < rows.width; ++c)
    if (count[c] > 0)
      means[c] = static_cast<float>(sum[c] / static_cast<double>(count[c]));
  return means;
}

column_scales standardise_columns(const feature_rows& rows,
                                  const std::vector<bool>& indicators) {
  const std::size_t width = rows.width;
  std::vector<double> mean(width, 0), deviation(width, 0);
  const auto n = static_cast<double>(rows.train.size());
  for (const std::uint32_t i : rows.train)
    for (std::size_t c = 0; c < width; ++c)
      mean[c] += rows.values[i * width + c];
  for (double& m : mean)
    m /= n;
  for (const std::uint32_t i : rows.train)
    for (std::size_t c = 0; c < width; ++c) {
      const double d = rows.values[i * width + c] - mean[c];
      deviation[c] += d * d;
    }
  for (double& d : deviation)
    d = d > 0 ? std::sqrt(d / n) : 1;
  for (std::size_t c = 0; c < width; ++c)
    if (indicators[c]) {
      mean[c] = 0;
      deviation[c] = 1;
    }
  for (std::size_t i = 0; i < rows.values.size(); ++i)
    rows.values[i] =
        static_cast<float>((rows.values[i] - mean[i % width]) / deviation[i % width]);
  return {std::move(mean), std::move(deviation)};
}

float scale_images(const feature_rows& rows) {
  float largest = 0;
  for (const std::uint32_t i : rows.train)
    for (std::size_t c = 0; c < rows.width; ++c)
      largest = std::max(largest, std::abs(rows.values[i * rows.width + c]));
  if (largest > 0)
    for (float& f : rows.values)
      f /= largest;
  return largest;
}

} // namespace clade
