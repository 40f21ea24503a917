#include "engine/training/network/augmentation.hpp"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <cmath>
#include <numbers>

// Every shifted version of an image is a window into the image padded with zeros. A view
// [examples, channels, shifts down, shifts right, height, width] of a padded batch has
// them all, and one gather takes each example at its own shift.

namespace clade {
namespace {

// bool [examples, size]: the places from `half` before each centre on, `side` in all.
at::Tensor places_around(const at::Tensor& centres, std::int64_t side,
                         std::int64_t size) {
  const auto first = (centres - side / 2).unsqueeze(1);
  const auto places = at::arange(size, centres.options()).unsqueeze(0);
  return places.ge(first).logical_and(places.lt(first + side));
}

} // namespace

augmentation::augmentation(const example_tensors& features, const at::Tensor& train,
                           const recipe& r, const training_key& key)
    : shape_{train.size(0)},
      device_(train.device()),
      recipe_(r),
      key_(key) {
  for (std::int64_t d = 1; d < features.dim(); ++d)
    shape_.push_back(features.size(static_cast<std::size_t>(d)));
}

at::Tensor augmentation::draw(std::string_view use, std::uint64_t bound,
                              std::int64_t each) const {
  auto random = key_.stream(use, epoch_);
  auto drawn = at::empty({shape_[0] * each}, at::kLong);
  auto* values = drawn.data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < drawn.numel(); ++i)
    values[i] = static_cast<std::int64_t>(random.below(bound));
  return drawn.to(device_);
}

at::Tensor augmentation::spread(std::string_view use, std::int64_t each) const {
  constexpr std::uint64_t levels = 1 << 20;
  return draw(use, levels + 1, each).to(at::kFloat) * (2.0 / static_cast<double>(levels))
         - 1;
}

void augmentation::start(std::uint32_t epoch) {
  epoch_ = epoch;
  if (shape_.size() == 4)
    draw_images();
  else if (shape_.size() == 3)
    draw_sequences();
}

at::Tensor augmentation::changed(at::Tensor examples, std::int64_t from) const {
  if (shape_.size() == 4)
    return changed_images(std::move(examples), from);
  if (shape_.size() == 3)
    return changed_sequences(std::move(examples), from);
  return examples;
}

void augmentation::draw_images() {
  const auto& r = recipe_;
  if (r.shift > 0) {
    const auto places = static_cast<std::uint64_t>(2 * r.shift + 1);
    down_ = draw("shift down", places);
    right_ = draw("shift right", places);
  }
  if (r.rotation > 0 || r.zoom > 0) {
    const auto angle = spread("rotation") * (r.rotation * std::numbers::pi / 180);
    const auto size = 1 + r.zoom * spread("zoom");
    const auto cosine = angle.cos() / size, sine = angle.sin() / size;
    const auto ratio = static_cast<double>(shape_[2]) / static_cast<double>(shape_[3]);
    const auto none = at::zeros_like(angle);
    turns_ = at::stack({cosine, sine * -ratio, none, sine / ratio, cosine, none}, 1)
                 .view({-1, 2, 3});
  }
  if (r.flip)
    mirrored_ = draw("flip", 2).to(at::kBool).view({-1, 1, 1, 1});
  if (r.color > 0) {
    gains_ = (1 + r.color * spread("contrast", shape_[1])).view({-1, shape_[1], 1, 1});
    offsets_ = (r.color * spread("brightness", shape_[1])).view({-1, shape_[1], 1, 1});
  }
  if (r.cutout > 0)
    draw_squares();
}

// Centres are anywhere in the image, so that a square may lie partly outside (DeVries and
// Taylor, 2017).
void augmentation::draw_squares() {
  const auto height = shape_[2], width = shape_[3];
  const auto rows = draw("cutout row", static_cast<std::uint64_t>(height));
  const auto columns = draw("cutout column", static_cast<std::uint64_t>(width));
  cut_rows_ = places_around(rows, recipe_.cutout, height).view({-1, 1, height, 1});
  cut_columns_ = places_around(columns, recipe_.cutout, width).view({-1, 1, 1, width});
}

