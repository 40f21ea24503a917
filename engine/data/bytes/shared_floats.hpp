#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace clade {

/// Numbers that nobody changes, in memory of this process or mapped from a file that
/// other processes map too. Copies share them.
class shared_floats {
public:
  shared_floats() = default;
  // Implicit: whoever computes numbers has them in a vector.
  shared_floats(std::vector<float> values) {
    auto kept = std::make_shared<const std::vector<float>>(std::move(values));
    values_ = *kept;
    keeper_ = std::move(kept);
  }
  /// `keeper` holds the memory of `values`.
  shared_floats(std::span<const float> values, std::shared_ptr<const void> keeper)
      : values_(values),
        keeper_(std::move(keeper)) {}

  [[nodiscard]] const float* data() const { return values_.data(); }
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  [[nodiscard]] bool empty() const { return values_.empty(); }
  [[nodiscard]] const float* begin() const { return data(); }
  [[nodiscard]] const float* end() const { return data() + size(); }
  [[nodiscard]] float operator[](std::size_t i) const { return values_[i]; }

  friend bool operator==(const shared_floats& a, const shared_floats& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

private:
  std::span<const float> values_;
  std::shared_ptr<const void> keeper_;
};

} // namespace clade
