#include "engine/training/network/weight_average.hpp"

#include <ATen/ATen.h>
#include <catch2/catch.hpp>

using namespace clade;

TEST_CASE("weight average: its decay rises with the steps to what was asked for") {
  auto w = at::zeros({2, 3});
  weight_average average(0.25, {w});
  double expected = 0;
  for (std::uint64_t step = 1; step <= 4; ++step) {
    const auto t = static_cast<double>(step);
    w.fill_(t);
    average.add(step);
    const double keep = std::min(0.25, (1 + t) / (10 + t));
    expected = keep * expected + (1 - keep) * t;
    CHECK(average.values()[0][1][2].item<double>() == Approx(expected));
  }
}

TEST_CASE("weight average: it begins at the weights and is exchanged with them") {
  auto w = at::ones({3}).set_requires_grad(true);
  weight_average average(0.9, {w});
  CHECK(at::equal(average.values()[0], at::ones({3})));
  w.detach().fill_(5);
  average.exchange();
  CHECK(at::equal(w.detach(), at::ones({3})));
  CHECK(at::equal(average.values()[0], at::full({3}, 5.0F)));
  average.exchange();
  CHECK(at::equal(w.detach(), at::full({3}, 5.0F)));
  average.begin_again();
  CHECK(at::equal(average.values()[0], at::full({3}, 5.0F)));
}
