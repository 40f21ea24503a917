#include "actors/peak_memory.hpp"

#include <fstream>
#include <string>

namespace clade {

namespace {

std::uint64_t status_bytes(const std::string& wanted) {
  std::ifstream status("/proc/self/status");
  std::uint64_t kilobytes = 0;
  for (std::string word; status >> word;)
    if (word == wanted) {
      status >> kilobytes;
      break;
    }
  return kilobytes * 1024;
}

} // namespace

peak_memory::peak_memory(bool wanted) {
  if (!wanted)
    return;
  // 5: the high-water mark starts again from what is resident now.
  std::ofstream reset("/proc/self/clear_refs");
  if (reset << 5 << std::flush)
    before_ = status_bytes("VmRSS:");
}

std::uint64_t peak_memory::bytes() const {
  if (before_ == 0)
    return 0;
  const auto peak = status_bytes("VmHWM:");
  return peak > before_ ? peak - before_ : 0;
}

} // namespace clade
