// A network as lines of columns: each is as wide as its longest entry, numbers flush
// right. Names are "n3f2a1c0ffee0123" or "n3f2a1c0ffee0123.role"; the part before the dot
// is cut to the fewest characters, at least seven, that still tell all nodes apart.
#include "genome/base/text.hpp"
#include "search_spaces/operators/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace clade {

namespace {

std::string_view node_of(const layer& l) {
  return std::string_view(l.name).substr(0, l.name.find('.'));
}

std::size_t shortest_length(const network& n) {
  std::vector<std::string_view> names;
  for (const layer& l : n.layers) {
    names.push_back(node_of(l));
    for (const layer& within : l.body)
      names.push_back(node_of(within));
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::size_t length = 7;
  for (std::size_t i = 1; i < names.size(); ++i) {
    const auto differ = std::ranges::mismatch(names[i - 1], names[i]).in1;
    length = std::max<std::size_t>(
        length, static_cast<std::size_t>(differ - names[i - 1].begin()) + 1);
  }
  return length;
}

std::string cut_name(const layer& l, std::size_t length) {
  const auto node = node_of(l);
  if (l.op == "over_time") // No gene's number.
    return l.name;
  auto rest = l.name.substr(node.size());
  constexpr std::string_view recall = ".recall_n"; // The gene follows that is recalled.
  if (rest.starts_with(recall)) {
    const auto from = recall.size() - 1, end = rest.find('_', from);
    rest.erase(std::min(from + length, end), end - std::min(from + length, end));
  }
  return std::string(node.substr(0, length)) + rest;
}

bool does_nothing(const setting& s) {
  return s.value == value("none") || (s.name == "bias" && s.value == value("yes"))
         || (s.name == "sees" && s.value == value("around"))
         || ((s.name == "stride" || s.name == "dilation")
             && s.value == value(std::int64_t{1}));
}

std::string operation(std::span<const layer> all, const layer& l, std::size_t length) {
  std::string out = l.op;
  bool first = true;
  for (const setting& s : l.settings) {
    if (does_nothing(s))
      continue;
    out += fmt::format("{}{}={}", first ? "(" : ", ", s.name, to_text(s.value));
    first = false;
  }
  out += first ? "" : ")";
  for (std::size_t i = 0; i < l.inputs.size(); ++i)
    out += (i == 0 ? " <- " : ", ") + cut_name(all[l.inputs[i]], length);
  return out;
}

using row = std::array<std::string, 4>;

std::string aligned(const std::vector<row>& rows) {
  std::array<std::size_t, 4> widths{};
  for (const row& r : rows)
    for (std::size_t i = 0; i < r.size(); ++i)
      widths[i] = std::max(widths[i], r[i].size());
  std::string out;
  for (const row& r : rows) {
    std::string line;
    for (std::size_t i = 0; i < 3; ++i)
      line += r[i] + std::string(widths[i] - r[i].size() + 2, ' ');
    if (r[3].empty())
      line.erase(line.find_last_not_of(' ') + 1);
    else
      line += std::string(widths[3] - r[3].size(), ' ') + r[3];
    out += line + '\n';
  }
  return out;
}

/// A body stands before its layer, indented; its parameters are among those of the layer.
void add_rows(std::span<const layer> layers, std::size_t length,
              const std::string& indent, std::vector<row>& rows) {
  for (const layer& l : layers) {
    add_rows(l.body, length, indent + "  ", rows);
    rows.push_back({indent + cut_name(l, length),
                    l.inputs.empty() ? "" : operation(layers, l, length), to_text(l.out),
                    l.cost.parameters == 0 ? "" : with_commas(l.cost.parameters)});
  }
}

} // namespace

std::string to_text(const network& n) {
  std::vector<row> rows;
  add_rows(n.layers, shortest_length(n), "", rows);
  const auto cost = n.cost();
  return fmt::format(
      "{}{} parameters, {} multiply-adds and {} bytes of activations for one example\n",
      aligned(rows), with_commas(cost.parameters), with_commas(cost.multiply_adds),
      with_commas(cost.activation_bytes));
}

} // namespace clade
