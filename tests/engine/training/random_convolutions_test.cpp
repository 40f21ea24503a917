#include "engine/training/baselines/random_convolutions.hpp"
#include "engine/training/baselines/ridge.hpp"
#include "engine/training/network/network_module.hpp"
#include "tests/engine/training/on_cpu.hpp"

#include <ATen/ATen.h>
#include <catch2/catch.hpp>

#include <cmath>
#include <functional>

using namespace clade;

namespace {

using steady_clock = std::chrono::steady_clock;

// Noise with a wave at some place; the class, or the value, says how long the wave is.
device_data waves(std::int64_t examples, std::int64_t steps, std::int64_t channels,
                  learning_task task = classification) {
  auto random = derive(4, purpose::synthetic, 0, 0);
  const auto natural = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  std::vector<float> values(natural(examples * steps * channels));
  std::vector<float> targets;
  for (auto& v : values)
    v = static_cast<float>(0.2 * random.normal());
  for (std::int64_t i = 0; i < examples; ++i) {
    const auto wave = static_cast<std::int64_t>(random.below(2));
    const auto first = random.below(natural(steps / 2));
    for (std::int64_t t = 0; t < steps / 2; ++t)
      values[natural((i * steps + static_cast<std::int64_t>(first) + t) * channels
                     + channels - 1)] +=
          static_cast<float>(std::sin(static_cast<double>(t) * (wave == 0 ? 0.7 : 1.5)));
    targets.push_back(task.has_classes() ? static_cast<float>(wave)
                                         : static_cast<float>(2 * wave - 1));
  }
  const auto all = at::arange(examples, at::kLong);
  device_data data{.features = at::tensor(values).view({examples, steps, channels}),
                   .targets = at::tensor(targets),
                   .train = all.slice(0, 0, examples / 2),
                   .validation = all.slice(0, examples / 2, 3 * examples / 4),
                   .test = all.slice(0, 3 * examples / 4),
                   .task = task};
  if (task.has_classes()) {
    data.targets = data.targets.to(at::kLong);
    data.classes = {"long", "short"};
  } else {
    data.targets = data.targets.unsqueeze(1);
  }
  return data;
}

problem problem_of(const device_data& data) {
  return {{{data.features.size(1), data.features.size(2)}},
          data.task.outputs(data.classes.size())};
}

at::Tensor said_by(const fitted_convolutions& f, const device_data& data,
                   const at::Tensor& part) {
  network_module net(convolution_network(problem_of(data), f.sizes), {}, at::kCPU);
  const auto loaded = net.load(f.weights);
  INFO((loaded ? "" : loaded.error().message));
  REQUIRE(loaded);
  net.eval();
  const at::NoGradGuard no_grad;
  return net.forward(data.features.rows(part));
}

double accuracy(const at::Tensor& said, const device_data& data, const at::Tensor& part) {
  return said.argmax(1)
      .eq(data.targets.index_select(0, part))
      .to(at::kDouble)
      .mean()
      .item<double>();
}

double squared_error(const at::Tensor& said, const device_data& data,
                     const at::Tensor& part) {
  return (said - data.targets.index_select(0, part)).square().mean().item<double>();
}

/// Returns the solution of (X'WX + penalty I) b = X'WY with an intercept that is not
/// penalised.
at::Tensor solved(const at::Tensor& x, const at::Tensor& y, const at::Tensor& w,
                  double penalty) {
  const auto ones = at::cat({x, at::ones({x.size(0), 1}, x.options())}, 1);
  auto held = at::full({ones.size(1)}, penalty, x.options());
  held[x.size(1)].zero_();
  const auto weighted = ones.t() * w;
  return at::linalg_solve(weighted.mm(ones) + held.diag(), weighted.mm(y));
}

} // namespace

