#include "search_spaces/files/load_search_space.hpp"
#include "search_spaces/files/seeds.hpp"
#include "search_spaces/operators/mixture.hpp"
#include "tests/search_spaces/space_files.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

const std::string dense_space = R"(
[operators.dense]
units = [16, 32, 64]
activation = ["relu", "gelu"]
[hyperparameters]
learning_rate = {low = 0.001, high = 0.1, log = true}
batch_size = [32, 64]
)";

const problem three_of_four{{{4}}, 3};

expected<search_space> with(const std::string& seed) {
  return parse_search_space(dense_space + seed, "a.toml");
}

std::string refusal(const std::string& seed) {
  const auto space = with(seed);
  return space ? "none" : space.error().message;
}

} // namespace

TEST_CASE("seeds: what a seed says its genome has, the rest is drawn") {
  const auto space = with(R"(
[seeds.mlp]
layers = [{op = "dense", units = 64}, {op = "dense", units = 16, activation = "gelu"}]
hyperparameters = {batch_size = 32}
[seeds.linear]
layers = []
)");
  REQUIRE(space);
  REQUIRE(space->seeds.size() == 2);
  CHECK(space->seeds[0].name == "linear");
  auto random = derive(1, purpose::sample, 0, 0);
  const auto g = genome_of(space->seeds[1], space->rules, random);
  CHECK(check(space->rules, g));
  const auto n = decode(*space, g, three_of_four);
  REQUIRE(n);
  REQUIRE(n->layers.size() == 4);
  CHECK(n->layers[1].out.sizes[0] == 64);
  CHECK(n->layers[2].out.sizes[0] == 16);
  CHECK(*find(g.hyperparameters, "batch_size") == value(std::int64_t{32}));
  CHECK(find(g.hyperparameters, "learning_rate") != nullptr);
  CHECK(check_seeds(*space, three_of_four));
}

TEST_CASE("seeds: a space with seeds is written and read again") {
  const auto space = with(R"(
[seeds.mlp]
layers = [{op = "dense", units = 64}]
hyperparameters = {learning_rate = 0.01}
)");
  REQUIRE(space);
  const auto again = parse_search_space(to_toml(*space), "again");
  REQUIRE(again);
  CHECK(to_toml(*again) == to_toml(*space));
}

TEST_CASE("seeds: what does not fit its space is refused at its place") {
  CHECK(refusal("[seeds.a]\nlayers = [{op = \"conv\"}]\n")
        == "a.toml:8: seeds.a: conv: there is no operators.conv");
  CHECK(refusal("[seeds.a]\nlayers = [{op = \"dense\", units = 17}]\n")
        == "a.toml:8: seeds.a: dense: units = 17 is not in this space");
  CHECK(refusal("[seeds.a]\nlayers = []\nhyperparameters = {momentum = 0.9}\n")
        == "a.toml:8: seeds.a: there is no momentum to set in this space; "
           "[hyperparameters] lists what there is");
  CHECK(refusal("[seeds.a]\nlayer = []\n").starts_with("a.toml:8: seeds.a needs layers"));
  CHECK(refusal("[seeds.a]\nlayers = [3]\n").starts_with("a.toml:9: seeds.a.layers: 3"));
}

TEST_CASE("seeds: a seed beyond the limits is named with what to do") {
  const auto space =
      parse_search_space("[limits]\nmax_parameters = 100\nmax_width = 64\n" + dense_space
                             + "[seeds.wide]\nlayers = [{op = \"dense\", units = 64}]\n",
                         "a.toml");
  REQUIRE(space);
  const auto fits = check_seeds(*space, three_of_four);
  REQUIRE_FALSE(fits);
  CHECK(fits.error().message.starts_with("the seed wide does not fit: "));
  CHECK(fits.error().message.ends_with("write seeds = \"none\" in [search_space]"));
}

TEST_CASE("seeds: those beyond the limits are left out and named, the others stay") {
  auto space = parse_search_space("[limits]\nmax_parameters = 100\n" + dense_space
                                      + "[seeds.small]\nlayers = []\n"
                                        "[seeds.wide]\nlayers = [{op = \"dense\", units "
                                        "= 64}]\n",
                                  "a.toml");
  REQUIRE(space);
  const auto said = leave_out_misfits(*space, three_of_four);
  REQUIRE(said.size() == 1);
  CHECK(said.front().starts_with(
      "the seed wide is left out, as it does not fit: a.toml: "));
  REQUIRE(space->seeds.size() == 1);
  CHECK(space->seeds.front().name == "small");
  CHECK(check_seeds(*space, three_of_four));
}

TEST_CASE("mixture: networks are joined over one input") {
  const auto space = with("").value();
  const auto linear = linear_network(three_of_four);
  CHECK(linear.cost().parameters == 15);
  const std::vector<network> members{linear, linear};
  const auto both = mixture_of(members, mixed_answers::probabilities);
  REQUIRE(both.layers.size() == 4);
  CHECK(both.layers[1].name == "m1_output");
  CHECK(both.layers[2].name == "m2_output");
  CHECK(both.layers[2].inputs == std::vector<std::size_t>{0});
  CHECK(both.layers[3].inputs == std::vector<std::size_t>{1, 2});
  CHECK(both.layers[3].out.sizes == std::vector<std::int64_t>{3});
  CHECK_FALSE(decode_mixture(space, {}, three_of_four, mixed_answers::values));
}

