#include "engine/program/write/writer.hpp"
#include "engine/training/network/network_module.hpp"
#include "engine/training/weights/initial_weights.hpp"
#include "search_spaces/files/load_search_space.hpp"
#include "search_spaces/operators/mixture.hpp"
#include "search_spaces/operators/operators.hpp"
#include "search_spaces/operators/variation.hpp"
#include "tests/support/genomes.hpp"
#include "tests/support/operators.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <algorithm>
#include <set>

using namespace clade;

namespace {

layer a_layer(std::string_view op, std::vector<tensor_shape> in,
              const std::vector<setting>& given = {}) {
  const auto* entry = find_operator(op);
  REQUIRE(entry != nullptr);
  const auto settings = complete(*entry, given);
  REQUIRE(settings);
  layer l{.name = "n1", .op = std::string(op), .settings = *settings, .in = in};
  l.out = entry->shape(in, l.settings);
  l.cost = entry->cost_of(l);
  return l;
}

std::shared_ptr<network_module> built(const layer& l) {
  return std::make_shared<network_module>(
      network{.layers = {l}}, training_key{.seed = 1, .id = 1}, at::Device(at::kCPU));
}

at::Tensor forward(const network_module& one, std::vector<at::Tensor> in) {
  return one.forward_layer(0, std::move(in), {});
}

search_space a_space_for(layout l) {
  search_space space;
  space.input = l;
  return space;
}
search_space an_image_space() {
  return a_space_for(layout::image);
}

at::Tensor examples_of(const tensor_shape& shape, std::int64_t batch = 3) {
  auto random = derive(3, purpose::synthetic, 0, 0);
  std::vector<std::int64_t> sizes{batch};
  sizes.insert(sizes.end(), shape.sizes.begin(), shape.sizes.end());
  auto x = at::empty(sizes);
  auto* values = x.data_ptr<float>();
  for (std::int64_t i = 0; i < x.numel(); ++i)
    values[i] = static_cast<float>(random.normal());
  return x;
}

at::Tensor through(const layer& l, const at::Tensor& x, bool training = false) {
  const auto module = built(l);
  module->train(training);
  return forward(*module, {x});
}

/// Changes the parameters in their place, as an optimiser does, and goes on.
bool goes_on(const network_module& module, const std::vector<at::Tensor>& in) {
  {
    const at::NoGradGuard no_grad;
    for (const auto& p : module.parameters())
      p.sub_(p.grad(), 1e-3);
  }
  forward(module, in).square().sum().backward();
  return std::ranges::all_of(module.parameters(), [](const at::Tensor& p) {
    return p.grad().isfinite().all().item<bool>();
  });
}

// Forward, backward, shape and parameters, as decode promised them, and a second step.
std::string check_layer(const layer& l) {
  const auto module = built(l);
  std::vector<at::Tensor> in;
  for (const auto& shape : l.in)
    in.push_back(examples_of(shape).set_requires_grad(true));
  if (l.inputs.empty() && in.empty())
    in.push_back(examples_of(l.out).set_requires_grad(true));
  const auto out = forward(*module, in);
  std::vector<std::int64_t> promised{3};
  promised.insert(promised.end(), l.out.sizes.begin(), l.out.sizes.end());
  if (out.sizes() != at::IntArrayRef(promised))
    return l.op + ": shape";
  out.square().sum().backward();
  for (const auto& x : in)
    if (!x.grad().defined() || !x.grad().isfinite().all().item<bool>())
      return l.op + ": gradient";
  std::uint64_t parameters = 0;
  for (const auto& p : module->parameters()) {
    parameters += static_cast<std::uint64_t>(p.numel());
    if (!p.grad().defined())
      return l.op + ": parameter without gradient";
  }
  if (parameters != l.cost.parameters)
    return l.op + ": parameters";
  return goes_on(*module, in) ? "" : l.op + ": second step";
}

void check_networks(const std::string& file, const problem& p,
                    std::set<std::string>& met) {
  const auto space = load_search_space(std::filesystem::path(CLADE_SEARCH_SPACES) / file);
  REQUIRE(space);
  for (std::uint64_t i = 0; i < 60; ++i) {
    auto random = derive(5, purpose::sample, 0, i);
    const auto sampled = sample(*space, p, random);
    INFO(file << ": " << (sampled ? "" : sampled.error().message));
    REQUIRE(sampled);
    auto g = sampled->child;
    for (int steps = 0; steps < 6; ++steps)
      g = mutate(*space, p, g, {}, random).child;
    const auto net = decode(*space, g, p);
    REQUIRE(net);
    INFO(to_text(*net));
    for (const auto& l : net->layers) {
      met.insert(l.op);
      for (const auto& within : l.body)
        met.insert(within.op);
      REQUIRE(check_layer(l) == "");
    }
    network_module whole(*net, {.seed = 1, .id = i}, at::kCPU);
    const auto out = whole.forward(examples_of(p.input));
    REQUIRE(out.sizes() == at::IntArrayRef({3, p.outputs}));
    std::uint64_t parameters = 0;
    for (const auto& t : whole.parameters())
      parameters += static_cast<std::uint64_t>(t.numel());
    REQUIRE(parameters == net->cost().parameters);
  }
}

bool close(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() == b.sizes() && at::allclose(a, b, 1e-5, 1e-5);
}

} // namespace