TEST_CASE("ridge: what is said of an example left out is what a fit without it says") {
  auto random = derive(1, purpose::synthetic, 0, 0);
  const auto drawn = [&](std::int64_t rows, std::int64_t columns) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < rows * columns; ++i)
      values.push_back(random.normal());
    return at::tensor(values, at::kDouble).view({rows, columns});
  };
  // More examples than features, and fewer.
  const std::int64_t features = GENERATE(3, 20), examples = 12;
  const auto x = drawn(examples, features).to(at::kFloat);
  const auto y = x.to(at::kDouble).narrow(1, 0, 2) + 0.3 * drawn(examples, 2);
  const auto w = drawn(examples, 1).square().flatten() + 0.5;
  const auto fitted = fit_ridge({x, y, w});
  const auto share = (w / w.sum()).unsqueeze(1);
  auto scaled = x.to(at::kDouble);
  scaled = scaled - (scaled * share).sum(0);
  scaled = scaled / (scaled.square() * share).sum(0).sqrt()
           / std::sqrt(static_cast<double>(features));
  double lowest = std::numeric_limits<double>::infinity();
  at::Tensor best, map;
  for (const double penalty :
       {1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 1e2, 3e2, 1e3}) {
    auto said = at::zeros_like(y);
    for (std::int64_t i = 0; i < examples; ++i) {
      auto others = w.clone();
      others[i] = 0;
      const auto b = solved(scaled, y, others, penalty);
      said[i] = scaled[i].matmul(b.narrow(0, 0, features)) + b[features];
    }
    const double loss = ((said - y).square() * w.unsqueeze(1)).sum().item<double>();
    if (loss < lowest) {
      lowest = loss;
      best = said;
      map = solved(scaled, y, w, penalty);
    }
  }
  CHECK(at::allclose(fitted.left_out, best, 1e-4, 1e-5));
  CHECK(at::allclose(x.to(at::kDouble).mm(fitted.map.weight) + fitted.map.bias,
                     scaled.mm(map.narrow(0, 0, features)) + map[features], 1e-4, 1e-5));
}

TEST_CASE("ridge: sums of many examples find the plane, and pass over a constant") {
  ridge_sums sums;
  at::Tensor all, targets;
  auto random = derive(2, purpose::synthetic, 0, 0);
  for (int batch = 0; batch < 3; ++batch) {
    std::vector<float> values;
    for (int i = 0; i < 100; ++i)
      for (const float v : {static_cast<float>(random.normal()),
                            static_cast<float>(5 + random.normal()), 7.0F})
        values.push_back(v);
    const auto x = at::tensor(values).view({100, 3});
    const auto y = (2 * x.select(1, 0) - x.select(1, 1) + 3).unsqueeze(1).to(at::kDouble);
    sums.add({x, y, at::ones({100}, at::kDouble)});
    all = x;
    targets = y;
  }
  const auto maps = sums.solve();
  REQUIRE(maps.size() > 1);
  const auto error = [&](const linear_map& m) {
    return (all.to(at::kDouble).mm(m.weight) + m.bias - targets)
        .abs()
        .max()
        .item<double>();
  };
  CHECK(error(maps.front()) < 1e-2);
  CHECK(error(maps.front()) < error(maps.back()));
}

TEST_CASE("random convolutions: the operator counts what its kernels say") {
  const problem p{{{7, 2}}, 1};
  const convolution_sizes sizes{.dilations = 2, .groups = 1, .thresholds = 2};
  auto cut = convolution_network(p, sizes);
  cut.layers.pop_back();
  network_module net(cut, {.seed = 3}, at::kCPU);
  const at::NoGradGuard no_grad;
  const auto tensors = net.named_buffers();
  const auto weight = tensors["convolutions:weight"];
  const auto thresholds = tensors["convolutions:thresholds"];
  const auto x = at::sin(at::arange(42, at::kFloat) * 1.7).view({3, 7, 2});
  const auto features = net.forward(x);
  REQUIRE(features.size(1) == 2 * 2 * (84 * 2 + 16));
  const auto said = [&](std::int64_t part, std::int64_t kernel, std::int64_t step) {
    const auto of = part % 2 == 0 ? x[1] : x[1].slice(0, 1) - x[1].slice(0, 0, 6);
    double sum = 0;
    for (std::int64_t tap = 0; tap < 9; ++tap)
      if (const auto at = step + (tap - 4) * (std::int64_t{1} << (part / 2));
          at >= 0 && at < of.size(0))
        sum += weight[part][kernel].select(1, tap).dot(of[at]).item<double>();
    return sum;
  };
  for (const std::int64_t part : {0, 1, 3}) {
    const auto steps = 7 - part % 2, from = part * (84 * 2 + 16);
    double above = 0, highest = 0, lowest = 0;
    for (std::int64_t step = 0; step < steps; ++step) {
      above += said(part, 5, step) > thresholds[part][5][1].item<double>() ? 1 : 0;
      double most = said(part, 84, step), least = most;
      for (std::int64_t k = 1; k < 8; ++k) {
        most = std::max(most, said(part, 84 + k, step));
        least = std::min(least, said(part, 84 + k, step));
      }
      const double third = said(part, 86, step);
      highest += third == most ? std::max(third, 0.0) : 0;
      lowest += third == least ? std::max(-third, 0.0) : 0;
    }
    const auto feature = [&](std::int64_t i) {
      return features[1][from + i].item<double>();
    };
    const auto count = static_cast<double>(steps);
    CHECK(feature(84 + 5) == Approx(above / count).margin(1e-6));
    CHECK(feature(168 + 2) == Approx(std::sqrt(highest / count)).margin(1e-5));
    CHECK(feature(168 + 8 + 2) == Approx(std::sqrt(lowest / count)).margin(1e-5));
  }
}

