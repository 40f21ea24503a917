#pragma once

#include "engine/data/source/example_source.hpp"

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

namespace clade {

/// The part of examples that networks see: the numbers of an input, in float32 on the
/// device. They are held there, in 8 bits where the source has them so, or read from the
/// source as they are asked for.
class example_tensors {
public:
  example_tensors() = default;
  // Implicit: whoever computes what a network is to see has it in a tensor.
  example_tensors(at::Tensor values);
  /// An input of more than `most_bytes` is not held. If it is, and the device is the
  /// CPU, it shares its memory with the source.
  [[nodiscard]] static expected<example_tensors>
  of(std::shared_ptr<const example_source> source, std::size_t input,
     const at::Device& device, std::size_t most_bytes);

  /// Returns these examples, [indices, shape...]; `indices` is an int64 vector on the
  /// device. Throws std::system_error where the source cannot be read.
  [[nodiscard]] at::Tensor rows(const at::Tensor& indices) const;

  [[nodiscard]] std::int64_t dim() const {
    return static_cast<std::int64_t>(sizes_.size());
  }
  [[nodiscard]] std::int64_t size(std::size_t d) const { return sizes_.at(d); }
  [[nodiscard]] at::TensorOptions options() const { return divisor_.options(); }
  [[nodiscard]] at::Device device() const { return divisor_.device(); }
  /// Returns how many examples an epoch shuffles among each other (shuffled.hpp).
  [[nodiscard]] std::size_t window() const { return window_; }

private:
  [[nodiscard]] at::Tensor read(const at::Tensor& indices) const;

  std::shared_ptr<const example_source> source_;
  std::size_t input_ = 0;
  std::vector<std::int64_t> sizes_; ///< [examples, shape...]
  at::Tensor held_;                 ///< The stored form; undefined where they are read.
  at::Tensor divisor_; ///< float32, on the device: a constant there divides exactly.
  bool divided_ = false;
  std::size_t window_ = 0;
};

/// Returns the targets of all examples on the device: int64 [examples] of classes, float32
/// [examples, 1] of numbers. For other kinds an error says what training learns.
[[nodiscard]] expected<at::Tensor> targets_of(const example_source& source,
                                              const at::Device& device);

} // namespace clade
