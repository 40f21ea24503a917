#pragma once

#include <cstdint>
#include <string_view>

namespace clade {

/// Whether what a training takes on that device is memory of this process, which is all
/// that is measured.
[[nodiscard]] inline bool measures_memory(std::string_view device) {
  return device.starts_with("cpu");
}

/// How much more memory this process took than it had, from construction on: what one
/// evaluation needed. Reads and resets the kernel's high-water mark (/proc/self/status,
/// VmHWM), so there may be one at a time.
class peak_memory {
public:
  explicit peak_memory(bool wanted);

  /// 0 where it is not wanted or the kernel does not tell.
  [[nodiscard]] std::uint64_t bytes() const;

private:
  std::uint64_t before_ = 0; ///< 0: not measured.
};

} // namespace clade