TEST_CASE("operators: the computations that have kernels are those that have writers") {
  std::set<std::string_view> computed, written;
  for (const auto& k : kernels())
    CHECK(computed.insert(k.computes).second);
  for (const auto& w : writers())
    written.insert(w.computes);
  CHECK(computed == written);
}

TEST_CASE("operators: every row computes what its shape and cost rules say") {
  for (const auto& o : operators()) {
    // These two alone change the number of examples; a test below is theirs.
    if (o.parts != nullptr || o.name == "both_sides" || o.name == "mean_of_sides"
        || test::is_of_time(o))
      continue;
    const tensor_shape image{{4, 7, 5}};
    const tensor_shape vector{{6}};
    const tensor_shape sequence{{7, 4}};
    for (const auto& shape : {image, vector, sequence}) {
      if (!o.works_on(shape.layout()))
        continue;
      std::vector<tensor_shape> in(o.merges ? 3 : 1, shape);
      CHECK(check_layer(a_layer(o.name, in)) == "");
      for (const auto& s : o.settings)
        for (const auto word : s.words)
          CHECK(
              check_layer(a_layer(o.name, in, {{std::string(s.name), std::string(word)}}))
              == "");
    }
  }
}

TEST_CASE("operators: strided maps of few channels that come last say the same") {
  // LibTorch's own gradients of these write beyond their memory on some processors.
  for (const std::int64_t channels : {1, 3, 5, 7, 8}) {
    CAPTURE(channels);
    const auto l = a_layer("conv", {{{channels, 9, 8}}},
                           {{"filters", std::int64_t{12}},
                            {"kernel", std::int64_t{1}},
                            {"stride", std::int64_t{2}}});
    const auto usual = built(l), last = built(l);
    last->use_channels_last();
    const auto x = examples_of({{channels, 9, 8}}, 36);
    const auto y = forward(*usual, {x});
    y.square().sum().backward();
    for (int i = 0; i < 30; ++i) {
      last->zero_grad();
      const auto z = forward(*last, {x.contiguous(at::MemoryFormat::ChannelsLast)});
      z.square().sum().backward();
      REQUIRE(close(y, z));
    }
    for (std::size_t i = 0; i < usual->parameters().size(); ++i)
      CHECK(at::allclose(usual->parameters()[i].grad(), last->parameters()[i].grad(),
                         1e-4, 1e-3));
  }
}

TEST_CASE("operators: those that keep signs or units do so") {
  for (const auto& o : operators()) {
    INFO(o.name);
    for (const auto& shape :
         {tensor_shape{{4, 7, 5}}, tensor_shape{{6}}, tensor_shape{{7, 4}}}) {
      if (o.parts != nullptr || !o.works_on(shape.layout()) || test::is_of_time(o))
        continue;
      const auto l = a_layer(o.name, std::vector<tensor_shape>(o.merges ? 2 : 1, shape));
      const auto module = built(l);
      module->train(false);
      const auto x = examples_of(shape);
      const std::vector<at::Tensor> in(l.in.size(), x), positive(l.in.size(), x.abs());
      if (o.keeps_sign)
        CHECK(forward(*module, positive).min().item<float>() >= 0);
      if (o.units == unit_origin::kept)
        CHECK(forward(*module, in).reshape_as(x).equal(x));
    }
  }
}

TEST_CASE("operators: the layers of a composite compute what their rules say") {
  const problem image{{{4, 7, 5}}, 3}, vector{{{6}}, 3}, series{{{9, 4}}, 3},
      mixed{{{6}}, 3, {false, true, true, false, false, true}},
      words{{{6}}, 3, std::vector<bool>(6, false)};
  for (const auto& o : operators()) {
    if (o.parts == nullptr)
      continue;
    std::vector<std::vector<setting>> all{{}};
    const bool repeats = std::ranges::find(o.settings, "repeats", &setting_entry::name)
                         != o.settings.end();
    for (const auto& s : o.settings) {
      for (const auto word : s.words)
        all.push_back({{std::string(s.name), std::string(word)}});
      if (s.type == setting_entry::kind::integer)
        for (const std::int64_t v : {1, 2, 3, 4})
          if (objection(s, v).empty())
            all.push_back({{std::string(s.name), v}});
      if (s.type == setting_entry::kind::real)
        all.push_back({{std::string(s.name), s.low}});
    }
    for (auto& settings : all) {
      if (repeats && find(settings, "repeats") == nullptr)
        assign(settings, "repeats", std::int64_t{2});
      if (!complete(o, settings)) {
        REQUIRE(o.name == "transformer"); // Heads that do not divide the units.
        continue;
      }
      const auto g = test::a_chain({{{}, std::string(o.name), settings}});
      for (const auto& p : {image, vector, series, mixed, words}) {
        const auto n = decode(a_space_for(*p.input.layout()), g, p);
        REQUIRE(n);
        INFO(to_text(*n));
        for (const auto& l : n->layers)
          REQUIRE(check_layer(l) == "");
        network_module whole(*n, {.seed = 1}, at::kCPU);
        REQUIRE(whole.forward(examples_of(p.input)).sizes() == at::IntArrayRef({3, 3}));
      }
    }
  }
}

