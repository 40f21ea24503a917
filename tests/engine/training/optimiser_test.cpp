#include "engine/training/optimiser.hpp"

#include <ATen/ATen.h>
#include <catch2/catch.hpp>

#include <cmath>

using namespace clade;

namespace {

constexpr double rate = 0.1;

// Where 1 is after two steps down f(w) = w, a weight (two dimensions) or a bias (one).
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
    (w.sum() + b.sum()).backward(); // Of norm 3.
    o.step(rate);
    CHECK(w.detach().eq(b.detach()[0]).all().item<bool>());
    return b.detach()[0].item<double>();
  };
  CHECK(after_a_step(0) == Approx(-rate));
  CHECK(after_a_step(4) == Approx(-rate));
  CHECK(after_a_step(1.5) == Approx(-rate / 2));
}

TEST_CASE("optimiser: gradients are given up with each step") {
  auto w = at::ones({2, 2}).set_requires_grad(true);
  optimiser o({}, {w});
  w.sum().backward();
  REQUIRE(w.grad().defined());
  o.step(rate);
  CHECK_FALSE(w.grad().defined());
}
