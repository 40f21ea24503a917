#include "engine/export/model/model.hpp"
#include "engine/export/source/python_source.hpp"
#include "search_spaces/operators/operators.hpp"
#include "tests/support/genomes.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

network a_network() {
  search_space images;
  images.input = layout::image;
  const auto n = decode(
      images,
      test::a_chain(
          {{{},
            "conv",
            {{"activation", "relu"}, {"filters", std::int64_t{4}}, {"norm", "batch"}}},
           {{}, "avg_pool", {}}}),
      {{{1, 5, 4}}, 3});
  REQUIRE(n);
  return *n;
}

weight_tensor a_tensor(const std::string& name, std::vector<std::int64_t> shape) {
  return {name, shape,
          std::vector<float>(static_cast<std::size_t>(tensor_shape{shape}.elements()))};
}

std::vector<weight_tensor> its_weights(const network& n) {
  const auto& conv = n.layers[1].name;
  const auto& output = n.layers.back().name;
  return {a_tensor(conv + ".weight", {4, 1, 3, 3}),
          a_tensor(conv + ".norm.weight", {4}),
          a_tensor(conv + ".norm.bias", {4}),
          a_tensor(conv + ".norm.running_mean", {4}),
          a_tensor(conv + ".norm.running_var", {4}),
          a_tensor(output + ".weight", {3, 24}),
          a_tensor(output + ".bias", {3})};
}

std::string error_of(const std::vector<weight_tensor>& weights) {
  const auto m = export_network(a_network(), weights);
  return m ? "no error" : m.error().message;
}

} // namespace

TEST_CASE("export: a tensor that layers share stands there for each of them") {
  auto n = a_network();
  auto again = n.layers[1];
  again.name = "again";
  again.settings = n.layers[1].settings;
  again.inputs = {0};
  again.shares = n.layers[1].name;
  n.layers.insert(n.layers.begin() + 2, again);
  for (auto i = std::size_t{3}; i < n.layers.size(); ++i)
    for (auto& from : n.layers[i].inputs)
      from += from > 0 ? 1 : 0;
  auto weights = its_weights(a_network());
  CHECK_FALSE(export_network(n, weights)); // Its own statistics are missing.
  weights.push_back(a_tensor("again.norm.running_mean", {4}));
  weights.push_back(a_tensor("again.norm.running_var", {4}));
  weights[0].values[0] = 7;
  const auto m = export_network(n, weights);
  REQUIRE(m);
  CHECK(m->run_tensors.size() == weights.size());
  for (const auto* name : {"conv1.weight", "conv2.weight"}) {
    const auto found = std::ranges::find(m->weights, name, &weight_tensor::name);
    REQUIRE(found != m->weights.end());
    CHECK(found->values[0] == 7);
  }
}

TEST_CASE("export: a block is taken apart into named steps in the network's order") {
  const auto n = a_network();
  const auto m = export_network(n, its_weights(n));
  REQUIRE(m);
  std::string names;
  for (const auto& s : m->steps)
    names += s.name + " " + to_text(s.out) + "\n";
  CHECK(names
        == "input [1, 5, 4]\n"
           "conv1 [4, 5, 4]\n"
           "conv1_norm [4, 5, 4]\n"
           "conv1_activation [4, 5, 4]\n"
           "avg_pool1 [4, 3, 2]\n"
           "flatten1 [24]\n"
           "output [3]\n");
  CHECK(m->weights[0].name == "conv1.weight");
  CHECK(m->weights[3].name == "conv1_norm.running_mean");
}

TEST_CASE("export: every operator can be exported") {
  for (const auto& o : operators()) {
    if (o.parts != nullptr || o.name == "recall") // That stands in a body alone.
      continue;
    const tensor_shape shape = o.works_on(layout::image)    ? tensor_shape{{4, 7, 5}}
                               : o.works_on(layout::vector) ? tensor_shape{{6}}
                                                            : tensor_shape{{7, 4}};
    const auto settings = complete(o, {});
    REQUIRE(settings);
    const std::vector<tensor_shape> in(o.merges ? 2 : 1, shape);
    const network n{
        .layers = {{.name = "input", .op = "input", .in = {shape}, .out = shape},
                   {.name = "n2",
                    .op = std::string(o.name),
                    .settings = *settings,
                    .inputs = std::vector<std::size_t>(in.size(), 0),
                    .in = in,
                    .out = o.shape(in, *settings)}}};
    const auto m = export_network(n, {});
    INFO(o.name);
    CHECK((m || m.error().message.starts_with("weights of another network: n2.")));
  }
}

TEST_CASE("export: weights of another network are refused by name") {
  const auto n = a_network();
  auto weights = its_weights(n);
  weights.push_back(a_tensor("n9.weight", {1}));
  CHECK(error_of(weights) == "weights of another network: 8 tensors for 7");
  weights = its_weights(n);
  weights.erase(weights.begin());
  CHECK(error_of(weights)
        == "weights of another network: " + n.layers[1].name + ".weight is missing");
  weights = its_weights(n);
  weights[0].shape = {9, 4};
  CHECK(error_of(weights)
        == "weights of another network: " + n.layers[1].name
               + ".weight is not of the shape [4, 1, 3, 3]");
}

TEST_CASE("export: in Python two norms that are layers have each a variable of its own") {
  const auto a_layer = [](const std::string& name, const std::string& op,
                          const std::vector<std::size_t>& inputs, std::int64_t units) {
    return layer{.name = name,
                 .op = op,
                 .inputs = inputs,
                 .in = std::vector<tensor_shape>(inputs.size(), tensor_shape{{4}}),
                 .out = {{units}}};
  };
  const network n{
      .layers = {a_layer("input", "input", {}, 4), a_layer("n2", "batch_norm", {0}, 4),
                 a_layer("n3", "batch_norm", {1}, 4), a_layer("n4", "add", {1, 2}, 4),
                 a_layer("output", "output", {3}, 3)}};
  std::vector<weight_tensor> weights{a_tensor("output.weight", {3, 4}),
                                     a_tensor("output.bias", {3})};
  for (const auto* name : {"n2", "n3"})
    for (const auto* part : {".weight", ".bias", ".running_mean", ".running_var"})
      weights.push_back(a_tensor(std::string(name) + part, {4}));
  const auto m = export_network(n, weights);
  REQUIRE(m);
  const auto text = untrained_source(*m);
  for (const auto* line :
       {"batch_norm1 = ", "batch_norm2 = ", "batch_norm1 + batch_norm2"})
    CHECK(text.find(line) != std::string::npos);
}
