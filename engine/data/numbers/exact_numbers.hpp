#pragma once

#include "engine/data/bytes/stored_numbers.hpp"
#include "engine/data/memory/large_vector.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace clade {

/// Numbers as a file has them, in 64 bits, or in 32 or 8 while that loses nothing (pixels,
/// counts, and what was written in 32 bits), so that most files take half the memory and
/// images an eighth. NaN is a blank. There may be more of them than memory holds.
class exact_numbers {
public:
  exact_numbers() = default;
  // Implicit: numbers of fewer bits lose nothing here.
  exact_numbers(const std::vector<float>& values)
      : narrow_(values.begin(), values.end()),
        form_(form::narrow) {}
  exact_numbers(large_vector<std::uint8_t> values) : bytes_(std::move(values)) {}

  void push_back(double v) {
    make_room_for(v);
    with([&](auto& values) {
      values.push_back(
          static_cast<typename std::decay_t<decltype(values)>::value_type>(v));
    });
  }
  void append(const exact_numbers& others) {
    if (form_ == form::bytes && others.form_ == form::bytes) {
      bytes_.insert(bytes_.end(), others.bytes_.begin(), others.bytes_.end());
      return;
    }
    for (std::size_t i = 0; i < others.size(); ++i)
      push_back(others[i]);
  }
  void append(std::span<const std::uint8_t> values) {
    if (form_ == form::bytes)
      bytes_.insert(bytes_.end(), values.begin(), values.end());
    else
      for (const auto v : values)
        push_back(v);
  }
  void append(std::span<const double> values) {
    for (std::size_t i = 0; i < values.size();) {
      make_room_for(values[i]);
      switch (form_) {
      case form::bytes:
        for (; i < values.size() && fits_byte(values[i]); ++i)
          bytes_.push_back(static_cast<std::uint8_t>(values[i]));
        break;
      case form::narrow:
        for (; i < values.size() && fits_float(values[i]); ++i)
          narrow_.push_back(static_cast<float>(values[i]));
        break;
      case form::wide:
        doubles_.insert(doubles_.end(), values.begin() + static_cast<std::ptrdiff_t>(i),
                        values.end());
        return;
      }
    }
  }
  void set(std::size_t i, double v) {
    make_room_for(v);
    with([&](auto& values) {
      values[i] = static_cast<typename std::decay_t<decltype(values)>::value_type>(v);
    });
  }

  [[nodiscard]] double operator[](std::size_t i) const {
    switch (form_) {
    case form::bytes:
      return bytes_[i];
    case form::narrow:
      return narrow_[i];
    case form::wide:
      break;
    }
    return doubles_[i];
  }
  [[nodiscard]] std::size_t size() const {
    return bytes_.size() + narrow_.size() + doubles_.size();
  }
  [[nodiscard]] bool empty() const { return size() == 0; }
  /// Whether a number needed 64 bits.
  [[nodiscard]] bool wide() const { return form_ == form::wide; }
  /// Whether all are whole numbers from 0 to 255, held as such.
  [[nodiscard]] bool are_bytes() const { return form_ == form::bytes; }
  /// The bytes that they are held as; empty where they are not.
  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return bytes_; }
  void reserve(std::size_t count) {
    with([&](auto& values) { values.reserve(count); });
  }

  /// Keeps these rows of `width` numbers, in this order, which is a rising one.
  void keep_rows(std::span<const std::uint32_t> rows, std::size_t width) {
    with([&](auto& values) {
      for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t c = 0; c < width; ++c)
          values[i * width + c] = values[rows[i] * width + c];
      values.resize(rows.size() * width);
      values.shrink_to_fit();
    });
  }

  /// Returns `number(i, value)` of each, called in their order, in 32 bits, in the memory of
  /// these numbers where that does.
  template<class Number>
  [[nodiscard]] large_vector<float> take_as(Number number) {
    const auto count = size();
    large_vector<float> out = std::move(narrow_);
    out.resize(count);
    for (std::size_t i = 0; i < count; ++i)
      out[i] = number(i, form_ == form::narrow ? double{out[i]} : (*this)[i]);
    *this = {};
    return out;
  }

  /// Returns the bytes that they are held as.
  [[nodiscard]] large_vector<std::uint8_t> take_bytes() {
    auto out = std::move(bytes_);
    *this = {};
    return out;
  }

  friend bool operator==(const exact_numbers& a, const exact_numbers& b) {
    return same_numbers(a, b);
  }

private:
  enum class form : std::uint8_t { bytes, narrow, wide };

  static bool fits_byte(double v) {
    return v >= 0 && v <= std::numeric_limits<std::uint8_t>::max() && v == std::floor(v)
           && !std::signbit(v);
  }
  static bool fits_float(double v) {
    return std::isnan(v)
           || (std::abs(v) <= double{std::numeric_limits<float>::max()}
               && double{static_cast<float>(v)} == v);
  }
  void make_room_for(double v) {
    if (form_ == form::bytes && !fits_byte(v)) {
      move_into(narrow_, bytes_);
      form_ = form::narrow;
    }
    if (form_ == form::narrow && !fits_float(v)) {
      move_into(doubles_, narrow_);
      form_ = form::wide;
    }
  }
  template<class To, class From>
  static void move_into(To& to, From& from) {
    to.reserve(from.capacity());
    to.assign(from.begin(), from.end());
    from = {};
  }
  template<class Work>
  void with(Work work) {
    switch (form_) {
    case form::bytes:
      return work(bytes_);
    case form::narrow:
      return work(narrow_);
    case form::wide:
      return work(doubles_);
    }
  }

  // All of them are in one, the others empty.
  large_vector<std::uint8_t> bytes_;
  large_vector<float> narrow_;
  large_vector<double> doubles_;
  form form_ = form::bytes;
};

} // namespace clade
