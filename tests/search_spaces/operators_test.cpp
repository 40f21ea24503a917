#include "search_spaces/operators/operators.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <algorithm>
#include <set>

using namespace clade;

namespace {

using settings_list = std::vector<setting>;

struct result {
  tensor_shape out;
  layer_cost cost;
};

result apply(std::string_view op, std::vector<tensor_shape> in,
             const settings_list& given) {
  const auto* entry = find_operator(op);
  REQUIRE(entry != nullptr);
  const auto settings = complete(*entry, given);
  REQUIRE(settings);
  layer l{.name = "n1", .op = std::string(op), .settings = *settings, .in = in};
  l.out = entry->shape(in, *settings);
  return {l.out, entry->cost_of(l)};
}

setting whole(std::string name, std::int64_t v) {
  return {std::move(name), v};
}
setting text(std::string name, std::string v) {
  return {std::move(name), std::move(v)};
}

} // namespace

TEST_CASE("operators: names and settings are unique and settings sorted") {
  std::set<std::string_view> names;
  for (const operator_entry& entry : operators()) {
    CHECK(names.insert(entry.name).second);
    CHECK(find_operator(entry.name) == &entry);
    CHECK(!entry.summary.empty());
    CHECK(std::ranges::is_sorted(entry.settings, {}, &setting_entry::name));
    const auto twice =
        std::ranges::adjacent_find(entry.settings, {}, &setting_entry::name);
    CHECK(twice == entry.settings.end());
    CHECK(complete(entry, {})); // Fallbacks are allowed values.
  }
  CHECK(names.size() == 56);
  CHECK(find_operator("convolution") == nullptr);
}

TEST_CASE("operators: the traits of a row are those of its settings and its shape rule") {
  const tensor_shape image{{4, 7, 5}}, vector{{6}}, sequence{{7, 4}};
  for (const operator_entry& entry : operators()) {
    INFO(entry.name);
    CHECK(!entry.output.empty());
    CHECK(!entry.costs.empty());
    const auto has = [&](std::string_view name) {
      return std::ranges::find(entry.settings, name, &setting_entry::name)
             != entry.settings.end();
    };
    CHECK((entry.parts == nullptr) == (entry.shape != nullptr));
    CHECK((entry.parts == nullptr) == (entry.cost != nullptr));
    for (const auto& s : entry.settings)
      CHECK(!s.sentence.empty());
    if (entry.parts != nullptr)
      continue;
    CHECK(entry.block == (has("norm") && has("activation")));
    for (const auto& shape : {image, vector, sequence}) {
      // Several settings together say how many features random convolutions give.
      if (!entry.works_on(shape.layout()) || entry.name == "random_convolutions")
        continue;
      const std::vector<tensor_shape> in(entry.merges ? 2 : 1, shape);
      settings_list given;
      for (const auto& s : entry.settings)
        if (s.width || s.name == "outputs")
          given.push_back(whole(std::string(s.name), 9));
        else if (!s.divides.empty())
          given.push_back(whole(std::string(s.name), 3));
      // The units of positions belong together, and are as many as enter.
      CHECK((entry.name == "positions"
             || given.empty()
                    == (entry.units != unit_origin::made
                        && entry.units != unit_origin::together
                        && entry.units != unit_origin::fitted
                        && entry.units != unit_origin::selected)));
      const auto out = apply(entry.name, in, given).out;
      CHECK(out.layout() == entry.gives.value_or(*shape.layout()));
      const auto units = out.units();
      if (!given.empty())
        CHECK(units == 9);
      else if (entry.units == unit_origin::joined)
        CHECK(units == 2 * shape.units());
      else if (entry.units == unit_origin::spread)
        CHECK(units % shape.units() == (entry.name == "map_each" ? 2 : 0));
      else if (entry.units == unit_origin::flattened)
        CHECK(units == shape.elements());
      else
        CHECK(units == shape.units());
    }
  }
}

TEST_CASE("operators: an adapter leads from each known layout to vectors and back") {
  for (const auto from : known_layouts)
    for (const auto to : known_layouts)
      CHECK((find_adapter(from, to) != nullptr)
            == (from != to && (from == layout::vector || to == layout::vector)));
}

