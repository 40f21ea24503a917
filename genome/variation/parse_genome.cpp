//     text    = { line "\n" }
//     line    = "input" | NAME layer inputs | "output" inputs | settings, by spaces
//     layer   = OPERATOR [ "(" settings, by commas ")" ]
//     inputs  = "<-" input { "," input } [ "[merge" WORD "]" ]
//     input   = NAME [ [ NUMBER "steps" ] "before" ]
//     setting = NAME "=" VALUE         a whole number, a real, or else a word
//
// A node's number is that of the split of the edge from the first that enters it to the
// output, which for a chain is how chain_genome counts.
#include "genome/variation/parse_genome.hpp"

#include "genome/base/text.hpp"
#include "genome/genes/innovation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace clade {

namespace {

std::vector<std::string_view> parts_of(std::string_view text, char between) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const auto end = std::min(text.find(between), text.size());
    if (const auto part = trimmed(text.substr(0, end)); !part.empty())
      parts.push_back(part);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

value parsed_value(std::string_view text) {
  if (const auto whole = parse_number<std::int64_t>(text))
    return *whole;
  if (const auto real = parse_number<double>(text))
    return *real;
  return std::string(text);
}

tl::unexpected<error> wrong(std::string message) {
  return fail(error_kind::invalid_input, std::move(message));
}

expected<std::vector<setting>> parse_settings(std::string_view text, char between) {
  std::vector<setting> settings;
  for (const auto part : parts_of(text, between)) {
    const auto equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == part.size())
      return wrong(fmt::format("\"{}\" is no setting, such as units=64", part));
    assign(settings, trimmed(part.substr(0, equals)),
           parsed_value(trimmed(part.substr(equals + 1))));
  }
  return settings;
}

class genome_parser {
public:
  genome_parser() {
    made_.nodes = {{input_innovation, "input", {}}, {output_innovation, "output", {}}};
    known_.emplace("input", input_innovation);
  }

  expected<void> read(std::string_view line);
  [[nodiscard]] expected<genome> finish();

private:
  expected<void> read_node(std::string_view name, std::string_view layer,
                           std::string_view inputs);

  expected<void> read_recurrent(std::string_view input, innovation to);

  struct recurrent_input {
    std::string from; ///< It may stand on a line below.
    innovation to{};
    std::uint32_t delay = 1;
  };

  genome made_;
  std::map<std::string, innovation, std::less<>> known_;
  std::vector<recurrent_input> recurrent_;
};

constexpr std::string_view of_before = " before", of_steps = " steps";

expected<void> genome_parser::read_recurrent(std::string_view input, innovation to) {
  auto name = trimmed(input.substr(0, input.size() - of_before.size()));
  recurrent_input read{.to = to};
  if (name.ends_with(of_steps)) {
    name.remove_suffix(of_steps.size());
    const auto space = std::min(name.find(' '), name.size());
    const auto delay = parse_number<std::uint32_t>(trimmed(name.substr(space)));
    if (!delay || *delay < 2)
      return wrong(fmt::format("\"{}\" is not such as n1 3 steps before", input));
    read.delay = *delay;
    name = name.substr(0, space);
  }
  read.from = name;
  recurrent_.push_back(std::move(read));
  return {};
}

expected<void> genome_parser::read_node(std::string_view name, std::string_view layer,
                                        std::string_view inputs) {
  node_gene node{.op = std::string(trimmed(layer.substr(0, layer.find('('))))};
  if (const auto open = layer.find('('); open != std::string_view::npos) {
    if (layer.back() != ')')
      return wrong(fmt::format("\"{}\" has no \")\" at its end", layer));
    auto settings = parse_settings(layer.substr(open + 1, layer.size() - open - 2), ',');
    if (!settings)
      return tl::unexpected(settings.error());
    node.settings = std::move(*settings);
  }
  if (const auto open = inputs.find('['); open != std::string_view::npos) {
    const auto merge = trimmed(inputs.substr(open));
    constexpr std::string_view begins = "[merge ";
    if (!merge.starts_with(begins) || !merge.ends_with(']'))
      return wrong(fmt::format("\"{}\" is not such as [merge add]", merge));
    assign(node.settings, "merge",
           std::string(
               trimmed(merge.substr(begins.size(), merge.size() - begins.size() - 1))));
    inputs = inputs.substr(0, open);
  }
  std::vector<innovation> from;
  std::vector<std::string_view> delayed;
  for (const auto input : parts_of(inputs, ',')) {
    if (input.ends_with(of_before)) {
      delayed.push_back(input);
      continue;
    }
    const auto found = known_.find(input);
    if (found == known_.end())
      return wrong(fmt::format("{} stands on no line above", input));
    from.push_back(found->second);
  }
  if (from.empty())
    return wrong("it says not what enters it, such as <- input");
  const bool last = name == "output";
  node.id = last ? output_innovation
                 : innovation_of_split(
                     made_, innovation_of_edge(from.front(), output_innovation));
  if (!known_.emplace(name, node.id).second)
    return wrong(fmt::format("{} stands there twice", name));
  for (const auto id : from)
    made_.edges.push_back(
        {.id = innovation_of_edge(id, node.id), .from = id, .to = node.id});
  for (const auto input : delayed)
    if (auto read = read_recurrent(input, node.id); !read)
      return read;
  if (last)
    made_.nodes[1].settings = std::move(node.settings);
  else // Nodes are sorted at all times, since a split looks for them.
    made_.nodes.insert(std::ranges::upper_bound(made_.nodes, node.id, {}, &node_gene::id),
                       std::move(node));
  return {};
}

expected<void> genome_parser::read(std::string_view line) {
  if (line == "input")
    return {};
  const auto arrow = line.find("<-");
  if (arrow == std::string_view::npos) {
    auto settings = parse_settings(line, ' ');
    if (!settings)
      return tl::unexpected(settings.error());
    for (auto& s : *settings)
      assign(made_.hyperparameters, s.name, std::move(s.value));
    return {};
  }
  const auto before = trimmed(line.substr(0, arrow));
  const auto name = before.substr(0, before.find(' '));
  const auto layer = trimmed(before.substr(name.size()));
  if (layer.empty() != (name == "output"))
    return wrong("a layer is such as n1 dense(units=64) <- input");
  return read_node(name, layer, line.substr(arrow + 2));
}

expected<genome> genome_parser::finish() {
  if (!known_.contains("output"))
    return wrong("there is no line for the output, such as output <- input");
  for (const auto& [from, to, delay] : recurrent_) {
    const auto found = known_.find(from);
    if (found == known_.end())
      return wrong(fmt::format("{} stands on no line", from));
    made_.edges.push_back({.id = innovation_of_edge(found->second, to, delay),
                           .from = found->second,
                           .to = to,
                           .delay = delay});
  }
  std::ranges::sort(made_.edges, {}, &edge_gene::id);
  if (auto sound = check_structure(made_); !sound)
    return tl::unexpected(sound.error());
  return std::move(made_);
}

} // namespace

expected<genome> parse_genome(std::string_view text) {
  genome_parser parser;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    if (const auto line = trimmed(text.substr(0, end)); !line.empty())
      if (auto ok = parser.read(line); !ok)
        return fail_in(fmt::format("line {}", number), std::move(ok.error()));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parser.finish();
}

} // namespace clade
