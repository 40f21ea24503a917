#include "engine/training/weights/inheritance.hpp"
#include "search_spaces/operators/operators.hpp"
#include "search_spaces/operators/search_space.hpp"
#include "tests/engine/training/plain_network.hpp"
#include "tests/support/genomes.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>

using namespace clade;

namespace {

using origin = layer_inheritance::origin;

node_gene a_conv(std::int64_t filters, std::int64_t kernel = 3, const char* norm = "none",
                 const char* activation = "relu") {
  return {{},
          "conv",
          {{"activation", activation},
           {"filters", filters},
           {"kernel", kernel},
           {"norm", norm}}};
}

node_gene a_dense(std::int64_t units, const char* activation = "relu") {
  return {{}, "dense", {{"activation", activation}, {"units", units}}};
}

node_gene a_conv1d(std::int64_t filters, std::int64_t kernel = 3,
                   const char* norm = "none") {
  auto gene = a_conv(filters, kernel, norm);
  gene.op = "conv1d";
  return gene;
}

const tensor_shape images{{2, 5, 5}}, series{{10, 5}};

network decoded(const genome& g, const tensor_shape& input = images) {
  search_space space;
  space.name = "space";
  space.input = *input.layout();
  auto n = decode(space, g, {.input = input, .outputs = 3});
  INFO((n ? "" : n.error().message));
  REQUIRE(n);
  return *n;
}

random_stream some_random() {
  return derive(1, purpose::inherit, 2, 0);
}

std::vector<double> an_example() {
  auto random = derive(3, purpose::split, 0, 0);
  std::vector<double> pixels(50);
  std::ranges::generate(pixels, [&] { return random.uniform(); });
  return pixels;
}

struct family {
  network parent, child;
  std::vector<weight_tensor> parents_weights, fresh, weights;
  std::vector<layer_inheritance> plan;
};

family descend(const genome& parent, const genome& child,
               const tensor_shape& input = images) {
  family f{.parent = decoded(parent, input), .child = decoded(child, input)};
  f.parents_weights = test::random_weights(f.parent, 1);
  f.fresh = test::random_weights(f.child, 2);
  // Weights that are new begin without shifting anything, as modules have it.
  for (auto& t : f.fresh)
    if (t.name.ends_with("bias") || t.name.ends_with("mean"))
      std::ranges::fill(t.values, 0.F);
    else if (t.name.ends_with("var")
             || (t.name.ends_with("weight") && t.shape.size() == 1))
      std::ranges::fill(t.values, 1.F);
  for (const auto& l : f.child.layers)
    for (auto& t : f.fresh)
      if (l.starts_at_zero
          && (t.name == l.name + ".norm.weight"
              || (t.name == l.name + ".weight"
                  && text_setting(l.settings, "norm") == "none")))
        std::ranges::fill(t.values, 0.F);
  f.plan = plan_inheritance(f.child, f.parent, f.parents_weights, some_random());
  f.weights = inherit_weights(f.plan, f.parents_weights, f.fresh);
  return f;
}

/// The largest difference between what child and parent compute.
double difference(const family& f) {
  const auto a = test::compute(f.parent, f.parents_weights, an_example());
  const auto b = test::compute(f.child, f.weights, an_example());
  double most = 0, scale = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(a[i] - b[i]));
    scale = std::max(scale, std::abs(a[i]));
  }
  REQUIRE(scale > 0);
  return most / scale;
}

constexpr double rounding = 1e-4; ///< New batch normalisation divides by sqrt(1 + 1e-5).

genome widened(genome g, std::size_t node, const char* name, std::int64_t to) {
  assign(g.nodes[node].settings, name, to);
  return g;
}

/// With a node on the edge between these two.
genome inserted(genome g, innovation from, innovation to, node_gene node) {
  node.id = innovation{77};
  std::erase_if(g.edges,
                [&](const edge_gene& e) { return e.from == from && e.to == to; });
  g.edges.push_back(test::an_edge(from, node.id));
  g.edges.push_back(test::an_edge(node.id, to));
  g.nodes.push_back(std::move(node));
  return test::sorted(std::move(g));
}

