#include "engine/report/page/network_svg.hpp"

#include "engine/report/base/format.hpp"
#include "engine/report/base/html.hpp"
#include "engine/report/base/svg_chart.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

namespace clade {

namespace {

constexpr std::size_t most_nodes = 80;
constexpr double box_width = 212, end_width = 152, end_height = 26, line_height = 15;
constexpr double gap = 26, layer_gap = 28, bend_width = 14, margin = 8;
constexpr std::size_t line_width = 34;

/// "filters 64, kernel 3": as many settings on a line as it has room for.
std::vector<std::string> setting_lines(const std::vector<setting>& settings) {
  std::vector<std::string> lines;
  for (const auto& s : settings) {
    const auto words = fmt::format("{} {}", s.name, to_text(s.value));
    if (lines.empty() || lines.back().size() + words.size() + 2 > line_width)
      lines.push_back(shortened(words, line_width));
    else
      lines.back() += ", " + words;
  }
  return lines;
}

/// "[8, 8, 64], 1,234 parameters".
std::string cost_line(const node_cost& c) {
  return to_text(c.out)
         + (c.parameters == 0 ? ""
                              : fmt::format(", {} parameter{}", with_commas(c.parameters),
                                            c.parameters == 1 ? "" : "s"));
}

/// A box, or the place where a line that skips a layer passes it.
struct place {
  const node_gene* node = nullptr; ///< Null: a line passes.
  std::size_t layer = 0;
  double x = 0, y = 0;
  double order = 0;
  double layer_height = 0;
  std::vector<std::string> lines{}; ///< Below the operator's name.
  std::vector<std::size_t> from{};  ///< Places in the layer above.

  [[nodiscard]] bool is_end() const {
    return node != nullptr
           && (node->id == input_innovation || node->id == output_innovation);
  }
  [[nodiscard]] double width() const {
    return node == nullptr ? bend_width : is_end() ? end_width : box_width;
  }
  [[nodiscard]] double height() const {
    return node == nullptr ? 0
                           : end_height + line_height * static_cast<double>(lines.size());
  }
};

class drawing {
public:
  drawing(const genome& g, const node_costs& costs)
      : genome_(g),
        costs_(costs),
        order_(topological_order(g)) {
    find_layers();
    make_places();
    arrange();
  }

  [[nodiscard]] std::string svg() const {
    std::string out =
        fmt::format("<svg role=\"img\" class=\"network\" style=\"max-width:{}px\" "
                    "viewBox=\"0 0 {} {}\" aria-label=\"The network as a graph\">\n",
                    coordinate(width_), coordinate(width_), coordinate(height_));
    out += "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" "
           "markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path class=\"tip\" "
           "d=\"M0 0.8L8 4L0 7.2Z\"/></marker></defs>\n";
    for (const auto& p : places_)
      if (p.node != nullptr)
        for (const auto above : p.from)
          out += wire(p, above);
    for (const auto& p : places_)
      if (p.node != nullptr)
        out += box(p);
    return out + "</svg>\n";
  }

private:
  [[nodiscard]] bool live(innovation id) const {
    return std::ranges::find(order_, id) != order_.end();
  }

  [[nodiscard]] std::string recurrent_line(const edge_gene& e) const {
    return fmt::format("+ {}, {} before",
                       e.from == e.to ? "itself" : short_name(genome_, e.from),
                       counted(e.delay, "step"));
  }

  void find_layers() {
    for (const auto id : order_) {
      std::size_t layer = 0;
      for (const auto& e : genome_.edges)
        if (e.is_forward() && e.to == id && live(e.from))
          layer = std::max(layer, layer_[e.from] + 1);
      layer_[id] = layer;
      deepest_ = std::max(deepest_, layer);
    }
  }

  void make_places() {
    std::map<innovation, std::size_t> boxes;
    for (const auto id : order_) {
      boxes[id] = places_.size();
      places_.push_back({.node = find_node(genome_, id), .layer = layer_[id]});
      auto& p = places_.back();
      if (!p.is_end())
        p.lines = setting_lines(p.node->settings);
      for (const auto& e : genome_.edges) // Drawn, they would cross all others.
        if (e.recurrent() && e.to == id && live(e.from))
          p.lines.push_back(recurrent_line(e));
      if (const auto cost = costs_.find(id); cost != costs_.end())
        p.lines.push_back(cost_line(cost->second));
    }
    for (const auto& e : genome_.edges) {
      if (!e.is_forward() || !live(e.from) || !live(e.to))
        continue;
      auto above = boxes[e.from];
      for (auto layer = layer_[e.from] + 1; layer < layer_[e.to]; ++layer) {
        places_.push_back({.layer = layer, .from = {above}});
        above = places_.size() - 1;
      }
      places_[boxes[e.to]].from.push_back(above);
    }
  }

