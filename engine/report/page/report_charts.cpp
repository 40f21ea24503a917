#include "engine/report/page/report_charts.hpp"

#include "engine/report/base/format.hpp"
#include "engine/report/base/html.hpp"
#include "engine/report/base/svg_chart.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace clade {

namespace {

constexpr std::array colours{"c1", "c2", "c3", "c4"};

/// The size for which a telephone has room.
constexpr chart_size narrow_size{.width = 348, .height = 240};

/// A chart for wide screens and paper, and one for narrow ones, where the letters of the
/// first would be too small; the style shows one of them. `draw` takes the size.
template<class Draw>
std::string for_both_widths(chart_size wide, Draw draw) {
  return fmt::format("<div class=\"broad\">{}</div>\n<div class=\"narrow\">{}</div>\n",
                     draw(wide), draw(narrow_size));
}

struct range {
  double low = INFINITY, high = -INFINITY;

  void take(double v) {
    if (!std::isfinite(v))
      return;
    low = std::min(low, v);
    high = std::max(high, v);
  }
  [[nodiscard]] bool empty() const { return low > high; }
};

/// "validation.accuracy" is of part "validation" and of kind "accuracy".
std::pair<std::string, std::string> split(const std::string& metric) {
  const auto dot = metric.find('.');
  return dot == std::string::npos
             ? std::pair(std::string(), metric)
             : std::pair(metric.substr(0, dot), metric.substr(dot + 1));
}

/// The range in which most candidates lie: the few that did far worse than the others
/// would leave no room to tell these apart. `hidden` of them lie outside.
struct fitness_window {
  range shown;
  std::uint64_t hidden = 0;
};

fitness_window window_of(std::vector<size_cell> cells, bool maximize) {
  constexpr double worst_share = 0.1;
  std::ranges::sort(cells, [&](const size_cell& a, const size_cell& b) {
    return maximize ? a.fitness < b.fitness : a.fitness > b.fitness;
  });
  double all = 0, passed = 0;
  for (const auto& c : cells)
    all += static_cast<double>(c.count);
  double usual = cells.back().fitness;
  for (const auto& c : cells) {
    passed += static_cast<double>(c.count);
    if (passed < worst_share * all)
      continue;
    usual = c.fitness;
    break;
  }
  const auto limit = 2 * usual - cells.back().fitness;
  fitness_window w;
  for (const auto& c : cells) {
    if (maximize ? c.fitness < limit : c.fitness > limit)
      w.hidden += c.count;
    else
      w.shown.take(c.fitness);
  }
  return w;
}

std::string learning_chart(const std::vector<epoch>& curve, const std::string& kind,
                           const std::vector<std::string>& metrics) {
  range y;
  for (const auto& e : curve)
    for (const auto& name : metrics)
      y.take(find(e.metrics, name).value_or(NAN));
  if (y.empty())
    return "";
  const double last = curve.back().number;
  chart c(linear_axis(curve.front().number, last, "epoch", true),
          linear_axis(y.low, y.high, ""), {.width = 400, .height = 210});
  std::vector<std::pair<std::string, std::string>> entries;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const std::string colour = colours[i % colours.size()];
    std::vector<point> points;
    for (const auto& e : curve)
      points.push_back(
          {static_cast<double>(e.number), find(e.metrics, metrics[i]).value_or(NAN)});
    c.line(points, colour);
    // A single epoch makes no line.
    if (points.size() == 1)
      c.dot(points[0], 3, colour == "c2" ? "dot c2" : "dot");
    entries.emplace_back(colour, split(metrics[i]).first);
  }
  return fmt::format("<div><h3>{}</h3>\n{}{}</div>\n", escaped(kind),
                     c.svg(fmt::format("Learning curve: {} by epoch", kind)),
                     entries.size() > 1 || !entries[0].second.empty() ? legend(entries)
                                                                      : "");
}

