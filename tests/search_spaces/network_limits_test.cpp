#include "search_spaces/operators/network.hpp"
#include "tests/search_spaces/space_files.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

setting whole(std::string name, std::int64_t v) {
  return {std::move(name), v};
}

std::string refusal(const search_space& space, const genome& g,
                    const problem& p = digits()) {
  const auto n = decode(space, g, p);
  if (n)
    return "decoded";
  CHECK(n.error().kind == error_kind::invalid_input);
  return n.error().message;
}

search_space limited(network_limits limits) {
  auto space = an_image_space();
  space.limits = limits;
  return space;
}

} // namespace

TEST_CASE("limits: what they allow exactly is allowed and one more is refused") {
  const auto g = a_chain({{"conv", {whole("filters", 8)}}});
  const network_limits exact{
      .max_parameters = 5210, .max_multiply_adds = 9728, .max_width = 8};
  CHECK(refusal(limited(exact), g) == "decoded");
  auto less = exact;
  less.max_parameters = 5209;
  CHECK(refusal(limited(less), g)
        == "space.toml: 5,210 parameters exceed limits.max_parameters = 5,209");
  less = exact;
  less.max_multiply_adds = 9727;
  CHECK(refusal(limited(less), g)
        == "space.toml: 9,728 multiply-adds exceed limits.max_multiply_adds = 9,727");
  less = exact;
  less.max_width = 7;
  CHECK(refusal(limited(less), g)
        == "space.toml: 8 channels of n10 exceed limits.max_width = 7");
}

TEST_CASE("limits: width bounds dense layers and joined channels but no flat vectors") {
  auto space = an_image_space();
  space.limits.max_width = 20;
  CHECK(refusal(space, a_chain({{"dense", {whole("units", 21)}}}))
        == "space.toml: 21 units of n10 exceed limits.max_width = 20");
  CHECK(refusal(space, a_chain({{"dense", {whole("units", 20)}}})) == "decoded");
  const auto joined =
      a_genome({{"conv", {whole("filters", 20)}}, {"max_pool", {{"merge", "concat"}}}},
               {{-1, 0}, {-1, 1}, {0, 1}, {1, -2}});
  CHECK(refusal(space, joined)
        == "space.toml: 21 channels of n11.concat exceed limits.max_width = 20");
}

TEST_CASE(
    "limits: a genome that doubles its width for ever is refused without overflow") {
  std::vector<node_text> nodes;
  std::vector<std::pair<int, int>> edges{{-1, 0}};
  for (int i = 0; i < 100; ++i) {
    nodes.push_back({"activation", {{"merge", "concat"}}});
    nodes.push_back({"dropout", {}});
    if (i > 0) {
      edges.emplace_back(2 * i - 2, 2 * i);
      edges.emplace_back(2 * i - 1, 2 * i);
    }
    edges.emplace_back(2 * i, 2 * i + 1);
  }
  edges.emplace_back(199, -2);
  CHECK(refusal(an_image_space(), a_genome(nodes, edges))
        == "space.toml: n3e.concat has 536,870,912 elements for one example, of which no "
           "layer may have more than 268,435,456");
}

TEST_CASE("limits: costs beyond all numbers saturate instead of wrapping round") {
  network n;
  n.layers.resize(2);
  for (layer& l : n.layers)
    l.cost = {.parameters = 1ull << 63, .multiply_adds = (1ull << 63) - 1};
  CHECK(n.cost().parameters == ~std::uint64_t{0});
  CHECK(n.cost().multiply_adds == ~std::uint64_t{0} - 1);
}

TEST_CASE("network: examples that do not suit the space are refused") {
  const auto g = a_chain({{"conv", {}}});
  CHECK(
      refusal(an_image_space(), g, {.input = {{64}}, .outputs = 10})
      == "space.toml: this search space wants images [channels, height, width], but the "
         "examples have shape [64]; set data.shape, or take a space for vectors such as "
         "mlp.toml");
  for (const auto& strange :
       {tensor_shape{}, tensor_shape{{0, 8, 8}}, tensor_shape{{1, -8, -8}},
        tensor_shape{{std::int64_t{1} << 40, std::int64_t{1} << 40, 1}}})
    CHECK(refusal(an_image_space(), g, {.input = strange, .outputs = 10})
          == "space.toml: examples of shape " + to_text(strange)
                 + " are neither vectors [features] nor sequences [steps, features] nor "
                   "images [channels, height, width] of a sound size");
  CHECK(
      refusal(an_image_space(), g, {.input = {{24, 8}}, .outputs = 10})
      == "space.toml: this search space wants images [channels, height, width], but the "
         "examples have shape [24, 8]; set data.shape, or take a space for vectors such "
         "as "
         "mlp.toml");
  CHECK(refusal(an_image_space(), g, {.input = {{1, 8, 8}}, .outputs = 0})
        == "space.toml: 0 outputs cannot be; there must be 1 to 65,536");
}

TEST_CASE("network: genomes that no grammar allows are refused") {
  const auto space = an_image_space();
  CHECK(refusal(space, a_chain({{"convolution", {}}}))
        == "space.toml: 'convolution' is no operator for a layer");
  CHECK(refusal(space, a_chain({{"flatten", {}}}))
        == "space.toml: 'flatten' is no operator for a layer");
  CHECK(refusal(space, a_chain({{"output", {}}}))
        == "space.toml: 'output' is no operator for a layer");
  CHECK(refusal(space, a_chain({{"conv", {whole("kernel", 4)}}}))
        == "space.toml: conv: kernel is 4, but must be odd");
  CHECK(refusal(space, a_genome({{"conv", {}}}, {{-1, 0}}))
        == "space.toml: the genome has no path from its input to its output");
  CHECK(refusal(space, genome{})
        == "space.toml: the genome has no path from its input to its output");
  CHECK(refusal(space, a_genome({{"conv", {}}, {"conv", {}}},
                                {{-1, 0}, {0, 1}, {1, 0}, {1, -2}}))
        == "space.toml: the genome's edges are no acyclic graph of its nodes");
  auto recurrent = a_genome({{"conv", {}}}, {{-1, 0}, {0, 0}, {0, -2}});
  for (edge_gene& edge : recurrent.edges)
    edge.delay = edge.from == edge.to ? 1 : 0;
  CHECK(refusal(space, recurrent)
        == "space.toml: the genome has a recurrent edge, which layers do not have");
  auto headless = a_chain({{"conv", {}}});
  headless.nodes[1].op = "conv"; // The output's.
  CHECK(refusal(space, headless)
        == "space.toml: the genome's output has the operator 'conv'");
}