genome skipping(genome g, innovation from, innovation to, const char* merge) {
  g.edges.push_back(test::an_edge(from, to));
  for (auto& n : g.nodes)
    if (n.id == to)
      assign(n.settings, "merge", merge);
  return test::sorted(std::move(g));
}

const innovation n2{2}, n3{3};

} // namespace

TEST_CASE("inheritance: an equal network has its parent's weights, bit for bit") {
  const auto g = test::a_chain({a_conv(4, 3, "batch"), a_conv(3), a_dense(6)});
  const auto f = descend(g, g);
  CHECK(f.weights == f.parents_weights);
}

TEST_CASE("inheritance: a wider layer computes the same, whatever reads it") {
  const node_gene separable{
      {}, "separable_conv", {{"activation", "relu"}, {"filters", std::int64_t{4}}}};
  const node_gene depthwise{{}, "depthwise_conv", {{"activation", "relu"}}};
  const node_gene norm{{}, "batch_norm", {}};
  const node_gene pool{{}, "global_avg_pool", {}};
  for (const auto& reader : {a_conv(3), separable, depthwise, norm, pool, a_dense(5)})
    for (const auto* own_norm : {"none", "batch"}) {
      INFO(reader.op << ", norm " << own_norm);
      const auto g = test::a_chain({a_conv(3, 3, own_norm), reader, a_dense(4)});
      const auto f = descend(g, widened(g, 2, "filters", 8));
      CHECK(difference(f) < rounding);
      CHECK(f.weights != f.fresh);
    }
}

TEST_CASE(
    "inheritance: a wider layer of sequences computes the same, whatever reads it") {
  const node_gene norm{{}, "batch_norm", {}};
  const node_gene pool{{}, "global_avg_pool", {}};
  for (const auto& reader : {a_conv1d(3), norm, pool, a_dense(5)})
    for (const auto* own_norm : {"none", "batch"}) {
      INFO(reader.op << ", norm " << own_norm);
      const auto parent =
          test::a_chain({a_conv1d(4, 5, own_norm), reader, a_conv1d(3, 1)});
      const auto f = descend(parent, widened(parent, 2, "filters", 7), series);
      CHECK(difference(f) < rounding);
      CHECK(f.weights != f.parents_weights);
    }
}

TEST_CASE("inheritance: a wider kernel over time, or one more layer, computes the same") {
  const auto parent = test::a_chain({a_conv1d(4), a_conv1d(6)});
  CHECK(difference(descend(parent, widened(parent, 3, "kernel", 7), series)) < rounding);
  for (const auto& idle : {a_conv1d(4), a_conv1d(6, 5, "batch")})
    CHECK(difference(descend(parent, inserted(parent, n2, n3, idle), series)) < rounding);
  CHECK(difference(descend(parent, skipping(parent, input_innovation, n3, "add"), series))
        < rounding);
}

TEST_CASE("inheritance: twins have unequal shares, so that they part ways") {
  const auto g = test::a_chain({a_dense(2), a_dense(3)});
  const auto f = descend(g, widened(g, 2, "units", 4));
  CHECK(difference(f) < rounding);
  const auto& reader = f.plan[3];
  REQUIRE(reader.layer == to_text(n3));
  REQUIRE(reader.inputs.size() == 4);
  std::map<std::int64_t, double> sums;
  for (const auto& parts : reader.inputs) {
    REQUIRE(parts.size() == 1);
    sums[parts[0].unit] += parts[0].share;
  }
  for (const auto& [unit, sum] : sums)
    CHECK(sum == Approx(1));
  CHECK(std::ranges::any_of(reader.inputs, [&](const auto& p) {
    return p[0].share != 1 && std::abs(p[0].share - 0.5) > 1e-3;
  }));
}

