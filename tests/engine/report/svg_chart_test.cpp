#include "engine/report/base/svg_chart.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace clade;

namespace {

std::string ticks(const chart_axis& a) {
  std::string text;
  for (const auto& [v, words] : a.ticks)
    text += (text.empty() ? "" : " ") + words;
  return text;
}

} // namespace

TEST_CASE("chart: axes end on round numbers") {
  const auto a = linear_axis(0.123, 0.877, "");
  CHECK(ticks(a) == "0.0 0.2 0.4 0.6 0.8 1.0");
  CHECK(a.position(a.low) == 0);
  CHECK(a.position(a.high) == 1);
  CHECK(ticks(linear_axis(-0.05, 0.05, "")) == "-0.06 -0.04 -0.02 0.00 0.02 0.04 0.06");
  CHECK(ticks(linear_axis(0, 19, "", true)) == "0 5 10 15");
  CHECK(ticks(linear_axis(1, 4, "", true)) == "1 2 3 4");
}

TEST_CASE("chart: where all values are equal there is an axis still") {
  for (const double v : {0.0, 0.5, -3.0, 1e9}) {
    const auto a = linear_axis(v, v, "");
    CHECK(a.low < v + 1e-12);
    CHECK(a.high > v);
    CHECK(std::isfinite(a.position(v)));
    CHECK_FALSE(a.ticks.empty());
  }
  CHECK(ticks(linear_axis(0, 0, "", true)) == "0 1");
}

TEST_CASE("chart: amounts over orders of magnitude and time have words of their own") {
  CHECK(ticks(log_axis(900, 120'000, "")) == "1k 2k 5k 10k 20k 50k 100k");
  CHECK(ticks(log_axis(10, 50'000'000, "")) == "10 100 1k 10k 100k 1M 10M");
  CHECK_FALSE(ticks(log_axis(7, 7, "")).empty());
  CHECK(ticks(time_axis(5.6)) == "0 s 1.0 s 2.0 s 3.0 s 4.0 s 5.0 s");
  CHECK(ticks(time_axis(3600 * 5))
        == "0 s 1 h 00 min 2 h 00 min 3 h 00 min 4 h 00 min 5 h 00 min");
  CHECK(time_axis(0).ticks.size() >= 1);
}

TEST_CASE("chart: a line breaks where there is no value") {
  chart c(linear_axis(0, 4, ""), linear_axis(0, 1, ""));
  const std::vector<point> points{{0, 0}, {1, 1}, {2, NAN}, {3, 0}, {4, 1}};
  c.line(points, "c1");
  const auto svg = c.svg("a \"chart\" <of> lines");
  const auto path = svg.substr(svg.find(" d=\""));
  CHECK(std::count(path.begin(), path.end(), 'M') == 2);
  CHECK(svg.find("nan") == std::string::npos);
  CHECK_THAT(svg, Catch::Contains("aria-label=\"a &quot;chart&quot; &lt;of&gt; lines\""));
}