TEST_CASE("operators: a residual block that joins a network passes on what enters it") {
  const auto x = examples_of({{4, 7, 5}}).abs();
  for (const auto* op : {"residual", "inverted_residual", "convnext"}) {
    INFO(op);
    const auto n = decode(
        an_image_space(),
        test::a_chain(
            {{{}, op, {{"filters", std::int64_t{4}}, {"repeats", std::int64_t{3}}}}}),
        {{{4, 7, 5}}, 3});
    REQUIRE(n);
    auto cut = *n; // Without what follows the block.
    while (cut.layers.back().op == "output" || cut.layers.back().op == "flatten")
      cut.layers.pop_back();
    network_module block(cut, {.seed = 1}, at::kCPU);
    // The branches of one that is trained from new weights say something.
    CHECK_FALSE(close(block.forward(x), x));
    auto joined = block.weights();
    for (const auto& l : cut.layers)
      for (auto& t : joined)
        if (l.joins_at_zero
            && (t.name == l.name + ".norm.weight"
                || (t.name == l.name + ".weight"
                    && text_setting(l.settings, "norm") == "none")))
          std::ranges::fill(t.values, 0.0F);
    REQUIRE(block.load(joined));
    CHECK(close(block.forward(x), x));
  }
}

TEST_CASE("operators: piecewise gives how far each number is through bins of quantiles") {
  auto l = a_layer("piecewise", {{{2}}}, {{"bins", std::int64_t{2}}});
  const auto module = built(l);
  const auto examples = at::tensor({0.0F, 1.0F, 2.0F, 10.0F, 4.0F}).unsqueeze(1);
  module->observe(at::cat({examples, at::ones({5, 1})}, 1));
  const auto x = at::tensor({-1.0F, 1.0F, 1.0F, 1.0F, 6.0F, 2.0F, 99.0F, 0.0F});
  const auto y = forward(*module, {x.reshape({4, 2})});
  CHECK(close(y, at::tensor({0.0F, 0.0F, 0.0F, 0.0F, 0.5F, 0.0F, 0.0F, 0.0F, 1.0F, 0.5F,
                             1.0F, 1.0F, 1.0F, 1.0F, 0.0F, 0.0F})
                     .reshape({4, 4})));
}

TEST_CASE("operators: numbers are embedded, and categories pass as they are") {
  const problem p{{{4}}, 2, {true, false, false, true}};
  const auto g = test::a_chain({{{}, "embed_numbers", {{"bins", std::int64_t{3}}}}});
  const auto n = decode({}, g, p);
  REQUIRE(n);
  auto cut = *n;
  cut.layers.pop_back();
  CHECK(cut.layers.back().out == tensor_shape{{8}});
  network_module net(cut, {.seed = 1}, at::kCPU);
  const auto x = examples_of({{4}}, 50);
  REQUIRE(net.observes());
  net.observe(x);
  const auto y = net.forward(x);
  CHECK(close(y.narrow(1, 6, 2), x.narrow(1, 1, 2)));
  // A third of the examples of each bin are in it, before it and behind it.
  CHECK(y.narrow(1, 0, 3)
            .mean(0)
            .sub(at::tensor({5.0F, 3.0F, 1.0F}) / 6)
            .abs()
            .max()
            .item<float>()
        < 0.15);
  network_module other(cut, {.seed = 2}, at::kCPU);
  REQUIRE(other.load(net.weights()));
  CHECK(close(other.forward(x), y));
}

TEST_CASE("operators: a tree says what the leaf says to which comparisons lead") {
  const auto l = a_layer("boosted_trees", {{{2}}},
                         {{"depth", std::int64_t{2}},
                          {"trees", std::int64_t{1}},
                          {"width", std::int64_t{1}}});
  const auto module = built(l);
  const at::NoGradGuard no_grad;
  module->named_buffers()["n1:features"].copy_(
      at::tensor({0.0F, 1.0F, 1.0F}).unsqueeze(0));
  module->named_buffers()["n1:thresholds"].copy_(
      at::tensor({0.0F, 1.0F, -1.0F}).unsqueeze(0));
  module->named_parameters()["n1:leaves"].copy_(
      at::tensor({1.0F, 2.0F, 3.0F, 4.0F}).unsqueeze(0));
  const auto x = at::tensor({-1.0F, 0.0F, -1.0F, 1.0F, 0.0F, -2.0F, 0.0F, -1.0F});
  const auto y = forward(*module, {x.reshape({4, 2})});
  CHECK(at::equal(y, at::tensor({1.0F, 2.0F, 3.0F, 4.0F}).unsqueeze(1)));
}

