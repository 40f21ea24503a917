#include "engine/training/network/device_data.hpp"

#include "engine/data/source/shuffled.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace clade {
namespace {

at::Tensor to_tensor(std::vector<std::int64_t> values, const at::Device& device) {
  return at::from_blob(values.data(), {static_cast<std::int64_t>(values.size())},
                       at::kLong)
      .clone()
      .to(device);
}

at::Tensor to_tensor(const std::vector<std::uint32_t>& values, const at::Device& device) {
  return to_tensor(std::vector<std::int64_t>(values.begin(), values.end()), device);
}

// Joehnk's algorithm, in logarithms, since u^(1/alpha) is often too small for a double.
double draw_beta(double alpha, random_stream& random) {
  for (;;) {
    const double x = std::log(1 - random.uniform()) / alpha;
    const double y = std::log(1 - random.uniform()) / alpha;
    const double larger = std::max(x, y);
    const double sum = std::exp(x - larger) + std::exp(y - larger);
    if (larger + std::log(sum) <= 0)
      return std::exp(x - larger) / sum;
  }
}

at::Tensor quantiles_of(std::span<const target_scale> scales) {
  std::vector<float> all;
  for (const auto& s : scales)
    all.push_back(static_cast<float>(s.quantile));
  return at::tensor(all, at::kFloat);
}

} // namespace

expected<device_data> to_device(std::shared_ptr<const example_source> source,
                                const std::string& device_name, std::size_t most_bytes) {
  const at::Device device(device_name);
  const auto& d = source->description();
  if (d.inputs.size() != 1)
    return fail(error_kind::invalid_input,
                fmt::format("examples have {} inputs each, and training learns from one",
                            d.inputs.size()));
  auto targets = targets_of(*source, device);
  if (!targets)
    return tl::unexpected(targets.error());
  auto features = example_tensors::of(source, 0, device, most_bytes);
  if (!features)
    return tl::unexpected(features.error());
  return device_data{
      .features = std::move(*features),
      .targets = std::move(*targets),
      .train = to_tensor(d.train, device),
      .validation = to_tensor(d.validation, device),
      .test = to_tensor(d.test, device),
      .parts_by_chance = d.parts_by_chance,
      .task = d.task,
      .weights =
          d.weights.empty() ? at::Tensor() : at::tensor(d.weights, at::kFloat).to(device),
      .target_scales = d.target.scales,
      .quantiles = d.task.has_quantiles() ? quantiles_of(d.target.scales).to(device)
                                          : at::Tensor(),
      .classes = d.target.classes,
      .test_places = d.test_places,
      .by_line = d.by_line,
      .test_names = d.test_names,
      .steps = d.steps,
      .columns = d.columns};
}

at::Tensor as_predicted(const device_data& data, const at::Tensor& said) {
  return data.task.has_quantiles() ? std::get<0>(said.sort(1)) : said;
}

batch_source::batch_source(const device_data& data, const recipe& r,
                           const training_key& key)
    : data_(data),
      key_(key),
      augmentation_(data.features, data.train, r, key),
      mixup_(r.mixup) {
  const auto examples = data.train.size(0);
  batches_ = std::max<std::int64_t>(1, (examples + r.batch_size - 1) / r.batch_size);
  if (r.batch_size > 1 && examples / batches_ < 2)
    batches_ = std::max<std::int64_t>(1, examples / 2);
}

void batch_source::start(std::uint32_t epoch) {
  auto random = key_.stream("order of examples", epoch);
  auto order = shuffled(static_cast<std::size_t>(data_.train.size(0)),
                        data_.features.window(), random);
  order_ = data_.train.index_select(0, to_tensor(std::move(order), data_.train.device()));
  augmentation_.start(epoch);
  if (mixup_ > 0) {
    auto shares = key_.stream("mixup", epoch);
    shares_.resize(static_cast<std::size_t>(batches_));
    std::ranges::generate(shares_, [&] { return draw_beta(mixup_, shares); });
  }
  at_ = 0;
}

// The order is drawn anew for each epoch, so that the example before is one of chance
// (Zhang et al., 2018).
void batch_source::mix(batch& b) const {
  b.share = shares_[static_cast<std::size_t>(at_)];
  b.features = at::lerp(b.features.roll(1, 0), b.features, b.share);
  b.other_targets = b.targets.roll(1, 0);
  if (b.weights.defined())
    b.other_weights = b.weights.roll(1, 0);
}

batch batch_source::next() {
  const auto examples = order_.size(0);
  const auto from = at_ * examples / batches_;
  const auto length = (at_ + 1) * examples / batches_ - from;
  const auto indices = order_.narrow(0, from, length);
  batch b{.features = data_.features.rows(indices),
          .targets = data_.targets.index_select(0, indices)};
  if (data_.weights.defined())
    b.weights = data_.weights.index_select(0, indices);
  b.features = augmentation_.changed(b.features, from);
  if (mixup_ > 0)
    mix(b);
  ++at_;
  return b;
}

} // namespace clade
