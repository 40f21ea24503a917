#include "engine/training/baselines/linear_model.hpp"
#include "tests/engine/training/on_cpu.hpp"

#include <ATen/ATen.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>

using namespace clade;

namespace {

// Examples 0, 1, 2 ... of that shape, each filled with its own number from 1, all for
// training.
data_set numbered(std::size_t examples, tensor_shape shape) {
  data_set d;
  d.shape = std::move(shape);
  d.examples = examples;
  d.classes = {"a", "b"};
  std::vector<float> features;
  for (std::size_t i = 0; i < examples; ++i) {
    features.insert(features.end(), static_cast<std::size_t>(d.shape.elements()),
                    static_cast<float>(i + 1));
    d.labels.push_back(static_cast<std::int64_t>(i % 2));
    d.train.push_back(static_cast<std::uint32_t>(i));
  }
  d.features = std::move(features);
  return d;
}

std::vector<std::int64_t> sizes_of_epoch(batch_source& source) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t i = 0; i < source.batches_per_epoch(); ++i)
    sizes.push_back(source.next().features.size(0));
  return sizes;
}

std::vector<float> epoch_of(batch_source& source) {
  std::vector<float> seen;
  for (std::int64_t i = 0; i < source.batches_per_epoch(); ++i) {
    const auto x = source.next().features.flatten(1).amax(1);
    for (std::int64_t k = 0; k < x.size(0); ++k)
      seen.push_back(x[k].item<float>());
  }
  return seen;
}

} // namespace

TEST_CASE("batches: every epoch holds every training example once in a new order") {
  const auto data = numbered(23, {{3}});
  const auto tensors = on_cpu(data);
  batch_source source(tensors, {.batch_size = 5}, {.seed = 1, .id = 1});
  source.start(1);
  const auto first = epoch_of(source);
  source.start(2);
  const auto second = epoch_of(source);
  source.start(1);
  CHECK(epoch_of(source) == first);
  CHECK(first != second);
  for (auto seen : {first, second}) {
    std::ranges::sort(seen);
    std::vector<float> all(23);
    std::iota(all.begin(), all.end(), 1.0F);
    CHECK(seen == all);
  }
}

TEST_CASE("batches: targets stay with their examples") {
  const auto data = numbered(20, {{3}});
  const auto tensors = on_cpu(data);
  batch_source source(tensors, {.batch_size = 20}, {.seed = 1, .id = 1});
  source.start(1);
  const auto b = source.next();
  const auto expected_labels = (b.features.select(1, 0).to(at::kLong) - 1).remainder(2);
  CHECK(at::equal(b.targets, expected_labels));
}

TEST_CASE("batches: sizes differ by one at most and none has a single example") {
  const auto sizes = [](std::size_t examples, std::int64_t batch_size) {
    const auto data = numbered(examples, {{1}});
    const auto tensors = on_cpu(data);
    batch_source source(tensors, {.batch_size = batch_size}, {});
    source.start(1);
    auto found = sizes_of_epoch(source);
    std::ranges::sort(found);
    return found;
  };
  CHECK(sizes(65, 64) == std::vector<std::int64_t>{32, 33});
  CHECK(sizes(64, 64) == std::vector<std::int64_t>{64});
  CHECK(sizes(10, 64) == std::vector<std::int64_t>{10});
  CHECK(sizes(5, 2) == std::vector<std::int64_t>{2, 3});
  CHECK(sizes(3, 2) == std::vector<std::int64_t>{3});
}