TEST_CASE("operators: trees say the same of a large batch, which is taken in parts") {
  const auto l = a_layer("boosted_trees", {{{3}}},
                         {{"depth", std::int64_t{1}}, {"trees", std::int64_t{4096}}});
  const auto module = built(l);
  const auto x = examples_of({{3}}, 70);
  const auto whole = forward(*module, {x});
  for (const std::int64_t row : {0, 15, 16, 69})
    CHECK(close(forward(*module, {x.narrow(0, row, 1)}), whole.narrow(0, row, 1)));
}

TEST_CASE("operators: a residual block of a table passes on what enters it at first") {
  const auto x = examples_of({{6}});
  const auto n = decode({},
                        test::a_chain({{{},
                                        "residual_dense",
                                        {{"dropout", 0.3},
                                         {"repeats", std::int64_t{3}},
                                         {"units", std::int64_t{6}}}}}),
                        {{{6}}, 3});
  REQUIRE(n);
  auto cut = *n;
  cut.layers.pop_back(); // The output.
  network_module block(cut, {.seed = 1}, at::kCPU);
  CHECK(close(block.forward(x), x));
}

TEST_CASE(
    "operators: random networks of the real spaces have the shapes decode promises") {
  std::set<std::string> met;
  check_networks("image.toml", {{{1, 8, 8}}, 10}, met);
  check_networks("mlp.toml", {{{13}}, 3}, met);
  check_networks("series.toml", {{{12, 2}}, 4}, met);
  check_networks("sequence.toml", {{{12, 2}}, 4}, met);
  check_networks("recurrent.toml", {{{12, 2}}, 4}, met);
  check_networks("vision_transformer.toml", {{{1, 8, 8}}, 4}, met);
  check_networks("cells.toml", {{{1, 8, 8}}, 4}, met);
  check_networks("grammar.toml", {{{1, 8, 8}}, 4}, met);
  // An operator that no space can make would make this test vacuous for its row.
  for (const auto* op : {"conv",           "separable_conv",
                         "depthwise_conv", "max_pool",
                         "avg_pool",       "dense",
                         "dropout",        "add",
                         "concat",         "flatten",
                         "project",        "resize",
                         "conv1d",         "resize_steps",
                         "output",         "gru",
                         "lstm",           "mgu",
                         "delta_rnn",      "attention",
                         "positions",      "patches",
                         "identity",       "over_time",
                         "recall",         "rnn",
                         "ugrnn"}) {
    INFO(op);
    CHECK(met.contains(op));
  }
}

TEST_CASE("operators: initial weights are the same bits without LibTorch") {
  const training_key key{.seed = 7, .id = 3};
  std::set<std::string_view> met;
  const auto by_name = [](std::vector<weight_tensor> all) {
    std::ranges::sort(all, {}, &weight_tensor::name);
    return all;
  };
  const auto check = [&](const expected<network>& n) {
    REQUIRE(n);
    for (const auto& l : n->layers) {
      met.insert(find_operator(l.op)->name);
      for (const auto& within : l.body)
        met.insert(find_operator(within.op)->name);
    }
    const auto without =
        by_name(initial_weights(*n, [&](auto layer) { return key.stream(layer); }));
    const auto with = by_name(network_module(*n, key, at::kCPU).weights());
    REQUIRE(without.size() == with.size());
    for (std::size_t i = 0; i < with.size(); ++i) {
      INFO(with[i].name);
      CHECK(without[i].name == with[i].name);
      CHECK(without[i].shape == with[i].shape);
      CHECK(without[i].values == with[i].values);
    }
  };
  for (const auto& o : operators()) {
    if (o.role != operator_role::layer)
      continue;
    INFO(o.name);
    std::vector<std::vector<setting>> ways{{}};
    for (const auto& s : o.settings)
      for (const auto word : s.words)
        ways.push_back({{std::string(s.name), std::string(word)}});
    for (const auto& way : ways) {
      const auto g = test::a_chain({{{}, std::string(o.name), way}});
      check(decode(an_image_space(), g, {{{3, 7, 5}}, 4}));
      check(decode({}, g, {{{6}}, 1}));
      check(decode(a_space_for(layout::sequence), g, {{{9, 4}}, 2}));
    }
  }
  auto recurrent = a_space_for(layout::sequence);
  recurrent.rules.max_recurrent = 1;
  auto loop = test::a_chain({{{}, "gru", {}}});
  loop.edges.push_back(test::an_edge(innovation{2}, innovation{2}, 2));
  check(decode(recurrent, test::sorted(std::move(loop)), {{{9, 4}}, 2}));
  const problem vector{{{6}}, 3};
  const std::vector<network> members{linear_network(vector),
                                     tree_network(vector, {.trees = 7, .depth = 3})};
  check(mixture_of(members, mixed_answers::probabilities));
  check(mixture_of(members, mixed_answers::bounded_probabilities));
  check(convolution_network({{{9, 4}}, 2}, {.dilations = 1, .groups = 2}));
  for (const auto& o : operators()) {
    INFO(o.name);
    CHECK((o.tensors == nullptr || met.contains(o.name)));
  }
}