TEST_CASE("mixture: members that are mirrored share both sides of the images") {
  const problem image{{{1, 4, 5}}, 3};
  const auto linear = linear_network(image);
  const std::vector<network> members{linear, linear, linear};
  const auto n = mixture_of(members, mixed_answers::probabilities, {true, false, true});
  const auto place = [&](std::string_view name) {
    const auto found = std::ranges::find(n.layers, name, &layer::name);
    REQUIRE(found != n.layers.end());
    return static_cast<std::size_t>(found - n.layers.begin());
  };
  const auto inputs_of = [&](std::string_view name) {
    return n.layers[place(name)].inputs;
  };
  using places = std::vector<std::size_t>;
  CHECK(inputs_of("both_sides") == places{0});
  CHECK(inputs_of("m1_output.flatten") == places{place("both_sides")});
  CHECK(inputs_of("m2_output.flatten") == places{0});
  CHECK(inputs_of("m3_output.flatten") == places{place("both_sides")});
  CHECK(inputs_of("mixture")
        == places{place("m1_mean_of_sides"), place("m2_output"),
                  place("m3_mean_of_sides")});
  CHECK(n.cost().parameters
        == mixture_of(members, mixed_answers::probabilities).cost().parameters);
  const std::vector<mixture_member> of_a_table{candidate_member{.mirrored = true}};
  CHECK_FALSE(
      decode_mixture(with("").value(), of_a_table, three_of_four, mixed_answers::values));
}

TEST_CASE("mixture: boosted trees are one for two classes and else one for each") {
  const tree_sizes sizes{.trees = 10, .depth = 3};
  const auto three = tree_network(three_of_four, sizes);
  REQUIRE(three.layers.size() == 3);
  CHECK(three.layers[1].out == tensor_shape{{3}});
  CHECK(three.layers[1].cost.parameters == 240);
  const auto two = tree_network({{{4}}, 2}, sizes);
  CHECK(two.layers[1].out == tensor_shape{{1}});
  CHECK(two.layers[2].out == tensor_shape{{2}});
  const std::vector<mixture_member> members{linear_member(), sizes};
  const auto both = decode_mixture(with("").value(), members, three_of_four,
                                   mixed_answers::probabilities);
  REQUIRE(both);
  CHECK(both->layers[2].name == "m2_trees");
  CHECK(both->layers[3].name == "m2_trees.output");
  CHECK(fitted_kind_of("trees.leaves") == fitted_kind::trees);
  CHECK(fitted_kind_of("output.weight") == fitted_kind::linear);
}

TEST_CASE("mixture: sizes of trees have bounds") {
  CHECK(are_possible(tree_sizes{.trees = 1, .depth = 1}));
  CHECK_FALSE(are_possible(tree_sizes{.trees = 0, .depth = 1}));
  CHECK_FALSE(are_possible(tree_sizes{.trees = 1, .depth = 9}));
  CHECK_FALSE(are_possible(tree_sizes{.trees = 1 << 20, .depth = 3}));
}

TEST_CASE("mixture: random convolutions are of sequences") {
  const problem sequences{{{20, 3}}, 4};
  const convolution_sizes sizes{.dilations = 2, .groups = 3, .thresholds = 5};
  const auto n = convolution_network(sequences, sizes);
  REQUIRE(n.layers.size() == 3);
  CHECK(n.layers[1].out == tensor_shape{{2 * 2 * (84 * 5 + 16 * 3)}});
  // Four parts of 108 kernels at 20 steps, each of 27 weights and with 5 thresholds.
  CHECK(n.layers[1].cost == layer_cost{0, 4 * 2160 * 32, 8 * 2160 + 4 * 1872});
  CHECK(n.layers[2].out == tensor_shape{{4}});
  const std::vector<mixture_member> members{sizes, linear_member()};
  const auto both =
      decode_mixture(with("").value(), members, sequences, mixed_answers::probabilities);
  REQUIRE(both);
  CHECK(both->layers[1].name == "m1_convolutions");
  CHECK(both->layers[2].name == "m1_convolutions.output");
  CHECK(fitted_kind_of("convolutions.weight") == fitted_kind::convolutions);
  const problem one_step{{{1, 3}}, 4};
  for (const auto& p : {three_of_four, one_step})
    CHECK_FALSE(
        decode_mixture(with("").value(), members, p, mixed_answers::probabilities));
  CHECK(are_possible(convolution_sizes{}));
  CHECK_FALSE(are_possible(convolution_sizes{.dilations = 17}));
  CHECK_FALSE(are_possible(convolution_sizes{.groups = 0}));
  CHECK_FALSE(are_possible(convolution_sizes{.thresholds = 65}));
}

TEST_CASE("mixture: smoothing has names of its own") {
  const problem p{{{4}}, 1};
  const auto n = smoothing_network(p);
  REQUIRE(n.layers.size() == 2);
  CHECK(n.layers[1].name == "smoothing.output");
  const std::vector<mixture_member> members{linear_member(), smoothing_member()};
  const auto both = decode_mixture(with("").value(), members, p, mixed_answers::values);
  REQUIRE(both);
  CHECK(both->layers[1].name == "m1_output");
  CHECK(fitted_kind_of("smoothing.output.weight") == fitted_kind::smoothing);
  CHECK(in_sentence(fitted_kind::smoothing) == "exponential smoothing");
}

TEST_CASE("mixture: the linear model of images flattens them") {
  const auto n = linear_network({{{2, 3, 3}}, 5});
  REQUIRE(n.layers.size() == 3);
  CHECK(n.cost().parameters == 18 * 5 + 5);
}
