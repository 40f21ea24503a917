#include "engine/training/network/optimiser.hpp"

#include <ATen/ATen.h>
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace clade;

namespace {

constexpr double rate = 0.1;

// Returns the value of 1 after two steps down f(w) = w, a weight (two dimensions) or a
// bias (one).
double after_two_steps(const recipe& r, at::IntArrayRef shape) {
  auto w = at::ones(shape).set_requires_grad(true);
  optimiser o(r, {w});
  for (int i = 0; i < 2; ++i) {
    w.sum().backward();
    o.step(rate);
  }
  return w.detach().flatten()[0].item<double>();
}

} // namespace

TEST_CASE("optimiser: SGD goes down the gradient and its weights decay") {
  const recipe plain{
      .optimiser = optimiser_kind::sgd, .momentum = 0, .weight_decay = 0.5};
  double w = 1;
  for (int i = 0; i < 2; ++i)
    w -= rate * (1 + 0.5 * w);
  CHECK(after_two_steps(plain, {1, 1}) == Approx(w));
  CHECK(after_two_steps(plain, {1}) == Approx(1 - 2 * rate)); // a bias does not decay
}

TEST_CASE("optimiser: the momentum is Nesterov's") {
  const double m = 0.9;
  const recipe r{.optimiser = optimiser_kind::sgd, .momentum = m, .weight_decay = 0};
  double w = 1;
  double v = 0;
  for (int i = 0; i < 2; ++i) {
    v = m * v + 1;
    w -= rate * (1 + m * v);
  }
  CHECK(after_two_steps(r, {1, 1}) == Approx(w));
}

TEST_CASE("optimiser: Adam adds decay to the gradient and AdamW does not") {
  // A steady gradient makes Adam's steps as long as the rate, whatever its size.
  recipe r{.optimiser = optimiser_kind::adam, .momentum = 0.8, .weight_decay = 0};
  CHECK(after_two_steps(r, {1, 1}) == Approx(1 - 2 * rate));
  r.weight_decay = 0.5;
  CHECK(after_two_steps(r, {1}) == Approx(1 - 2 * rate));
  const double first = 1.5;
  const double second = 1 + 0.5 * (1 - rate);
  const double mean = (0.8 * 0.2 * first + 0.2 * second) / (1 - 0.64);
  const double square =
      (0.999 * 0.001 * first * first + 0.001 * second * second) / (1 - 0.999 * 0.999);
  CHECK(after_two_steps(r, {1, 1}) == Approx(1 - rate - rate * mean / std::sqrt(square)));

  r.optimiser = optimiser_kind::adamw;
  const double decayed = (1 - rate * 0.5) - rate;
  CHECK(after_two_steps(r, {1, 1}) == Approx(decayed * (1 - rate * 0.5) - rate));
  CHECK(after_two_steps(r, {1}) == Approx(1 - 2 * rate));
}

TEST_CASE("optimiser: gradients longer than the limit are as long as the limit") {
  const auto after_a_step = [](double clip) {
    auto w = at::zeros({2, 2}).set_requires_grad(true);
    auto b = at::zeros({5}).set_requires_grad(true);
    optimiser o({.optimiser = optimiser_kind::sgd,
                 .momentum = 0,
                 .weight_decay = 0,
                 .gradient_clip = clip},
                {w, b});
    (w.sum() + b.sum()).backward(); // The norm is 3.
    o.step(rate);
    CHECK(w.detach().eq(b.detach()[0]).all().item<bool>());
    return b.detach()[0].item<double>();
  };
  CHECK(after_a_step(0) == Approx(-rate));
  CHECK(after_a_step(4) == Approx(-rate));
  CHECK(after_a_step(1.5) == Approx(-rate / 2));
}

namespace {

std::vector<recipe> clipped_recipes() {
  std::vector<recipe> all;
  for (const auto kind :
       {optimiser_kind::sgd, optimiser_kind::adam, optimiser_kind::adamw})
    all.push_back({.optimiser = kind, .gradient_clip = 1});
  return all;
}

} // namespace

TEST_CASE("optimiser: scaled losses give the steps of losses that are not scaled") {
  for (const auto& r : clipped_recipes()) {
    auto plain = at::ones({2, 2}).set_requires_grad(true);
    auto w = at::ones({2, 2}).set_requires_grad(true);
    optimiser o(r, {plain}), scaling(r, {w}, /*scales_loss=*/true);
    for (int i = 0; i < 3; ++i) {
      plain.square().sum().backward();
      o.step(rate);
      scaling.scaled(w.square().sum()).backward();
      scaling.step(rate);
    }
    CHECK(at::equal(w, plain)); // The scale is a power of two.
  }
}

TEST_CASE("optimiser: a step that overflows halves the scale and changes nothing else") {
  for (const auto& r : clipped_recipes()) {
    auto plain = at::ones({2, 2}).set_requires_grad(true);
    auto w = at::ones({2, 2}).set_requires_grad(true);
    optimiser o(r, {plain}), scaling(r, {w}, /*scales_loss=*/true);
    const auto before = scaling.scaled(at::ones({})).item<double>();
    (scaling.scaled(w.sum()) * std::numeric_limits<float>::infinity()).backward();
    scaling.step(rate);
    CHECK(at::equal(w, at::ones({2, 2})));
    CHECK(scaling.scaled(at::ones({})).item<double>() == before / 2);
    for (int i = 0; i < 2; ++i) {
      plain.square().sum().backward();
      o.step(rate);
      scaling.scaled(w.square().sum()).backward();
      scaling.step(rate);
    }
    CHECK(at::equal(w, plain));
  }
}

TEST_CASE("optimiser: the scale doubles after many steps without an overflow") {
  auto w = at::ones({1, 1}).set_requires_grad(true);
  optimiser scaling({}, {w}, /*scales_loss=*/true);
  const auto scale = [&] { return scaling.scaled(at::ones({})).item<double>(); };
  const auto before = scale();
  for (int i = 0; i < 2000; ++i) {
    CHECK(scale() == before);
    scaling.scaled(w.sum()).backward();
    scaling.step(rate);
  }
  CHECK(scale() == 2 * before);
}

TEST_CASE("optimiser: one with scaled losses goes on from its moments") {
  auto w = at::ones({2, 2}).set_requires_grad(true);
  optimiser first({}, {w}, /*scales_loss=*/true);
  const auto step = [](optimiser& o, const at::Tensor& at, double factor) {
    (o.scaled(at.square().sum()) * factor).backward();
    o.step(rate);
  };
  step(first, w, std::numeric_limits<double>::infinity());
  step(first, w, 1);
  auto same = w.detach().clone().set_requires_grad(true);
  optimiser second({}, {same}, /*scales_loss=*/true);
  for (std::size_t i = 0; i < first.moments().size(); ++i)
    second.moments()[i].copy_(first.moments()[i]);
  second.go_on_after(first.steps());
  step(first, w, 1);
  step(second, same, 1);
  CHECK(at::equal(w, same));
  CHECK(first.scaled(at::ones({})).item<double>()
        == second.scaled(at::ones({})).item<double>());
}

TEST_CASE("optimiser: gradients are given up with each step") {
  auto w = at::ones({2, 2}).set_requires_grad(true);
  optimiser o({}, {w});
  w.sum().backward();
  REQUIRE(w.grad().defined());
  o.step(rate);
  CHECK_FALSE(w.grad().defined());
}
