#include "engine/training/loop/occlusion.hpp"

#include <ATen/ATen.h>
#include <catch2/catch.hpp>

using namespace clade;

TEST_CASE("occlusion: the part of an image that a class depends on stands out") {
  // Class 1 is as probable as the third row and column of the grid is bright.
  const image_model says = [](const at::Tensor& x) {
    const auto p = x.slice(2, 4, 6).slice(3, 4, 6).mean({1, 2, 3});
    return at::stack({1 - p, p}, 1);
  };
  auto image = at::zeros({3, 14, 14});
  image.slice(1, 4, 6).slice(2, 4, 6).fill_(0.75);
  const auto map = occlusion_map(says, image, 1);
  REQUIRE(map.size() == 49);
  const double mean = 0.75 * 4 / 196;
  for (std::size_t i = 0; i < map.size(); ++i)
    CHECK(map[i] == Approx(i == 2 * 7 + 2 ? 0.75 - mean : 0).margin(1e-6));
  // The other class becomes as much more probable.
  CHECK(occlusion_map(says, image, 0)[16] == Approx(mean - 0.75).margin(1e-6));
  CHECK(image.max().item<float>() == 0.75F);
}

TEST_CASE("occlusion: of an image smaller than the grid some cells cover nothing") {
  const image_model says = [](const at::Tensor& x) {
    const auto p = x.mean({1, 2, 3});
    return at::stack({p, 1 - p}, 1);
  };
  const auto map = occlusion_map(says, at::rand({1, 3, 5}), 0);
  REQUIRE(map.size() == 49);
  CHECK(map[0] == 0);
}
