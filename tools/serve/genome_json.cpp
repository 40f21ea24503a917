// A list of layers is read as if each had been put between the one before it and the
// output, so that equal lists have equal genes; edges are then as "inputs" say.
#include "tools/serve/genome_json.hpp"

#include "genome/base/text.hpp"
#include "genome/genes/innovation.hpp"
#include "search_spaces/operators/nearest.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace clade {

namespace {

using json = nlohmann::ordered_json;

// Functions that write.

json value_json(const value& v) {
  return std::visit([](const auto& one) { return json(one); }, v);
}

json values_json(const std::vector<value>& values) {
  json out = json::array();
  for (const auto& v : values)
    out.push_back(value_json(v));
  return out;
}

void write(json& out, const real_domain& d) {
  out.update({{"type", "real"}, {"low", d.low}, {"high", d.high}, {"log", d.log}});
}

void write(json& out, const integer_domain& d) {
  out.update({{"type", "whole"},
              {"low", d.low},
              {"high", d.high},
              {"step", d.step},
              {"log", d.log}});
}

void write(json& out, const choice_domain& d) {
  out.update(
      {{"type", "choice"}, {"options", values_json(d.options)}, {"ordered", d.ordered}});
}

void write(json& out, const derivation_domain& d) {
  json rules = json::object();
  for (const auto& rule : d.rules->all()) {
    json productions = json::object();
    for (const auto& p : rule.productions)
      productions[p.name] = joined(
          p.parts, " ", [&](std::size_t part) { return d.rules->all()[part].name; });
    rules[rule.name] = std::move(productions);
  }
  out.update({{"type", "derivation"},
              {"rule", d.rules->all()[d.start].name},
              {"rules", std::move(rules)},
              {"depth", d.depth},
              {"size", d.size}});
}

json parameters_json(const std::vector<parameter>& parameters) {
  json all = json::array();
  for (const auto& p : parameters) {
    json one{{"name", p.name}};
    std::visit([&](const auto& d) { write(one, d); }, p.domain);
    if (p.when)
      one["when"] = {{"parameter", p.when->parameter},
                     {"values", values_json(p.when->values)}};
    all.push_back(std::move(one));
  }
  return all;
}

// Functions that read.

tl::unexpected<error> wrong(std::string message) {
  return fail(error_kind::invalid_input, std::move(message));
}

/// The value as the domain has it, where it has one that is equal.
value in_domain(const parameter& p, value v) {
  const auto* whole = std::get_if<std::int64_t>(&v);
  const auto* real = std::get_if<double>(&v);
  if (whole == nullptr && real == nullptr)
    return v;
  const double number = whole != nullptr ? static_cast<double>(*whole) : *real;
  if (const auto* choice = std::get_if<choice_domain>(&p.domain)) {
    const auto same = [&](const value& option) {
      const auto* w = std::get_if<std::int64_t>(&option);
      const auto* r = std::get_if<double>(&option);
      return (w != nullptr && static_cast<double>(*w) == number)
             || (r != nullptr && *r == number);
    };
    const auto found = std::ranges::find_if(choice->options, same);
    return found == choice->options.end() ? v : *found;
  }
  if (std::holds_alternative<real_domain>(p.domain))
    return number;
  constexpr double exact = 9007199254740992.0; // 2^53
  if (whole == nullptr && std::trunc(number) == number && std::abs(number) <= exact)
    return static_cast<std::int64_t>(number);
  return v;
}

expected<value> read_value(const std::string& name, const json& j) {
  if (j.is_string())
    return j.get<std::string>();
  if (j.is_number_unsigned()
      && j.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max())
    return wrong(name + " is too large a number");
  if (j.is_number_integer())
    return j.get<std::int64_t>();
  if (j.is_number_float())
    return j.get<double>();
  return wrong(name + " must be a number or a text");
}

value only_value(const parameter& p) {
  if (const auto* d = std::get_if<real_domain>(&p.domain))
    return d->low;
  if (const auto* d = std::get_if<integer_domain>(&p.domain))
    return d->low;
  if (const auto* d = std::get_if<derivation_domain>(&p.domain))
    return to_text(*d->rules, least_derivation(*d));
  return std::get<choice_domain>(p.domain).options.front();
}

/// Settings by the parameters that may be meant; `check` objects to all that is wrong.
expected<std::vector<setting>> read_settings(const json& j, const std::string& where,
                                             std::vector<parameter> parameters) {
  std::vector<setting> settings;
  if (!j.is_null() && !j.is_object())
    return wrong(where + " must be an object, {\"name\": value}");
  for (const auto& [name, content] : j.items()) {
    auto v = read_value(fmt::format("{}.{}", where, name), content);
    if (!v)
      return tl::unexpected(std::move(v).error());
    const auto p = std::ranges::find(parameters, name, &parameter::name);
    assign(settings, name,
           p == parameters.end() ? std::move(*v) : in_domain(*p, std::move(*v)));
  }
  for (const auto& p : parameters)
    if (find(settings, p.name) == nullptr && !varies(p) && applies(p, settings))
      assign(settings, p.name, only_value(p));
  return settings;
}

const json& part(const json& j, const char* name) {
  static const json nothing;
  const auto found = j.find(name);
  return found == j.end() ? nothing : *found;
}

constexpr std::array<std::string_view, 4> layer_keys{"op", "settings", "inputs",
                                                     "recurrent"};
constexpr std::array<std::string_view, 2> output_keys{"settings", "inputs"};

/// Puts genes together from what a list of layers says.
class layer_list {
public:
  layer_list(const json& j, const search_space& space) : json_(j), space_(space) {
    g_.nodes = {{input_innovation, "input", {}}, {output_innovation, "output", {}}};
    places_.push_back(input_innovation);
  }