TEST_CASE("inheritance: an inserted layer that can be the identity is it") {
  const node_gene separable{
      {}, "separable_conv", {{"activation", "relu"}, {"filters", std::int64_t{5}}}};
  const node_gene depthwise{{}, "depthwise_conv", {{"activation", "relu"}}};
  const node_gene dropout{{}, "dropout", {{"rate", 0.3}}};
  const node_gene norm{{}, "batch_norm", {}};
  const node_gene relu{{}, "activation", {{"function", "relu"}}};
  const auto g = test::a_chain({a_conv(3), a_conv(4), a_dense(4)});
  for (const auto& node :
       {a_conv(3), a_conv(7), a_conv(3, 5, "batch"), a_conv(3, 1, "none", "none"),
        separable, depthwise, dropout, norm, relu}) {
    INFO(to_text(node));
    CHECK(difference(descend(g, inserted(g, n2, n3, node))) < rounding);
  }
  CHECK(difference(descend(g, inserted(g, innovation{4}, output_innovation, a_dense(9))))
        < rounding);
}

TEST_CASE("inheritance: what cannot be the identity has its initial values") {
  const auto g = test::a_chain({a_conv(3), a_conv(4), a_dense(4)});
  for (const auto& node :
       {a_conv(2), a_conv(3, 3, "none", "tanh"), a_conv(3, 3, "layer")}) {
    INFO(to_text(node));
    const auto f = descend(g, inserted(g, n2, n3, node));
    const auto own = std::ranges::find_if(
        f.plan, [](const auto& l) { return l.layer == to_text(innovation{77}); });
    REQUIRE(own != f.plan.end());
    CHECK(own->how == origin::fresh);
  }
}

TEST_CASE(
    "inheritance: a larger kernel computes the same, and a smaller keeps the middle") {
  const auto g = test::a_chain({a_conv(3, 3), a_conv(4), a_dense(4)});
  CHECK(difference(descend(g, widened(g, 2, "kernel", 5))) < rounding);
  const auto f = descend(g, widened(g, 2, "kernel", 1));
  CHECK(f.weights[0].values[0] == f.parents_weights[0].values[4]);
}

TEST_CASE("inheritance: a narrower layer keeps the units of greatest norm") {
  const auto g = test::a_chain({a_dense(4), a_dense(3)});
  auto f = descend(g, widened(g, 2, "units", 2));
  auto& w = f.parents_weights[0].values;
  std::ranges::fill(w, 0.1F);
  w[50 * 1] = 5;  // A weight of unit 1,
  w[50 * 3] = -3; // and of unit 3.
  const auto plan = plan_inheritance(f.child, f.parent, f.parents_weights, some_random());
  const auto own =
      std::ranges::find_if(plan, [](const auto& l) { return l.layer == to_text(n2); });
  REQUIRE(own != plan.end());
  CHECK(own->units == std::vector<std::int64_t>{1, 3});
}

TEST_CASE("inheritance: a new skip adds nothing yet where it has weights of its own") {
  const auto g = test::a_chain({a_conv(3), a_conv(4), a_conv(5), a_dense(4)});
  const innovation n4{4};
  CHECK(difference(descend(g, skipping(g, n2, n4, "concat"))) < rounding);
  CHECK(difference(descend(g, skipping(g, n2, n4, "add"))) < rounding);
  // 2 channels come in, and 4 along the main path.
  CHECK(difference(descend(g, skipping(g, input_innovation, n4, "add"))) < rounding);
}

TEST_CASE("inheritance: a wider layer before a sum keeps its units beside their like") {
  const innovation n4{4};
  const auto equal = skipping(
      test::a_chain({a_conv(4), a_conv(4), a_conv(5), a_dense(4)}), n2, n4, "add");
  const auto projected = skipping(
      test::a_chain({a_conv(3), a_conv(4), a_conv(5), a_dense(4)}), n2, n4, "add");
  const auto joined = skipping(
      test::a_chain({a_conv(3), a_conv(4), a_conv(5), a_dense(4)}), n2, n4, "concat");
  for (const auto& g : {equal, projected, joined})
    for (const std::size_t node : {2U, 3U, 4U}) {
      INFO(to_text(g) << "\nwider " << to_text(g.nodes[node].id));
      CHECK(difference(descend(g, widened(g, node, "filters", 9))) < rounding);
    }
}

