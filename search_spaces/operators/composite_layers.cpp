// The layers of composites: of those of the table, whose rows list them, and of those that
// a search-space file makes of known operators, or by rules. The latter are adapted to each
// other as the layers of a genome are: layouts to what an operator takes, images that meet
// to one size, what is added to the channels of the last.
#include "search_spaces/operators/network_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace clade {

namespace {

/// The derivations that the layers of a composite are made by, in the order of the layers.
std::vector<derivation> derivations_of(const own_operator& own,
                                       const std::vector<setting>& complete) {
  std::vector<derivation> all;
  for (const auto& l : own.description().layers) {
    if (l.rule.empty())
      continue;
    const auto name = *parameter_named(l.op);
    const auto& p =
        *std::ranges::find(own.description().parameters, name, &own_parameter::name);
    all.push_back(*parse_derivation(*p.derivations, text_setting(complete, name)));
  }
  return all;
}

/// Whether the trained ones among them are of the same roles and shapes.
bool same_trained(const tensor_entries& a, const tensor_entries& b) {
  const auto trained = [](const tensor_entries& all) {
    std::vector<std::pair<std::string, std::vector<std::int64_t>>> list;
    for (const auto& t : all)
      if (t.trained)
        list.emplace_back(t.role, t.shape());
    return list;
  };
  return trained(a) == trained(b);
}

} // namespace

expected<network_builder::index>
network_builder::add_parts(const std::string& name, const operator_entry& entry,
                           index input, const std::vector<setting>& given) {
  const auto settings = complete(entry, given);
  if (!settings)
    return tl::unexpected(settings.error());
  indices layers{input};
  static const std::vector<bool> all_are_numbers;
  const bool examples = input == 0 && std::ssize(problem_.numbers) == out(input).units();
  const composite_input in{.shape = network_.layers[input].out,
                           .numbers = examples ? problem_.numbers : all_are_numbers};
  for (layer_part& part : entry.parts(in, *settings)) {
    indices inputs;
    for (const auto i : part.inputs)
      inputs.push_back(layers[i]);
    auto added = add(fmt::format("{}.{}", name, part.name), *find_operator(part.op),
                     std::move(inputs), part.settings);
    if (!added)
      return added;
    network_.layers[*added].starts_at_zero = part.starts_at_zero;
    network_.layers[*added].joins_at_zero = part.joins_at_zero;
    network_.layers[*added].adds_branch = part.adds_branch;
    network_.layers[*added].selected = std::move(part.selected);
    layers.push_back(*added);
  }
  return layers.back();
}

const own_operator* network_builder::find_own(const operator_entry& entry) const {
  const auto own = std::ranges::find(space_.composites, &entry,
                                     [](const auto& o) { return &o->row(); });
  return own == space_.composites.end() ? nullptr : own->get();
}

expected<network_builder::index>
network_builder::add_operator(const std::string& name, const operator_entry& entry,
                              index input, const std::vector<setting>& given) {
  if (const auto* own = find_own(entry))
    return add_own(name, *own, input, given);
  return entry.parts != nullptr ? add_parts(name, entry, input, given)
                                : add(name, entry, {input}, given);
}

expected<network_builder::index>
network_builder::add_own(const std::string& name, const own_operator& own, index input,
                         const std::vector<setting>& given) {
  const auto settings = complete(own.row(), given);
  if (!settings)
    return tl::unexpected(settings.error());
  const auto parts = derivations_of(own, *settings);
  const auto repeats = own.repeats(*settings);
  expected<index> last = input;
  const auto first = network_.layers.size();
  for (std::int64_t i = 1; last && i <= repeats; ++i) {
    const auto before =
        fmt::format("{}.{}", name, repeats > 1 ? fmt::format("{}.", i) : "");
    const auto begin = network_.layers.size();
    last = add_layers(before, own, *last, *settings, i, own.description().rules.get(),
                      parts);
    if (last && own.description().share && i > 1)
      share_weights(name, before, first, begin);
  }
  return last;
}

// Layers of repetitions correspond by their names without the repetition's number.
void network_builder::share_weights(const std::string& name,
                                    const std::string& repetition, index first,
                                    index begin) {
  const auto within = [&](const layer& l) {
    const auto number = l.name.find('.', name.size() + 1);
    return std::string_view(l.name).substr(number + 1);
  };
  for (auto i = begin; i < network_.layers.size(); ++i) {
    auto& l = network_.layers[i];
    const auto& row = operator_of(l);
    if (!l.shares.empty()) { // It is of a repetition within this one.
      const auto& owner = *std::ranges::find(network_.layers, l.shares, &layer::name);
      if (!owner.shares.empty())
        l.shares = owner.shares;
      continue;
    }
    if (row.tensors_of(l).empty())
      continue;
    const auto part = std::string_view(l.name).substr(repetition.size());
    for (auto k = first; k < begin; ++k) {
      const auto& earlier = network_.layers[k];
      if (!earlier.shares.empty() || earlier.op != l.op || within(earlier) != part
          || !same_trained(row.tensors_of(earlier), row.tensors_of(l)))
        continue;
      l.shares = earlier.name;
      l.cost = row.cost_of(l);
      break;
    }
  }
}

