#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace clade {

/// A new folder of its own, removed at the end.
class scratch_folder {
public:
  scratch_folder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "clade-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      std::abort();
    path_ = name;
  }

  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
};

/// Returns what can be read of a file, which may go away meanwhile as those of processes do.
inline std::string read_text(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

inline void write_text(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

} // namespace clade
