#include "tests/search_spaces/space_files.hpp"

#include "genome/genes/innovation.hpp"
#include "search_spaces/files/load_search_space.hpp"

#include <catch2/catch.hpp>
#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace clade {

scratch_folder::scratch_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "clade_XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    throw std::runtime_error("cannot make " + name);
  path_ = name;
}

scratch_folder::~scratch_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path scratch_folder::write(const std::string& name,
                                            std::string_view text) const {
  const auto file = path_ / name;
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
  return file;
}

search_space real_space(const std::string& name) {
  auto space = load_search_space(std::filesystem::path(CLADE_SEARCH_SPACES) / name);
  if (!space)
    throw std::runtime_error(space.error().message);
  return std::move(*space);
}

search_space a_space(std::string_view text) {
  auto space = parse_search_space(text, "space.toml");
  if (!space)
    throw std::runtime_error(space.error().message);
  return std::move(*space);
}

std::string complaint(std::string_view text) {
  const auto space = parse_search_space(text, "a.toml");
  if (space)
    return "no complaint";
  CHECK(space.error().kind == error_kind::invalid_input);
  return space.error().message;
}

std::vector<std::string> layers_told(const network& n) {
  std::vector<std::string> all;
  for (const auto& l : n.layers)
    all.push_back(l.name.substr(std::min(l.name.find('.') + 1, l.name.size())) + " "
                  + l.op + " " + to_text(l.out));
  return all;
}

search_space an_image_space() {
  return a_space("image = true\n[operators.conv]\n");
}

problem digits() {
  return {.input = {{1, 8, 8}}, .outputs = 10};
}

genome a_genome(const std::vector<node_text>& nodes,
                const std::vector<std::pair<int, int>>& edges) {
  const auto id = [](int place) {
    return place == -1   ? input_innovation
           : place == -2 ? output_innovation
                         : innovation{static_cast<std::uint64_t>(0x10 + place)};
  };
  genome g;
  g.nodes = {{input_innovation, "input", {}}, {output_innovation, "output", {}}};
  for (std::size_t i = 0; i < nodes.size(); ++i)
    g.nodes.push_back({id(static_cast<int>(i)), nodes[i].op, nodes[i].settings});
  for (const auto& [from, to] : edges)
    g.edges.push_back(
        {.id = innovation_of_edge(id(from), id(to)), .from = id(from), .to = id(to)});
  std::ranges::sort(g.edges, {}, &edge_gene::id);
  return g;
}

genome a_chain(const std::vector<node_text>& nodes) {
  std::vector<std::pair<int, int>> edges;
  const int count = static_cast<int>(nodes.size());
  for (int i = -1; i < count; ++i)
    edges.emplace_back(i, i + 1 == count ? -2 : i + 1);
  return a_genome(nodes, edges);
}

} // namespace clade
