#include "search_spaces/files/load_search_space.hpp"
#include "search_spaces/operators/operators.hpp"
#include "search_spaces/operators/own_operator.hpp"
#include "search_spaces/operators/variation.hpp"
#include "tests/search_spaces/space_files.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace clade;

namespace {

const std::string bottleneck = R"(image = true
[composites.bottleneck]
summary = "three convolutions, added to what enters"
repeat = "repeats"
layers = [
  {op = "conv", name = "reduce", filters = "=filters / 4", kernel = 1, activation = "=function"},
  {op = "conv", name = "expand", filters = "=filters", stride = "=stride", norm = "batch", zero = true},
  {op = "add", from = ["in", "expand"]},
]
[composites.bottleneck.parameters]
filters = {low = 1, high = 64, default = 16, width = true}
function = {words = ["relu", "gelu"]}
repeats = {low = 1, high = 8, default = 1}
stride = {low = 1, high = 2, default = 1, first = true}
[operators.bottleneck]
filters = [8, 16]
function = ["relu", "gelu"]
repeats = [1, 2]
stride = [1, 2]
[operators.dense]
)";

network decoded(const search_space& space, const genome& g) {
  auto n = decode(space, g, digits());
  INFO((n ? "" : n.error().message));
  REQUIRE(n);
  return *n;
}

std::vector<std::string> names(const network& n) {
  std::vector<std::string> all;
  for (const auto& l : n.layers)
    all.push_back(l.name.substr(std::min(l.name.find('.') + 1, l.name.size())) + " "
                  + l.op + " " + to_text(l.out));
  return all;
}

std::string complaint(const std::string& text) {
  const auto space = parse_search_space(text, "a.toml");
  return space ? "no complaint" : space.error().message;
}

/// Returns the complaint about one layer, on line 4.
std::string layer_complaint(const std::string& layer) {
  return complaint("image = true\n[composites.own]\nlayers = [{op = \"conv\"},\n" + layer
                   + "]\nparameters = {n = {low = 1, high = 9, default = 1}, r = {low = "
                     "0.5, high = 1, default = 0.5}}\n[operators.own]\n");
}

} // namespace

TEST_CASE("composites: a file's own operator is decoded to its layers") {
  const auto space = a_space(bottleneck);
  const auto n = decoded(space, a_chain({{"bottleneck",
                                          {{"filters", std::int64_t{8}},
                                           {"function", std::string("gelu")},
                                           {"repeats", std::int64_t{2}},
                                           {"stride", std::int64_t{2}}}}}));
  CHECK(names(n)
        == std::vector<std::string>{
            "input input [1, 8, 8]", "1.reduce conv [2, 8, 8]", "1.expand conv [8, 4, 4]",
            "1.add.resize0 resize [1, 4, 4]", "1.add.project0 project [8, 4, 4]",
            "1.add.add add [8, 4, 4]", "2.reduce conv [2, 4, 4]",
            "2.expand conv [8, 4, 4]", "2.add.add add [8, 4, 4]", "flatten flatten [128]",
            "output output [10]"});
  CHECK(text_setting(n.layers[1].settings, "activation") == "gelu");
  CHECK(integer_setting(n.layers[2].settings, "stride") == 2);
  CHECK(integer_setting(n.layers[7].settings, "stride") == 1);
  CHECK(n.layers[2].starts_at_zero);
  CHECK_FALSE(n.layers[1].starts_at_zero);
}

TEST_CASE("composites: layers of several inputs are fitted to each other") {
  const auto space = a_space(R"(image = true
[composites.gated]
layers = [
  {op = "conv", name = "wide", filters = "=channels * 3 / 1"},
  {op = "global_avg_pool"},
  {op = "dense", units = "=channels * 3", activation = "sigmoid"},
  {op = "multiply", name = "gate", from = ["wide", "dense"]},
  {op = "dropout", rate = "=rate"},
  {op = "concat", from = ["gate", "in", "dropout"]},
]
[composites.gated.parameters]
rate = {low = 0.0, high = 0.5, default = 0.25}
[operators.gated]
)");
  const auto n = decoded(space, a_chain({{"gated", {}}}));
  CHECK(names(n)
        == std::vector<std::string>{
            "input input [1, 8, 8]", "wide conv [3, 8, 8]",
            "global_avg_pool global_avg_pool [3]", "dense dense [3]",
            "gate.as_image1 as_image [3, 1, 1]", "gate.multiply multiply [3, 8, 8]",
            "dropout dropout [3, 8, 8]", "concat.concat concat [7, 8, 8]",
            "flatten flatten [448]", "output output [10]"});
  CHECK(real_setting(n.layers[6].settings, "rate") == 0.25);
}

