#pragma once

#include "tools/machine/devices.hpp"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace clade {

/// A folder that holds a machine's proc and sys as they are written into it.
class made_up_machine {
public:
  made_up_machine() {
    std::string name = (std::filesystem::temp_directory_path() / "clade-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw std::runtime_error("no folder " + name);
    root = name;
    write("proc/self/status",
          "Name:\tclade\nCpus_allowed:\t0f\nCpus_allowed_list:\t0-3\n");
    write("proc/meminfo", "MemTotal:       8000000 kB\nMemFree:        1000000 kB\n"
                          "MemAvailable:   6000000 kB\n");
  }
  ~made_up_machine() { std::filesystem::remove_all(root); }
  made_up_machine(const made_up_machine&) = delete;
  made_up_machine& operator=(const made_up_machine&) = delete;

  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text;
  }

  [[nodiscard]] expected<machine> look() const {
    return look_at_machine({.root = root, .gpus = false});
  }

  std::filesystem::path root;
};

inline gpu a_gpu(unsigned index) {
  const std::string digit = std::to_string(index);
  return {.index = index,
          .uuid = "GPU-" + digit + "932f937-d72c-4106-c12f-20bd9faed9f6",
          .name = "NVIDIA H200",
          .total_bytes = 1000,
          .free_bytes = 800};
}

/// With so many GPUs and cores, and 1200 bytes of memory to be had.
inline machine a_machine(unsigned gpus, unsigned cores) {
  machine m{.memory_total = 2000, .memory_free = 1200};
  for (unsigned i = 0; i < gpus; ++i)
    m.gpus.push_back(a_gpu(i));
  for (unsigned i = 0; i < cores; ++i)
    m.cores.push_back(i);
  return m;
}

} // namespace clade
