#include "engine/report/page/forecast_charts.hpp"

#include "engine/report/base/html.hpp"
#include "engine/report/base/svg_chart.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace clade {
namespace {

/// The lines of a chart, by steps from the origin.
struct forecast_lines {
  std::vector<point> actual, predicted, low, high;
};

forecast_lines lines_of(const forecast_curve& of, const error_quantiles& errors) {
  forecast_lines out;
  const auto before = static_cast<double>(of.past.size()) - 1;
  for (std::size_t i = 0; i < of.past.size(); ++i)
    out.actual.push_back({static_cast<double>(i) - before, of.past[i].value_or(NAN)});
  for (const auto& s : of.steps) {
    const auto x = static_cast<double>(s.ahead);
    out.actual.push_back({x, s.actual});
    out.predicted.push_back({x, s.predicted});
    if (const auto interval = interval_of(of, s, errors)) {
      out.low.push_back({x, interval->low});
      out.high.push_back({x, interval->high});
    }
  }
  return out;
}

std::string drawn(const forecast_curve& of, const error_quantiles& errors) {
  const auto lines = lines_of(of, errors);
  double bottom = INFINITY, top = -INFINITY;
  for (const auto* line : {&lines.actual, &lines.predicted, &lines.low, &lines.high})
    for (const auto& p : *line)
      if (std::isfinite(p.y)) {
        bottom = std::min(bottom, p.y);
        top = std::max(top, p.y);
      }
  const auto first = -static_cast<double>(of.past.size()) + 1;
  chart c(linear_axis(first, lines.predicted.back().x,
                      fmt::format("steps from {}, to {}", of.origin, of.to), true),
          linear_axis(bottom, top, ""), {.width = 400, .height = 210});
  c.band(lines.low, lines.high);
  c.line(lines.actual, "c1");
  c.line(lines.predicted, "c2");
  const auto name = joined(of.series);
  const auto words = name.empty() ? std::string("the series") : name;
  return fmt::format(
      "<div><h3>{}</h3>\n{}</div>\n", escaped(words),
      c.svg(fmt::format("Forecast of {} from {} to {}", words, of.origin, of.to)));
}

} // namespace

std::string forecast_charts(const test_details& details) {
  if (!details.forecasts)
    return "";
  std::string out;
  for (const auto& one : *details.forecasts)
    if (!one.steps.empty())
      out += drawn(one, details.validation_errors);
  if (out.empty())
    return "";
  return fmt::format("<div class=\"pair\">\n{}</div>\n", out)
         + legend({{"c1", "what came"},
                   {"c2", "forecast"},
                   {"c1 area", fmt::format("its {:.0f} % interval",
                                           100 * forecast_interval::level)}});
}

} // namespace clade
