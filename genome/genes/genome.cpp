#include "genome/genes/genome.hpp"

#include "genome/genes/wiring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

// Lists of genes and of settings are sorted vectors that are searched by bisection:
// genomes are small, copied often, and compared, hashed and encoded front to back.
//
// The checks go from what is cheap and local (order, names, numbers) to what needs the
// graph (dangling edges, cycles, the path from input to output), which may rely on the
// order.

namespace clade {

namespace {

constexpr std::size_t longest_name = 64;

template<class List>
auto position(List& settings, std::string_view name) {
  return std::ranges::lower_bound(
      settings, name, {}, [](const setting& s) -> std::string_view { return s.name; });
}

bool is_word(std::string_view name) {
  const auto in_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
           || c == '_' || c == '-' || c == '.';
  };
  return !name.empty() && name.size() <= longest_name
         && std::ranges::all_of(name, in_word);
}

bool is_sound(const value& v) {
  if (const auto* real = std::get_if<double>(&v))
    return std::isfinite(*real);
  if (const auto* text = std::get_if<std::string>(&v))
    return text->size() <= longest_setting_text
           && std::ranges::none_of(*text, [](char c) {
                return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
              });
  return true;
}

tl::unexpected<error> broken(std::string message) {
  return fail(error_kind::invalid_input, std::move(message));
}

expected<void> check_settings(const std::vector<setting>& settings) {
  for (std::size_t i = 0; i < settings.size(); ++i) {
    if (!is_word(settings[i].name))
      return broken(fmt::format("the name of setting {} is not a word", i + 1));
    if (i > 0 && settings[i - 1].name >= settings[i].name)
      return broken(
          fmt::format("setting {} is out of order or there twice", settings[i].name));
    if (!is_sound(settings[i].value))
      return broken(
          fmt::format("setting {} is not finite, or not plain text", settings[i].name));
  }
  return {};
}

expected<void> check_nodes(const genome& g) {
  if (g.nodes.size() < 2 || g.nodes[0].id != input_innovation || g.nodes[0].op != "input"
      || g.nodes[1].id != output_innovation || g.nodes[1].op != "output")
    return broken("the first two nodes are not the input and the output");
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    const node_gene& node = g.nodes[i];
    if (i > 0 && g.nodes[i - 1].id >= node.id)
      return broken(
          fmt::format("node {} is out of order or there twice", to_text(node.id)));
    if (!is_word(node.op))
      return broken(
          fmt::format("the operator of node {} is not a word", to_text(node.id)));
    if (i > 1 && (node.op == "input" || node.op == "output"))
      return broken(fmt::format("node {} is a second {}", to_text(node.id), node.op));
    if (auto ok = check_settings(node.settings); !ok)
      return fail_in("node " + to_text(node.id), std::move(ok.error()));
  }
  return {};
}

expected<void> check_edges(const genome& g) {
  for (std::size_t i = 0; i < g.edges.size(); ++i) {
    const edge_gene& edge = g.edges[i];
    const auto joins = [&edge] {
      return fmt::format("{}..{}", to_text(edge.from), to_text(edge.to));
    };
    if (i > 0 && g.edges[i - 1].id >= edge.id)
      return broken(fmt::format("edge {} is out of order or there twice", joins()));
    if (edge.to == input_innovation)
      return broken(fmt::format("edge {} enters the input", joins()));
    if (edge.from == output_innovation && !edge.recurrent())
      return broken(fmt::format("edge {} leaves the output", joins()));
    if (edge.delay > longest_delay)
      return broken(fmt::format("edge {} is delayed by {} steps; at most {} are allowed",
                                joins(), edge.delay, longest_delay));
    if (!std::isfinite(edge.weight))
      return broken(fmt::format("the weight of edge {} is not finite", joins()));
  }
  return {};
}

bool has_parallel_edges(const genome& g) {
  std::vector<std::tuple<innovation, innovation, std::uint32_t>> places;
  places.reserve(g.edges.size());
  for (const edge_gene& edge : g.edges)
    places.emplace_back(edge.from, edge.to, edge.delay);
  std::ranges::sort(places);
  return std::ranges::adjacent_find(places) != places.end();
}

/// Liveness counts recurrent edges; a network that answers within one step needs a path
/// of others.
bool joins_input_to_output(const genome& g, const wiring& wires) {
  std::vector<bool> reached(g.nodes.size(), false);
  reached[0] = true;
  for (const wiring::index node : wires.order()) {
    for (const wiring::index e : wires.entering(node))
      if (!g.edges[e].recurrent() && reached[wires.from(e)])
        reached[node] = true;
  }
  return reached[1];
}

} // namespace

const value* find(const std::vector<setting>& settings, std::string_view name) {
  const auto it = position(settings, name);
  return it != settings.end() && it->name == name ? &it->value : nullptr;
}

void assign(std::vector<setting>& settings, std::string_view name, value v) {
  const auto it = position(settings, name);
  if (it != settings.end() && it->name == name)
    it->value = std::move(v);
  else
    settings.insert(it, {std::string(name), std::move(v)});
}

void erase(std::vector<setting>& settings, std::string_view name) {
  const auto it = position(settings, name);
  if (it != settings.end() && it->name == name)
    settings.erase(it);
}

const node_gene* find_node(const genome& g, innovation id) {
  const auto it = std::ranges::lower_bound(g.nodes, id, {}, &node_gene::id);
  return it != g.nodes.end() && it->id == id ? &*it : nullptr;
}

const edge_gene* find_edge(const genome& g, innovation id) {
  const auto it = std::ranges::lower_bound(g.edges, id, {}, &edge_gene::id);
  return it != g.edges.end() && it->id == id ? &*it : nullptr;
}

expected<void> check_structure(const genome& g) {
  if (auto ok = check_nodes(g); !ok)
    return ok;
  if (auto ok = check_edges(g); !ok)
    return ok;
  if (auto ok = check_settings(g.hyperparameters); !ok)
    return fail_in("hyperparameters", std::move(ok.error()));
  if (has_parallel_edges(g))
    return broken("two edges join the same nodes");
  const wiring wires(g);
  if (wires.dangling())
    return broken("an edge joins a node that is not there");
  if (wires.cyclic())
    return broken("the enabled edges form a cycle");
  if (!joins_input_to_output(g, wires))
    return broken("the output is not reached from the input");
  return {};
}

std::vector<innovation> topological_order(const genome& g) {
  const wiring wires(g);
  std::vector<innovation> order;
  order.reserve(wires.order().size());
  for (const wiring::index node : wires.order())
    order.push_back(g.nodes[node].id);
  return order;
}

} // namespace clade
