// Nodes are decoded in topological order, each to its adapters, its merge and its
// operator, in this order; an adapter that would change nothing is left out:
//
//   several inputs   flatten0.. (mixed kinds), resize0.. (images), resize_steps0..
//                    (sequences), project0.. (to be added), then add or concat
//   what comes out   flatten, as_image or as_sequence, as the operator wants; from images
//                    to sequences and back two of them
//   the operator     settings completed, the kernel cut to the pixels that exist; a
//                    composite is taken apart into its layers
//
// No layer may have more than 2^28 elements, so that sizes and a layer's costs cannot
// overflow, however often a hostile genome concatenates, and sums of costs saturate; the
// limits are checked at the end, when the figures for the message are known.
#include "genome/base/text.hpp"
#include "search_spaces/operators/network_builder.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

namespace {

/// Whether limits.max_width holds for the layer: where a setting chooses its width, and
/// where channels of images meet. Features that meet may be pixels of an image.
bool is_limited_in_width(const layer& l) {
  const auto& row = operator_of(l);
  const bool meet = row.units == unit_origin::joined || row.units == unit_origin::fitted;
  return (meet && l.out.layout() != layout::vector)
         || std::ranges::any_of(row.settings, &setting_entry::width);
}

/// The first layer, or layer of a body, that is wider than it may be; null: there is none.
const layer* find_too_wide(std::span<const layer> layers, std::int64_t most) {
  for (const layer& l : layers) {
    if (is_limited_in_width(l) && l.out.units() > most)
      return &l;
    if (const auto* within = find_too_wide(l.body, most))
      return within;
  }
  return nullptr;
}

} // namespace

tl::unexpected<error> refuse_network(std::string message) {
  return fail(error_kind::invalid_input, std::move(message));
}

const operator_entry* find_operator(const search_space& space, std::string_view name) {
  const auto own = std::ranges::find(space.composites, name,
                                     [](const auto& o) { return o->row().name; });
  return own == space.composites.end() ? find_operator(name) : &(*own)->row();
}

expected<void> network_builder::check_problem() const {
  const auto& sizes = problem_.input.sizes;
  std::int64_t elements = 1;
  bool sound = problem_.input.layout().has_value();
  for (const auto size : sizes) {
    sound = sound && size > 0 && size <= most_elements / elements;
    elements = sound ? elements * size : 1;
  }
  if (!sound)
    return refuse_network(
        fmt::format("examples of shape {} are neither vectors [features] nor "
                    "sequences [steps, features] nor images [channels, height, width] of "
                    "a sound size",
                    to_text(problem_.input)));
  if (space_.input != layout::vector && problem_.input.layout() != space_.input)
    return refuse_network(fmt::format(
        "this search space wants {}s {}, but the examples have shape {}; set data.shape, "
        "or take a space for vectors such as mlp.toml",
        to_text(space_.input), sizes_text(space_.input), to_text(problem_.input)));
  if (problem_.outputs < 1 || problem_.outputs > 65536)
    return refuse_network(
        fmt::format("{} outputs cannot be; there must be 1 to 65,536", problem_.outputs));
  return {};
}

expected<void> network_builder::check_wires() const {
  if (wires_.dangling() || wires_.cyclic())
    return refuse_network("the genome's edges are no acyclic graph of its nodes");
  const auto& order = wires_.order();
  if (order.size() < 2 || genome_.nodes[order.front()].id != input_innovation
      || genome_.nodes[order.back()].id != output_innovation)
    return refuse_network("the genome has no path from its input to its output");
  return {};
}

expected<network> network_builder::build() {
  for (auto step : {&network_builder::check_problem, &network_builder::check_wires})
    if (auto sound = (this->*step)(); !sound)
      return tl::unexpected(std::move(sound.error()));
  network_.layers.reserve(wires_.order().size() * 2);
  last_layer_.resize(genome_.nodes.size());
  auto added =
      space_.rules.max_recurrent > 0 ? add_steps_of_time() : add_input().and_then([&] {
        return add_nodes(std::span(wires_.order()).subspan(1));
      });
  if (!added)
    return tl::unexpected(std::move(added.error()));
  if (auto fits = check_limits(); !fits)
    return tl::unexpected(std::move(fits.error()));
  return std::move(network_);
}

void network_builder::add_examples() {
  layer input{.name = "input", .op = "input", .out = problem_.input};
  input.cost = operator_of(input).cost_of(input);
  network_.layers.push_back(std::move(input));
}

expected<void> network_builder::add_input() {
  add_examples();
  return adapt("input", 0, is_body() ? layout::vector : space_.input)
      .map([this](index last) { last_layer_[wires_.order().front()] = last; });
}

expected<void> network_builder::add_nodes(std::span<const wiring::index> nodes) {
  for (const auto node : nodes)
    if (auto added = add_node(node); !added)
      return added;
  return {};
}

