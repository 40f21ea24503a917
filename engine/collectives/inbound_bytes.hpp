#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace clade {

/// Bytes that have come and that nobody has asked for yet.
class inbound_bytes {
public:
  [[nodiscard]] std::size_t size() const { return end_ - begin_; }
  /// Returns the room for the bytes that come next; `added` says how many of them came.
  [[nodiscard]] std::span<std::byte> room();
  void added(std::size_t count) { end_ += count; }
  void add(std::span<const std::byte> bytes);
  /// Moves what there is to the front of `to`, and leaves in it what is still missing.
  void take(std::span<std::byte>& to);

private:
  void make_room(std::size_t wanted);

  std::unique_ptr<std::byte[]> bytes_;
  std::size_t capacity_ = 0, begin_ = 0, end_ = 0;
};

} // namespace clade