TEST_CASE("random convolutions: they tell waves apart wherever they are") {
  // Many examples are fitted in another way than few.
  const auto [examples, steps, channels] =
      GENERATE(std::tuple{160, 40, 1}, std::tuple{160, 40, 3}, std::tuple{4400, 12, 1});
  const auto data = waves(examples, steps, channels);
  const auto fitted = fit_random_convolutions(data, {.seed = 1});
  INFO((fitted ? "" : fitted.error().message));
  REQUIRE(fitted);
  const auto said = said_by(*fitted, data, data.test);
  CHECK(accuracy(said, data, data.test) > 0.9);
  CHECK(accuracy(fitted->judged, data, fitted->judged_by) > 0.9);
  // The scores make probabilities that mean something.
  CHECK(at::nll_loss(at::log_softmax(said, 1), data.targets.index_select(0, data.test))
            .item<double>()
        < 0.3);
}

TEST_CASE("random convolutions: they learn numbers") {
  const auto data = waves(200, 40, 2, regression);
  const auto fitted = fit_random_convolutions(data, {.seed = 1});
  REQUIRE(fitted);
  CHECK(squared_error(said_by(*fitted, data, data.test), data, data.test) < 0.3);
  CHECK(squared_error(fitted->judged, data, fitted->judged_by) < 0.3);
}

TEST_CASE("random convolutions: examples are judged by fits without them") {
  auto data = waves(120, 20, 1);
  // Labels that have nothing to do with the examples.
  std::vector<std::int64_t> labels;
  auto random = derive(9, purpose::synthetic, 0, 0);
  for (int i = 0; i < 120; ++i)
    labels.push_back(static_cast<std::int64_t>(random.below(2)));
  data.targets = at::tensor(labels, at::kLong);
  const auto fitted = fit_random_convolutions(data, {.seed = 1});
  REQUIRE(fitted);
  const double judged = accuracy(fitted->judged, data, fitted->judged_by);
  CHECK(judged < 0.8);
  CHECK(judged > 0.2);
}

TEST_CASE("random convolutions: the same seed gives the same bits, another one others") {
  const auto data = waves(60, 20, 2);
  const auto weights = [&](std::uint64_t seed) {
    const auto fitted = fit_random_convolutions(data, {.seed = seed});
    REQUIRE(fitted);
    return encode_weights(fitted->weights);
  };
  CHECK(weights(5) == weights(5));
  CHECK(weights(5) != weights(6));
}

TEST_CASE("random convolutions: flat sequences do no harm") {
  auto data = waves(60, 20, 1);
  data.features = at::zeros({60, 20, 1});
  const auto fitted = fit_random_convolutions(data, {.seed = 5});
  REQUIRE(fitted);
  CHECK(at::isfinite(said_by(*fitted, data, data.test)).all().item<bool>());
}

TEST_CASE("random convolutions: out of time is an error") {
  const auto fitted = fit_random_convolutions(
      waves(60, 20, 1), {.deadline = steady_clock::now() - std::chrono::seconds(1)});
  REQUIRE_FALSE(fitted);
  CHECK(fitted.error().message
        == "the random convolutions were not fitted within their time");
}

TEST_CASE("random convolutions: long sequences and many of them have fewer") {
  const auto sizes = [](const sequence_counts& c) {
    const auto s = convolution_sizes_for(c);
    REQUIRE(s);
    CHECK(are_possible(*s));
    return *s;
  };
  const auto few = sizes({.steps = 150, .fitted = 50, .asked = 200});
  CHECK(few.dilations == 5);
  const auto many = sizes({.steps = 150, .fitted = 100'000, .asked = 200'000});
  CHECK(many.groups < few.groups);
  const auto longer = sizes({.steps = 50'000, .fitted = 50, .asked = 2000});
  CHECK(longer.groups == 1);
  CHECK(longer.thresholds == 1);
  CHECK(sizes({.steps = 2, .fitted = 1, .asked = 1}).dilations == 1);
  CHECK_FALSE(convolution_sizes_for({.channels = 1'000'000}));
}