TEST_CASE("batches: shifted images are moved whole and by no more than they may be") {
  auto data = numbered(1, {{1, 5, 5}});
  std::vector<float> image(25, 0.0F);
  image[12] = 1; // the middle
  data.features = std::move(image);
  const auto tensors = on_cpu(data);
  batch_source source(tensors, {.batch_size = 8, .shift = 2}, {.seed = 1, .id = 1});
  auto places = at::zeros({5, 5});
  for (std::uint32_t epoch = 1; epoch <= 300; ++epoch) {
    source.start(epoch);
    const auto shifted = source.next().features;
    REQUIRE(shifted.sizes() == at::IntArrayRef({1, 1, 5, 5}));
    REQUIRE(shifted.sum().item<float>() == 1);
    places += shifted[0][0];
  }
  // Each of the 25 shifts comes up 12 times on average.
  CHECK(places.min().item<float>() >= 1);
  CHECK(places.max().item<float>() < 40);
}

TEST_CASE("batches: mirrored images are mirrored left to right") {
  auto data = numbered(200, {{1, 1, 3}});
  std::vector<float> columns(data.features.size());
  for (std::size_t i = 0; i < columns.size(); ++i)
    columns[i] = static_cast<float>(i % 3);
  data.features = std::move(columns);
  const auto tensors = on_cpu(data);
  batch_source source(tensors, {.batch_size = 200, .flip = true}, {.seed = 1, .id = 1});
  source.start(1);
  const auto x = source.next().features.flatten(1);
  CHECK((x.select(1, 1) == 1).all().item<bool>());
  CHECK((x.select(1, 0) + x.select(1, 2) == 2).all().item<bool>());
  const auto mirrored = x.select(1, 0).eq(2).sum().item<std::int64_t>();
  CHECK(mirrored > 60);
  CHECK(mirrored < 140);
}

TEST_CASE("batches: images lose a square that lies anywhere") {
  const auto data = numbered(400, {{2, 6, 5}});
  const auto tensors = on_cpu(data);
  batch_source source(tensors, {.batch_size = 400, .cutout = 3}, {.seed = 1, .id = 1});
  source.start(1);
  const auto x = source.next().features;
  const auto cut = x.eq(0);
  CHECK(at::equal(cut.select(1, 0), cut.select(1, 1)));
  const auto pixels = cut.select(1, 0).flatten(1).sum(1);
  CHECK(pixels.max().item<std::int64_t>() == 9);
  CHECK(pixels.min().item<std::int64_t>() == 4); // In a corner.
  const auto often = cut.select(1, 0).sum(0);
  CHECK(often.min().item<std::int64_t>() > 20);
  CHECK(often.max().item<std::int64_t>() < 200);
  // The rest is as it was.
  CHECK((x.amax({1, 2, 3}) > 0).all().item<bool>());
  CHECK((x.eq(0).logical_or(x.eq(x.amax({1, 2, 3}, true)))).all().item<bool>());
}

TEST_CASE("batches: sequences are moved along time, and their ends repeated") {
  auto data = numbered(300, {{10, 2}});
  std::vector<float> steps(data.features.size());
  for (std::size_t i = 0; i < steps.size(); ++i)
    steps[i] = static_cast<float>(i / 2 % 10) + (i % 2 == 0 ? 0.0F : 100.0F);
  data.features = std::move(steps);
  const auto tensors = on_cpu(data);
  batch_source source(tensors, {.batch_size = 300, .time_shift = 0.2},
                      {.seed = 1, .id = 1});
  source.start(1);
  const auto x = source.next().features;
  REQUIRE(x.sizes() == at::IntArrayRef({300, 10, 2}));
  CHECK(at::equal(x.select(2, 1), x.select(2, 0) + 100));
  const auto later = 5 - x.select(2, 0).select(1, 5);
  for (std::int64_t by = -2; by <= 2; ++by) {
    INFO(by);
    const auto moved = later.eq(by).nonzero().flatten();
    CHECK(moved.size(0) > 30);
    const auto wanted = (at::arange(10) - by).clamp(0, 9).to(at::kFloat);
    CHECK((x.select(2, 0).index_select(0, moved) == wanted).all().item<bool>());
  }
  CHECK(later.abs().max().item<float>() == 2);
}

