#include "engine/report/base/svg_chart.hpp"

#include "engine/report/base/format.hpp"
#include "engine/report/base/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace clade {

namespace {

constexpr double left = 54, right = 14, top = 12, bottom = 40;

std::string printed(const char* format, int digits, double v) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, digits, v);
  return text.data();
}

/// 1, 2 or 5 times a power of ten, such that about `count` of them make up `span`.
double round_step(double span, int count, bool whole) {
  const auto rough = span / count;
  const auto power = std::pow(10.0, std::floor(std::log10(rough)));
  auto step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0})
    if (factor * power >= rough)
      step = factor * power;
  return whole ? std::max(1.0, std::round(step)) : step;
}

/// "950", "10k", "2.5M".
std::string amount_text(double v) {
  constexpr std::array<std::pair<double, const char*>, 3> units{
      std::pair{1e9, "G"}, std::pair{1e6, "M"}, std::pair{1e3, "k"}};
  for (const auto& [size, name] : units)
    if (v >= size)
      return printed("%.*g", 3, v / size) + name;
  return printed("%.*g", 3, v);
}

} // namespace

std::string coordinate(double v) {
  auto text = printed("%.*f", 1, v);
  if (text.ends_with(".0"))
    text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

double chart_axis::position(double v) const {
  if (logarithmic)
    return (std::log(v) - std::log(low)) / (std::log(high) - std::log(low));
  return (v - low) / (high - low);
}

chart_axis linear_axis(double low, double high, std::string title, bool whole) {
  if (!(high > low)) {
    const auto half = whole ? 1 : std::max(std::fabs(low) * 0.05, 1e-6);
    high = low + half;
    low -= whole ? 0 : half;
  }
  const auto step = round_step(high - low, whole ? 8 : 5, whole);
  chart_axis a{.title = std::move(title)};
  a.low = whole ? low : std::floor(low / step + 1e-9) * step;
  a.high = whole ? high : std::ceil(high / step - 1e-9) * step;
  const auto digits = std::clamp(static_cast<int>(-std::floor(std::log10(step))), 0, 9);
  for (auto t = std::ceil(a.low / step - 1e-9); t * step <= a.high + step * 1e-9; ++t) {
    // Not "-0".
    const auto v = t == 0 ? 0 : t * step;
    a.ticks.emplace_back(v, std::fabs(v) >= 1e5 ? amount_text(v)
                                                : printed("%.*f", digits, v));
  }
  return a;
}

chart_axis log_axis(double low, double high, std::string title) {
  low = std::max(low, 1.0);
  high = std::max(high, low);
  chart_axis a{.low = low / 1.15,
               .high = high * 1.15,
               .logarithmic = true,
               .title = std::move(title)};
  const auto decades = std::log10(a.high / a.low);
  for (auto power = std::pow(10, std::floor(std::log10(a.low))); power <= a.high;
       power *= 10)
    for (const double factor : {1.0, 2.0, 5.0}) {
      const auto v = factor * power;
      if (v >= a.low && v <= a.high && (factor == 1 || decades < 3))
        a.ticks.emplace_back(v, amount_text(v));
    }
  if (a.ticks.size() > 1)
    return a;
  // Too near each other for round numbers.
  a.ticks = {{low, amount_text(low)}};
  if (high > low * 1.05)
    a.ticks.emplace_back(high, amount_text(high));
  return a;
}

chart_axis time_axis(double seconds, int most) {
  constexpr std::array steps{0.1,     0.2,     0.5,     1.0,      2.0,      5.0,
                             10.0,    20.0,    30.0,    60.0,     120.0,    300.0,
                             600.0,   1200.0,  1800.0,  3600.0,   7200.0,   10800.0,
                             21600.0, 43200.0, 86400.0, 172800.0, 432000.0, 864000.0};
  chart_axis a{.low = 0, .high = std::max(seconds, 0.1)};
  double step = a.high / (most - 1);
  for (auto i = steps.rbegin(); i != steps.rend() && *i >= a.high / most; ++i)
    step = *i;
  for (double t = 0; t <= a.high; t += step)
    a.ticks.emplace_back(t, t == 0 ? "0 s" : duration_text(t));
  return a;
}

chart::chart(chart_axis x, chart_axis y, chart_size size)
    : x_(std::move(x)),
      y_(std::move(y)),
      size_(size) {}

double chart::x_of(double v) const {
  return left + x_.position(v) * (size_.width - left - right);
}

double chart::y_of(double v) const {
  return size_.height - bottom - y_.position(v) * (size_.height - top - bottom);
}

void chart::band(std::span<const point> low, std::span<const point> high) {
  if (low.empty())
    return;
  std::string path;
  for (const auto& p : high)
    path += fmt::format("{}{} {}", path.empty() ? "M" : "L", coordinate(x_of(p.x)),
                        coordinate(y_of(p.y)));
  for (auto p = low.rbegin(); p != low.rend(); ++p)
    path += fmt::format("L{} {}", coordinate(x_of(p->x)), coordinate(y_of(p->y)));
  marks_ += fmt::format("<path class=\"band\" d=\"{}Z\"/>\n", path);
}

void chart::line(std::span<const point> points, const std::string& classes) {
  std::string path;
  bool broken = true;
  for (const auto& p : points) {
    if (!std::isfinite(p.x) || !std::isfinite(p.y)) {
      broken = true;
      continue;
    }
    path += fmt::format("{}{} {}", broken ? "M" : "L", coordinate(x_of(p.x)),
                        coordinate(y_of(p.y)));
    broken = false;
  }
  if (!path.empty())
    marks_ += fmt::format("<path class=\"line {}\" d=\"{}\"/>\n", classes, path);
}

void chart::steps(std::span<const point> points, const std::string& classes) {
  std::vector<point> corners;
  for (const auto& p : points) {
    if (!corners.empty())
      corners.push_back({p.x, corners.back().y});
    corners.push_back(p);
  }
  line(corners, classes);
}

void chart::dot(point at, double radius, const std::string& classes, double opacity) {
  marks_ +=
      fmt::format("<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"", classes,
                  coordinate(x_of(at.x)), coordinate(y_of(at.y)), coordinate(radius));
  if (opacity < 1)
    marks_ += fmt::format(" fill-opacity=\"{}\"", printed("%.*f", 2, opacity));
  marks_ += "/>\n";
}

void chart::label(point at, const std::string& words) {
  const auto x = x_of(at.x);
  const bool leftwards = x > size_.width * 0.7;
  marks_ += fmt::format("<text class=\"tag\" x=\"{}\" y=\"{}\"{}>{}</text>\n",
                        coordinate(x + (leftwards ? -9 : 9)),
                        coordinate(std::max(y_of(at.y) + 4, top + 8)),
                        leftwards ? " text-anchor=\"end\"" : "", escaped(words));
}

std::string chart::svg(const std::string& description) const {
  const auto base = size_.height - bottom, end = size_.width - right;
  std::string out = fmt::format(
      "<svg role=\"img\" viewBox=\"0 0 {} {}\" aria-label=\"{}\">\n",
      coordinate(size_.width), coordinate(size_.height), escaped(description));
  for (const auto& [v, words] : y_.ticks) {
    const auto y = coordinate(y_of(v));
    out +=
        fmt::format("<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/><text "
                    "text-anchor=\"end\" x=\"{}\" y=\"{}\">{}</text>\n",
                    coordinate(left), coordinate(end), y, y, coordinate(left - 8),
                    coordinate(y_of(v) + 4), escaped(words));
  }
  out +=
      fmt::format("<line class=\"axis\" x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/>\n",
                  coordinate(left), coordinate(end), coordinate(base), coordinate(base));
  for (const auto& [v, words] : x_.ticks)
    out += fmt::format("<text text-anchor=\"middle\" x=\"{}\" y=\"{}\">{}</text>\n",
                       coordinate(x_of(v)), coordinate(base + 16), escaped(words));
  if (!x_.title.empty())
    out += fmt::format("<text text-anchor=\"middle\" x=\"{}\" y=\"{}\">{}</text>\n",
                       coordinate((left + end) / 2), coordinate(base + 33),
                       escaped(x_.title));
  return fmt::format("{}{}</svg>\n", out, marks_);
}

std::string legend(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string out = "<div class=\"legend\">";
  for (const auto& [classes, words] : entries)
    out += fmt::format("<span><i class=\"{}\"></i>{}</span>", classes, escaped(words));
  return out + "</div>\n";
}

} // namespace clade
