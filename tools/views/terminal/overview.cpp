// Pages with charts: fitness by generation, the front, a candidate's learning curve.

#include "engine/report/base/format.hpp"
#include "genome/base/text.hpp"
#include "search_spaces/operators/network.hpp"
#include "tools/views/terminal/pages.hpp"
#include "tools/views/terminal/sheet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace clade::terminal {

namespace {

constexpr pen best_pen{.look = style::good, .ascii = U'*'};
constexpr pen median_pen{.look = style::plain, .ascii = U'-'};
constexpr pen band_pen{.look = style::faint, .ascii = U':'};
constexpr pen dot_pen{.look = style::good, .ascii = U'o'};

/// The range of values seen so far.
struct seen {
  double low = std::numeric_limits<double>::infinity(), high = -low;

  void add(double v) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
  [[nodiscard]] span_of_values span() const {
    return low <= high ? span_of_values{low, high} : span_of_values{};
  }
};

struct fitness_lines {
  std::vector<point> best, median, lower, upper;
};

fitness_lines lines_of(const std::vector<generation_line>& generations) {
  fitness_lines lines;
  for (const auto& g : generations) {
    const auto& one = g.summary;
    if (one.best == 0)
      continue;
    const auto x = static_cast<double>(one.generation);
    lines.best.push_back({x, one.best_fitness});
    lines.median.push_back({x, one.median_fitness});
    lines.lower.push_back({x, one.lower_quartile});
    lines.upper.push_back({x, one.upper_quartile});
  }
  return lines;
}

/// The span has all of best and median; of quartiles, which a single loss of a million
/// may be among, as much again on either side.
span_of_values fitness_span(const fitness_lines& lines) {
  seen wanted, all;
  for (const auto* line : {&lines.best, &lines.median})
    for (const auto& p : *line)
      wanted.add(p.y);
  const auto inner = wanted.span();
  const auto more = inner.high - inner.low;
  for (const auto* line : {&lines.lower, &lines.upper})
    for (const auto& p : *line)
      all.add(std::clamp(p.y, inner.low - more, inner.high + more));
  all.add(inner.low);
  all.add(inner.high);
  return all.span();
}

void draw_fitness(canvas& on, const area& within, const scene& s) {
  const auto& p = s.picture;
  const auto lines = lines_of(p.generations);
  const auto& goal = p.rules.objective;
  int column = on.write(within.row, within.column, goal.metric, style::strong);
  column =
      on.write(within.row, column, goal.maximize ? "  " : ", the lower the better  ");
  const bool ascii = s.glyphs == glyphs::ascii;
  column = on.write(within.row, column, ascii ? "best *  " : "best  ", style::good);
  column = on.write(within.row, column, ascii ? "median -  " : "median  ");
  on.write(within.row, column, ascii ? "quartiles :" : "quartiles", style::faint);
  const area below{within.row + 1, within.column, within.rows - 1, within.columns};
  if (lines.best.empty()) {
    on.write(below.row + below.rows / 2, 2,
             p.generations.empty() ? "no generation is complete yet"
                                   : "no candidate succeeded yet",
             style::faint);
    return;
  }
  const auto first = lines.best.front().x, last = lines.best.back().x;
  plot chart({.place = below,
              .x = {first, last},
              .y = fitness_span(lines),
              .left = fmt::format("generation {}", std::llround(first)),
              .right = std::to_string(std::llround(last)),
              .glyphs = s.glyphs});
  chart.band(lines.lower, lines.upper, band_pen);
  chart.line(lines.median, median_pen);
  chart.line(lines.best, best_pen);
  chart.draw(on);
}

void draw_latest(canvas& on, const area& within, const scene& s) {
  sheet lines({{"latest"},
               {"id", true},
               {"generation", true},
               {"result", true},
               {"parameters", true},
               {"took", true},
               {"what changed"}});
  const auto& latest = s.picture.latest;
  for (auto c = latest.rbegin(); c != latest.rend(); ++c) {
    lines.add({clock_text(c->evaluated_ms), numbered(c->id),
               std::to_string(c->generation), result_text(*c), with_commas(c->parameters),
               duration_text(c->seconds), c->reason.empty() ? c->origin : c->reason});
    lines.mark(3, result_style(*c));
  }
  if (latest.empty())
    on.write(within.row, within.column, "no candidate is evaluated yet", style::faint);
  else
    lines.draw(on, within);
}

/// How a page with a chart above a list is shared: the chart's rows, none on a small one.
int chart_rows(int rows) {
  return rows < 10 ? 0 : rows * 11 / 20;
}

/// A learning curve has so many rows, and none where they are few.
int curve_rows(int rows, const reading& r) {
  return r.curve.size() < 2 || rows < 14 ? 0 : std::min(9, rows / 2);
}

/// The metric of the candidate's epochs that is drawn: the objective's if they have it.
std::string curve_metric(const std::vector<epoch>& curve, const objective& goal) {
  for (const auto& e : curve)
    if (find(e.metrics, goal.metric))
      return goal.metric;
  for (const auto& e : curve)
    if (!e.metrics.empty())
      return e.metrics.front().name;
  return {};
}

void draw_curve(canvas& on, const area& within, const scene& s, const reading& r) {
  const auto name = curve_metric(r.curve, s.picture.rules.objective);
  std::vector<point> points;
  seen range;
  for (const auto& e : r.curve)
    if (const auto value = find(e.metrics, name)) {
      points.push_back({static_cast<double>(e.number), *value});
      range.add(*value);
    }
  on.write(within.row, within.column, name, style::strong);
  if (points.empty())
    return;
  plot chart({.place = {within.row + 1, within.column, within.rows - 1, within.columns},
              .x = {points.front().x, points.back().x},
              .y = range.span(),
              .left = fmt::format("epoch {}", r.curve.front().number),
              .right = std::to_string(r.curve.back().number),
              .glyphs = s.glyphs});
  chart.line(points, best_pen);
  chart.draw(on);
}

/// Returns the value by which a metric is spread: sizes differ by magnitudes.
double spread(const aim& of, double raised) {
  const double v = as_measured(raised, of.maximize);
  const bool size = of.metric == parameters_metric || of.metric == multiply_adds_metric;
  return size ? std::log1p(std::max(v, 0.0)) : v;
}

/// If there are several objectives, it shows the first two.
void draw_aims_chart(canvas& on, const area& within, const scene& s, std::size_t chosen) {
  const auto aims = aims_of(s.picture.rules.objective);
  int column = on.write(within.row, within.column,
                        fmt::format("{} against {}", aims[0].metric, aims[1].metric),
                        style::strong);
  if (!s.picture.generations.empty())
    on.write(within.row, column,
             "  hypervolume "
                 + metric_text(s.picture.generations.back().summary.front.hypervolume));
  std::vector<point> points;
  seen x, y, second;
  for (const auto& c : s.picture.front) {
    points.push_back({spread(aims[1], c.rank.objectives[1]),
                      as_measured(c.rank.objectives[0], aims[0].maximize)});
    x.add(points.back().x);
    y.add(points.back().y);
    second.add(as_measured(c.rank.objectives[1], aims[1].maximize));
  }
  const auto across = x.span();
  plot chart({.place = {within.row + 1, within.column, within.rows - 1, within.columns},
              .x = {across.low, across.high},
              .y = y.span(),
              .left = fmt::format("{} {}", metric_text(second.low), aims[1].metric),
              .right = metric_text(second.high),
              .glyphs = s.glyphs});
  chart.dots(points, dot_pen);
  chart.dots({points[chosen]}, {.look = style::chosen, .ascii = U'@'});
  chart.draw(on);
}

void draw_front_chart(canvas& on, const area& within, const scene& s,
                      std::size_t chosen) {
  if (!s.picture.rules.objective.others.empty())
    return draw_aims_chart(on, within, s, chosen);
  const auto& front = s.picture.front;
  on.write(within.row, within.column,
           s.picture.rules.objective.metric + " against parameters (logarithmic)",
           style::strong);
  std::vector<point> points;
  seen y;
  for (const auto& c : front) {
    // Sizes differ by magnitudes.
    points.push_back(
        {std::log1p(static_cast<double>(c.parameters)), c.fitness.value_or(0)});
    y.add(points.back().y);
  }
  plot chart({.place = {within.row + 1, within.column, within.rows - 1, within.columns},
              .x = {points.front().x, points.back().x},
              .y = y.span(),
              .left = with_commas(front.front().parameters) + " parameters",
              .right = with_commas(front.back().parameters),
              .glyphs = s.glyphs});
  chart.line(points, {.look = style::faint, .ascii = U'.'});
  chart.dots(points, dot_pen);
  chart.dots({points[chosen]}, {.look = style::chosen, .ascii = U'@'});
  chart.draw(on);
}

} // namespace