void augmentation::draw_sequences() {
  const auto& r = recipe_;
  if (r.slice > 0) {
    lengths_ = 1 - r.slice * (spread("slice") + 1) / 2;
    starts_ = (spread("slice start") + 1) / 2;
  }
  if (r.time_shift > 0) {
    const auto most = static_cast<std::int64_t>(
        std::llround(r.time_shift * static_cast<double>(shape_[1])));
    later_ = draw("time shift", static_cast<std::uint64_t>(2 * most + 1)) - most;
  }
  if (r.scaling > 0)
    factors_ = 1 + r.scaling * spread("scaling");
}

at::Tensor augmentation::shifted(const at::Tensor& images, std::int64_t from) const {
  const auto length = images.size(0), most = recipe_.shift;
  return at::constant_pad_nd(images, {most, most, most, most})
      .unfold(2, images.size(2), 1)
      .unfold(3, images.size(3), 1)
      .index({at::arange(length, down_.options()), at::indexing::Slice(),
              down_.narrow(0, from, length), right_.narrow(0, from, length)})
      .contiguous();
}

// Each pixel is between four of those that were there; beyond the edges are zeros.
at::Tensor augmentation::turned(const at::Tensor& images, std::int64_t from) const {
  constexpr std::int64_t bilinear = 0, zeros = 0;
  const auto places = at::affine_grid_generator(turns_.narrow(0, from, images.size(0)),
                                                images.sizes(), /*align_corners=*/false);
  return at::grid_sampler_2d(images, places, bilinear, zeros, /*align_corners=*/false);
}

at::Tensor augmentation::changed_images(at::Tensor images, std::int64_t from) const {
  const auto length = images.size(0);
  const auto own = [&](const at::Tensor& all) { return all.narrow(0, from, length); };
  if (recipe_.shift > 0)
    images = shifted(images, from);
  if (turns_.defined())
    images = turned(images, from);
  if (recipe_.flip)
    images = at::where(own(mirrored_), images.flip(3), images);
  if (gains_.defined())
    images = images * own(gains_) + own(offsets_);
  if (recipe_.cutout > 0)
    images = images.masked_fill(own(cut_rows_).logical_and(own(cut_columns_)), 0);
  return images;
}

// Window slicing: a part is stretched to the whole (Le Guennec et al., 2016). Each step is
// between two of those that were there.
at::Tensor augmentation::stretched(const at::Tensor& sequences, std::int64_t from) const {
  const auto length = sequences.size(0), last = sequences.size(1) - 1;
  const auto part = lengths_.narrow(0, from, length).unsqueeze(1) * last;
  const auto start = starts_.narrow(0, from, length).unsqueeze(1) * (last - part);
  const auto steps =
      at::arange(last + 1, part.options()) / std::max<std::int64_t>(last, 1);
  const auto places = start + part * steps.unsqueeze(0);
  const auto before = places.floor().clamp(0, last);
  const auto at = [&](const at::Tensor& place) {
    return sequences.gather(
        1, place.to(at::kLong).unsqueeze(2).expand({-1, -1, sequences.size(2)}));
  };
  return at::lerp(at(before), at((before + 1).clamp_max(last)),
                  (places - before).unsqueeze(2));
}

// The noise is drawn on the CPU, so that it is equal on every device.
at::Tensor augmentation::with_noise(const at::Tensor& sequences,
                                    std::int64_t from) const {
  auto random = key_.stream(fmt::format("jitter from {}", from), epoch_);
  const auto generator = at::detail::createCPUGenerator(random.next());
  const auto noise = at::randn(sequences.sizes(), generator, at::kFloat);
  return sequences + recipe_.jitter * noise.to(sequences.device());
}

at::Tensor augmentation::changed_sequences(at::Tensor sequences,
                                           std::int64_t from) const {
  const auto length = sequences.size(0), steps = sequences.size(1);
  if (lengths_.defined())
    sequences = stretched(sequences, from);
  if (recipe_.time_shift > 0) {
    const auto places = at::arange(steps, later_.options()).unsqueeze(0)
                        - later_.narrow(0, from, length).unsqueeze(1);
    sequences = sequences.gather(
        1, places.clamp(0, steps - 1).unsqueeze(2).expand(sequences.sizes()));
  }
  if (recipe_.scaling > 0)
    sequences = sequences * factors_.narrow(0, from, length).view({-1, 1, 1});
  return recipe_.jitter > 0 ? with_noise(sequences, from) : sequences;
}

} // namespace clade