TEST_CASE("operators: a mirrored member says the mean of both sides of an image") {
  const problem image{{{2, 3, 4}}, 3};
  const std::vector<network> members{linear_network(image)};
  network_module one(members.front(), {.id = 1}, at::kCPU);
  network_module both(mixture_of(members, mixed_answers::values, {true}), {.id = 1},
                      at::kCPU);
  auto weights = one.weights();
  for (auto& w : weights)
    w.name.insert(0, "m1_");
  weights.push_back({"mixture.shares", {1}, {1}});
  weights.push_back({"mixture.temperature", {1}, {1}});
  REQUIRE(both.load(weights));
  const at::NoGradGuard guard;
  const auto x = at::randn({5, 2, 3, 4});
  const auto said = both.forward(x);
  REQUIRE(said.size(0) == 5);
  CHECK(at::allclose(said, (one.forward(x) + one.forward(x.flip(3))) / 2, 1e-5, 1e-6));
  CHECK(at::allclose(said, both.forward(x.flip(3)), 1e-5, 1e-6));
}

TEST_CASE("operators: bounded probabilities sum to 1, keep their order and their bound") {
  const problem vector{{{6}}, 3};
  const std::vector<network> members{linear_network(vector)};
  network_module net(mixture_of(members, mixed_answers::bounded_probabilities), {.id = 1},
                     at::kCPU);
  constexpr float least = 0.01F;
  auto weights = net.weights();
  for (auto& w : weights)
    if (w.name == "mixture.least")
      w.values = {least};
    else if (w.name.ends_with("weight"))
      for (auto& v : w.values)
        v *= 30;
  REQUIRE(net.load(weights));
  auto without = weights;
  std::erase_if(without, [](const auto& w) { return w.name == "mixture.least"; });
  network_module unbounded(mixture_of(members, mixed_answers::probabilities), {.id = 1},
                           at::kCPU);
  REQUIRE(unbounded.load(without));
  const at::NoGradGuard guard;
  const auto x = at::randn({200, 6});
  const auto p = at::softmax(net.forward(x), 1);
  const auto before = at::softmax(unbounded.forward(x), 1);
  CHECK(before.min().item<float>() < 1e-3F);
  CHECK(p.min().item<float>() >= least * (1 - 1e-5F));
  CHECK(at::allclose(p.sum(1), at::ones({200})));
  CHECK(at::allclose(p, before * (1 - 3 * least) + least, 1e-5, 1e-6));
  CHECK(at::equal(p.argmax(1), before.argmax(1)));
}

TEST_CASE("operators: windows lie where the table of operators says") {
  // A pool's window i starts at i * stride - (kernel - 1) / 2 and sees only what exists.
  const auto naive = [](const at::Tensor& x, std::int64_t kernel, std::int64_t stride,
                        bool maximum) {
    const auto h = x.size(2), w = x.size(3);
    const auto rows = windows(h, kernel, stride), columns = windows(w, kernel, stride);
    auto out = at::empty({x.size(0), x.size(1), rows.out, columns.out});
    const auto span = [&](std::int64_t i, std::int64_t size) {
      const auto from = i * stride - (kernel - 1) / 2;
      const auto first = std::max<std::int64_t>(from, 0);
      return std::pair(first, std::min(from + kernel, size) - first);
    };
    for (std::int64_t r = 0; r < rows.out; ++r)
      for (std::int64_t c = 0; c < columns.out; ++c) {
        const auto [top, high] = span(r, h);
        const auto [left, wide] = span(c, w);
        const auto seen = x.narrow(2, top, high).narrow(3, left, wide);
        out.select(3, c).select(2, r).copy_(maximum ? seen.amax({2, 3})
                                                    : seen.mean({2, 3}));
      }
    return out;
  };
  for (const std::int64_t kernel : {2, 3, 4, 5})
    for (const std::int64_t stride : {1, 2, 3})
      for (const auto& shape : {tensor_shape{{2, 8, 8}}, {{2, 7, 5}}, {{1, 1, 3}}}) {
        INFO(kernel << ", " << stride << ", " << to_text(shape));
        const auto x = examples_of(shape);
        const std::vector<setting> settings{{"kernel", kernel}, {"stride", stride}};
        CHECK(close(through(a_layer("max_pool", {shape}, settings), x),
                    naive(x, kernel, stride, true)));
        CHECK(close(through(a_layer("avg_pool", {shape}, settings), x),
                    naive(x, kernel, stride, false)));
      }
}

TEST_CASE("operators: a window over time lies where that of an image of one row lies") {
  for (const char* op : {"max_pool", "avg_pool"})
    for (const std::int64_t kernel : {2, 3, 4, 5})
      for (const std::int64_t stride : {1, 2, 3})
        for (const std::int64_t steps : {1, 3, 8, 9}) {
          INFO(op << ", " << kernel << ", " << stride << ", " << steps);
          const auto x = examples_of({{steps, 2}});
          const std::vector<setting> settings{{"kernel", kernel}, {"stride", stride}};
          const auto y = through(a_layer(op, {{{steps, 2}}}, settings), x);
          const auto as_image = x.transpose(1, 2).unsqueeze(2);
          const auto z = through(a_layer(op, {{{2, 1, steps}}}, settings), as_image);
          CHECK(close(y, z.squeeze(2).transpose(1, 2)));
        }
}