TEST_CASE("composites: a formula of a parameter is rounded down and is 1 at least") {
  const auto f = parse_formula("= filters/4 * 3").value();
  CHECK(to_text(f) == "=filters / 4 * 3");
  for (const auto* text : {"filters", "=", "=filters / 0", "=filters / x", "=filters +1",
                           "=filters / 4 /", "=Filters"})
    CHECK_FALSE(parse_formula(text));
}

TEST_CASE("composites: a space with its own operators is written and read again") {
  const auto space = a_space(bottleneck);
  const auto text = to_toml(space);
  const auto again = parse_search_space(text, "again");
  INFO((again ? "" : again.error().message) << "\n" << text);
  REQUIRE(again);
  CHECK(to_toml(*again) == text);
  const auto& d = again->composites.at(0)->description();
  CHECK(d.summary == "three convolutions, added to what enters");
  CHECK(d.parameters.at(3).first);
  CHECK(d.parameters.at(0).width);
}

TEST_CASE("composites: those that no operator draws are not kept") {
  auto text = bottleneck;
  text.replace(text.find("[operators.bottleneck]"), 22,
               "[operators.bottleneck]\nweight = 0");
  CHECK(a_space(text).composites.empty());
}

TEST_CASE("composites: what is sampled and mutated decodes") {
  const auto space = a_space(bottleneck);
  bool drawn = false;
  for (std::uint64_t i = 0; i < 100; ++i) {
    auto random = derive(1, purpose::sample, 0, i);
    auto g = sample(space, digits(), random);
    REQUIRE(g);
    const auto child = mutate(space, digits(), g->child, {}, random).child;
    CHECK(decode(space, child, digits()));
    drawn = drawn
            || std::ranges::find(child.nodes, "bottleneck", &node_gene::op)
                   != child.nodes.end();
  }
  CHECK(drawn);
}

TEST_CASE("composites: mistakes are told with their line") {
  CHECK(
      layer_complaint("{op = \"convv\"}")
      == "a.toml:4: composites.own.layers: a table is no layer of a known operator, such "
         "as {op = \"dense\", units = 64}; did you mean \"conv\"?");
  CHECK(
      layer_complaint("{op = \"own\"}").starts_with("a.toml:4: composites.own.layers: "));
  CHECK(
      layer_complaint("{op = \"conv\", filtres = 3}")
      == "a.toml:4: unknown key \"filtres\" in composites.own.layers.conv2; did you mean "
         "\"filters\"?");
  CHECK(layer_complaint("{op = \"conv\", kernel = 2}")
        == "a.toml:4: composites.own.layers.conv2.kernel is 2, but must be odd");
  CHECK(layer_complaint("{op = \"conv\", filters = \"=m\"}")
        == "a.toml:4: composites.own.layers.conv2.filters: there is no parameter \"m\"; "
           "there are channels, n and r");
  CHECK(
      layer_complaint("{op = \"conv\", filters = \"=r\"}")
      == "a.toml:4: composites.own.layers.conv2.filters: \"=r\" gives no value for this "
         "setting; only whole numbers are multiplied and divided");
  CHECK(layer_complaint("{op = \"conv\", filters = \"=n +\"}")
            .ends_with("which is no formula such as \"=filters / 4\""));
  CHECK(layer_complaint("{op = \"add\", from = [\"in\"]}")
        == "a.toml:4: composites.own.layers.add needs from = [...] with at least two "
           "names");
  CHECK(layer_complaint("{op = \"conv\", from = \"later\"}")
            .ends_with("is neither \"in\" nor the name of a layer above"));
  CHECK(layer_complaint("{op = \"conv\", name = \"conv\"}")
            .find("is no name, or is there twice")
        != std::string::npos);
  CHECK(complaint("[composites.conv]\nlayers = [{op = \"dense\"}]\n[operators.dense]\n")
        == "a.toml:1: composites.conv: there is an operator of that name already");
  CHECK(complaint("[composites.own]\nlayers = []\n[operators.dense]\n")
            .find("composites.own needs layers = ")
        != std::string::npos);
  CHECK(complaint("[composites.own]\nrepeat = 33\nlayers = [{op = \"dense\"}]\n"
                  "[operators.own]\n")
            .find("must be a number from 1 to 32")
        != std::string::npos);
  CHECK(complaint("[composites.own]\nlayers = [{op = \"dense\"}]\n[operators.ovn]\n")
            .ends_with("did you mean \"own\"?"));
}

TEST_CASE("composites: composites that repeat composites end before memory does") {
  std::string layers;
  for (int i = 0; i < 64; ++i)
    layers += "{op = \"residual_dense\", repeats = 4},";
  const auto space = a_space("[composites.own]\nrepeat = 32\nlayers = [" + layers
                             + "]\n[operators.own]\n");
  const auto n = decode(space, a_chain({{"own", {}}, {"own", {}}}), digits());
  REQUIRE_FALSE(n);
  CHECK(n.error().message.find("more than 65,536 layers") != std::string::npos);
}