/// The layers that feed a node, those of the main path last.
expected<network_builder::indices> network_builder::sources(wiring::index node) const {
  indices inputs;
  for (const auto edge : wires_.entering(node)) {
    if (!wires_.live_edge(edge))
      continue;
    if (!genome_.edges[edge].recurrent())
      inputs.push_back(last_layer_[wires_.from(edge)]);
    else if (!is_body())
      return refuse_network("the genome has a recurrent edge, which layers do not have");
  }
  if (inputs.empty())
    return refuse_network(
        fmt::format("{} has no input of the present", to_text(genome_.nodes[node].id)));
  std::ranges::sort(inputs); // Layers stand in topological order.
  return inputs;
}

expected<network_builder::index>
network_builder::entrance_of(wiring::index node, const operator_entry& entry) {
  const node_gene& gene = genome_.nodes[node];
  const std::string name = to_text(gene.id);
  auto inputs = sources(node);
  if (!inputs)
    return tl::unexpected(std::move(inputs.error()));
  if (is_body())
    if (auto added = add_recalls(node, *inputs); !added)
      return tl::unexpected(std::move(added.error()));
  expected<index> from = inputs->back();
  if (inputs->size() > 1) {
    const value* how = find(gene.settings, "merge");
    const bool is_several = entry.parts != nullptr || find_own(entry) != nullptr;
    from = merge(name, how != nullptr && *how == value("concat"), std::move(*inputs),
                 is_several ? ".merged" : "");
  }
  if (from && !entry.works_on(out(*from).layout()))
    from = adapt(name, *from, wanted_by(entry));
  return from;
}

expected<void> network_builder::add_node(wiring::index node) {
  const node_gene& gene = genome_.nodes[node];
  const operator_entry* entry = find_operator(space_, gene.op);
  const bool is_output = gene.id == output_innovation;
  if (entry == nullptr || (!is_output && entry->role != operator_role::layer))
    return refuse_network(fmt::format("'{}' is no operator for a layer", gene.op));
  if (is_output && entry->role != operator_role::output)
    return refuse_network(
        fmt::format("the genome's output has the operator '{}'", gene.op));
  const auto from = entrance_of(node, *entry);
  if (!from)
    return tl::unexpected(from.error());

  std::vector<setting> given = gene.settings;
  clade::erase(given, "merge"); // Not std::erase, which lookup by argument finds too.
  if (is_output)
    assign(given, "outputs", problem_.outputs);
  const std::string name = to_text(gene.id);
  auto added = add_operator(name, *entry, *from, given);
  if (added
      && is_body()) // Steps are vectors; a layer with a state gives a sequence of one.
    added = adapt(name, *added, layout::vector);
  if (!added)
    return tl::unexpected(std::move(added.error()));
  last_layer_[node] = *added;
  return {};
}

expected<network_builder::index> network_builder::merge(const std::string& name,
                                                        bool concat, indices inputs,
                                                        const std::string& ending) {
  const auto all_are = [&](layout l) {
    return std::ranges::all_of(inputs, [&](index i) { return out(i).layout() == l; });
  };
  if (all_are(layout::image)) {
    if (auto fitted = fit_images(name, inputs); !fitted)
      return tl::unexpected(std::move(fitted.error()));
  } else if (all_are(layout::sequence)) {
    if (auto fitted = fit_sequences(name, inputs); !fitted)
      return tl::unexpected(std::move(fitted.error()));
  } else {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      auto flat = adapt(name, inputs[i], layout::vector, std::to_string(i));
      if (!flat)
        return flat;
      inputs[i] = *flat;
    }
  }
  const auto named = [&](const char* usual) {
    return name + (ending.empty() ? usual : ending);
  };
  if (concat)
    return adapter(named(".concat"), "concat", std::move(inputs));
  if (auto fitted = fit_channels(name, inputs); !fitted)
    return tl::unexpected(std::move(fitted.error()));
  return adapter(named(".add"), "add", std::move(inputs));
}

expected<void> network_builder::fit_images(const std::string& name, indices& inputs) {
  auto height = out(inputs[0]).sizes[1], width = out(inputs[0]).sizes[2];
  for (const index i : inputs) {
    height = std::min(height, out(i).sizes[1]);
    width = std::min(width, out(i).sizes[2]);
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto& sizes = out(inputs[i]).sizes;
    if (sizes[1] == height && sizes[2] == width)
      continue;
    auto fitted = adapter(fmt::format("{}.resize{}", name, i), "resize", {inputs[i]},
                          {{"height", height}, {"width", width}});
    if (!fitted)
      return tl::unexpected(std::move(fitted.error()));
    inputs[i] = *fitted;
  }
  return {};
}