TEST_CASE("batches: sequences are multiplied by factors about 1, and images by none") {
  const auto factors = [](tensor_shape shape) {
    auto data = numbered(400, std::move(shape));
    data.features = std::vector<float>(data.features.size(), 1.0F);
    const auto tensors = on_cpu(data);
    batch_source source(
        tensors,
        {.batch_size = 400, .shift = 1, .cutout = 1, .time_shift = 0.5, .scaling = 0.25},
        {.seed = 1, .id = 1});
    source.start(1);
    return source.next().features.flatten(1);
  };
  const auto x = factors({{6, 2}});
  CHECK(at::equal(x.amax(1), x.amin(1)));
  CHECK(x.min().item<float>() == Approx(0.75).margin(0.02));
  CHECK(x.max().item<float>() == Approx(1.25).margin(0.02));
  CHECK(x.mean().item<float>() == Approx(1).margin(0.03));
  CHECK(factors({{1, 4, 3}}).max().item<float>() == 1);
  CHECK(at::equal(factors({{6}}), at::ones({400, 6})));
}

TEST_CASE("batches: images are turned and made larger about their middle") {
  auto data = numbered(400, {{1, 9, 9}});
  std::vector<float> pixels(data.features.size());
  for (std::size_t i = 0; i < 400; ++i)
    pixels[i * 81 + 4 * 9 + 4] = pixels[i * 81 + 4 * 9 + 7] = 1; // And right of it.
  data.features = std::move(pixels);
  const auto tensors = on_cpu(data);
  const auto changed = [&](recipe r) {
    r.batch_size = 400;
    batch_source source(tensors, r, {.seed = 1, .id = 1});
    source.start(1);
    return source.next().features.select(1, 0);
  };
  const auto middle = [](const at::Tensor& x) { return x.select(1, 4).select(1, 4); };
  const auto right = [](const at::Tensor& x) { return x.select(1, 4).select(1, 7); };
  const auto turned = changed({.rotation = 90});
  CHECK(middle(turned).min().item<float>() > 0.99F);
  // About as many are turned either way, up to a quarter.
  const auto above = turned.narrow(1, 0, 4).sum({1, 2}),
             below = turned.narrow(1, 5, 4).sum({1, 2});
  CHECK((above > below).sum().item<std::int64_t>() > 150);
  CHECK((above < below).sum().item<std::int64_t>() > 150);
  CHECK(turned.select(1, 4).narrow(1, 0, 3).abs().max().item<float>() < 0.01F);
  CHECK(right(changed({.rotation = 1})).min().item<float>() > 0.9F);
  const auto zoomed = changed({.zoom = 0.3});
  CHECK(middle(zoomed).min().item<float>() > 0.99F);
  const auto farthest = zoomed.select(1, 4).narrow(1, 5, 4).argmax(1) + 1;
  CHECK(farthest.min().item<std::int64_t>() == 2);
  CHECK(farthest.max().item<std::int64_t>() == 4);
}

TEST_CASE("batches: contrast and brightness change by channel") {
  auto data = numbered(400, {{2, 1, 2}});
  std::vector<float> pixels(data.features.size());
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<float>(i % 2);
  data.features = std::move(pixels);
  const auto tensors = on_cpu(data);
  batch_source source(tensors, {.batch_size = 400, .color = 0.25}, {.seed = 1, .id = 1});
  source.start(1);
  const auto x = source.next().features.select(2, 0); // [400, channels, 0 or 1]
  const auto brightness = x.select(2, 0), contrast = x.select(2, 1) - brightness;
  for (const auto& drawn : {brightness, contrast - 1}) {
    CHECK(drawn.abs().max().item<float>() == Approx(0.25).margin(0.01));
    CHECK(drawn.mean().item<float>() == Approx(0).margin(0.02));
    CHECK_FALSE(at::equal(drawn.select(1, 0), drawn.select(1, 1)));
  }
}

