#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace clade {

/// Blocks of at least so many bytes lie in a file without a name, in the folder of the
/// user's cache, so that the system can move them out of memory.
constexpr std::size_t least_large_bytes = std::size_t{1} << 30;

/// Returns a block of so many bytes, of at least `least_large_bytes`: in a file that is
/// gone when the block is, whatever happens to the process. If there can be no such file
/// (no folder, a full disk) it lies in memory, or throws std::bad_alloc if it would take
/// more than half of the machine's.
[[nodiscard]] void* allocate_large(std::size_t bytes);
void free_large(void* block, std::size_t bytes);

/// An allocator for numbers. A vector does not set numbers that it adds without a value.
template<class T>
struct large_allocator {
  using value_type = T;

  large_allocator() = default;
  template<class U>
  large_allocator(const large_allocator<U>& /*other*/) {}

  [[nodiscard]] T* allocate(std::size_t count) {
    if (count >= least_large_bytes / sizeof(T))
      return static_cast<T*>(allocate_large(count * sizeof(T)));
    return static_cast<T*>(::operator new(count * sizeof(T)));
  }
  void deallocate(T* block, std::size_t count) {
    if (count >= least_large_bytes / sizeof(T))
      free_large(block, count * sizeof(T));
    else
      ::operator delete(block);
  }

  template<class U>
  void construct(U* at) noexcept {
    ::new (static_cast<void*>(at)) U;
  }
  template<class U, class... Arguments>
  void construct(U* at, Arguments&&... arguments) {
    ::new (static_cast<void*>(at)) U(std::forward<Arguments>(arguments)...);
  }

  friend bool operator==(const large_allocator& /*a*/, const large_allocator& /*b*/) {
    return true;
  }
};

/// Numbers of which there may be more than memory holds.
template<class T>
using large_vector = std::vector<T, large_allocator<T>>;

} // namespace clade