  /// Orders each layer by the middle of what is above, and puts it in the middle.
  void arrange() {
    std::vector<std::vector<std::size_t>> layers(deepest_ + 1);
    for (std::size_t i = 0; i < places_.size(); ++i)
      layers[places_[i].layer].push_back(i);
    std::vector<double> widths;
    double y = margin;
    for (auto& layer : layers) {
      for (const auto i : layer) {
        auto& p = places_[i];
        double sum = 0;
        for (const auto above : p.from)
          sum += places_[above].x;
        // Boxes before lines that pass, where both come from the same.
        p.order = (p.from.empty() ? 0 : sum / static_cast<double>(p.from.size()))
                  + (p.node == nullptr ? 1 : 0);
      }
      std::ranges::stable_sort(layer, {},
                               [&](std::size_t i) { return places_[i].order; });
      double width = -gap, height = 0;
      for (const auto i : layer) {
        width += places_[i].width() + gap;
        height = std::max(height, places_[i].height());
      }
      double x = -width / 2;
      for (const auto i : layer) {
        places_[i].x = x + places_[i].width() / 2;
        places_[i].y = y + height / 2;
        places_[i].layer_height = height;
        x += places_[i].width() + gap;
      }
      widths.push_back(width);
      y += height + layer_gap;
    }
    width_ = std::ranges::max(widths) + 2 * margin;
    height_ = y - layer_gap + margin;
    for (auto& p : places_)
      p.x += width_ / 2;
  }

  /// From a box up to the box where it begins, through the places that it passes.
  [[nodiscard]] std::string wire(const place& to, std::size_t above) const {
    std::vector<point> points{{to.x, to.y - to.height() / 2 - 1}};
    for (auto i = above;; i = places_[i].from.front()) {
      const auto& p = places_[i];
      if (p.node != nullptr) {
        points.push_back({p.x, p.y + p.height() / 2});
        break;
      }
      points.push_back({p.x, p.y + p.layer_height / 2});
      points.push_back({p.x, p.y - p.layer_height / 2});
    }
    std::ranges::reverse(points);
    std::string path =
        fmt::format("M{} {}", coordinate(points[0].x), coordinate(points[0].y));
    for (std::size_t i = 1; i < points.size(); ++i) {
      const auto &a = points[i - 1], &b = points[i];
      const auto middle = coordinate((a.y + b.y) / 2);
      path += fmt::format("C{} {} {} {} {} {}", coordinate(a.x), middle, coordinate(b.x),
                          middle, coordinate(b.x), coordinate(b.y));
    }
    return fmt::format("<path class=\"wire\" marker-end=\"url(#tip)\" d=\"{}\"/>\n",
                       path);
  }

  [[nodiscard]] std::string box(const place& p) const {
    const auto left = p.x - p.width() / 2, top = p.y - p.height() / 2;
    std::string out = fmt::format(
        "<rect class=\"box{}\" rx=\"5\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
        p.is_end() ? " end" : "", coordinate(left), coordinate(top),
        coordinate(p.width()), coordinate(p.height()));
    const auto text = [&](double y, const std::string& words, const char* kind) {
      return fmt::format("<text{} text-anchor=\"middle\" x=\"{}\" y=\"{}\">{}</text>",
                         kind, coordinate(p.x), coordinate(y), escaped(words));
    };
    const auto full =
        fmt::format("{} {}", short_name(genome_, p.node->id), to_text(p.node->settings));
    out = fmt::format("<g><title>{}</title>{}", escaped(full), out);
    auto y = top + 17.5;
    out += text(y, shortened(p.node->op, 26), p.is_end() ? "" : " class=\"op\"");
    for (const auto& line : p.lines)
      out += text(y += line_height, line, "");
    return out + "</g>\n";
  }

  const genome& genome_;
  const node_costs& costs_;
  std::vector<innovation> order_;
  std::map<innovation, std::size_t> layer_;
  std::size_t deepest_ = 0;
  std::vector<place> places_;
  double width_ = 0, height_ = 0;
};

} // namespace

std::string network_svg(const genome& g, const node_costs& costs) {
  const auto nodes = topological_order(g).size();
  return nodes < 2 || nodes > most_nodes ? "" : drawing(g, costs).svg();
}

} // namespace clade
