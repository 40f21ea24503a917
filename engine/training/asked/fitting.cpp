#include "engine/training/asked/fitting.hpp"

#include <algorithm>

namespace clade {

namespace {

expected<fitted_training> with_devices(training_params params, std::uint32_t devices,
                                       const network& n,
                                       const std::vector<setting>& hyperparameters) {
  params.distribution.devices = devices;
  params.distribution.fit_bytes.reset();
  return recipe_of(params, hyperparameters).map([&](const recipe& r) {
    return fitted_training{
        .recipe = r,
        .distribution = params.distribution,
        .bytes =
            peak_bytes(n, static_cast<std::uint64_t>(r.batch_size), state_copies(r))};
  });
}

} // namespace

expected<fitted_training> fit_training(const training_params& params, const network& n,
                                       const std::vector<setting>& hyperparameters) {
  const auto& how = params.distribution;
  auto best = with_devices(params, how.fit_bytes ? 1 : how.devices, n, hyperparameters);
  if (!how.fit_bytes)
    return best;
  // A stage of a pipeline has a layer at least; the input is none.
  const auto most = how.row().data_parallel
                        ? most_devices
                        : std::min<std::size_t>(n.layers.size() - 1, most_devices);
  const auto each = [](const fitted_training& f) {
    return f.bytes / f.distribution.devices;
  };
  for (std::uint32_t k = 2; best && k <= most && each(*best) > *how.fit_bytes; ++k)
    if (auto more = with_devices(params, k, n, hyperparameters);
        !more || each(*more) < each(*best))
      best = std::move(more);
  return best;
}

} // namespace clade
