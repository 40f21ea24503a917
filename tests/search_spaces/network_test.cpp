#include "genome/base/text.hpp"
#include "search_spaces/operators/network.hpp"
#include "tests/search_spaces/space_files.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

setting whole(std::string name, std::int64_t v) {
  return {std::move(name), v};
}
setting merge(std::string how) {
  return {"merge", std::move(how)};
}

std::string decoded(const genome& g, const search_space& space = an_image_space(),
                    const problem& p = digits()) {
  const auto n = decode(space, g, p);
  return n ? "\n" + to_text(*n) : n.error().message;
}

/// Returns the ends of the residual branches of two repetitions of that block.
std::string branches_of(const std::string& block, std::vector<setting> settings = {}) {
  settings.push_back(whole("repeats", 2));
  const auto n = decode(an_image_space(), a_chain({{block, settings}}), digits());
  REQUIRE(n);
  std::string names;
  for (const auto& l : n->layers)
    if (l.adds_branch)
      names += n->layers[l.inputs[0]].name + " ";
  return names;
}

} // namespace

TEST_CASE("network: the sums of residual blocks take their branches first") {
  CHECK(branches_of("residual") == "n10.1.conv2 n10.2.conv2 ");
  CHECK(branches_of("residual", {{"block", "bottleneck"}}) == "n10.1.conv3 n10.2.conv3 ");
  CHECK(branches_of("inverted_residual") == "n10.2.reduce "); // The first has no skip.
  CHECK(branches_of("convnext") == "n10.1.reduce n10.2.reduce ");
  CHECK(branches_of("residual_dense") == "n10.1.dense2 n10.2.dense2 ");
  CHECK(branches_of("residual_dense", {{"dropout", 0.5}})
        == "n10.1.dropout2 n10.2.dropout2 ");
}

TEST_CASE("network: a chain of a convolution has the shapes and costs computed by hand") {
  CHECK(decoded(a_chain({{"conv", {whole("filters", 8), whole("kernel", 3)}}})) == R"(
input                                                 [1, 8, 8]
n10             conv(filters=8, kernel=3) <- input    [8, 8, 8]     80
output.flatten  flatten <- n10                        [512]
output          output(outputs=10) <- output.flatten  [10]       5,130
5,210 parameters, 9,728 multiply-adds and 2,344 bytes of activations for one example
)");
}

TEST_CASE("network: layers are explicit and name their inputs") {
  const auto n = decode(an_image_space(), a_chain({{"max_pool", {}}}), digits());
  REQUIRE(n);
  REQUIRE(n->layers.size() == 4);
  const layer expected{.name = "n10",
                       .op = "max_pool",
                       .settings = {whole("kernel", 2), whole("stride", 2)},
                       .inputs = {0},
                       .in = {{{1, 8, 8}}},
                       .out = {{1, 4, 4}},
                       .cost = {0, 64, 192}};
  CHECK(n->layers[1] == expected);
  CHECK(n->layers.front().inputs.empty());
  CHECK(n->layers.front().in.empty());
  CHECK(n->layers.back().settings == std::vector<setting>{whole("outputs", 10)});
}

TEST_CASE(
    "network: what is added is pooled to the smallest and projected to the main path") {
  const auto g =
      a_genome({{"conv", {whole("filters", 4), whole("stride", 2)}},
                {"conv", {whole("filters", 6), whole("kernel", 1), merge("add")}}},
               {{-1, 0}, {0, 1}, {-1, 1}, {1, -2}});
  CHECK(decoded(g) == R"(
input                                                         [1, 8, 8]
n10             conv(filters=4, kernel=3, stride=2) <- input  [4, 4, 4]   40
n11.resize0     resize(height=4, width=4) <- input            [1, 4, 4]
n11.project0    project(outputs=4) <- n11.resize0             [4, 4, 4]    8
n11.add         add <- n11.project0, n10                      [4, 4, 4]
n11             conv(filters=6, kernel=1) <- n11.add          [6, 4, 4]   30
output.flatten  flatten <- n11                                [96]
output          output(outputs=10) <- output.flatten          [10]       970
1,048 parameters, 2,112 multiply-adds and 1,512 bytes of activations for one example
)");
}