expected<void> network_builder::fit_sequences(const std::string& name, indices& inputs) {
  auto steps = out(inputs[0]).sizes[0];
  for (const index i : inputs)
    steps = std::min(steps, out(i).sizes[0]);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (out(inputs[i]).sizes[0] == steps)
      continue;
    auto fitted = adapter(fmt::format("{}.resize_steps{}", name, i), "resize_steps",
                          {inputs[i]}, {{"steps", steps}});
    if (!fitted)
      return tl::unexpected(std::move(fitted.error()));
    inputs[i] = *fitted;
  }
  return {};
}

expected<void> network_builder::fit_channels(const std::string& name, indices& inputs) {
  const auto channels = out(inputs.back()).units();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (out(inputs[i]).units() == channels)
      continue;
    auto fitted = adapter(fmt::format("{}.project{}", name, i), "project", {inputs[i]},
                          {{"outputs", channels}});
    if (!fitted)
      return tl::unexpected(std::move(fitted.error()));
    inputs[i] = *fitted;
  }
  return {};
}

expected<network_builder::index> network_builder::adapt(const std::string& name,
                                                        index input, layout to,
                                                        const std::string& number) {
  const auto from = *out(input).layout();
  if (from == to)
    return input;
  const auto* entry = find_adapter(from, to);
  if (entry == nullptr) // Images and sequences become each other by way of vectors.
    return adapt(name, input, layout::vector, number).and_then([&](index vector) {
      return adapt(name, vector, to, number);
    });
  return add(fmt::format("{}.{}{}", name, entry->name, number), *entry, {input}, {});
}

layout network_builder::wanted_by(const operator_entry& entry) const {
  return entry.works_on(space_.input) ? space_.input : entry.takes.front();
}

expected<network_builder::index>
network_builder::adapter(const std::string& name, std::string_view op, indices inputs,
                         const std::vector<setting>& given) {
  return add(name, *find_operator(op), std::move(inputs), given);
}

void network_builder::cut_kernel(const operator_entry& entry, const tensor_shape& in,
                                 std::vector<setting>& settings) const {
  const auto kernel = std::ranges::find(entry.settings, "kernel", &setting_entry::name);
  if (kernel == entry.settings.end() || !kernel->odd)
    return;
  const auto reach =
      (in.layout() == layout::sequence ? in.sizes[0] : std::max(in.sizes[1], in.sizes[2]))
      - 1;
  const auto most = 2 * (reach / integer_setting(settings, "dilation")) + 1;
  if (integer_setting(settings, "kernel") > most)
    assign(settings, "kernel", most);
}

expected<network_builder::index> network_builder::add(std::string name,
                                                      const operator_entry& entry,
                                                      indices inputs,
                                                      const std::vector<setting>& given) {
  if (network_.layers.size() == most_layers)
    return refuse_network(
        fmt::format("the network has more than {} layers", with_commas(most_layers)));
  auto settings = complete(entry, given);
  if (!settings)
    return tl::unexpected(std::move(settings.error()));
  std::vector<tensor_shape> in;
  in.reserve(inputs.size());
  for (const index i : inputs)
    in.push_back(out(i));
  cut_kernel(entry, in[0], *settings);
  tensor_shape shape = entry.shape(in, *settings);
  if (shape.elements() > most_elements)
    return refuse_network(fmt::format(
        "{} has {} elements for one example, of which no layer may have more than {}",
        name, with_commas(static_cast<std::uint64_t>(shape.elements())),
        with_commas(most_elements)));
  layer added{.name = std::move(name),
              .op = std::string(entry.name),
              .settings = std::move(*settings),
              .inputs = std::move(inputs),
              .in = std::move(in),
              .out = std::move(shape)};
  added.cost = entry.cost_of(added);
  network_.layers.push_back(std::move(added));
  return network_.layers.size() - 1;
}

expected<void> network_builder::check_limits() const {
  const auto exceed = [](std::uint64_t have, const std::string& what, const char* limit,
                         std::uint64_t most) {
    return refuse_network(fmt::format("{} {} exceed limits.{} = {}", with_commas(have),
                                      what, limit, with_commas(most)));
  };
  const auto cost = network_.cost();
  const auto& limits = space_.limits;
  const auto* too_wide = find_too_wide(network_.layers, limits.max_width);
  if (cost.parameters > limits.max_parameters)
    return exceed(cost.parameters, "parameters", "max_parameters", limits.max_parameters);
  if (cost.multiply_adds > limits.max_multiply_adds)
    return exceed(cost.multiply_adds, "multiply-adds", "max_multiply_adds",
                  limits.max_multiply_adds);
  if (too_wide != nullptr)
    return exceed(
        static_cast<std::uint64_t>(too_wide->out.units()),
        (too_wide->out.layout() == layout::vector ? "units of " : "channels of ")
            + too_wide->name,
        "max_width", static_cast<std::uint64_t>(limits.max_width));
  return {};
}

expected<network> decode(const search_space& space, const genome& g, const problem& p) {
  auto built = network_builder(space, g, p).build();
  if (!built)
    return fail_in(space.name, std::move(built.error()));
  return built;
}

} // namespace clade