TEST_CASE("operators: a convolution over time is one of an image of one row") {
  for (const std::int64_t kernel : {1, 3, 5})
    for (const std::int64_t stride : {1, 2, 3})
      for (const std::int64_t dilation : {1, 2, 4}) {
        const auto x = examples_of({{13, 2}});
        const auto l = a_layer("conv1d", {{{13, 2}}},
                               {{"dilation", dilation},
                                {"filters", std::int64_t{3}},
                                {"kernel", kernel},
                                {"stride", stride}});
        const auto module = built(l);
        const auto weights = module->weights();
        REQUIRE(weights.size() == 2);
        const auto tensor = [](const weight_tensor& t) {
          return at::tensor(t.values).view(t.shape);
        };
        const auto weight = tensor(weights[weights[0].shape.size() == 3 ? 0 : 1]);
        const std::vector<std::int64_t> strides{1, stride}, dilations{1, dilation},
            padding{0, dilation * (kernel - 1) / 2};
        const auto y = at::conv2d(x.transpose(1, 2).unsqueeze(2), weight.unsqueeze(2),
                                  at::Tensor(), strides, padding, dilations);
        CHECK(close(forward(*module, {x}), y.squeeze(2).transpose(1, 2)));
      }
}

TEST_CASE(
    "operators: what sees no later step says the same of all before one that changes") {
  const auto x = examples_of({{9, 4}});
  auto changed = x.clone();
  changed.narrow(1, 5, 4).add_(1);
  for (const std::int64_t kernel : {1, 3, 5})
    for (const std::int64_t dilation : {1, 3}) {
      const std::vector<setting> settings{{"dilation", dilation},
                                          {"filters", std::int64_t{6}},
                                          {"kernel", kernel},
                                          {"sees", std::string("before")}};
      for (const char* op : {"conv1d", "grouped_conv1d"}) {
        const auto l = a_layer(op, {{{9, 4}}}, settings);
        const auto said = through(l, x), other = through(l, changed);
        CHECK(at::equal(said.narrow(1, 0, 5), other.narrow(1, 0, 5)));
        CHECK_FALSE(at::equal(said.select(1, 5), other.select(1, 5)));
      }
    }
  for (const bool before : {true, false}) {
    const auto l = a_layer("attention", {{{9, 4}}},
                           {{"heads", std::int64_t{2}},
                            {"sees", std::string(before ? "before" : "all")},
                            {"units", std::int64_t{6}}});
    const auto said = through(l, x), other = through(l, changed);
    CHECK(at::equal(said.narrow(1, 0, 5), other.narrow(1, 0, 5)) == before);
  }
}

TEST_CASE("operators: attention is LibTorch's own") {
  const auto x = examples_of({{9, 4}});
  for (const bool before : {true, false}) {
    const auto l = a_layer("attention", {{{9, 4}}},
                           {{"heads", std::int64_t{3}},
                            {"sees", std::string(before ? "before" : "all")},
                            {"units", std::int64_t{6}}});
    const auto module = built(l);
    const auto mapped = at::linear(x, module->named_parameters()["n1:weight"],
                                   module->named_parameters()["n1:bias"])
                            .view({3, 9, 3, 3, 2})
                            .permute({2, 0, 3, 1, 4});
    const auto theirs = at::scaled_dot_product_attention(mapped[0], mapped[1], mapped[2],
                                                         {}, 0.0, before);
    CHECK(close(forward(*module, {x}), theirs.transpose(1, 2).reshape({3, 9, 6})));
  }
}

TEST_CASE("operators: a grouped convolution is one for each group") {
  const auto x = examples_of({{9, 4}});
  const auto l = a_layer("grouped_conv1d", {{{9, 4}}},
                         {{"filters", std::int64_t{6}}, {"groups", std::int64_t{2}}});
  const auto module = built(l);
  const auto weight = module->named_parameters()["n1:weight"];
  const auto y = forward(*module, {x});
  REQUIRE(weight.sizes() == at::IntArrayRef({6, 2, 3}));
  for (const std::int64_t group : {0, 1}) {
    const auto part = at::conv1d(x.narrow(2, 2 * group, 2).transpose(1, 2),
                                 weight.narrow(0, 3 * group, 3), at::Tensor(), 1, 1)
                          .transpose(1, 2);
    CHECK(close(y.narrow(2, 3 * group, 3), part));
  }
}

