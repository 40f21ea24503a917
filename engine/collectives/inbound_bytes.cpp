#include "engine/collectives/inbound_bytes.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace clade {
namespace {

constexpr std::size_t room_bytes = 64 << 10;
// An empty buffer keeps this much memory at most.
constexpr std::size_t kept_bytes = 1 << 20;

} // namespace

void inbound_bytes::make_room(std::size_t wanted) {
  if (capacity_ - end_ >= wanted)
    return;
  const auto held = size();
  if (capacity_ - held >= wanted && begin_ >= held) {
    std::memcpy(bytes_.get(), bytes_.get() + begin_, held);
  } else {
    const auto larger = std::max(held + wanted, 2 * capacity_);
    auto moved = std::make_unique_for_overwrite<std::byte[]>(larger);
    if (held > 0)
      std::memcpy(moved.get(), bytes_.get() + begin_, held);
    bytes_ = std::move(moved);
    capacity_ = larger;
  }
  begin_ = 0;
  end_ = held;
}

std::span<std::byte> inbound_bytes::room() {
  make_room(room_bytes);
  return {bytes_.get() + end_, room_bytes};
}

void inbound_bytes::add(std::span<const std::byte> bytes) {
  make_room(bytes.size());
  std::ranges::copy(bytes, bytes_.get() + end_);
  end_ += bytes.size();
}

void inbound_bytes::take(std::span<std::byte>& to) {
  const auto count = std::min(size(), to.size());
  std::copy_n(bytes_.get() + begin_, count, to.begin());
  to = to.subspan(count);
  begin_ += count;
  if (begin_ < end_)
    return;
  begin_ = end_ = 0;
  if (capacity_ > kept_bytes) {
    bytes_.reset();
    capacity_ = 0;
  }
}

} // namespace clade
