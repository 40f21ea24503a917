#include "engine/training/asked/fitting.hpp"
#include "tests/support/genomes.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

/// Returns a network of a few million parameters, in dense layers.
network a_large_network() {
  const node_gene layer{{}, "dense", {{"units", std::int64_t{1024}}}};
  search_space space;
  space.limits.max_parameters = 10'000'000;
  space.limits.max_width = 1024;
  auto n = decode(space, test::a_chain({layer, layer, layer}),
                  {.input = tensor_shape{{64}}, .outputs = 4});
  INFO((n ? "" : n.error().message));
  REQUIRE(n);
  return *n;
}

std::uint64_t bytes_on_each(const fitted_training& f) {
  return f.bytes / f.distribution.devices;
}

} // namespace

TEST_CASE("fitting: a network gets the fewest devices on which it fits") {
  const auto n = a_large_network();
  training_params params{.batch_size = 8};
  params.distribution.name = GENERATE("sharded", "pipeline");
  INFO(params.distribution.name);
  params.distribution.devices = 1;
  const auto alone = fit_training(params, n, {}).value();
  REQUIRE(alone.bytes > 0);
  CHECK(alone.distribution.devices == 1);
  params.distribution.fit_bytes = alone.bytes;
  CHECK(fit_training(params, n, {})->distribution.devices == 1);
  for (const double share : {0.9, 0.6, 0.4}) {
    INFO(share);
    const auto limit =
        static_cast<std::uint64_t>(share * static_cast<double>(alone.bytes));
    params.distribution.fit_bytes = limit;
    const auto f = fit_training(params, n, {}).value();
    CHECK(f.distribution.devices > 1);
    CHECK_FALSE(f.distribution.fit_bytes);
    CHECK(bytes_on_each(f) <= limit);
    // One fewer would not do.
    params.distribution.fit_bytes.reset();
    params.distribution.devices = f.distribution.devices - 1;
    CHECK(bytes_on_each(fit_training(params, n, {}).value()) > limit);
    params.distribution.devices = f.distribution.devices;
    CHECK(fit_training(params, n, {})->recipe.batch_size == f.recipe.batch_size);
  }
}

TEST_CASE("fitting: where no number of devices is enough, it is one that exists") {
  const auto n = a_large_network();
  training_params params;
  params.distribution.fit_bytes = 1;
  params.distribution.name = "sharded";
  CHECK(fit_training(params, n, {})->distribution.devices == most_devices);
  params.distribution.name = "pipeline";
  CHECK(fit_training(params, n, {})->distribution.devices == n.layers.size() - 1);
}
