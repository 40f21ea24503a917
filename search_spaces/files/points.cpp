// A file of points:
//
//   [points.mine]                                  any name
//   hyperparameters = {learning_rate = 0.01}       those that are known
//   layers = [{op = "dense", units = 64}]          a chain, as in [seeds.NAME]; or
//   genome = """                                   a network as `clade show` prints it,
//   input                                          and its hyperparameters
//   n3f2a1  dense(units=64) <- input
//   output <- n3f2a1
//   learning_rate=0.01
//   """
//
// Tables come in the order of their lines, not of their names.
#include "search_spaces/files/points.hpp"

#include "genome/base/whole_file.hpp"
#include "genome/variation/parse_genome.hpp"
#include "genome/variation/rewiring.hpp"
#include "search_spaces/toml/parameter_reader.hpp"
#include "search_spaces/toml/parse_toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>

namespace clade {

namespace {

constexpr std::array<std::string_view, 1> top_keys{"points"};
constexpr std::array<std::string_view, 3> point_keys{"genome", "layers",
                                                     "hyperparameters"};

/// Reads one `[points.NAME]`.
class point_reader {
public:
  point_reader(const search_space& space, complaints& wrong)
      : space_(space),
        wrong_(wrong) {}

  known_point read(const std::string& name, const toml::node& node);

private:
  void read_layers(const toml::node& node, known_point& into);
  void read_genome(const toml::node& node, known_point& into);
  void check_network(const toml::node& node, known_point& point);
  void note(const toml::node& node, const std::string& message) {
    if (!message.empty())
      wrong_.note(node.source(), fmt::format("{}: {}", path_, message));
  }