/// A line for each slot, with the share of the time for which it was busy.
std::string draw_slots(const run_report& story, double left, double width) {
  constexpr double row = 17, bar = 11, levels = 5;
  const auto shown = std::min(story.slots.size(), most_rows);
  const auto axis = time_axis(story.working_seconds, width < 500 ? 4 : 7);
  const auto height = static_cast<double>(shown) * row + 30;
  const auto room = width - left - 14;
  const auto column = room / static_cast<double>(run_report::timeline_columns);
  std::string out = fmt::format("<svg role=\"img\" viewBox=\"0 0 {} {}\" "
                                "aria-label=\"What each slot did over time\">\n",
                                coordinate(width), coordinate(height));
  const auto foot = static_cast<double>(shown) * row + 2;
  for (const auto& [t, words] : axis.ticks) {
    if (axis.position(t) > 0.96) // Its words would be cut off.
      continue;
    const auto x = coordinate(left + axis.position(t) * room);
    out +=
        fmt::format("<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"0\" y2=\"{}\"/><text "
                    "text-anchor=\"middle\" x=\"{}\" y=\"{}\">{}</text>\n",
                    x, x, coordinate(foot), x, coordinate(foot + 17), escaped(words));
  }
  // Neighbouring columns of one level are one bar.
  const auto bars = [&](const std::vector<double>& shares, double y, const char* kind,
                        double steps) {
    const auto level = [&](std::size_t i) { return std::ceil(shares[i] * steps - 0.02); };
    for (std::size_t i = 0; i < shares.size();) {
      auto end = i + 1;
      while (end < shares.size() && level(end) == level(i))
        ++end;
      if (level(i) > 0) {
        out += fmt::format(
            "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", kind,
            coordinate(left + static_cast<double>(i) * column), coordinate(y),
            coordinate(static_cast<double>(end - i) * column), coordinate(bar));
        if (level(i) < steps)
          out += fmt::format(" fill-opacity=\"{}\"", coordinate(level(i) / steps));
        out += "/>";
      }
      i = end;
    }
    out += "\n";
  };
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& slot = story.slots[i];
    const auto y = static_cast<double>(i) * row + 3;
    out += fmt::format("<text text-anchor=\"end\" x=\"{}\" y=\"{}\">{}</text>",
                       coordinate(left - 10), coordinate(y + 9.5),
                       escaped(shortened(slot.slot, left < 100 ? 11 : 20)));
    bars(slot.there, y, "there", 1);
    bars(slot.busy, y, "busy", levels);
  }
  for (const auto pause : story.pauses) {
    const auto x = coordinate(left + axis.position(pause) * room);
    out += fmt::format(
        "<line class=\"axis dashed\" x1=\"{}\" x2=\"{}\" y1=\"0\" y2=\"{}\"/>", x, x,
        coordinate(foot));
  }
  return out + "</svg>\n";
}

} // namespace

std::string fitness_chart(const run_report& story) {
  const auto& goal = story.run.overview.goal;
  std::vector<point> low, high, median, best, own;
  range y;
  for (std::size_t i = 0; i < story.generations.size(); ++i) {
    const auto& g = story.generations[i];
    if (g.best == 0)
      continue;
    const auto x = static_cast<double>(g.generation);
    low.push_back({x, g.lower_quartile});
    high.push_back({x, g.upper_quartile});
    median.push_back({x, g.median});
    own.push_back({x, g.best_fitness});
    best.push_back({x, story.best_so_far[i].value_or(g.best_fitness)});
    for (const auto v :
         {g.lower_quartile, g.upper_quartile, g.best_fitness, best.back().y})
      y.take(v);
  }
  if (y.empty())
    return "";
  const auto draw = [&](chart_size size) {
    chart c(linear_axis(best.front().x, best.back().x, "generation", true),
            linear_axis(y.low, y.high, ""), size);
    c.band(low, high);
    c.line(median, "c1 thin");
    c.steps(best, "c2");
    if (own.size() <= 120)
      for (const auto& p : own)
        c.dot(p, 2.4, "dot c2", 0.8);
    return c.svg(goal.metric + " by generation: best, median and quartiles");
  };
  return for_both_widths({.height = 290}, draw)
         + legend({{"c2", "best so far, with each generation's best"},
                   {"c1", "median"},
                   {"c1 area", "middle half of the candidates that succeeded"}});
}

std::string learning_charts(const std::vector<epoch>& curve) {
  std::vector<std::pair<std::string, std::vector<std::string>>> kinds;
  for (const auto& e : curve)
    for (const auto& m : e.metrics) {
      const auto kind = split(m.name).second;
      auto found = std::ranges::find(kinds, kind, [](const auto& k) { return k.first; });
      if (found == kinds.end()) {
        kinds.emplace_back(kind, std::vector<std::string>());
        found = std::prev(kinds.end());
      }
      if (std::ranges::find(found->second, m.name) == found->second.end())
        found->second.push_back(m.name);
    }
  std::string out;
  for (auto& [kind, metrics] : kinds) {
    // "train" before "validation".
    std::ranges::sort(metrics);
    out += learning_chart(curve, kind, metrics);
  }
  return out.empty() ? "" : fmt::format("<div class=\"pair\">\n{}</div>\n", out);
}