TEST_CASE("operators: windows start and end where the header says") {
  const auto same = windows(8, 3, 1);
  CHECK(same.out == 8);
  CHECK(same.before == 1);
  CHECK(same.after == 1);
  const auto halved = windows(7, 2, 2);
  CHECK(halved.out == 4);
  CHECK(halved.before == 0);
  CHECK(halved.after == 1);
  const auto dilated = windows(8, 3, 1, 4);
  CHECK(dilated.out == 8);
  CHECK(dilated.before == 4);
  CHECK(dilated.after == 4);
  const auto pixel = windows(1, 2, 2);
  CHECK(pixel.out == 1);
  CHECK(pixel.after == 1);
}

TEST_CASE("operators: every window of a pool meets at least one pixel") {
  REQUIRE(rc::check([] {
    const auto size = *rc::gen::inRange<std::int64_t>(1, 70);
    const auto kernel = *rc::gen::inRange<std::int64_t>(1, 16);
    const auto stride = *rc::gen::inRange<std::int64_t>(1, 9);
    const auto w = windows(size, kernel, stride);
    RC_ASSERT(w.out >= 1);
    RC_ASSERT(w.out == (size + stride - 1) / stride);
    for (std::int64_t i = 0; i < w.out; ++i) {
      const auto start = i * stride - w.before;
      RC_ASSERT(start < size);
      RC_ASSERT(start + kernel > 0);
      RC_ASSERT(start + kernel <= size + w.after);
    }
  }));
}

