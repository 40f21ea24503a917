#include "actors/node/process_status.hpp"

#include <fstream>

namespace clade {

std::uint64_t status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  std::uint64_t kilobytes = 0;
  for (std::string word; status >> word;)
    if (word == name + ":") {
      status >> kilobytes;
      break;
    }
  return kilobytes * 1024;
}

} // namespace clade