TEST_CASE("batches: a part of a sequence is stretched to the whole") {
  auto data = numbered(400, {{11, 2}});
  std::vector<float> steps_of_all(data.features.size());
  for (std::size_t i = 0; i < steps_of_all.size(); ++i)
    steps_of_all[i] = static_cast<float>(i / 2 % 11) + (i % 2 == 0 ? 0.0F : 100.0F);
  data.features = std::move(steps_of_all);
  const auto tensors = on_cpu(data);
  batch_source source(tensors, {.batch_size = 400, .slice = 0.5}, {.seed = 1, .id = 1});
  source.start(1);
  const auto both = source.next().features;
  CHECK(at::allclose(both.select(2, 1), both.select(2, 0) + 100));
  const auto x = both.select(2, 0);
  const auto first = x.select(1, 0), length = x.select(1, 10) - first;
  CHECK(first.min().item<float>() >= 0);
  CHECK(x.max().item<float>() <= 10);
  CHECK(length.min().item<float>() == Approx(5).margin(0.1));
  CHECK(length.max().item<float>() == Approx(10).margin(0.1));
  // In even steps.
  const auto steps = x.narrow(1, 1, 10) - x.narrow(1, 0, 10);
  CHECK(at::allclose(steps, (length / 10).unsqueeze(1).expand({400, 10}), 1e-4, 1e-4));
}

TEST_CASE(
    "batches: noise of a sequence is drawn anew for each batch, and again the same") {
  auto data = numbered(400, {{20, 2}});
  data.features = std::vector<float>(data.features.size(), 1.0F);
  const auto tensors = on_cpu(data);
  batch_source source(tensors, {.batch_size = 200, .jitter = 0.5}, {.seed = 1, .id = 1});
  source.start(3);
  const auto one = source.next().features, two = source.next().features;
  CHECK(one.mean().item<float>() == Approx(1).margin(0.02));
  CHECK(one.std().item<float>() == Approx(0.5).margin(0.02));
  CHECK_FALSE(at::equal(one, two));
  source.start(4);
  CHECK_FALSE(at::equal(one, source.next().features));
  source.start(3);
  CHECK(at::equal(one, source.next().features));
  CHECK(at::equal(two, source.next().features));
}

TEST_CASE("batches: examples are mixed with others by the share that targets count") {
  const auto data = numbered(40, {{3}});
  const auto tensors = on_cpu(data);
  batch_source source(tensors, {.batch_size = 10, .mixup = 0.4}, {.seed = 1, .id = 1});
  double sum = 0, squares = 0;
  constexpr int epochs = 500;
  for (std::uint32_t epoch = 1; epoch <= epochs; ++epoch) {
    source.start(epoch);
    for (int i = 0; i < 4; ++i) {
      const auto b = source.next();
      REQUIRE(b.share >= 0);
      REQUIRE(b.share <= 1);
      REQUIRE(at::equal(b.other_targets, b.targets.roll(1)));
      sum += b.share;
      squares += b.share * b.share;
    }
  }
  const double mean = sum / (4 * epochs);
  CHECK(mean == Approx(0.5).margin(0.03));
  CHECK(squares / (4 * epochs) - mean * mean == Approx(1 / (4 * 1.8)).margin(0.01));

  batch_source plain(tensors, {.batch_size = 10}, {.seed = 1, .id = 1});
  source.start(1);
  plain.start(1);
  const auto mixed = source.next();
  const auto own = plain.next();
  CHECK(at::equal(mixed.targets, own.targets));
  CHECK(at::allclose(mixed.features, mixed.share * own.features
                                         + (1 - mixed.share) * own.features.roll(1, 0)));
  CHECK_FALSE(own.other_targets.defined());
}

TEST_CASE("linear model: out of time is an error") {
  auto data = numbered(20, {{3}});
  data.validation = data.test = data.train;
  const auto fitted = fit_linear_model(on_cpu(data), 2, std::chrono::steady_clock::now());
  REQUIRE_FALSE(fitted);
  CHECK(fitted.error().message == "the linear model was not fitted within its time");
}