  expected<genome> read();

private:
  expected<void> read_layer(const json& j, const std::string& where);
  /// Adds the inputs that it says enter the node, or else the one before it.
  expected<std::size_t> join_inputs(const json& j, const std::string& where,
                                    innovation to);
  expected<void> read_node(const json& j, const std::string& where, std::size_t inputs,
                           node_gene& node) const;
  expected<void> read_output();
  /// Adds the recurrent edges of all layers; the nodes are there.
  expected<void> read_recurrent(const json& layers);
  expected<void> add_recurrent(const json& j, const std::string& where, innovation to);

  const json& json_;
  const search_space& space_;
  genome g_;
  std::vector<innovation> places_; ///< The input and the layers so far.
};

expected<void> layer_list::add_recurrent(const json& j, const std::string& where,
                                         innovation to) {
  const json &from = part(j, "input"), &steps = part(j, "steps");
  if (!from.is_number_unsigned() || from.get<std::uint64_t>() >= places_.size()
      || !steps.is_number_unsigned() || steps.get<std::uint64_t>() < 1
      || steps.get<std::uint64_t>() > longest_delay)
    return wrong(fmt::format("{} must be a list of objects such as {{\"input\": 1, "
                             "\"steps\": 2}}, of inputs up to {}",
                             where, places_.size() - 1));
  const auto one = places_[from.get<std::size_t>()];
  const auto delay = steps.get<std::uint32_t>();
  g_.edges.push_back(
      {.id = innovation_of_edge(one, to, delay), .from = one, .to = to, .delay = delay});
  return {};
}

expected<void> layer_list::read_recurrent(const json& layers) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const json& all = part(layers[i], "recurrent");
    if (all.is_null())
      continue;
    const auto where = fmt::format("layers[{}].recurrent", i);
    if (!all.is_array())
      return wrong(where + " must be a list");
    for (const json& one : all)
      if (auto added = add_recurrent(one, where, places_[i + 1]); !added)
        return added;
  }
  return {};
}

expected<std::size_t> layer_list::join_inputs(const json& j, const std::string& where,
                                              innovation to) {
  std::vector<innovation> from{places_.back()};
  if (const json& inputs = part(j, "inputs"); !inputs.is_null()) {
    if (!inputs.is_array() || inputs.empty())
      return wrong(where + ".inputs must be a list of numbers, [0] for the input alone");
    from.clear();
    for (const json& one : inputs) {
      if (!one.is_number_unsigned() || one.get<std::uint64_t>() >= places_.size())
        return wrong(
            fmt::format("{}.inputs must be from 0, the input, to {}, the layer before",
                        where, places_.size() - 1));
      from.push_back(places_[one.get<std::size_t>()]);
    }
  }
  std::ranges::sort(from);
  if (std::ranges::adjacent_find(from) != from.end())
    return wrong(where + ".inputs names a layer twice");
  for (const innovation one : from)
    g_.edges.push_back({.id = innovation_of_edge(one, to), .from = one, .to = to});
  return from.size();
}

expected<void> layer_list::read_node(const json& j, const std::string& where,
                                     std::size_t inputs, node_gene& node) const {
  std::vector<parameter> parameters;
  if (const auto* rule = find_operator(space_.rules, node.op))
    parameters = rule->settings;
  if (inputs > 1)
    parameters.insert(parameters.end(), space_.rules.merge.begin(),
                      space_.rules.merge.end());
  return read_settings(part(j, "settings"), where + ".settings", std::move(parameters))
      .map([&](std::vector<setting>&& settings) { node.settings = std::move(settings); });
}

