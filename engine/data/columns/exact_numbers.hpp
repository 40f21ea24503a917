#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace clade {

/// Numbers as a file has them, in 64 bits, or in 32 while that loses nothing (pixels,
/// counts, and what was written in 32 bits), so that most files take half the memory. NaN
/// is a blank.
class exact_numbers {
public:
  exact_numbers() = default;
  // Implicit: 32-bit numbers lose nothing here.
  exact_numbers(std::vector<float> values) : narrow_(std::move(values)) {}

  void push_back(double v) {
    if (!wide_ && !fits(v))
      widen();
    if (wide_)
      doubles_.push_back(v);
    else
      narrow_.push_back(static_cast<float>(v));
  }
  void append(const exact_numbers& others) {
    for (std::size_t i = 0; i < others.size(); ++i)
      push_back(others[i]);
  }
  void set(std::size_t i, double v) {
    if (!wide_ && !fits(v))
      widen();
    if (wide_)
      doubles_[i] = v;
    else
      narrow_[i] = static_cast<float>(v);
  }

  [[nodiscard]] double operator[](std::size_t i) const {
    return wide_ ? doubles_[i] : double{narrow_[i]};
  }
  [[nodiscard]] std::size_t size() const {
    return wide_ ? doubles_.size() : narrow_.size();
  }
  [[nodiscard]] bool empty() const { return size() == 0; }
  /// Whether a number needed 64 bits.
  [[nodiscard]] bool wide() const { return wide_; }
  void reserve(std::size_t count) {
    if (wide_)
      doubles_.reserve(count);
    else
      narrow_.reserve(count);
  }

  /// Keeps these rows of `width` numbers, in this order, which is a rising one.
  void keep_rows(std::span<const std::uint32_t> rows, std::size_t width) {
    const auto keep = [&](auto& values) {
      for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t c = 0; c < width; ++c)
          values[i * width + c] = values[rows[i] * width + c];
      values.resize(rows.size() * width);
      values.shrink_to_fit();
    };
    if (wide_)
      keep(doubles_);
    else
      keep(narrow_);
  }

  /// Returns `number(i, value)` of each, in 32 bits, in the memory of these numbers where
  /// that does.
  template<class Number>
  [[nodiscard]] std::vector<float> take_as(Number number) {
    std::vector<float> out = std::move(narrow_);
    if (wide_)
      out.resize(doubles_.size());
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = number(i, wide_ ? doubles_[i] : double{out[i]});
    *this = {};
    return out;
  }

  friend bool operator==(const exact_numbers&, const exact_numbers&) = default;

private:
  static bool fits(double v) {
    return std::isnan(v)
           || (std::abs(v) <= double{std::numeric_limits<float>::max()}
               && double{static_cast<float>(v)} == v);
  }
  void widen() {
    doubles_.reserve(narrow_.capacity());
    doubles_.assign(narrow_.begin(), narrow_.end());
    narrow_ = {};
    wide_ = true;
  }

  std::vector<float> narrow_;   ///< Empty once there are `doubles_`.
  std::vector<double> doubles_; ///< All of them.
  bool wide_ = false;
};

} // namespace clade