void draw_overview(canvas& on, const area& within, const scene& s) {
  const int chart = chart_rows(within.rows);
  if (chart > 0)
    draw_fitness(on, {within.row, within.column, chart, within.columns}, s);
  draw_latest(
      on, {within.row + chart, within.column, within.rows - chart, within.columns}, s);
}

void draw_front(canvas& on, const area& within, const scene& s, const place& at) {
  const auto& front = s.picture.front;
  if (front.empty()) {
    on.write(within.row + 1, 2, "no candidate succeeded yet", style::faint);
    return;
  }
  const auto chosen = std::min(at.chosen_of_front, front.size() - 1);
  const int rows = chart_rows(within.rows);
  if (rows > 0)
    draw_front_chart(on, {within.row, within.column, rows, within.columns}, s, chosen);
  sheet lines({{"id", true},
               {"result", true},
               {"parameters", true},
               {"generation", true},
               {"took", true},
               {"what changed"}});
  for (const auto& c : front)
    lines.add({numbered(c.id), result_text(c), with_commas(c.parameters),
               std::to_string(c.generation), duration_text(c.seconds), c.origin});
  const auto shown = static_cast<std::size_t>(std::max(within.rows - rows - 1, 1));
  lines.draw(on, {within.row + rows, within.column, within.rows - rows, within.columns},
             chosen, chosen < shown ? 0 : chosen - shown + 1);
}