TEST_CASE("network: what is concatenated is pooled to the smallest height and width") {
  const auto g = a_genome({{"max_pool", {}},
                           {"avg_pool", {whole("stride", 4)}},
                           {"conv", {whole("filters", 2), merge("concat")}}},
                          {{-1, 0}, {-1, 1}, {0, 2}, {1, 2}, {-1, 2}, {2, -2}});
  CHECK(decoded(g) == R"(
input                                                    [1, 8, 8]
n10             max_pool(kernel=2, stride=2) <- input    [1, 4, 4]
n11             avg_pool(kernel=2, stride=4) <- input    [1, 2, 2]
n12.resize0     resize(height=2, width=2) <- input       [1, 2, 2]
n12.resize1     resize(height=2, width=2) <- n10         [1, 2, 2]
n12.concat      concat <- n12.resize0, n12.resize1, n11  [3, 2, 2]
n12             conv(filters=2, kernel=3) <- n12.concat  [2, 2, 2]  56
output.flatten  flatten <- n12                           [8]
output          output(outputs=10) <- output.flatten     [10]       90
146 parameters, 456 multiply-adds and 616 bytes of activations for one example
)");
}

TEST_CASE("network: where images meet vectors they are flattened") {
  const auto g = a_genome({{"global_avg_pool", {}}, {"conv", {merge("concat")}}},
                          {{-1, 0}, {-1, 1}, {0, 1}, {1, -2}});
  CHECK(decoded(g) == R"(
input                                                       [1, 8, 8]
n10             global_avg_pool <- input                    [1]
n11.flatten0    flatten <- input                            [64]
n11.concat      concat <- n11.flatten0, n10                 [65]
n11.as_image    as_image <- n11.concat                      [65, 1, 1]
n11             conv(filters=16, kernel=1) <- n11.as_image  [16, 1, 1]  1,056
output.flatten  flatten <- n11                              [16]
output          output(outputs=10) <- output.flatten        [10]          170
1,226 parameters, 1,264 multiply-adds and 624 bytes of activations for one example
)");
}

TEST_CASE("network: sequences that meet have the fewest steps of them") {
  auto space = a_space("sequence = true\nmerge = [\"add\", \"concat\"]\n"
                       "[operators.conv1d]\n[operators.max_pool]\n");
  const problem series{.input = {{9, 2}}, .outputs = 3};
  const auto g = a_genome({{"max_pool", {}},
                           {"conv1d", {whole("filters", 4), merge("concat")}},
                           {"conv1d", {whole("filters", 4), whole("stride", 3)}},
                           {"activation", {}}},
                          {{-1, 0}, {-1, 1}, {0, 1}, {1, 2}, {0, 3}, {2, 3}, {3, -2}});
  CHECK(decoded(g, space, series) == R"(
input                                                            [9, 2]
n10                max_pool(kernel=2, stride=2) <- input         [5, 2]
n11.resize_steps0  resize_steps(steps=5) <- input                [5, 2]
n11.concat         concat <- n11.resize_steps0, n10              [5, 4]
n11                conv1d(filters=4, kernel=3) <- n11.concat     [5, 4]  52
n12                conv1d(filters=4, kernel=3, stride=3) <- n11  [2, 4]  52
n13.resize_steps0  resize_steps(steps=2) <- n10                  [2, 2]
n13.project0       project(outputs=4) <- n13.resize_steps0       [2, 4]  12
n13.add            add <- n13.project0, n12                      [2, 4]
n13                activation(function=relu) <- n13.add          [2, 4]
output.flatten     flatten <- n13                                [8]
output             output(outputs=3) <- output.flatten           [3]     27
143 parameters, 432 multiply-adds and 548 bytes of activations for one example
)");
}