TEST_CASE("inheritance: a composite that is wider or repeated more computes the same") {
  struct change {
    const char* op;
    const char* setting;
    std::int64_t from, to;
  };
  for (const auto& c : {change{"residual", "filters", 3, 7},
                        {"residual", "repeats", 1, 3},
                        {"residual", "kernel", 3, 5},
                        {"residual1d", "filters", 3, 7},
                        {"residual1d", "repeats", 1, 3},
                        {"residual1d", "kernel", 3, 5},
                        {"inverted_residual", "repeats", 2, 3},
                        {"inverted_residual", "kernel", 3, 5},
                        {"inverted_residual", "expansion", 2, 3},
                        {"inverted_residual", "filters", 3, 5},
                        {"convnext", "repeats", 1, 3},
                        {"convnext", "expansion", 2, 3}})
    for (const char* block : {"basic", "bottleneck"})
      for (const std::int64_t stride : {1, 2}) {
        INFO(c.op << ' ' << c.setting << ' ' << block << " stride " << stride);
        const bool residual = std::string(c.op) == "residual";
        if (!residual && std::string(block) != "basic")
          continue;
        node_gene gene{{}, c.op, {{"filters", std::int64_t{4}}, {"stride", stride}}};
        assign(gene.settings, "activation", "relu");
        if (residual)
          assign(gene.settings, "block", block);
        if (std::string(c.op) == "convnext")
          clade::erase(gene.settings, "activation");
        assign(gene.settings, "repeats", std::int64_t{2});
        assign(gene.settings, c.setting, c.from);
        const bool over_time = gene.op == "residual1d";
        const auto before = over_time ? a_conv1d(4) : a_conv(4);
        const auto behind = over_time ? a_conv1d(3) : a_conv(3);
        const auto g = test::a_chain({before, gene, behind, a_dense(4)});
        const auto f =
            descend(g, widened(g, 3, c.setting, c.to), over_time ? series : images);
        CHECK(difference(f) < rounding);
        CHECK(f.weights != f.fresh);
      }
}

TEST_CASE("inheritance: a residual block of a table computes the same when it grows") {
  for (const char* norm : {"none", "batch"})
    for (const std::int64_t repeats : {1, 3})
      for (const std::int64_t units : {4, 9}) {
        INFO(norm << ", " << repeats << " repeats, " << units << " units");
        const node_gene gene{
            {},
            "residual_dense",
            {{"norm", norm}, {"repeats", std::int64_t{1}}, {"units", std::int64_t{4}}}};
        const auto g = test::a_chain({a_dense(5), gene, a_dense(4)});
        const auto f =
            descend(g, widened(widened(g, 3, "repeats", repeats), 3, "units", units));
        CHECK(difference(f) < rounding);
      }
}

TEST_CASE("inheritance: embedded numbers stay as they are where others grow") {
  for (const char* kind : {"piecewise", "periodic"}) {
    INFO(kind);
    const node_gene gene{{}, "embed_numbers", {{"kind", kind}}};
    const auto g = test::a_chain({gene, a_dense(4), a_dense(3)});
    CHECK(difference(descend(g, widened(g, 3, "units", 7))) < rounding);
  }
}

TEST_CASE("inheritance: trees stay as they are where others grow") {
  const node_gene gene{{}, "boosted_trees", {{"width", std::int64_t{5}}}};
  const auto g = test::a_chain({gene, a_dense(4), a_dense(3)});
  CHECK(difference(descend(g, widened(g, 3, "units", 7))) < rounding);
}

TEST_CASE("inheritance: another operator under the same gene is new, the rest is taken") {
  const auto g = test::a_chain({a_conv(3), a_conv(3), a_dense(4)});
  auto child = g;
  child.nodes[3].op = "separable_conv";
  const auto f = descend(g, child);
  for (const auto& l : f.plan)
    if (l.layer != "input" && !l.layer.ends_with("flatten"))
      CHECK((l.how == origin::taken) == (l.layer != to_text(n3)));
}
