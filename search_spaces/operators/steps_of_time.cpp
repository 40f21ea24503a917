// Networks of spaces with recurrent edges:
//
//   input, over_time, output       the body of over_time has all layers between the two
//
// A body is decoded as a network of one step, whose shape is the features of a step, by a
// builder of its own. Recalls stand before the layer that they enter, so that the main path
// stays the last input; what they recall is known when all nodes are.
#include "genome/base/text.hpp"
#include "search_spaces/operators/network_builder.hpp"

#include <fmt/format.h>

namespace clade {

expected<void> network_builder::add_steps_of_time() {
  add_examples();
  problem step{.input = {{problem_.input.units()}}, .outputs = problem_.outputs};
  auto layers =
      network_builder(space_, genome_, step, problem_.input.sizes.front()).body();
  if (!layers)
    return tl::unexpected(std::move(layers.error()));
  const auto& row = *find_operator("over_time");
  layer steps{.name = "over_time",
              .op = std::string(row.name),
              .settings = {{"outputs", layers->back().out.units()}},
              .inputs = {0},
              .in = {problem_.input},
              .body = std::move(*layers)};
  steps.out = row.shape(steps.in, steps.settings);
  steps.cost = row.cost_of(steps);
  network_.layers.push_back(std::move(steps));
  const auto* output = find_operator("output");
  return add(to_text(output_innovation), *output, {1}, {{"outputs", problem_.outputs}})
      .map([](index) {});
}

expected<std::vector<layer>> network_builder::body() {
  last_layer_.resize(genome_.nodes.size());
  const auto& order = wires_.order();
  // The output comes last: no edge leads on from it.
  auto added = add_input().and_then(
      [&] { return add_nodes(std::span(order).subspan(1, order.size() - 2)); });
  if (!added)
    return tl::unexpected(std::move(added.error()));
  const auto last = entrance_of(order.back(), *find_operator("output"));
  if (!last)
    return tl::unexpected(last.error());
  // The last layer gives what comes out.
  if (*last + 1 != network_.layers.size())
    if (auto passed =
            adapter(to_text(output_innovation) + ".identity", "identity", {*last});
        !passed)
      return tl::unexpected(std::move(passed.error()));
  connect_recalls();
  return std::move(network_.layers);
}

expected<void> network_builder::add_recalls(wiring::index node, indices& inputs) {
  const auto units = out(inputs.back()).units();
  indices recalled;
  for (const auto e : wires_.entering(node)) {
    const edge_gene& edge = genome_.edges[e];
    if (!edge.recurrent() || !wires_.live_edge(e))
      continue;
    if (edge.delay >= steps_of_body_)
      return refuse_network(
          fmt::format("a recurrent edge leads back {}, but sequences have {}",
                      counted(edge.delay, "step"), steps_of_body_));
    recalled.push_back(network_.layers.size());
    recalls_.emplace_back(recalled.back(), wires_.from(e));
    network_.layers.push_back(
        {.name = fmt::format("{}.recall_{}_{}", to_text(genome_.nodes[node].id),
                             to_text(edge.from), edge.delay),
         .op = "recall",
         .settings = {{"outputs", units}, {"steps", std::int64_t{edge.delay}}},
         .out = {{units}}});
  }
  inputs.insert(inputs.begin(), recalled.begin(), recalled.end());
  return {};
}

void network_builder::connect_recalls() {
  for (const auto& [recall, node] : recalls_) {
    auto& l = network_.layers[recall];
    l.inputs = {last_layer_[node]};
    l.in = {out(last_layer_[node])};
    l.cost = operator_of(l).cost_of(l);
  }
}

} // namespace clade