TEST_CASE("operators: a convolution of odd kernel pads as LibTorch does") {
  REQUIRE(rc::check([] {
    const auto size = *rc::gen::inRange<std::int64_t>(1, 70);
    const auto kernel = 2 * *rc::gen::inRange<std::int64_t>(0, 8) + 1;
    const auto stride = *rc::gen::inRange<std::int64_t>(1, 9);
    const auto dilation = *rc::gen::inRange<std::int64_t>(1, 9);
    const auto padding = dilation * (kernel - 1) / 2;
    const auto theirs = (size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
    const auto ours = windows(size, kernel, stride, dilation);
    RC_ASSERT(ours.out == theirs);
    RC_ASSERT(ours.before == padding);
  }));
}

TEST_CASE("operators: costs of a convolution are those computed by hand") {
  // 8 kernels of 3x3x2 and 8 biases; 18 products for each of 8 x 5 x 4 outputs.
  const auto bare = apply("conv", {{{2, 5, 4}}}, {whole("filters", 8)});
  CHECK(bare.out == tensor_shape{{8, 5, 4}});
  CHECK(bare.cost == layer_cost{8 * 18 + 8, 8 * 20 * 18, 4 * 8 * 20});
  // The norm's weight and bias replace the bias; it and the activation keep what they put
  // out.
  const auto block =
      apply("conv", {{{2, 5, 4}}},
            {text("activation", "relu"), whole("filters", 8), whole("kernel", 1),
             text("norm", "batch"), whole("stride", 2)});
  CHECK(block.out == tensor_shape{{8, 3, 2}});
  CHECK(block.cost == layer_cost{8 * 2 + 16, 8 * 6 * 2 + 8 * 6, 3 * 4 * 8 * 6});
}

TEST_CASE("operators: costs of sequences are those computed by hand") {
  // 8 kernels of 5 steps of 2 features and 8 biases; 10 products for each of 9 x 8 outputs.
  const auto bare =
      apply("conv1d", {{{9, 2}}}, {whole("filters", 8), whole("kernel", 5)});
  CHECK(bare.out == tensor_shape{{9, 8}});
  CHECK(bare.cost == layer_cost{8 * 10 + 8, 72 * 10, 4 * 72});
  const auto block =
      apply("conv1d", {{{9, 2}}},
            {text("activation", "relu"), whole("dilation", 3), whole("filters", 8),
             text("norm", "batch"), whole("stride", 2)});
  CHECK(block.out == tensor_shape{{5, 8}});
  CHECK(block.cost == layer_cost{8 * 6 + 16, 40 * 6 + 40, 3 * 4 * 40});
  // Groups are 3: the largest number up to 4 that divides 6 and 9.
  const auto grouped = apply("grouped_conv1d", {{{9, 6}}}, {whole("filters", 9)});
  CHECK(grouped.cost == layer_cost{9 * 2 * 3 + 9, 81 * 2 * 3, 4 * 81});
  const auto heeded =
      apply("attention", {{{9, 4}}}, {whole("heads", 2), whole("units", 6)});
  CHECK(heeded.out == tensor_shape{{9, 6}});
  CHECK(heeded.cost
        == layer_cost{3 * 6 * (4 + 1), 9 * 6 * (3 * 4 + 2 * 9),
                      4 * (9 * 6 * 4 + 2 * 2 * 9 * 9)});
  CHECK(apply("positions", {{{9, 4}}}, {}).cost == layer_cost{36, 0, 4 * 36});
  const auto patches =
      apply("patches", {{{3, 7, 5}}}, {whole("filters", 8), whole("size", 3)});
  CHECK(patches.out == tensor_shape{{3 * 2, 8}});
  CHECK(patches.cost == layer_cost{8 * (27 + 1), 48 * 27, 4 * 48});
  const auto forward = apply("gru", {{{9, 4}}}, {whole("units", 6)});
  CHECK(forward.out == tensor_shape{{9, 6}});
  CHECK(forward.cost
        == layer_cost{3 * 6 * (4 + 6 + 2), 9 * 6 * 3 * (4 + 6), 4 * 9 * 6 * 5});
  const auto both =
      apply("lstm", {{{9, 4}}},
            {text("direction", "both"), text("steps", "last"), whole("units", 6)});
  CHECK(both.out == tensor_shape{{6}});
  CHECK(both.cost
        == layer_cost{2 * 4 * 3 * (4 + 3 + 2), 9 * 6 * 4 * (4 + 3), 4 * 9 * 6 * 6});
  const auto simple = apply("rnn", {{{9, 4}}}, {whole("units", 6)});
  CHECK(simple.cost == layer_cost{6 * (4 + 6 + 2), 9 * 6 * (4 + 6), 4 * 9 * 6 * 3});
  for (const char* op : {"mgu", "ugrnn"})
    CHECK(apply(op, {{{9, 4}}}, {whole("units", 6)}).cost
          == layer_cost{2 * 6 * (4 + 6 + 1), 9 * 6 * 2 * (4 + 6), 4 * 9 * 6 * 4});
  CHECK(apply("delta_rnn", {{{9, 4}}}, {whole("units", 6)}).cost
        == layer_cost{6 * (4 + 6 + 5), 9 * 6 * (4 + 6), 4 * 9 * 6 * 3});
  const auto max = apply("max_pool", {{{9, 4}}}, {});
  CHECK(max.out == tensor_shape{{5, 4}});
  CHECK(max.cost == layer_cost{0, 20 * 2, 20 * 12});
  const auto mean = apply("avg_pool", {{{9, 4}}}, {whole("kernel", 3)});
  CHECK(mean.cost == layer_cost{0, 20 * 3, 20 * 4});
  const auto all = apply("global_avg_pool", {{{9, 4}}}, {});
  CHECK(all.out == tensor_shape{{4}});
  CHECK(all.cost == layer_cost{0, 36, 16});
  const auto fewer = apply("resize_steps", {{{9, 4}}}, {whole("steps", 2)});
  CHECK(fewer.out == tensor_shape{{2, 4}});
  CHECK(fewer.cost == layer_cost{0, 36, 32});
  const auto mapped = apply("project", {{{9, 4}}}, {whole("outputs", 3)});
  CHECK(mapped.out == tensor_shape{{9, 3}});
  CHECK(mapped.cost == layer_cost{15, 27 * 4, 27 * 4});
  CHECK(apply("concat", {{{9, 4}}, {{9, 3}}}, {}).out == tensor_shape{{9, 7}});
  CHECK(apply("flatten", {{{9, 4}}}, {}).out == tensor_shape{{36}});
  CHECK(apply("as_sequence", {{{4}}}, {}).out == tensor_shape{{1, 4}});
}

TEST_CASE("operators: costs of cheap convolutions are those computed by hand") {
  const auto depthwise = apply("depthwise_conv", {{{6, 4, 4}}}, {whole("kernel", 5)});
  CHECK(depthwise.out == tensor_shape{{6, 4, 4}});
  CHECK(depthwise.cost == layer_cost{6 * 25 + 6, 96 * 25, 4 * 96});
  const auto separable =
      apply("separable_conv", {{{6, 4, 4}}}, {whole("filters", 10), whole("stride", 2)});
  CHECK(separable.out == tensor_shape{{10, 2, 2}});
  CHECK(separable.cost
        == layer_cost{6 * 9 + 6 * 10 + 10, 24 * 9 + 40 * 6, 4 * 40 + 4 * 24});
}

TEST_CASE("operators: costs of vectors are those computed by hand") {
  const auto dense = apply("dense", {{{30}}}, {whole("units", 7)});
  CHECK(dense.out == tensor_shape{{7}});
  CHECK(dense.cost == layer_cost{217, 210, 28});
  const auto trees = apply("boosted_trees", {{{30}}},
                           {whole("depth", 3), whole("trees", 5), whole("width", 7)});
  CHECK(trees.out == tensor_shape{{7}});
  CHECK(trees.cost == layer_cost{280, 105, 448});
  const auto output = apply("output", {{{30}}}, {whole("outputs", 3)});
  CHECK(output.out == tensor_shape{{3}});
  CHECK(output.cost == layer_cost{93, 90, 12});
}

TEST_CASE("operators: pools and norms cost what they look at") {
  const auto max = apply("max_pool", {{{3, 5, 5}}}, {});
  CHECK(max.out == tensor_shape{{3, 3, 3}});
  CHECK(max.cost == layer_cost{0, 27 * 4, 27 * 12});
  const auto mean = apply("avg_pool", {{{3, 5, 5}}}, {whole("kernel", 3)});
  CHECK(mean.cost == layer_cost{0, 27 * 9, 27 * 4});
  const auto all = apply("global_avg_pool", {{{3, 5, 5}}}, {});
  CHECK(all.out == tensor_shape{{3}});
  CHECK(all.cost == layer_cost{0, 75, 12});
  const auto most = apply("global_max_pool", {{{3, 5, 5}}}, {});
  CHECK(most.out == tensor_shape{{3}});
  CHECK(most.cost == layer_cost{0, 75, 36});
  for (const auto* name : {"batch_norm", "layer_norm"})
    CHECK(apply(name, {{{3, 5, 5}}}, {}).cost == layer_cost{6, 75, 300});
  CHECK(apply("dropout", {{{10}}}, {}).cost == layer_cost{0, 0, 50});
  CHECK(apply("activation", {{{10}}}, {}).cost == layer_cost{0, 0, 40});
}

TEST_CASE("operators: merges and adapters have the shapes of their names") {
  const tensor_shape a{{3, 4, 2}}, b{{5, 4, 2}};
  const auto joined = apply("concat", {a, b}, {});
  CHECK(joined.out == tensor_shape{{8, 4, 2}});
  CHECK(joined.cost == layer_cost{0, 0, 4 * 64});
  const auto sum = apply("add", {a, a, a}, {});
  CHECK(sum.out == a);
  CHECK(sum.cost == layer_cost{0, 48, 96});
  CHECK(apply("flatten", {a}, {}).out == tensor_shape{{24}});
  CHECK(apply("as_image", {{{24}}}, {}).out == tensor_shape{{24, 1, 1}});
  CHECK(apply("resize", {a}, {whole("height", 2), whole("width", 1)}).out
        == tensor_shape{{3, 2, 1}});
  const auto projected = apply("project", {a}, {whole("outputs", 5)});
  CHECK(projected.out == b);
  CHECK(projected.cost == layer_cost{20, 3 * 40, 160});
}