expected<network_builder::index> network_builder::add_derivation(const std::string& name,
                                                                 const layer_rules& rules,
                                                                 const derivation& d,
                                                                 index input) {
  return add_layers(name + ".", *rules.layers[d.rule][d.production], input, {}, 1, &rules,
                    d.parts);
}

expected<network_builder::index>
network_builder::add_layers(const std::string& name, const own_operator& own, index input,
                            const std::vector<setting>& complete, std::int64_t repetition,
                            const layer_rules* rules, std::span<const derivation> parts) {
  std::map<std::string, index, std::less<>> made{
      {std::string(own_layer::entrance), input}};
  const auto channels = out(input).units();
  expected<index> last = input;
  for (const auto& l : own.description().layers) {
    indices inputs;
    for (const auto& from : l.from)
      inputs.push_back(made.at(own.resolved(from, complete)));
    if (inputs.empty())
      inputs.push_back(*last);
    if (!l.rule.empty()) {
      last = add_derivation(name + l.name, *rules, parts.front(), inputs.front());
      parts = parts.subspan(1);
    } else if (const auto op = own.resolved(l.op, complete);
               const auto* row = own.row_of(op)) {
      const auto before = network_.layers.size();
      last = add_own_layer(name + l.name, own, *row, inputs.front(),
                           own.settings_of(l, *row, complete, repetition, channels));
      if (last && l.starts_at_zero)
        network_.layers[*last].starts_at_zero = true;
      if (last)
        name_choices(own, l, op, before, *last);
    } else {
      last = merged(name + l.name, op, std::move(inputs));
    }
    if (!last)
      return last;
    made[l.name] = *last;
  }
  return last;
}

// A choice within the layer is one by a parameter of this composite if that is passed on.
void network_builder::name_choices(const own_operator& own, const own_layer& l,
                                   std::string_view op, index first, index last) {
  for (auto i = first; i < network_.layers.size(); ++i)
    if (auto& name = network_.layers[i].chosen_by; !name.empty())
      name = own.passed_on(l, name).value_or("");
  const auto words = own.operators_of(l);
  const bool may_be_zero = std::ranges::find(words, "zero") != words.end();
  if (const auto parameter = parameter_named(l.op);
      parameter && last >= first && op != "zero" && may_be_zero)
    network_.layers[last].chosen_by = *parameter;
}

expected<network_builder::index>
network_builder::merged(const std::string& name, std::string_view op, indices inputs) {
  return op == "multiply" ? multiply(name, std::move(inputs))
                          : merge(name, op == "concat", std::move(inputs));
}

expected<network_builder::index>
network_builder::add_own_layer(const std::string& name, const own_operator& own,
                               const operator_entry& entry, index input,
                               const std::vector<setting>& settings) {
  expected<index> from = input;
  if (!entry.works_on(out(*from).layout()))
    from = adapt(name, *from, wanted_by(entry));
  if (!from)
    return from;
  const auto* within = own.used(entry.name);
  return within != nullptr ? add_own(name, *within, *from, settings)
                           : add_operator(name, entry, *from, settings);
}

expected<network_builder::index> network_builder::multiply(const std::string& name,
                                                           indices inputs) {
  const auto any_is = [&](layout l) {
    return std::ranges::any_of(inputs, [&](index i) { return out(i).layout() == l; });
  };
  const auto common = any_is(layout::image)      ? layout::image
                      : any_is(layout::sequence) ? layout::sequence
                                                 : layout::vector;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    auto adapted = adapt(name, inputs[i], common, std::to_string(i));
    if (!adapted)
      return adapted;
    inputs[i] = *adapted;
  }
  // The largest gives the shape; one pixel stands for all pixels, and one step for all
  // steps.
  std::ranges::stable_sort(inputs, {}, [&](index i) { return out(i).elements(); });
  const auto& shape = out(inputs.back());
  const tensor_shape one =
      tensor_shape{std::vector<std::int64_t>(shape.sizes.size(), 1)}.with_units(
          shape.units());
  for (const index i : inputs)
    if (out(i) != shape && out(i) != one)
      return refuse_network(fmt::format("{} multiplies {} and {}; both must have one "
                                        "shape, or one of them one pixel or step",
                                        name, to_text(out(i)), to_text(shape)));
  return adapter(name + ".multiply", "multiply", std::move(inputs));
}

} // namespace clade
