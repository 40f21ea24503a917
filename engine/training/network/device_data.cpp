#include "engine/training/network/device_data.hpp"

#include "engine/data/source/shuffled.hpp"
#include "genome/genes/hash.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

// Every shifted version of an image is a window into the image padded with zeros. A view
// [examples, channels, shifts down, shifts right, height, width] of a padded batch has
// them all, and one gather takes each example at its own shift.

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

// bool [examples, size]: the places from `half` before each centre on, `side` in all.
at::Tensor places_around(const at::Tensor& centres, std::int64_t side,
                         std::int64_t size) {
  const auto first = (centres - side / 2).unsqueeze(1);
  const auto places = at::arange(size, centres.options()).unsqueeze(0);
  return places.ge(first).logical_and(places.lt(first + side));
}

} // namespace

random_stream training_key::stream(std::string_view use, std::uint64_t round) const {
  if (share == 0)
    return derive(seed, what, id, hash64(use), round);
  const auto of_share = fmt::format("{} of share {}", use, share);
  return derive(seed, what, id, hash64(of_share), round);
}

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
  return device_data{.features = std::move(*features),
                     .targets = std::move(*targets),
                     .train = to_tensor(d.train, device),
                     .validation = to_tensor(d.validation, device),
                     .test = to_tensor(d.test, device),
                     .parts_by_chance = d.parts_by_chance,
                     .task = d.task,
                     .weights = d.weights.empty()
                                    ? at::Tensor()
                                    : at::tensor(d.weights, at::kFloat).to(device),
                     .target_scales = d.target.scales,
                     .classes = d.target.classes,
                     .test_places = d.test_places,
                     .by_line = d.by_line,
                     .test_names = d.test_names,
                     .steps = d.steps,
                     .columns = d.columns};
}

batch_source::batch_source(const device_data& data, const recipe& r,
                           const training_key& key)
    : data_(data),
      key_(key),
      mixup_(r.mixup) {
  const auto examples = data.train.size(0);
  batches_ = std::max<std::int64_t>(1, (examples + r.batch_size - 1) / r.batch_size);
  if (r.batch_size > 1 && examples / batches_ < 2)
    batches_ = std::max<std::int64_t>(1, examples / 2);
  if (data.features.dim() == 4) {
    shift_ = r.shift;
    flip_ = r.flip;
    cutout_ = r.cutout;
  } else if (data.features.dim() == 3) {
    time_shift_ = r.time_shift;
    scaling_ = r.scaling;
  }
}

at::Tensor batch_source::draw(std::string_view use, std::uint32_t epoch,
                              std::uint64_t bound) const {
  auto random = key_.stream(use, epoch);
  std::vector<std::int64_t> drawn(static_cast<std::size_t>(data_.train.size(0)));
  for (auto& d : drawn)
    d = static_cast<std::int64_t>(random.below(bound));
  return to_tensor(std::move(drawn), data_.train.device());
}

void batch_source::start(std::uint32_t epoch) {
  auto random = key_.stream("order of examples", epoch);
  auto order = shuffled(static_cast<std::size_t>(data_.train.size(0)),
                        data_.features.window(), random);
  order_ = data_.train.index_select(0, to_tensor(std::move(order), data_.train.device()));
  draw_images(epoch);
  draw_sequences(epoch);
  if (mixup_ > 0) {
    auto shares = key_.stream("mixup", epoch);
    shares_.resize(static_cast<std::size_t>(batches_));
    std::ranges::generate(shares_, [&] { return draw_beta(mixup_, shares); });
  }
  at_ = 0;
}

void batch_source::draw_images(std::uint32_t epoch) {
  if (shift_ > 0) {
    const auto places = static_cast<std::uint64_t>(2 * shift_ + 1);
    down_ = draw("shift down", epoch, places);
    right_ = draw("shift right", epoch, places);
  }
  if (flip_)
    mirrored_ = draw("flip", epoch, 2).to(at::kBool).view({-1, 1, 1, 1});
  if (cutout_ > 0)
    draw_squares(epoch);
}

void batch_source::draw_sequences(std::uint32_t epoch) {
  if (time_shift_ > 0) {
    const auto most = static_cast<std::int64_t>(
        std::llround(time_shift_ * static_cast<double>(data_.features.size(1))));
    later_ = draw("time shift", epoch, static_cast<std::uint64_t>(2 * most + 1)) - most;
  }
  if (scaling_ > 0) {
    constexpr std::uint64_t levels = 1 << 20;
    const auto drawn = draw("scaling", epoch, levels + 1).to(at::kFloat);
    factors_ = 1 + scaling_ * (drawn * (2.0 / static_cast<double>(levels)) - 1);
  }
}

// Centres are anywhere in the image, so that a square may lie partly outside (DeVries and
// Taylor, 2017).
void batch_source::draw_squares(std::uint32_t epoch) {
  const auto height = data_.features.size(2), width = data_.features.size(3);
  const auto rows = draw("cutout row", epoch, static_cast<std::uint64_t>(height));
  const auto columns = draw("cutout column", epoch, static_cast<std::uint64_t>(width));
  cut_rows_ = places_around(rows, cutout_, height).view({-1, 1, height, 1});
  cut_columns_ = places_around(columns, cutout_, width).view({-1, 1, 1, width});
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

/// Shifts the images of a batch that begins at place `from` of the epoch.
at::Tensor batch_source::shifted(const at::Tensor& images, std::int64_t from) const {
  const auto length = images.size(0);
  return at::constant_pad_nd(images, {shift_, shift_, shift_, shift_})
      .unfold(2, images.size(2), 1)
      .unfold(3, images.size(3), 1)
      .index({at::arange(length, down_.options()), at::indexing::Slice(),
              down_.narrow(0, from, length), right_.narrow(0, from, length)})
      .contiguous();
}

void batch_source::change_images(at::Tensor& images, std::int64_t from) const {
  const auto length = images.size(0);
  if (shift_ > 0)
    images = shifted(images, from);
  if (flip_)
    images = at::where(mirrored_.narrow(0, from, length), images.flip(3), images);
  if (cutout_ > 0)
    images = images.masked_fill(cut_rows_.narrow(0, from, length)
                                    .logical_and(cut_columns_.narrow(0, from, length)),
                                0);
}

void batch_source::change_sequences(at::Tensor& sequences, std::int64_t from) const {
  const auto length = sequences.size(0), steps = sequences.size(1);
  if (time_shift_ > 0) {
    const auto places = at::arange(steps, later_.options()).unsqueeze(0)
                        - later_.narrow(0, from, length).unsqueeze(1);
    sequences = sequences.gather(
        1, places.clamp(0, steps - 1).unsqueeze(2).expand(sequences.sizes()));
  }
  if (scaling_ > 0)
    sequences = sequences * factors_.narrow(0, from, length).view({-1, 1, 1});
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
  change_images(b.features, from);
  change_sequences(b.features, from);
  if (mixup_ > 0)
    mix(b);
  ++at_;
  return b;
}

} // namespace clade
