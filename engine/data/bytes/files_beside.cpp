#include "engine/data/bytes/files_beside.hpp"

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace clade {
namespace {

struct replacement {
  std::string_view part, by;
};

constexpr std::array<replacement, 13> targets{{
    {"images-idx3", "labels-idx1"},
    {"images", "labels"},
    {"_data_raw", "_target"},
    {"_data", "_target"},
    {"_data", "_labels"},
    {"features", "labels"},
    {"features", "targets"},
    {"inputs", "targets"},
    {"X_", "y_"},
    {"x_", "y_"},
    {"X.", "y."},
    {"x.", "y."},
    {"X.", "Y."},
}};

constexpr std::array<replacement, 4> tests{{
    {"train-", "t10k-"},
    {"train", "test"},
    {"Train", "Test"},
    {"TRAIN", "TEST"},
}};

std::optional<std::filesystem::path> beside(const std::filesystem::path& file,
                                            std::span<const replacement> known) {
  for (const auto& [part, by] : known) {
    std::string name = file.filename().string();
    const std::size_t at = name.find(part);
    if (at == std::string::npos)
      continue;
    name.replace(at, part.size(), by);
    auto other = file.parent_path() / name;
    std::error_code ignored;
    if (std::filesystem::is_regular_file(other, ignored))
      return other;
  }
  return std::nullopt;
}

} // namespace

std::optional<std::filesystem::path>
target_file_beside(const std::filesystem::path& file) {
  return beside(file, targets);
}

std::optional<std::filesystem::path> test_file_beside(const std::filesystem::path& file) {
  return beside(file, tests);
}

} // namespace clade
