#pragma once

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace clade::test {

/// Compares the lines with those of a file that was written once. Who means to change what
/// programs read runs the test with CLADE_WRITE_GOLDEN=1, which writes the file anew.
inline void check_golden(const std::filesystem::path& file,
                         const std::vector<std::string>& lines) {
  if (std::getenv("CLADE_WRITE_GOLDEN") != nullptr) {
    std::ofstream out(file);
    for (const auto& line : lines)
      out << line << "\n";
  }
  std::ifstream in(file);
  std::vector<std::string> golden;
  for (std::string line; std::getline(in, line);)
    golden.push_back(line);
  INFO(file.string());
  CHECK(lines == golden);
}

} // namespace clade::test
