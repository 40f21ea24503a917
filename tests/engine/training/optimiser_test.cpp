#include "engine/training/network/optimiser.hpp"
#include "engine/training/network/orthogonal_steps.hpp"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <catch2/catch.hpp>

#include <algorithm>
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

namespace {

at::Generator generator(std::uint64_t seed) {
  return at::detail::createCPUGenerator(seed);
}

constexpr recipe of_muon{.optimiser = optimiser_kind::muon, .weight_decay = 0.5};

at::Tensor singular_values(const at::Tensor& matrix) {
  return std::get<1>(at::linalg_svd(matrix, /*full_matrices=*/false));
}

} // namespace

TEST_CASE("optimiser: Muon's directions have singular values about 1, zeros stay zeros") {
  const auto g = generator(7);
  for (const auto& [rows, columns] :
       std::vector<std::pair<int, int>>{{1, 1}, {1, 9}, {9, 1}, {16, 144}, {144, 16}}) {
    const auto values =
        singular_values(nearest_orthogonal(at::randn({rows, columns}, g)));
    INFO(rows << " x " << columns << ": " << values.min().item<double>() << " to "
              << values.max().item<double>());
    CHECK(values.min().item<double>() > 0.5);
    CHECK(values.max().item<double>() < 1.3);
  }
  // Even where all but one of them are tiny.
  const auto flat = at::ones({40, 300}) + at::randn({40, 300}, g) * 1e-6;
  const auto values = singular_values(nearest_orthogonal(flat));
  CHECK(values.max().item<double>() < 1.3);
  CHECK(values.min().item<double>() >= 0);
  CHECK(at::equal(nearest_orthogonal(at::zeros({3, 5})), at::zeros({3, 5})));
}

TEST_CASE(
    "optimiser: Muon's steps are as long as AdamW's, whatever the gradient's size") {
  for (const double size : {1e-4, 1.0, 1e4}) {
    auto w = at::zeros({8, 32}).set_requires_grad(true);
    auto out = at::zeros({4, 8}).set_requires_grad(true);
    optimiser o({.optimiser = optimiser_kind::muon, .weight_decay = 0}, {w, out});
    const auto direction = at::randn({8, 32}, generator(3)) * size;
    ((w * direction).sum() + out.sum()).backward();
    o.step(rate);
    const auto step = w.detach();
    const double mean_length = step.square().mean().sqrt().item<double>();
    CHECK(mean_length > 0.5 * 0.2 * rate);
    CHECK(mean_length < 1.5 * 0.2 * rate);
    CHECK((step * direction).sum().item<double>() < 0); // It goes down.
  }
}

TEST_CASE("optimiser: Muon leaves biases and the last weight to AdamW") {
  auto w = at::ones({4, 4}).set_requires_grad(true);
  auto bias = at::ones({4}).set_requires_grad(true);
  auto out = at::ones({1, 4}).set_requires_grad(true);
  optimiser o(of_muon, {w, bias, out});
  for (int i = 0; i < 2; ++i) {
    (w.sum() + bias.sum() + out.sum()).backward();
    o.step(rate);
  }
  recipe adamw = of_muon;
  adamw.optimiser = optimiser_kind::adamw;
  CHECK(bias.detach()[0].item<double>() == Approx(after_two_steps(adamw, {1})));
  CHECK(out.detach()[0][0].item<double>() == Approx(after_two_steps(adamw, {1, 1})));
  CHECK(w.detach()[0][0].item<double>() != Approx(after_two_steps(adamw, {1, 1})));
  CHECK(o.moments().size() == 5); // Momenta of all, and squares of two.
}

TEST_CASE("optimiser: Muon takes the same steps wherever channels lie in memory") {
  const auto after = [](at::MemoryFormat format) {
    auto w =
        at::randn({6, 5, 3, 3}, generator(5)).contiguous(format).set_requires_grad(true);
    auto out = at::zeros({2, 6}).set_requires_grad(true);
    optimiser o(of_muon, {w, out});
    for (int i = 0; i < 3; ++i) {
      (w.sin().sum() + out.sum()).backward();
      o.step(rate);
    }
    CHECK(w.is_contiguous(format));
    return w.detach().contiguous();
  };
  CHECK(at::allclose(after(at::MemoryFormat::Contiguous),
                     after(at::MemoryFormat::ChannelsLast), 1e-4, 1e-5));
}

TEST_CASE("optimiser: Muon goes on from its moments") {
  auto w = at::randn({6, 5}, generator(5)).set_requires_grad(true);
  auto out = at::ones({2, 6}).set_requires_grad(true);
  optimiser first(of_muon, {w, out});
  const auto step = [](optimiser& o, const at::Tensor& a, const at::Tensor& b) {
    (a.square().sum() + b.square().sum()).backward();
    o.step(rate);
  };
  step(first, w, out);
  auto same = w.detach().clone().set_requires_grad(true);
  auto same_out = out.detach().clone().set_requires_grad(true);
  optimiser second(of_muon, {same, same_out});
  for (std::size_t i = 0; i < first.moments().size(); ++i)
    second.moments()[i].copy_(first.moments()[i]);
  second.go_on_after(first.steps());
  step(first, w, out);
  step(second, same, same_out);
  CHECK(at::equal(w, same));
  CHECK(at::equal(out, same_out));
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
  for (const auto kind : {optimiser_kind::sgd, optimiser_kind::adam,
                          optimiser_kind::adamw, optimiser_kind::muon})
    all.push_back({.optimiser = kind, .gradient_clip = 1});
  return all;
}

std::vector<at::Tensor> two_weights() {
  return {at::randn({2, 3}, generator(2)).set_requires_grad(true),
          at::ones({2, 2}).set_requires_grad(true)};
}

at::Tensor squares(const std::vector<at::Tensor>& weights) {
  return weights[0].square().sum() + weights[1].square().sum();
}

bool equal(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  return std::ranges::equal(a, b, [](auto& x, auto& y) { return at::equal(x, y); });
}

} // namespace

TEST_CASE("optimiser: scaled losses give the steps of losses that are not scaled") {
  for (const auto& r : clipped_recipes()) {
    auto plain = two_weights();
    auto w = two_weights();
    optimiser o(r, plain), scaling(r, w, /*scales_loss=*/true);
    for (int i = 0; i < 3; ++i) {
      squares(plain).backward();
      o.step(rate);
      scaling.scaled(squares(w)).backward();
      scaling.step(rate);
    }
    CHECK(equal(w, plain)); // The scale is a power of two.
  }
}

TEST_CASE("optimiser: a step that overflows halves the scale and changes nothing else") {
  for (const auto& r : clipped_recipes()) {
    auto plain = two_weights();
    auto w = two_weights();
    optimiser o(r, plain), scaling(r, w, /*scales_loss=*/true);
    const auto before = scaling.scaled(at::ones({})).item<double>();
    (scaling.scaled(squares(w)) * std::numeric_limits<float>::infinity()).backward();
    scaling.step(rate);
    CHECK(equal(w, two_weights()));
    CHECK(scaling.scaled(at::ones({})).item<double>() == before / 2);
    for (int i = 0; i < 2; ++i) {
      squares(plain).backward();
      o.step(rate);
      scaling.scaled(squares(w)).backward();
      scaling.step(rate);
    }
    CHECK(equal(w, plain));
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
