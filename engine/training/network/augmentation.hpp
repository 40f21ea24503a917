#pragma once

#include "engine/training/asked/recipe.hpp"
#include "engine/training/network/example_tensors.hpp"
#include "engine/training/network/training_key.hpp"

namespace clade {

/// Changes the examples of training by chance, as the recipe says: of images place, angle,
/// size, side, colour and a square that they lose; of sequences the part that is seen, its
/// place, its scale and noise. All of it is drawn once an epoch from the key, for each example;
/// noise is drawn for each batch.
class augmentation {
public:
  /// `train` are the indices of the examples, on the device.
  augmentation(const example_tensors& features, const at::Tensor& train, const recipe& r,
               const training_key& key);

  /// Draws for this epoch.
  void start(std::uint32_t epoch);

  /// Returns the examples [examples, shape...] as they are changed; they are those from
  /// place `from` of the epoch's order on.
  [[nodiscard]] at::Tensor changed(at::Tensor examples, std::int64_t from) const;

private:
  void draw_images();
  void draw_squares();
  void draw_sequences();
  [[nodiscard]] at::Tensor changed_images(at::Tensor images, std::int64_t from) const;
  [[nodiscard]] at::Tensor changed_sequences(at::Tensor sequences,
                                             std::int64_t from) const;
  [[nodiscard]] at::Tensor shifted(const at::Tensor& images, std::int64_t from) const;
  [[nodiscard]] at::Tensor turned(const at::Tensor& images, std::int64_t from) const;
  [[nodiscard]] at::Tensor stretched(const at::Tensor& sequences,
                                     std::int64_t from) const;
  [[nodiscard]] at::Tensor with_noise(const at::Tensor& sequences,
                                      std::int64_t from) const;
  /// Whole numbers below `bound`, int64 [examples * each].
  [[nodiscard]] at::Tensor draw(std::string_view use, std::uint64_t bound,
                                std::int64_t each = 1) const;
  /// Numbers from -1 to 1, float32 [examples * each].
  [[nodiscard]] at::Tensor spread(std::string_view use, std::int64_t each = 1) const;

  std::vector<std::int64_t> shape_; ///< [examples to learn from, shape...]
  at::Device device_;
  recipe recipe_;
  training_key key_;
  std::uint32_t epoch_ = 0;
  at::Tensor down_, right_, mirrored_;
  at::Tensor turns_;                  ///< [examples, 2, 3]: maps to where pixels were.
  at::Tensor gains_, offsets_;        ///< [examples, channels, 1, 1]
  at::Tensor cut_rows_, cut_columns_; ///< bool: where each example's square is.
  at::Tensor lengths_, starts_;       ///< Share of the steps, and of those left over.
  at::Tensor later_, factors_;        ///< Steps and factor of each sequence.
};

} // namespace clade
