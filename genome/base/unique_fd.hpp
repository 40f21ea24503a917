#pragma once

#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

namespace clade {

/// Owns a file descriptor and closes it; -1 is none.
class unique_fd {
public:
  unique_fd() = default;
  explicit unique_fd(int descriptor) : descriptor_(descriptor) {}
  unique_fd(unique_fd&& other) noexcept : descriptor_(other.release()) {}
  unique_fd& operator=(unique_fd&& other) noexcept {
    reset(other.release());
    return *this;
  }
  ~unique_fd() { reset(); }

  [[nodiscard]] int get() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }
  /// The caller closes it from now on.
  [[nodiscard]] int release() { return std::exchange(descriptor_, -1); }
  /// Closes what is owned and owns `descriptor` instead. `errno` stays as it was.
  void reset(int descriptor = -1) {
    if (const int old = std::exchange(descriptor_, descriptor); old >= 0)
      static_cast<void>(close_of(old));
  }
  /// Closes it. Returns 0, or the error number: some file systems say only here that
  /// what was written could not be kept.
  [[nodiscard]] int close() { return descriptor_ < 0 ? 0 : close_of(release()); }

private:
  static int close_of(int descriptor) {
    const int before = errno;
    const int failed = ::close(descriptor) == 0 ? 0 : errno;
    errno = before;
    return failed;
  }

  int descriptor_ = -1;
};

/// Writes all of it. Returns 0, or the error number.
[[nodiscard]] int write_all(int descriptor, std::string_view bytes);

/// A file in memory, which nobody else can open, to be read from its start; none and
/// `errno` where it cannot be had.
[[nodiscard]] unique_fd memory_file(std::string_view content = {});

} // namespace clade
