#pragma once

#include "engine/search/core/candidate.hpp"
#include "engine/training/network/device_data.hpp"

#include <string_view>
#include <vector>

namespace clade {

/// Sums over the examples of a part, batch by batch and on the device, of which the usual
/// metrics are computed.
class part_sums {
public:
  /// `data` must outlive it.
  explicit part_sums(const device_data& data);

  /// Whether `metrics` has the metric of that name, a task's loss among them.
  [[nodiscard]] static bool give(const learning_task& task, std::string_view name);

  /// Adds a batch: predictions [examples, outputs], and targets as `device_data` has them.
  void add(const at::Tensor& predictions, const at::Tensor& targets);

  /// `part` is the examples that were added. Waits for the device.
  [[nodiscard]] std::vector<metric> metrics(const at::Tensor& part) const;

private:
  void add_labels(const at::Tensor& said, const at::Tensor& has);
  [[nodiscard]] double f1() const;

  const device_data& data_;
  at::Tensor loss_, squares_, correct_;
  at::Tensor counts_; ///< How many labels are told rightly, told, and there.
};

} // namespace clade