TEST_CASE("operators: patches are the squares of an image, row by row") {
  const auto x = examples_of({{2, 5, 4}});
  const auto l = a_layer("patches", {{{2, 5, 4}}},
                         {{"filters", std::int64_t{3}}, {"size", std::int64_t{3}}});
  const auto module = built(l);
  const auto y = forward(*module, {x});
  REQUIRE(y.sizes() == at::IntArrayRef({3, 4, 3}));
  const auto weight = module->named_parameters()["n1:weight"].flatten(1);
  const auto square = [&](std::int64_t top, std::int64_t left) {
    auto all = at::zeros({3, 2, 3, 3});
    const auto rows = std::min<std::int64_t>(3, 5 - top),
               columns = std::min<std::int64_t>(3, 4 - left);
    all.narrow(2, 0, rows)
        .narrow(3, 0, columns)
        .copy_(x.narrow(2, top, rows).narrow(3, left, columns));
    return at::linear(all.flatten(1), weight);
  };
  CHECK(close(y.select(1, 0), square(0, 0)));
  CHECK(close(y.select(1, 1), square(0, 3)));
  CHECK(close(y.select(1, 2), square(3, 0)));
  CHECK(close(y.select(1, 3), square(3, 3)));
}

TEST_CASE("operators: recurrent layers say at the end what each direction ends with") {
  const auto x = examples_of({{7, 3}});
  for (const char* op : {"gru", "lstm", "rnn"})
    for (const char* direction : {"forward", "both"}) {
      INFO(op << " " << direction);
      const auto said = [&](const char* steps) {
        return through(
            a_layer(
                op, {{{7, 3}}},
                {{"direction", direction}, {"steps", steps}, {"units", std::int64_t{4}}}),
            x);
      };
      const auto all = said("all"), last = said("last");
      const auto half = std::string_view(direction) == "both" ? 2 : 4;
      REQUIRE(all.sizes() == at::IntArrayRef({3, 7, 4}));
      REQUIRE(last.sizes() == at::IntArrayRef({3, 4}));
      CHECK(close(last.narrow(1, 0, half), all.select(1, 6).narrow(1, 0, half)));
      if (half == 2)
        CHECK(close(last.narrow(1, 2, 2), all.select(1, 0).narrow(1, 2, 2)));
      // The first step forward does not know the steps behind it.
      CHECK_FALSE(close(all.select(1, 0), all.select(1, 6)));
    }
}

TEST_CASE("operators: cells of one state go from step to step as their papers say") {
  const auto x = examples_of({{7, 3}});
  for (const char* op : {"mgu", "ugrnn", "delta_rnn"}) {
    INFO(op);
    const auto l = a_layer(op, {{{7, 3}}}, {{"units", std::int64_t{4}}});
    const auto module = built(l);
    const auto tensor = [&](const char* role) {
      return module->named_parameters()[std::string("n1:") + role];
    };
    const auto all = forward(*module, {x});
    const auto mapped = at::linear(x, tensor("weight_ih"), tensor("bias"));
    auto h = at::zeros({3, 4});
    for (std::int64_t t = 0; t < 7; ++t) {
      const auto in = mapped.select(1, t);
      const auto of = [&](const at::Tensor& state, std::int64_t part) {
        return in.narrow(1, 4 * part, 4)
               + at::linear(state, tensor("weight_hh").narrow(0, 4 * part, 4));
      };
      if (std::string_view(op) == "mgu") {
        const auto f = of(h, 0).sigmoid();
        h = (1 - f) * h + f * of(f * h, 1).tanh();
      } else if (std::string_view(op) == "ugrnn") {
        const auto g = of(h, 0).sigmoid();
        h = g * h + (1 - g) * of(h, 1).tanh();
      } else { // All three vectors are 1 at first.
        const auto e = at::linear(h, tensor("weight_hh"));
        const auto r = (in + tensor("bias_gate")).sigmoid();
        h = ((1 - r) * (in * e + e + in).tanh() + r * h).tanh();
      }
      CHECK(close(all.select(1, t), h));
    }
    const auto last =
        a_layer(op, {{{7, 3}}}, {{"steps", "last"}, {"units", std::int64_t{4}}});
    CHECK(close(through(last, x), h));
  }
}

TEST_CASE("operators: resize_steps is an adaptive average pool over time") {
  for (const std::int64_t steps : {1, 3, 7}) {
    const auto x = examples_of({{7, 3}});
    const auto l = a_layer("resize_steps", {{{7, 3}}}, {{"steps", steps}});
    CHECK(close(through(l, x),
                at::adaptive_avg_pool1d(x.transpose(1, 2), {steps}).transpose(1, 2)));
  }
}

TEST_CASE(
    "operators: norms of sequences are of each feature, or over all of an example") {
  const tensor_shape shape{{7, 3}};
  const auto x = examples_of(shape);
  CHECK(close(through(a_layer("layer_norm", {shape}), x), at::layer_norm(x, {7, 3})));
  CHECK(close(through(a_layer("channel_norm", {shape}), x), at::layer_norm(x, {3})));
  const auto y = through(a_layer("batch_norm", {shape}), x, true);
  CHECK(y.mean({0, 1}).abs().max().item<double>() < 1e-5);
  CHECK(y.square().mean({0, 1}).sub(1).abs().max().item<double>() < 1e-3);
}