expected<void> layer_list::read_layer(const json& j, const std::string& where) {
  const json& op = part(j, "op");
  if (!j.is_object() || !op.is_string())
    return wrong(where + " must be an object with an \"op\", {\"op\": \"conv\"}");
  if (auto known = refuse_unknown_keys(j, where, layer_keys); !known)
    return known;
  node_gene node{.id = {}, .op = op.get<std::string>(), .settings = {}};
  if (find_operator(space_.rules, node.op) == nullptr)
    return wrong(fmt::format("{}: the space has no operator \"{}\"", where, node.op));
  node.id =
      innovation_of_split(g_, innovation_of_edge(places_.back(), output_innovation));
  return join_inputs(j, where, node.id)
      .and_then([&](std::size_t inputs) {
        const json& recurrent = part(j, "recurrent");
        const auto more = recurrent.is_array() ? recurrent.size() : 0;
        return read_node(j, where, inputs + more, node);
      })
      .map([&] {
        places_.push_back(node.id);
        g_.nodes.push_back(std::move(node));
      });
}

expected<void> layer_list::read_output() {
  const json& output = part(json_, "output");
  if (!output.is_null() && !output.is_object())
    return wrong("output must be an object, {\"inputs\": [1, 2]}");
  if (auto known = refuse_unknown_keys(output, "output", output_keys); !known)
    return known;
  return join_inputs(output, "output", output_innovation)
      .and_then([&](std::size_t inputs) {
        const auto node = std::ranges::find(g_.nodes, output_innovation, &node_gene::id);
        return read_node(output, "output", inputs, *node);
      });
}

expected<genome> layer_list::read() {
  const json& layers = part(json_, "layers");
  if (!layers.is_null() && !layers.is_array())
    return wrong("layers must be a list, [{\"op\": \"conv\", \"settings\": {...}}]");
  const auto most = space_.rules.max_nodes;
  if (layers.size() > most)
    return wrong(fmt::format("layers: there are {}, and limits.max_nodes is {}",
                             layers.size(), most));
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (auto read = read_layer(layers[i], fmt::format("layers[{}]", i)); !read)
      return tl::unexpected(std::move(read).error());
  if (auto read = read_recurrent(layers).and_then([&] { return read_output(); }); !read)
    return tl::unexpected(std::move(read).error());
  auto settings = read_settings(part(json_, "hyperparameters"), "hyperparameters",
                                space_.rules.hyperparameters);
  if (!settings)
    return tl::unexpected(std::move(settings).error());
  g_.hyperparameters = std::move(*settings);
  std::ranges::sort(g_.nodes, {}, &node_gene::id);
  std::ranges::sort(g_.edges, {}, &edge_gene::id);
  return std::move(g_);
}

} // namespace

expected<void> refuse_unknown_keys(const json& j, const std::string& where,
                                   std::span<const std::string_view> known) {
  if (!j.is_object())
    return {};
  for (const auto& [key, content] : j.items()) {
    if (std::ranges::find(known, key) != known.end())
      continue;
    constexpr std::size_t longest = 60;
    const auto near = nearest(key, known);
    std::string all;
    for (const auto name : known)
      all += fmt::format("{}{}\"", all.empty() ? "\"" : ", \"", name);
    return wrong(fmt::format("{} has an unknown key \"{}{}{}", where,
                             key.substr(0, longest),
                             key.size() > longest ? "...\"" : "\"",
                             near.empty() ? "; known are " + all
                                          : fmt::format("; did you mean \"{}\"?", near)));
  }
  return {};
}

json to_json(const search_space& space) {
  const auto& rules = space.rules;
  json operators = json::array();
  for (const auto& o : rules.operators)
    operators.push_back({{"name", o.name},
                         {"weight", o.weight},
                         {"settings", parameters_json(o.settings)}});
  return {{"image", space.input == layout::image},
          {"sequence", space.input == layout::sequence},
          {"limits",
           {{"max_nodes", rules.max_nodes},
            {"max_skips", rules.max_skips},
            {"initial_nodes", rules.initial_nodes},
            {"max_parameters", space.limits.max_parameters},
            {"max_multiply_adds", space.limits.max_multiply_adds},
            {"max_width", space.limits.max_width}}},
          {"operators", std::move(operators)},
          {"merge", parameters_json(rules.merge)},
          {"hyperparameters", parameters_json(rules.hyperparameters)}};
}

expected<genome> genome_from_json(const json& j, const search_space& space,
                                  const problem& p) {
  if (!j.is_object())
    return wrong("a genome must be an object, {\"layers\": [...], "
                 "\"hyperparameters\": {...}}");
  auto g = layer_list(j, space).read();
  if (!g)
    return g;
  if (auto legal = check(space.rules, *g); !legal)
    return tl::unexpected(std::move(legal).error());
  if (auto decoded = decode(space, *g, p); !decoded)
    return tl::unexpected(std::move(decoded).error());
  return g;
}

} // namespace clade
