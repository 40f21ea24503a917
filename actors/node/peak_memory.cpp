#include "actors/node/peak_memory.hpp"

#include "actors/node/process_status.hpp"

#include <fstream>

namespace clade {

peak_memory::peak_memory(bool wanted) {
  if (!wanted)
    return;
  // 5: the high-water mark starts again from what is resident now.
  std::ofstream reset("/proc/self/clear_refs");
  if (reset << 5 << std::flush)
    before_ = status_bytes("VmRSS");
}

std::uint64_t peak_memory::bytes() const {
  if (before_ == 0)
    return 0;
  const auto peak = status_bytes("VmHWM");
  return peak > before_ ? peak - before_ : 0;
}

} // namespace clade
