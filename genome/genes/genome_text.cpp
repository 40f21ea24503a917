#include "genome/genes/genome.hpp"
#include "genome/genes/wiring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

// The text forms that genome.hpp promises. Numbers go through to_chars, which is exact
// and knows no locale. A node's short name is cut after the longest prefix that it shares
// with another.

namespace clade {

namespace {

std::string hexadecimal(std::uint64_t v) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, v, 16).ptr;
  return {digits, end};
}

std::string real_text(double v) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, v).ptr;
  std::string text(digits, end);
  if (text.find_first_not_of("-0123456789") == std::string::npos)
    text += ".0";
  return text;
}

void append(std::string& out, const setting& s) {
  out += s.name;
  out += '=';
  out += to_text(s.value);
}

void append_inputs(std::string& out, const genome& g, const wiring& wires,
                   std::span<const wiring::index> rank, wiring::index node) {
  std::vector<wiring::index> inputs;
  for (const wiring::index e : wires.entering(node))
    if (wires.live_edge(e))
      inputs.push_back(e);
  std::ranges::sort(inputs, {}, [&](wiring::index e) { return rank[wires.from(e)]; });
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const edge_gene& edge = g.edges[inputs[i]];
    out += i == 0 ? " <- " : ", ";
    if (edge.weight != 1)
      out += real_text(edge.weight) + " ";
    out += short_name(g, edge.from);
    if (edge.recurrent())
      out += edge.delay == 1 ? " before" : fmt::format(" {} steps before", edge.delay);
  }
  const value* merge = find(g.nodes[node].settings, "merge");
  if (inputs.size() > 1 && merge != nullptr)
    out += fmt::format(" [merge {}]", to_text(*merge));
}

} // namespace

std::string to_text(const value& v) {
  if (const auto* integer = std::get_if<std::int64_t>(&v))
    return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&v))
    return real_text(*real);
  return std::get<std::string>(v);
}

std::string to_text(const std::vector<setting>& settings) {
  std::string out;
  for (const setting& s : settings) {
    if (!out.empty())
      out += ", ";
    append(out, s);
  }
  return out;
}

std::string to_text(const node_gene& n) {
  std::string out = n.op;
  bool first = true;
  for (const setting& s : n.settings) {
    if (s.name == "merge")
      continue;
    out += first ? "(" : ", ";
    append(out, s);
    first = false;
  }
  if (!first)
    out += ")";
  return out;
}

std::string to_text(genome_hash h) {
  const std::string high = hexadecimal(h.high), low = hexadecimal(h.low);
  return std::string(16 - high.size(), '0') + high + std::string(16 - low.size(), '0')
         + low;
}

std::string to_text(innovation id) {
  if (id == input_innovation)
    return "input";
  if (id == output_innovation)
    return "output";
  return "n" + hexadecimal(static_cast<std::uint64_t>(id));
}

std::string short_name(const genome& g, innovation id) {
  constexpr std::size_t shortest = 7; // "n" and six digits
  const std::string name = to_text(id);
  std::size_t length = std::min(shortest, name.size());
  for (const node_gene& other : g.nodes) {
    if (other.id == id || length == name.size())
      continue;
    const std::string theirs = to_text(other.id);
    const auto differ = std::ranges::mismatch(name, theirs).in1;
    length = std::max(length, static_cast<std::size_t>(differ - name.begin()) + 1);
    length = std::min(length, name.size());
  }
  return name.substr(0, length);
}

std::string to_text(const genome& g) {
  const wiring wires(g);
  std::vector<wiring::index> rank(g.nodes.size(), 0);
  for (std::size_t i = 0; i < wires.order().size(); ++i)
    rank[wires.order()[i]] = static_cast<wiring::index>(i);
  std::string out;
  for (const wiring::index node : wires.order()) {
    const node_gene& gene = g.nodes[node];
    out += short_name(g, gene.id);
    if (gene.id != input_innovation && gene.id != output_innovation)
      out += "  " + to_text(gene);
    append_inputs(out, g, wires, rank, node);
    out += '\n';
  }
  for (std::size_t i = 0; i < g.hyperparameters.size(); ++i) {
    out += i == 0 ? "" : " ";
    append(out, g.hyperparameters[i]);
  }
  if (!g.hyperparameters.empty())
    out += '\n';
  return out;
}

} // namespace clade