TEST_CASE("operators: resize is an adaptive average pool") {
  for (const auto& [height, width] : {std::pair{3, 2}, {7, 5}, {1, 1}, {4, 5}}) {
    const tensor_shape shape{{2, 7, 5}};
    const auto x = examples_of(shape);
    const auto l =
        a_layer("resize", {shape},
                {{"height", std::int64_t{height}}, {"width", std::int64_t{width}}});
    CHECK(close(through(l, x), at::adaptive_avg_pool2d(x, {height, width})));
  }
}

TEST_CASE("operators: a layer norm is over all of an example") {
  const tensor_shape shape{{3, 4, 5}};
  const auto x = examples_of(shape);
  CHECK(close(through(a_layer("layer_norm", {shape}), x), at::layer_norm(x, {3, 4, 5})));
  const auto v = examples_of({{6}});
  CHECK(close(through(a_layer("layer_norm", {{{6}}}), v), at::layer_norm(v, {6})));
}

TEST_CASE("operators: a channel norm is over the channels of each pixel") {
  const tensor_shape shape{{3, 4, 5}};
  const auto x = examples_of(shape);
  const auto y = through(a_layer("channel_norm", {shape}), x);
  CHECK(close(y.select(3, 2),
              at::layer_norm(x.select(3, 2).transpose(1, 2), {3}).transpose(1, 2)));
}

TEST_CASE("operators: dropout scales what it spares and spares all in validation") {
  const tensor_shape shape{{50, 8, 8}};
  const auto x = at::ones({3, 50, 8, 8});
  const auto l = a_layer("dropout", {shape}, {{"rate", 0.25}});
  CHECK(close(through(l, x), x));
  const auto dropped = through(l, x, true);
  CHECK(at::equal(dropped, through(l, x, true)));
  CHECK((dropped.eq(0) | dropped.sub(4.0 / 3).abs().lt(1e-5)).all().item<bool>());
  CHECK(dropped.mean().item<double>() == Approx(1).margin(0.05));
}

TEST_CASE("operators: initial values have the variance that keeps the signal's") {
  const tensor_shape shape{{400}};
  const auto x = examples_of(shape, 100);
  const auto plain =
      through(a_layer("dense", {shape}, {{"units", std::int64_t{300}}}), x);
  CHECK(plain.square().mean().item<double>() == Approx(1).margin(0.1));
  const auto halved = through(
      a_layer("dense", {shape}, {{"activation", "relu"}, {"units", std::int64_t{300}}}),
      x);
  CHECK(halved.square().mean().item<double>() == Approx(1).margin(0.1));
}

TEST_CASE("network module: each layer draws from its own name and the key") {
  auto g = test::a_chain({{{}, "dense", {{"units", std::int64_t{5}}}},
                          {{}, "dense", {{"units", std::int64_t{5}}}}});
  const auto n = decode({}, g, {{{5}}, 5});
  const auto longer = decode(
      {}, test::a_chain({{{}, "dense", {{"units", std::int64_t{5}}}}}), {{{5}}, 5});
  REQUIRE(n);
  REQUIRE(longer);
  const auto weights = [](const network& net, training_key key) {
    return network_module(net, key, at::kCPU).weights();
  };
  const auto one = weights(*n, {.seed = 1, .id = 1});
  CHECK((one == weights(*n, {.seed = 1, .id = 1})));
  CHECK((one != weights(*n, {.seed = 1, .id = 2})));
  CHECK((one != weights(*n, {.seed = 2, .id = 1})));
  CHECK((one != weights(*n, {.seed = 1, .what = purpose::baseline, .id = 1})));
  // Names and values of a layer do not depend on what else there is.
  const auto other = weights(*longer, {.seed = 1, .id = 1});
  const auto first = std::ranges::find(other, one[1].name, &weight_tensor::name);
  REQUIRE(first != other.end());
  CHECK((*first == one[1]));
  CHECK((one[1].values != one[3].values));
}

TEST_CASE("network module: what it gives as weights it takes back") {
  const auto n =
      decode({}, test::a_chain({{{}, "dense", {{"norm", "batch"}}}}), {{{5}}, 2});
  REQUIRE(n);
  network_module a(*n, {.id = 1}, at::kCPU);
  network_module b(*n, {.id = 2}, at::kCPU);
  const auto x = examples_of({{5}});
  a.forward(x); // moves the running means
  auto weights = a.weights();
  REQUIRE(b.load(weights));
  CHECK((b.weights() == weights));
  a.eval();
  b.eval();
  CHECK(at::equal(a.forward(x), b.forward(x)));

  weights[0].shape = {static_cast<std::int64_t>(weights[0].values.size())};
  CHECK_FALSE(b.load(weights));
  weights = a.weights();
  weights[0].name = "n9.weight";
  CHECK_FALSE(b.load(weights));
  weights = a.weights();
  weights.pop_back();
  CHECK_FALSE(b.load(weights));
  CHECK((b.weights() == a.weights()));
}
