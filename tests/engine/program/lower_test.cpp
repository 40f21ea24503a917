#include "engine/program/lower/program.hpp"
#include "engine/program/lower/windows.hpp"
#include "tests/support/genomes.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

using namespace clade;

namespace {

search_space an_image_space() {
  search_space space;
  space.input = layout::image;
  return space;
}

network decoded(const std::string& op, const std::vector<setting>& settings,
                const tensor_shape& input = {{3, 5, 4}}) {
  const auto n =
      decode(input.layout() == layout::image ? an_image_space() : search_space(),
             test::a_chain({{{}, op, settings}}), {input, 2});
  REQUIRE(n);
  return *n;
}

std::string to_text(const program& p) {
  std::string text;
  for (const auto& s : p.steps) {
    text += s.name + ": " + std::string(s.computes);
    for (const auto& t : s.tensors)
      text += " " + std::string(t.role) + "=" + p.tensors[t.index].name;
    for (const auto& i : s.inputs)
      text += " <- " + p.steps[i.step].name;
    text += " " + clade::to_text(s.out) + "\n";
  }
  return text;
}

} // namespace

TEST_CASE("program: a block is lowered to its map, its norm and its activation") {
  auto n = decoded(
      "conv", {{"activation", "relu"}, {"filters", std::int64_t{4}}, {"norm", "batch"}});
  n.layers[1].name = "n1";
  CHECK(to_text(lower(n))
        == "input: input [3, 5, 4]\n"
           "conv1: conv weight=n1.weight <- input [4, 5, 4]\n"
           "conv1_norm: batch_norm weight=n1.norm.weight bias=n1.norm.bias"
           " running_mean=n1.norm.running_mean running_var=n1.norm.running_var"
           " <- conv1 [4, 5, 4]\n"
           "conv1_activation: activation <- conv1_norm [4, 5, 4]\n"
           "flatten1: flatten <- conv1_activation [80]\n"
           "output: dense weight=output.weight bias=output.bias <- flatten1 [2]\n");
}

TEST_CASE(
    "program: a separable convolution is a depthwise one and one of single pixels") {
  const auto p = lower(decoded(
      "separable_conv", {{"filters", std::int64_t{4}}, {"stride", std::int64_t{2}}}));
  CHECK(p.steps[1].computes == "depthwise_conv");
  CHECK(p.steps[1].out == tensor_shape{{3, 3, 2}});
  CHECK(window_of(p.steps[1]).groups == 3);
  CHECK(window_of(p.steps[1]).stride == 2);
  CHECK(p.steps[2].computes == "conv");
  CHECK(window_of(p.steps[2]).kernel == 1);
  CHECK(window_of(p.steps[2]).stride == 1);
}

TEST_CASE("program: pools whose windows do not fit are averages of rows and columns") {
  CHECK(lower(decoded("avg_pool", {}, {{1, 4, 4}})).steps[1].computes == "avg_pool");
  const auto s = lower(decoded("avg_pool", {}, {{1, 5, 4}})).steps[1];
  CHECK(s.computes == "average");
  const auto spans = averaged(s);
  // Five rows in windows of two: the last has one row.
  CHECK(spans.rows.back() == std::pair<std::int64_t, std::int64_t>{4, 5});
  CHECK(spans.columns.back() == std::pair<std::int64_t, std::int64_t>{2, 4});
  CHECK(averaging_matrix(spans.rows, 5)
        == std::vector<float>{0.5F, 0.5F, 0, 0, 0, 0, 0, 0.5F, 0.5F, 0, 0, 0, 0, 0, 1});
}

TEST_CASE(
    "program: each tensor of a layer is of one step, and counted as its cost says") {
  for (const auto& o : operators()) {
    if (o.role != operator_role::layer)
      continue;
    std::vector<std::vector<setting>> ways{{}};
    for (const auto& s : o.settings)
      for (const auto word : s.words)
        ways.push_back({{std::string(s.name), std::string(word)}});
    for (const auto& way : ways)
      for (const auto& input : {tensor_shape{{3, 7, 5}}, tensor_shape{{6}}}) {
        const auto n = decoded(std::string(o.name), way, input);
        const auto p = lower(n);
        INFO(to_text(p));
        std::multiset<tensor_index> used;
        for (const auto& s : p.steps)
          for (const auto& t : s.tensors)
            used.insert(t.index);
        std::uint64_t trained = 0;
        for (tensor_index i = 0; i < p.tensors.size(); ++i) {
          CHECK(used.count(i) == 1);
          if (p.tensors[i].entry.trained)
            trained += static_cast<std::uint64_t>(p.tensors[i].entry.elements());
        }
        CHECK(trained == n.cost().parameters);
        CHECK(p.layers.size() == n.layers.size());
        CHECK(check(p));
      }
  }
}

TEST_CASE("program: several candidates are an axis in front, and refused in a sentence") {
  const auto n = decoded("dense", {{"units", std::int64_t{4}}}, {{6}});
  const auto p = lower(n, 3);
  CHECK(p.shape_of(*p.steps[1].tensor("weight")) == std::vector<std::int64_t>{3, 4, 6});
  CHECK(lower(n).shape_of(*p.steps[1].tensor("weight"))
        == std::vector<std::int64_t>{4, 6});
  const auto refused = check(p);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message
        == "a program of 3 candidates cannot be computed yet; compute each by itself");
}

TEST_CASE("program: steps over time are inputs with a delay, and refused in a sentence") {
  auto p = lower(decoded("dense", {{"units", std::int64_t{4}}}, {{6}}));
  p.steps[1].inputs.push_back({.step = 1, .delay = 1});
  const auto refused = check(p);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message
        == "dense1 takes what dense1 gave 1 step of time before, and steps over time "
           "stand in the body of an over_time alone");
}

TEST_CASE("program: steps over time are one step with a body, whose tensors it has") {
  search_space space;
  space.input = layout::sequence;
  space.rules.max_recurrent = 2;
  auto g = test::a_chain(
      {{{}, "dense", {{"activation", "tanh"}, {"units", std::int64_t{4}}}}});
  g.edges.push_back(test::an_edge(innovation{2}, innovation{2}, 3));
  const auto n = decode(space, test::sorted(std::move(g)), {{{5, 3}}, 2});
  REQUIRE(n);
  const auto p = lower(*n);
  REQUIRE(check(p));
  CHECK(to_text(p)
        == "input: input [5, 3]\n"
           "over_time1: over_time recall1.weight=over_time.n2.recall_n2_3.weight"
           " dense1.weight=over_time.n2.weight dense1.bias=over_time.n2.bias"
           " <- input [4]\n"
           "output: dense weight=output.weight bias=output.bias <- over_time1 [2]\n");
  CHECK(to_text(*p.steps[1].body)
        == "input: input [3]\n"
           "recall1: dense weight=n2.recall_n2_3.weight <- dense1_activation [3]\n"
           "add1: add <- recall1 <- input [3]\n"
           "dense1: dense weight=n2.weight bias=n2.bias <- add1 [4]\n"
           "dense1_activation: activation <- dense1 [4]\n");
  CHECK(p.steps[1].body->steps[1].inputs.front().delay == 3);
  const auto steps = body_steps(p.steps[1], "over_time1.");
  CHECK(steps[3].name == "over_time1.dense1");
  CHECK(p.tensors[steps[3].tensors[0].index].name == "over_time.n2.weight");
}