TEST_CASE(
    "network: a vector becomes a sequence of one step, and a sequence is flattened") {
  const auto space = a_space("sequence = true\n[operators.conv1d]\n"
                             "[operators.global_avg_pool]\n[operators.dense]\n");
  const problem series{.input = {{9, 2}}, .outputs = 3};
  const auto g = a_genome({{"global_avg_pool", {}},
                           {"conv1d", {whole("filters", 4), whole("kernel", 5)}},
                           {"max_pool", {}}},
                          {{-1, 0}, {0, 1}, {1, 2}, {2, -2}});
  CHECK(decoded(g, space, series) == R"(
input                                                            [9, 2]
n10              global_avg_pool <- input                        [2]
n11.as_sequence  as_sequence <- n10                              [1, 2]
n11              conv1d(filters=4, kernel=1) <- n11.as_sequence  [1, 4]  12
n12              max_pool(kernel=2, stride=2) <- n11             [1, 4]
output.flatten   flatten <- n12                                  [4]
output           output(outputs=3) <- output.flatten             [3]     15
27 parameters, 46 multiply-adds and 156 bytes of activations for one example
)");
  CHECK(decoded(a_chain({{"conv1d", {whole("filters", 4)}}, {"conv", {}}}), space, series)
        == R"(
input                                                       [9, 2]
n10             conv1d(filters=4, kernel=3) <- input        [9, 4]       28
n11.flatten     flatten <- n10                              [36]
n11.as_image    as_image <- n11.flatten                     [36, 1, 1]
n11             conv(filters=16, kernel=1) <- n11.as_image  [16, 1, 1]  592
output.flatten  flatten <- n11                              [16]
output          output(outputs=3) <- output.flatten         [3]          51
671 parameters, 840 multiply-adds and 292 bytes of activations for one example
)");
  CHECK(decoded(a_chain({{"dense", {}}}), a_space("[operators.dense]"), series) == R"(
input                                            [9, 2]
input.flatten  flatten <- input                  [18]
n10            dense(units=64) <- input.flatten  [64]    1,216
output         output(outputs=3) <- n10          [3]       195
1,411 parameters, 1,344 multiply-adds and 340 bytes of activations for one example
)");
}

TEST_CASE("network: a node without the setting merge adds") {
  const auto g = a_genome({{"dense", {whole("units", 3)}}}, {{-1, 0}, {-1, -2}, {0, -2}});
  CHECK(decoded(g, a_space("[operators.dense]"), {.input = {{5}}, .outputs = 1}) == R"(
input                                             [5]
n10              dense(units=3) <- input          [3]  18
output.project0  project(outputs=3) <- input      [3]  18
output.add       add <- output.project0, n10      [3]
output           output(outputs=1) <- output.add  [1]   4
40 parameters, 36 multiply-adds and 60 bytes of activations for one example
)");
}

TEST_CASE("network: a space for vectors flattens images at once") {
  const auto g = a_chain({{"batch_norm", {}}});
  CHECK(decoded(g, a_space("[operators.batch_norm]")) == R"(
input                                       [1, 8, 8]
input.flatten  flatten <- input             [64]
n10            batch_norm <- input.flatten  [64]       128
output         output(outputs=10) <- n10    [10]       650
778 parameters, 704 multiply-adds and 552 bytes of activations for one example
)");
}

