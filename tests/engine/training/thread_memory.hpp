#pragma once

#include <cstdint>

namespace clade::test {

/// While it lives, the bytes of new tensors are counted by the thread that makes them. For
/// layers whose kernels take no memory of their own from LibTorch: dense ones.
class tensor_count {
public:
  tensor_count();
  ~tensor_count();
  tensor_count(const tensor_count&) = delete;
  tensor_count& operator=(const tensor_count&) = delete;

  /// The most bytes that tensors of this thread had at once, since it began to count or
  /// called `forget_most`.
  [[nodiscard]] static std::int64_t most();
  static void forget_most();
};

} // namespace clade::test
