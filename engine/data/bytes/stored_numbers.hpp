#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace clade {

/// The form in which numbers lie in memory. Cached data names it by its value.
enum class stored_type : std::uint8_t { float32, uint8, int64 };

[[nodiscard]] constexpr std::size_t size_of(stored_type type) {
  switch (type) {
  case stored_type::float32:
    return 4;
  case stored_type::uint8:
    return 1;
  case stored_type::int64:
    return 8;
  }
  return 0;
}

template<class T>
concept stored_number = std::is_same_v<T, float> || std::is_same_v<
    T, std::uint8_t> || std::is_same_v<T, std::int64_t>;

template<stored_number T>
[[nodiscard]] constexpr stored_type type_of() {
  return std::is_same_v<T, float>          ? stored_type::float32
         : std::is_same_v<T, std::uint8_t> ? stored_type::uint8
                                           : stored_type::int64;
}

/// Whether two lists hold the same numbers, in whatever form.
template<class Numbers>
[[nodiscard]] bool same_numbers(const Numbers& a, const Numbers& b) {
  if (a.size() != b.size())
    return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(a[i] == b[i]))
      return false;
  return true;
}

/// Numbers of one type that nobody changes, in memory of this process or mapped from a
/// file that other processes map too. Copies share them. A number means what is stored
/// divided by `divisor`.
class stored_numbers {
public:
  stored_numbers() = default;

  // Implicit: whoever computes numbers has them in a vector.
  template<stored_number T, class Allocator>
  stored_numbers(std::vector<T, Allocator> values, float divisor = 1)
      : type_(type_of<T>()),
        divisor_(divisor) {
    auto kept = std::make_shared<const std::vector<T, Allocator>>(std::move(values));
    bytes_ = std::as_bytes(std::span(*kept));
    keeper_ = std::move(kept);
  }

  /// Numbers without any yet: those of a file that is to be mapped.
  stored_numbers(stored_type type, float divisor) : type_(type), divisor_(divisor) {}

  /// Numbers of the type and divisor of `form`, in memory that `mapping` holds.
  stored_numbers(const stored_numbers& form, std::span<const std::byte> bytes,
                 std::shared_ptr<const void> mapping)
      : bytes_(bytes),
        type_(form.type_),
        divisor_(form.divisor_),
        mapped_(true),
        keeper_(std::move(mapping)) {}

  [[nodiscard]] stored_type type() const { return type_; }
  [[nodiscard]] float divisor() const { return divisor_; }
  [[nodiscard]] bool mapped() const { return mapped_; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] std::size_t size() const { return bytes_.size() / size_of(type_); }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }

  /// Returns the value that number `i` means.
  [[nodiscard]] float operator[](std::size_t i) const {
    switch (type_) {
    case stored_type::float32:
      return at<float>(i) / divisor_;
    case stored_type::uint8:
      return static_cast<float>(at<std::uint8_t>(i)) / divisor_;
    case stored_type::int64:
      return static_cast<float>(at<std::int64_t>(i)) / divisor_;
    }
    return 0;
  }

  /// Returns the values that all of them mean.
  [[nodiscard]] std::vector<float> values() const {
    std::vector<float> out(size());
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = (*this)[i];
    return out;
  }

  friend bool operator==(const stored_numbers& a, const stored_numbers& b) {
    return same_numbers(a, b);
  }

private:
  template<class T>
  [[nodiscard]] T at(std::size_t i) const {
    T v;
    std::memcpy(&v, bytes_.data() + i * sizeof v, sizeof v);
    return v;
  }

  std::span<const std::byte> bytes_;
  stored_type type_ = stored_type::float32;
  float divisor_ = 1;
  bool mapped_ = false;
  std::shared_ptr<const void> keeper_;
};

} // namespace clade