TEST_CASE("network: a kernel is cut to the pixels that exist") {
  const auto kernel_on = [](std::int64_t side, std::int64_t kernel,
                            std::int64_t dilation) {
    const auto g =
        a_chain({{"conv", {whole("dilation", dilation), whole("kernel", kernel)}}});
    const auto n = decode(an_image_space(), g, {.input = {{1, side, 1}}, .outputs = 2});
    REQUIRE(n);
    return std::get<std::int64_t>(*find(n->layers[1].settings, "kernel"));
  };
  CHECK(kernel_on(1, 5, 1) == 1);
  CHECK(kernel_on(2, 5, 1) == 3);
  CHECK(kernel_on(3, 5, 1) == 5);
  CHECK(kernel_on(4, 5, 2) == 3);
  CHECK(kernel_on(5, 5, 2) == 5);
  CHECK(kernel_on(8, 3, 9) == 1);
  const auto on_steps = [](std::int64_t steps, std::int64_t kernel) {
    const auto n = decode(a_space("sequence = true\n[operators.conv1d]\n"),
                          a_chain({{"conv1d", {whole("kernel", kernel)}}}),
                          {.input = {{steps, 50}}, .outputs = 2});
    REQUIRE(n);
    return std::get<std::int64_t>(*find(n->layers[1].settings, "kernel"));
  };
  CHECK(on_steps(1, 7) == 1);
  CHECK(on_steps(3, 7) == 5);
  CHECK(on_steps(4, 7) == 7);
}

TEST_CASE("network: genes on no path to the output are left out") {
  auto with_stray = a_genome({{"max_pool", {}}, {"max_pool", {}}},
                             {{-1, 0}, {-1, 1}, {0, -2}, {1, -2}});
  for (edge_gene& edge : with_stray.edges)
    if (edge.from == innovation{0x11})
      edge.enabled = false;
  CHECK(decode(an_image_space(), with_stray, digits())
        == decode(an_image_space(), a_chain({{"max_pool", {}}}), digits()));
}

TEST_CASE("network: names are long enough to be told apart in text") {
  auto g = a_chain({{"max_pool", {}}, {"max_pool", {}}});
  const auto rename = [&](std::uint64_t from, std::uint64_t to) {
    for (node_gene& node : g.nodes)
      if (node.id == innovation{from})
        node.id = innovation{to};
    for (edge_gene& edge : g.edges) {
      edge.from = edge.from == innovation{from} ? innovation{to} : edge.from;
      edge.to = edge.to == innovation{from} ? innovation{to} : edge.to;
    }
  };
  rename(0x10, 0xabcdef0112345678);
  rename(0x11, 0xabcdef0212345678);
  CHECK(decoded(g) == R"(
input                                                      [1, 8, 8]
nabcdef01       max_pool(kernel=2, stride=2) <- input      [1, 4, 4]
nabcdef02       max_pool(kernel=2, stride=2) <- nabcdef01  [1, 2, 2]
output.flatten  flatten <- nabcdef02                       [4]
output          output(outputs=10) <- output.flatten       [10]       50
50 parameters, 120 multiply-adds and 536 bytes of activations for one example
)");
  const auto n = decode(an_image_space(), g, digits());
  REQUIRE(n);
  CHECK(n->layers[1].name == "nabcdef0112345678");
}

TEST_CASE(
    "network: training needs parameters, gradients, optimiser state and activations") {
  const auto n =
      decode(an_image_space(),
             a_chain({{"conv", {whole("filters", 8), whole("kernel", 3)}}}), digits());
  REQUIRE(n);
  CHECK(n->cost() == layer_cost{5210, 9728, 2344});
  CHECK(training_bytes(*n, 32, 0) == 5210 * 4 * 2 + 32 * 2344);
  CHECK(training_bytes(*n, 32, 2) == 5210 * 4 * 4 + 32 * 2344);
  // Validation takes 256 examples, with the input and the output of its widest layer.
  CHECK(peak_bytes(*n, 32, 2) == (5210 * 4 * 4 + 256 * (256 + 2048)) / 2 * 5);
  CHECK(peak_bytes(*n, 512, 2) == (5210 * 4 * 4 + 512 * 2344) / 2 * 5);
}

TEST_CASE("network: numbers are grouped for people") {
  CHECK(with_commas(0) == "0");
  CHECK(with_commas(999) == "999");
  CHECK(with_commas(1000) == "1,000");
  CHECK(with_commas(18'446'744'073'709'551'615u) == "18,446,744,073,709,551,615");
}