int front_rows(extent size) {
  const int rows = page_rows(size);
  return std::max(rows - chart_rows(rows) - 1, 1);
}

int reading_rows(extent size, const reading& r) {
  const int rows = page_rows(size);
  return rows - curve_rows(rows, r);
}

std::vector<std::string> broken_lines(const reading& r, int columns) {
  std::vector<std::string> lines;
  for (const auto& whole : r.lines) {
    std::string rest = whole;
    const auto blanks = std::min(whole.find_first_not_of(' '), whole.size());
    const std::string indent(blanks + 4, ' ');
    auto breaks_from = blanks; // Not within the indent, which would not end.
    while (columns_of(rest) > columns) {
      // The last blank before the edge; where a word is longer than that, the next.
      auto end = std::string::npos;
      for (auto at = rest.find(' ', breaks_from + 1); at != std::string::npos;
           at = rest.find(' ', at + 1)) {
        if (end != std::string::npos
            && columns_of(std::string_view(rest).substr(0, at)) > columns)
          break;
        end = at;
      }
      if (end == std::string::npos)
        break;
      lines.push_back(rest.substr(0, end));
      rest = indent + rest.substr(end + 1);
      breaks_from = indent.size();
    }
    lines.push_back(std::move(rest));
  }
  return lines;
}

void draw_reading(canvas& on, const area& within, const scene& s, const place& at) {
  const auto& r = *at.open;
  const int curve = curve_rows(within.rows, r);
  if (curve > 0)
    draw_curve(on, {within.row, within.column, curve, within.columns}, s, r);
  const auto lines = broken_lines(r, within.columns);
  for (int row = curve; row < within.rows; ++row) {
    const auto line = at.read + static_cast<std::size_t>(row - curve);
    if (line < lines.size())
      on.write(within.row + row, within.column, lines[line],
               line == 0 ? style::strong : style::plain, within.columns);
  }
}

} // namespace clade::terminal
