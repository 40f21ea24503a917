#include "genome/variation/rewiring.hpp"
#include "search_spaces/files/load_search_space.hpp"
#include "search_spaces/operators/operators.hpp"
#include "search_spaces/operators/own_operator.hpp"
#include "search_spaces/operators/variation.hpp"
#include "tests/search_spaces/space_files.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>

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

const std::string cells = R"(image = true
[composites.small]
layers = [{op = "conv", filters = "=channels"}]
[composites.cell]
layers = [
  {op = "=edge", name = "a"},
  {op = "max_pool", name = "b", from = "=source", kernel = 3, stride = 1},
  {op = "add", from = ["a", "b"]},
]
takes = "image"
parameters = {edge = {words = ["identity", "small", "zero"]}, source = {words = ["in", "a"]}}
[composites.cells]
inherits = "cell"
repeat = "times"
layers = [{op = "cell"}]
parameters = {times = {low = 1, high = 4, default = 1}}
[composites.net]
inherits = "cells"
layers = [{op = "conv", name = "stem", filters = "=filters"}, {op = "cells"}]
parameters = {filters = {low = 1, high = 16, default = 4, width = true}}
[operators.net]
words = "all"
filters = [4, 8]
)";

network decoded(const search_space& space, const genome& g) {
  auto n = decode(space, g, digits());
  INFO((n ? "" : n.error().message));
  REQUIRE(n);
  return *n;
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
  CHECK(layers_told(n)
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
  CHECK(layers_told(n)
        == std::vector<std::string>{
            "input input [1, 8, 8]", "wide conv [3, 8, 8]",
            "global_avg_pool global_avg_pool [3]", "dense dense [3]",
            "gate.as_image1 as_image [3, 1, 1]", "gate.multiply multiply [3, 8, 8]",
            "dropout dropout [3, 8, 8]", "concat.concat concat [7, 8, 8]",
            "flatten flatten [448]", "output output [10]"});
  CHECK(real_setting(n.layers[6].settings, "rate") == 0.25);
}

TEST_CASE("composites: a cell is made once and stands in a network many times") {
  const auto space = a_space(cells);
  const auto n = decoded(space, a_chain({{"net",
                                          {{"edge", std::string("small")},
                                           {"filters", std::int64_t{4}},
                                           {"source", std::string("a")},
                                           {"times", std::int64_t{2}}}}}));
  CHECK(layers_told(n)
        == std::vector<std::string>{
            "input input [1, 8, 8]", "stem conv [4, 8, 8]",
            "cells.1.cell.a.conv conv [4, 8, 8]", "cells.1.cell.b max_pool [4, 8, 8]",
            "cells.1.cell.add.add add [4, 8, 8]", "cells.2.cell.a.conv conv [4, 8, 8]",
            "cells.2.cell.b max_pool [4, 8, 8]", "cells.2.cell.add.add add [4, 8, 8]",
            "flatten flatten [256]", "output output [10]"});
  // The pool takes what its parameter names.
  CHECK(n.layers[3].inputs == std::vector<std::size_t>{2});
  const auto other =
      decoded(space, a_chain({{"net", {{"edge", std::string("identity")}}}}));
  CHECK(other.layers[3].inputs == std::vector<std::size_t>{1});
  CHECK(other.layers[2].op == "identity");
  const auto text = to_toml(space);
  const auto again = parse_search_space(text, "again");
  INFO((again ? "" : again.error().message) << "\n" << text);
  REQUIRE(again);
  CHECK(to_toml(*again) == text);
  CHECK(decoded(*again, a_chain({{"net", {}}})).layers.size() == other.layers.size());
}

TEST_CASE("composites: words = \"all\" searches settings over all their words") {
  const auto space = a_space(cells);
  const auto& rule = space.rules.operators.at(0);
  REQUIRE(rule.settings.size() == 3);
  CHECK(rule.settings[0].name == "edge");
  CHECK(std::get<choice_domain>(rule.settings[0].domain).options.size() == 3);
  CHECK(rule.settings[1].name == "filters");
  CHECK(rule.settings[2].name == "source");
  CHECK(complaint("[operators.dense]\nwords = \"some\"\n")
            .starts_with("a.toml:2: operators.dense.words is \"some\""));
}

TEST_CASE("composites: mistakes of cells are told with their line") {
  CHECK(layer_complaint("{op = \"own\"}")
        == "a.toml:4: composites.own.layers: own is within itself (own, own)");
  CHECK(complaint("image = true\n[composites.a]\nlayers = [{op = \"b\"}]\n"
                  "[composites.b]\nlayers = [{op = \"a\"}]\n[operators.a]\n")
            .starts_with("a.toml:5: composites.b.layers: a is within itself (a, b, a)"));
  std::string deep;
  for (int i = 0; i < 40; ++i)
    deep += fmt::format("[composites.c{}]\nlayers = [{{op = \"{}\"}}]\n", i,
                        i == 39 ? "dense" : fmt::format("c{}", i + 1));
  CHECK(complaint(deep + "[operators.c0]\n")
            .find("more than 16 deep within other composites")
        != std::string::npos);
  const auto with_words = [](const std::string& words, const std::string& layer) {
    return complaint("image = true\n[composites.own]\nlayers = [{op = \"conv\"}, " + layer
                     + "]\nparameters = {w = {words = [" + words
                     + "]}}\n[operators.own]\n");
  };
  CHECK(
      with_words("\"conv\", \"konv\"", "{op = \"=w\"}")
          .starts_with("a.toml:3: composites.own.layers: \"konv\" is no layer of a known "
                       "operator"));
  CHECK(with_words("\"in\", \"conv9\"", "{op = \"conv\", from = \"=w\"}")
            .find("nor a parameter whose words are such names")
        != std::string::npos);
  CHECK(with_words("\"conv\", \"add\"", "{op = \"=w\"}") == "no complaint"); // One input.
  CHECK(
      complaint("[composites.own]\ninherits = \"none\"\nlayers = [{op = \"dense\"}]\n"
                "[operators.own]\n")
      == "a.toml:2: composites.own.inherits is \"none\", but must be the name of another "
         "composite, or a list of such names");
}

TEST_CASE("composites: one may have the parameters of several, and give each its own") {
  const auto space = a_space(R"(
image = true
[composites.first]
layers = [{op = "=a"}]
parameters = {a = {words = ["conv", "identity"]}}
[composites.second]
layers = [{op = "=b"}]
parameters = {b = {words = ["max_pool", "identity"]}}
[composites.both]
inherits = ["first", "second"]
layers = [{op = "first", name = "one"}, {op = "second", name = "two"}]
[operators.both]
words = "all"
)");
  REQUIRE(space.rules.operators.at(0).settings.size() == 2);
  const auto n = decoded(
      space,
      a_chain(
          {{"both", {{"a", std::string("identity")}, {"b", std::string("max_pool")}}}}));
  CHECK(n.layers[1].op == "identity");
  CHECK(n.layers[2].op == "max_pool");
  CHECK(complaint("[composites.own]\ninherits = [\"none\"]\nlayers = [{op = \"dense\"}]\n"
                  "[operators.own]\n")
            .starts_with("a.toml:2: composites.own.inherits is \"none\", but must be"));
}

TEST_CASE("composites: heads that do not divide a width are told when a space is read") {
  const std::string sequence = "sequence = true\n";
  CHECK(complaint(sequence + "[operators.attention]\nunits = [32, 36]\nheads = [2, 8]\n")
        == "a.toml:2: operators.attention: heads is 8, which does not divide units, 36; "
           "any "
           "two of their values may meet");
  CHECK(complaint(sequence
                  + "[operators.transformer]\nunits = {low = 16, high = 48, step = 8}\n")
        == "no complaint"); // Four heads are the fallback.
  const std::string own =
      sequence
      + "[composites.own]\nlayers = [{op = \"attention\", units = "
        "\"=n * 4\", heads = \"=h\"}]\nparameters = {n = {low = 1, high "
        "= 64, default = 8}, h = {low = 1, high = 8, default = 4}}\n";
  CHECK(complaint(own + "[operators.own]\nn = [3, 6]\nh = [1, 4]\n") == "no complaint");
  CHECK(complaint(own + "[operators.own]\nn = [3, 6]\nh = [1, 8]\n")
        == "a.toml:5: operators.own: its layer attention: heads is 8, which does not "
           "divide "
           "units, 12");
}

// The parameters in millions that the benchmark's table gives (NATS-Bench, MIT), of one cell for
// each number of convolutions of 1x1 and of 3x3.
TEST_CASE("composites: cells of NAS-Bench-201 have the published number of parameters") {
  const auto space = real_space("nas201.toml");
  constexpr std::array<std::pair<const char*, double>, 28> published{
      {{"410001", 0.073306}, {"400103", 0.316346}, {"433444", 0.559386},
       {"334131", 0.802426}, {"330033", 1.045466}, {"330333", 1.288506},
       {"333333", 1.531546}, {"112014", 0.101306}, {"241103", 0.344346},
       {"302300", 0.587386}, {"323434", 0.830426}, {"233133", 1.073466},
       {"323333", 1.316506}, {"421211", 0.129306}, {"212304", 0.372346},
       {"323244", 0.615386}, {"423332", 0.858426}, {"333322", 1.101466},
       {"412212", 0.157306}, {"222300", 0.400346}, {"232312", 0.643386},
       {"232323", 0.886426}, {"222241", 0.185306}, {"023222", 0.428346},
       {"233222", 0.671386}, {"242222", 0.213306}, {"222223", 0.456346},
       {"222222", 0.241306}}};
  constexpr std::array words{"zero", "identity", "nor_conv_1x1", "nor_conv_3x3",
                             "avg_pool_3x3"};
  constexpr std::array edges{"edge_01", "edge_02", "edge_12",
                             "edge_03", "edge_13", "edge_23"};
  for (const auto& [cell, millions] : published) {
    INFO(cell);
    std::vector<setting> settings;
    for (std::size_t i = 0; i < edges.size(); ++i)
      assign(settings, edges[i],
             std::string(words[static_cast<std::size_t>(cell[i] - '0')]));
    const auto n = decode(space, a_chain({{"nas201", settings}}), {{{3, 32, 32}}, 10});
    REQUIRE(n);
    CHECK(static_cast<double>(n->cost().parameters)
          == Approx(millions * 1e6).margin(0.5));
  }
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
            .find("is neither \"in\" nor the name of a layer above")
        != std::string::npos);
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

TEST_CASE("composites: the end of a branch knows the parameter that may prune it") {
  const auto space = *parse_search_space(cells, "cells.toml");
  const auto named = [&](const char* edge) {
    const auto n = decoded(space, chain_genome({{{},
                                                 "net",
                                                 {{"edge", edge},
                                                  {"filters", std::int64_t{4}},
                                                  {"source", "in"},
                                                  {"times", std::int64_t{2}}}}}));
    std::vector<std::string> found;
    for (const auto& l : n.layers)
      if (!l.chosen_by.empty())
        found.push_back(l.name.substr(l.name.find('.')) + " " + l.chosen_by);
    return found;
  };
  CHECK(named("zero").empty()); // It is pruned already.
  const auto maps = named("small");
  REQUIRE(maps.size() == 2); // In both repetitions.
  CHECK(maps[0].ends_with(" edge"));
  CHECK(maps[1].ends_with(" edge"));
  CHECK(named("identity").size() == 2);
}

TEST_CASE("composites: a choice that is not passed on is nobody's to prune") {
  auto text = cells;
  const std::string passed = "layers = [{op = \"cell\"}]";
  text.replace(text.find(passed), passed.size(),
               "layers = [{op = \"cell\", edge = \"small\"}]");
  const auto space = *parse_search_space(text, "cells.toml");
  auto random = derive(1, purpose::sample, 0, 0);
  const auto g = sample(space, digits(), random);
  REQUIRE(g);
  for (const auto& l : decoded(space, g->child).layers)
    CHECK(l.chosen_by.empty());
}