std::string size_chart(const run_report& story) {
  const auto& o = story.run.overview;
  if (story.sizes.empty())
    return "";
  const auto [y, hidden] = window_of(story.sizes, o.goal.maximize);
  const auto inside = [y = y](const size_cell& s) {
    return s.fitness >= y.low && s.fitness <= y.high;
  };
  range x;
  for (const auto& s : story.sizes)
    if (inside(s))
      x.take(s.parameters);
  std::vector<point> front;
  for (const auto& s : story.front)
    if (inside(s))
      front.push_back({std::max(s.parameters, 1.0), s.fitness});
  const auto draw = [&](chart_size size) {
    chart c(log_axis(x.low, x.high, "parameters"), linear_axis(y.low, y.high, ""), size);
    for (const auto& s : story.sizes)
      if (inside(s))
        c.dot({std::max(s.parameters, 1.0), s.fitness}, 2.2, "dot",
              std::min(0.35 + 0.12 * std::log2(static_cast<double>(s.count)), 0.9));
    c.steps(front, "c2 thin");
    if (story.best && story.best->evaluated)
      if (const auto value = find(story.best->evaluated->metrics, o.goal.metric)) {
        const point at{
            std::max(static_cast<double>(story.best->evaluated->parameters), 1.0),
            *value};
        c.dot(at, 5.5, "ring");
        c.label(at, fmt::format("{}{}", story.is_champion ? "champion #" : "best #",
                                story.best->born.id));
      }
    return c.svg(o.goal.metric + " against the number of parameters");
  };
  auto out = for_both_widths({.height = 300}, draw)
             + legend({{"c1", "a candidate, darker where there are more"},
                       {"c2", "the best of at most this size"}});
  if (hidden > 0)
    out +=
        fmt::format("<p class=\"note\">{}{} far worse than the others: not shown.</p>\n",
                    with_commas(hidden),
                    hidden == 1 ? " candidate that was" : " candidates that were");
  return out;
}

std::string predictions_chart(const test_details& details) {
  range x, y;
  for (const auto& p : details.pairs) {
    x.take(p.actual);
    y.take(p.predicted);
  }
  if (x.empty() || y.empty())
    return "";
  const auto draw = [&](chart_size size) {
    chart c(linear_axis(x.low, x.high, "actual"), linear_axis(y.low, y.high, "predicted"),
            size);
    const double low = std::max(x.low, y.low), high = std::min(x.high, y.high);
    if (low < high)
      c.line(std::array{point{low, low}, point{high, high}}, "c2 thin");
    for (const auto& p : details.pairs)
      c.dot({p.actual, p.predicted}, 2.2, "dot", 0.6);
    return c.svg("predicted values against actual ones, on the test data");
  };
  return for_both_widths({.height = 320}, draw)
         + legend({{"c1", fmt::format("{} of {} test examples",
                                      with_commas(details.pairs.size()),
                                      with_commas(details.test))},
                   {"c2", "predicted exactly"}});
}

std::string reliability_chart(const test_details& details) {
  if (!details.reliability || details.reliability->bins.empty())
    return "";
  std::uint64_t most = 1;
  for (const auto& b : details.reliability->bins)
    most = std::max(most, b.examples);
  const auto draw = [&](chart_size size) {
    chart c(linear_axis(0, 1, "probability of the predicted class"),
            linear_axis(0, 1, "share that is right"), size);
    c.line(std::array{point{0, 0}, point{1, 1}}, "c2 thin");
    std::vector<point> curve;
    for (const auto& b : details.reliability->bins) {
      curve.push_back({b.said, b.right});
      const auto share = static_cast<double>(b.examples) / static_cast<double>(most);
      c.dot(curve.back(), 2 + 5 * std::sqrt(share), "dot", 0.8);
    }
    c.line(curve, "c1");
    return c.svg("how often predictions are right, by how sure they are");
  };
  return for_both_widths({.height = 280}, draw)
         + legend({{"c1", "tenths of the probability; larger where there are more"},
                   {"c2", "as sure as it is right"}});
}

std::string slots_chart(const run_report& story) {
  if (story.slots.empty() || !(story.working_seconds > 0))
    return "";
  return fmt::format("<div class=\"broad\">{}</div>\n<div class=\"narrow\">{}</div>\n",
                     draw_slots(story, 132, 812),
                     draw_slots(story, 78, narrow_size.width));
}

std::string change_bar(double value, double largest, bool better) {
  constexpr double half = 44;
  const auto length = largest > 0 ? std::min(std::fabs(value) / largest, 1.0) * half : 0;
  return fmt::format(
      "<svg aria-hidden=\"true\" viewBox=\"0 0 90 10\" style=\"width:90px;margin:3px 0 "
      "0\"><line class=\"axis\" x1=\"45\" x2=\"45\" y1=\"0\" y2=\"10\"/><rect "
      "class=\"{}\" x=\"{}\" y=\"1\" width=\"{}\" height=\"8\"/></svg>",
      better ? "bar-good" : "bar-bad", coordinate(better ? 45 : 45 - length),
      coordinate(length));
}

} // namespace clade