  const search_space& space_;
  complaints& wrong_;
  std::string path_;
};

void point_reader::read_layers(const toml::node& node, known_point& into) {
  const auto* list = node.as_array();
  if (list == nullptr)
    return note(node, "layers is no list, such as [{op = \"dense\", units = 64}]");
  std::vector<node_gene> layers;
  for (const auto& one : *list) {
    const auto* layer = one.as_table();
    const auto op =
        layer == nullptr ? std::nullopt : (*layer)["op"].value_exact<std::string>();
    if (!op) {
      note(one, fmt::format("{} is no layer, such as {{op = \"dense\", units = 64}}",
                            describe(one)));
      continue;
    }
    node_gene gene{.op = *op};
    read_settings(*layer, path_ + ".layers", gene.settings, wrong_);
    note(one, misfit(gene, space_.rules));
    layers.push_back(std::move(gene));
  }
  if (layers.size() > space_.rules.max_nodes)
    return note(node, fmt::format("{} layers are more than limits.max_nodes = {}",
                                  layers.size(), space_.rules.max_nodes));
  into.network = chain_genome(std::move(layers));
}

void point_reader::read_genome(const toml::node& node, known_point& into) {
  const auto text = node.value_exact<std::string>();
  if (!text)
    return note(node, "genome is no text");
  auto made = parse_genome(*text);
  if (!made)
    return note(node, "genome, " + made.error().message);
  for (auto& s : made->hyperparameters)
    if (find(into.hyperparameters, s.name) == nullptr)
      assign(into.hyperparameters, s.name, s.value);
  note(node, misfit(into.hyperparameters, space_.rules.hyperparameters));
  made->hyperparameters.clear();
  for (auto& gene : made->nodes) {
    if (gene.id == input_innovation || gene.id == output_innovation)
      continue;
    // A merge is a setting of no operator.
    auto plain = gene;
    clade::erase(plain.settings, "merge");
    note(node, misfit(plain, space_.rules));
    if (const auto* merge = find(gene.settings, "merge"))
      assign(plain.settings, "merge", *merge);
    gene = std::move(plain);
  }
  into.network = std::move(*made);
}

void point_reader::check_network(const toml::node& node, known_point& point) {
  if (!point.network || wrong_.first())
    return;
  auto g = *point.network;
  auto random = derive(0, purpose::sample, 0, 0);
  repair_nodes(space_.rules, g, random);
  g.hyperparameters = point.hyperparameters;
  repair(space_.rules.hyperparameters, g.hyperparameters, random);
  if (const auto fits = check(space_.rules, g); !fits)
    note(node, fits.error().message);
}

known_point point_reader::read(const std::string& name, const toml::node& node) {
  path_ = "points." + name;
  known_point point{.name = name};
  const auto* table = node.as_table();
  if (table == nullptr || table->empty()) {
    note(node, "a point is a table with hyperparameters, layers or genome");
    return point;
  }
  refuse_unknown(*table, path_, point_keys, wrong_);
  if (const auto* given = table->get("hyperparameters")) {
    auto settings = given->is_table() ? *given->as_table() : toml::table{};
    if (!given->is_table())
      note(*given, "hyperparameters is no table, such as {learning_rate = 0.01}");
    use_american_keys(settings);
    read_settings(settings, path_ + ".hyperparameters", point.hyperparameters, wrong_);
    note(*given, misfit(point.hyperparameters, space_.rules.hyperparameters));
  }
  const auto* layers = table->get("layers");
  const auto* network = table->get("genome");
  if (layers != nullptr && network != nullptr)
    note(*network, "it has layers already; write one of the two");
  else if (layers != nullptr)
    read_layers(*layers, point);
  else if (network != nullptr)
    read_genome(*network, point);
  check_network(network != nullptr ? *network : node, point);
  return point;
}

} // namespace

expected<std::vector<known_point>>
parse_points(std::string_view text, std::string_view origin, const search_space& space) {
  const auto document = parse_toml(text, origin);
  if (!document)
    return tl::unexpected(document.error());
  complaints wrong{std::string(origin)};
  refuse_unknown(*document, "", top_keys, wrong);
  std::vector<std::pair<toml::source_position, known_point>> found;
  const auto* all = document->get_as<toml::table>("points");
  point_reader reader(space, wrong);
  if (all != nullptr)
    for (const auto& [name, node] : *all)
      found.emplace_back(name.source().begin, reader.read(std::string(name.str()), node));
  if (wrong.first())
    return tl::unexpected(*wrong.first());
  if (found.empty())
    return fail_in(std::string(origin),
                   {error_kind::invalid_input,
                    "has no points; each is a table, such as [points.mine] with "
                    "hyperparameters = {learning_rate = 0.01}"});
  std::ranges::stable_sort(
      found, [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<known_point> points;
  for (auto& [at, point] : found)
    points.push_back(std::move(point));
  return points;
}

expected<std::vector<known_point>> load_points(const std::filesystem::path& file,
                                               const search_space& space) {
  return read_whole_file(file, {.most_bytes = most_toml_file_bytes})
      .and_then([&](const std::string& text) {
        return parse_points(text, file.string(), space);
      });
}

std::string to_toml(const known_point& point) {
  toml::table table;
  if (point.network)
    table.insert("genome", to_text(*point.network));
  if (!point.hyperparameters.empty() || !point.network) {
    toml::table settings;
    for (const auto& s : point.hyperparameters)
      std::visit([&](const auto& v) { settings.insert(s.name, v); }, s.value);
    table.insert("hyperparameters", std::move(settings));
  }
  toml::table points;
  points.insert(point.name, std::move(table));
  toml::table document;
  document.insert("points", std::move(points));
  std::ostringstream out;
  out << document;
  return out.str();
}

namespace {

/// Takes out what the space does not have.
void keep_known(std::vector<setting>& settings, const std::vector<parameter>& known) {
  std::erase_if(settings, [&](setting& s) {
    std::vector<setting> one{s};
    const bool unknown = !misfit(one, known).empty();
    s = one.front();
    return unknown;
  });
}

} // namespace

expected<void> check_fits(const known_point& point, const search_space& space,
                          const problem& p) {
  auto random = derive(0, purpose::sample, 0, 0);
  return genome_of(point, space, p, random).and_then([&](const genome& g) {
    return check(space.rules, g).and_then([&] {
      return decode(space, g, p).map([](const network&) {});
    });
  });
}

expected<known_point> fitted_point(std::string name, const genome& g,
                                   const search_space& space, const problem& p) {
  known_point point{
      .name = std::move(name), .network = g, .hyperparameters = g.hyperparameters};
  keep_known(point.hyperparameters, space.rules.hyperparameters);
  auto& network = *point.network;
  network.hyperparameters.clear();
  expected<void> fits;
  for (auto& node : network.nodes) {
    const auto* rule = find_operator(space.rules, node.op);
    const bool end = node.id == input_innovation || node.id == output_innovation;
    if (rule == nullptr && !end)
      fits = fail(error_kind::invalid_input, "there is no operators." + node.op);
    auto known = space.rules.merge;
    if (rule != nullptr)
      known.insert(known.end(), rule->settings.begin(), rule->settings.end());
    keep_known(node.settings, known);
  }
  if (fits)
    fits = check_fits(point, space, p);
  if (fits)
    return point;
  point.network.reset();
  if (point.hyperparameters.empty() || !check_fits(point, space, p))
    return tl::unexpected(fits.error());
  return point;
}

expected<genome> genome_of(const known_point& point, const search_space& space,
                           const problem& p, random_stream& random) {
  genome g;
  if (point.network) {
    g = *point.network;
    repair_nodes(space.rules, g, random);
  } else {
    auto sampled = sample(space, p, random);
    if (!sampled)
      return tl::unexpected(sampled.error());
    g = std::move(sampled->child);
  }
  for (const auto& s : point.hyperparameters)
    assign(g.hyperparameters, s.name, s.value);
  repair(space.rules.hyperparameters, g.hyperparameters, random);
  return g;
}

} // namespace clade
