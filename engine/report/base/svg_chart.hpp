#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace clade {

/// A coordinate with one digit behind the point: "12.5".
[[nodiscard]] std::string coordinate(double v);

/// One direction of a chart: where values lie, and which are written beside it.
struct chart_axis {
  double low = 0, high = 1;
  bool logarithmic = false;
  std::string title; ///< Escaped when it is drawn.
  std::vector<std::pair<double, std::string>> ticks;

  /// 0 at the low end, 1 at the high one.
  [[nodiscard]] double position(double v) const;
};

/// From about `low` to about `high`, ends widened to round numbers; whole ones alone if
/// `whole`.
[[nodiscard]] chart_axis linear_axis(double low, double high, std::string title,
                                     bool whole = false);
/// The same for amounts that differ by orders of magnitude: ticks "1k", "10k", "1M".
[[nodiscard]] chart_axis log_axis(double low, double high, std::string title);
/// From 0 to so many seconds: ticks "0 s", "10 s", "20 s", at most `most` of them beside
/// the first.
[[nodiscard]] chart_axis time_axis(double seconds, int most = 7);

struct chart_size {
  double width = 812, height = 250;
};

struct point {
  double x = 0, y = 0;
};

/// A chart as SVG text without a size of its own, coloured by classes
/// (engine/report/base/html.hpp). Points are values on its axes; those that are not finite
/// break a line.
class chart {
public:
  chart(chart_axis x, chart_axis y, chart_size size = {});

  /// The area between two lines over the same places.
  void band(std::span<const point> low, std::span<const point> high);
  void line(std::span<const point> points, const std::string& classes);
  /// A line that holds each value until the next.
  void steps(std::span<const point> points, const std::string& classes);
  void dot(point at, double radius, const std::string& classes, double opacity = 1);
  /// Words beside a point, to its left where there is no room at its right.
  void label(point at, const std::string& words);

  /// `description`: what it shows, for who cannot see it.
  [[nodiscard]] std::string svg(const std::string& description) const;

private:
  [[nodiscard]] double x_of(double v) const;
  [[nodiscard]] double y_of(double v) const;

  chart_axis x_, y_;
  chart_size size_;
  std::string marks_;
};

/// The legend of a chart: the classes of its lines and dots, and the words for them.
[[nodiscard]] std::string
legend(const std::vector<std::pair<std::string, std::string>>& entries);

} // namespace clade
