#pragma once

#include "engine/training/network/augmentation.hpp"
#include "engine/training/network/example_tensors.hpp"
#include "genome/base/random.hpp"

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// The examples of a source as tensors on the device; batches are gathered there.
struct device_data {
  example_tensors features;
  at::Tensor targets; ///< int64 [examples], or float32 [examples, outputs].
  at::Tensor train, validation, test; ///< int64 indices.
  bool parts_by_chance = true;        ///< The same as in `source_description`.
  learning_task task = classification;
  /// float32 [examples]: how much each counts in training; undefined where all do the same.
  at::Tensor weights{};
  std::vector<target_scale> target_scales{{}}; ///< The same as in `data_set`.
  /// float32 [outputs]: the quantile that each output is; undefined where they are none.
  at::Tensor quantiles{};
  std::vector<std::string> classes; ///< The same as in `data_set`.
  /// The places, as in `source_description`.
  std::vector<std::uint64_t> test_places{};
  bool by_line = false;
  std::vector<std::string>
      test_names{}; ///< It means the same as in `source_description`.
  std::shared_ptr<const forecast_steps> steps{}; ///< The same as in `source_description`.
  std::vector<input_column> columns{};           ///< The same as in `source_description`.
  /// float32 [classes]: what errors weigh in the loss; undefined where all weigh 1.
  at::Tensor class_weights{};
};

/// An error says what of the source training does not learn from. An input of more than
/// `most_bytes` stays where it is, and each batch is read when it is due.
[[nodiscard]] expected<device_data>
to_device(std::shared_ptr<const example_source> source, const std::string& device,
          std::size_t most_bytes = most_whole_bytes);

/// Whether an example has several targets, or labels.
[[nodiscard]] inline bool has_several(const device_data& data) {
  return !data.task.has_classes() && !data.classes.empty();
}

/// Returns what a model says of some examples, [examples, outputs], as it is judged:
/// quantiles in rising order.
[[nodiscard]] at::Tensor as_predicted(const device_data& data, const at::Tensor& said);

struct batch {
  at::Tensor features;
  at::Tensor targets;
  /// Defined where each example is mixed with another one (mixup): the targets of those.
  at::Tensor other_targets{};
  /// How much each example counts, and each other one; undefined where all do the same.
  at::Tensor weights{}, other_weights{};
  /// The share of the whole that `targets` count; the others count the rest.
  double share = 1;
};

/// The training examples of one epoch after another, in an order and with an augmentation
/// drawn from the candidate's key.
class batch_source {
public:
  batch_source(const device_data& data, const recipe& r, const training_key& key);

  /// Batches differ in size by one example at most, and none has a single one (its
  /// variance, which normalisation divides by, would be 0).
  [[nodiscard]] std::int64_t batches_per_epoch() const { return batches_; }

  /// Draws the order for this epoch.
  void start(std::uint32_t epoch);

  [[nodiscard]] batch next();

private:
  void mix(batch& b) const;

  const device_data& data_;
  training_key key_;
  augmentation augmentation_;
  double mixup_ = 0;
  std::int64_t batches_ = 1;
  std::int64_t at_ = 0; ///< The next batch.
  at::Tensor order_;
  /// The shares that each batch's own examples count.
  std::vector<double> shares_;
};

} // namespace clade
