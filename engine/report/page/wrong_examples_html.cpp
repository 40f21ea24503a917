#include "engine/report/page/wrong_examples_html.hpp"

#include "engine/report/base/format.hpp"
#include "engine/report/base/html.hpp"
#include "engine/report/base/svg_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace clade {
namespace {

std::vector<std::string> words_of(const test_evidence& evidence) {
  std::vector<std::string> words;
  for (const auto& m : evidence.classes)
    words.push_back(escaped(fmt::format("{}, taken for {}", m.actual, m.predicted)));
  for (const auto& m : evidence.values)
    words.push_back(
        fmt::format("{}, taken for {}", metric_text(m.actual), metric_text(m.predicted)));
  return words;
}

std::string drawn_example(const std::string& drawn, const std::string& words) {
  return fmt::format("<figure><div>{}</div><figcaption>{}</figcaption></figure>\n", drawn,
                     words);
}

std::string together(const std::string& figures) {
  return figures.empty() ? "" : "<div class=\"pictures\">\n" + figures + "</div>\n";
}

/// The parts of an image without which its wrong class would be less probable, over it.
std::string map_svg(const std::vector<double>& map) {
  if (map.empty())
    return "";
  const auto side =
      static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(map.size()))));
  const double most = std::max(0.01, *std::ranges::max_element(map));
  std::string cells;
  for (std::size_t i = 0; i < map.size(); ++i)
    if (map[i] > 0)
      cells += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"1\" height=\"1\" "
                           "fill-opacity=\"{:.2f}\"/>",
                           i % side, i / side, 0.7 * map[i] / most);
  return fmt::format("<svg viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\" "
                     "aria-hidden=\"true\">{}</svg>",
                     side, side, cells);
}

std::string pictures_html(const run_report& story,
                          const std::vector<std::string>& words) {
  std::string figures;
  bool mapped = false;
  for (std::size_t i = 0; i < story.wrong_pictures.size(); ++i) {
    if (story.wrong_pictures[i].empty())
      continue;
    const auto& m = story.details->evidence->classes[i];
    const auto map = map_svg(m.occlusion.value_or(std::vector<double>()));
    mapped = mapped || !map.empty();
    figures += drawn_example(
        fmt::format("<img alt=\"{}\" title=\"{}\" src=\"{}\">{}", words[i],
                    escaped(m.file.value_or(fmt::format("index {}", m.place))),
                    data_address("image/png", story.wrong_pictures[i]), map),
        words[i]);
  }
  return together(figures)
         + (mapped
                ? "<p class=\"note\">Red are the parts without which the wrong class is "
                  "less probable: each was covered in turn. Point at a picture to see it "
                  "alone.</p>\n"
                : "");
}

/// The channels of a series over each other.
std::string curves_svg(const std::vector<std::vector<float>>& channels) {
  constexpr double width = 112, height = 64;
  float low = INFINITY, high = -INFINITY;
  for (const auto& values : channels)
    for (const float v : values) {
      low = std::min(low, v);
      high = std::max(high, v);
    }
  if (!(high > low))
    high = low + 1;
  std::string lines;
  for (std::size_t c = 0; c < channels.size(); ++c) {
    std::string points;
    const auto last = std::max<double>(1, static_cast<double>(channels[c].size()) - 1);
    for (std::size_t k = 0; k < channels[c].size(); ++k)
      points += fmt::format("{}{},{}", k == 0 ? "" : " ",
                            coordinate(static_cast<double>(k) / last * width),
                            coordinate((high - channels[c][k]) / (high - low) * height));
    lines += fmt::format("<polyline class=\"line c{}\" points=\"{}\"/>", c + 1, points);
  }
  return fmt::format(
      "<svg class=\"curve\" viewBox=\"-2 -2 {} {}\" aria-hidden=\"true\">{}"
      "</svg>",
      coordinate(width + 4), coordinate(height + 4), lines);
}

std::string series_html(const run_report& story, const std::vector<std::string>& words) {
  std::string figures;
  for (std::size_t i = 0; i < story.wrong_series.size(); ++i)
    if (!story.wrong_series[i].empty())
      figures += drawn_example(curves_svg(story.wrong_series[i]), words[i]);
  return together(figures);
}

std::string texts_html(const run_report& story, const std::vector<std::string>& words) {
  std::string rows;
  for (std::size_t i = 0; i < story.wrong_texts.size(); ++i)
    if (!story.wrong_texts[i].empty())
      rows += fmt::format("<tr><td>{}</td><td class=\"t\">{}</td></tr>\n", words[i],
                          escaped(story.wrong_texts[i]));
  if (rows.empty())
    return "";
  return "<div class=\"wide\" tabindex=\"0\"><table><thead><tr><th>most wrong</th>"
         "<th class=\"t\">text</th></tr></thead>\n<tbody>\n"
         + rows + "</tbody></table></div>\n";
}

} // namespace

std::string wrong_examples_html(const run_report& story) {
  if (!story.details || !story.details->evidence)
    return "";
  const auto words = words_of(*story.details->evidence);
  return pictures_html(story, words) + series_html(story, words)
         + texts_html(story, words);
}

} // namespace clade
