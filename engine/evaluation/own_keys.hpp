#pragma once

#include "genome/described_key.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace clade {

/// Meets the keys of an evaluator's own section, to read, write or list them
/// (engine/config/own_section.hpp).
class own_keys {
public:
  virtual ~own_keys() = default;

  virtual void key(described_key k, double& v) = 0;
  virtual void key(described_key k, std::uint32_t& v) = 0;
  virtual void key(described_key k, std::chrono::microseconds& v) = 0;
  /// One that came later: written only where it is not as usual.
  virtual void unusual(described_key k, double& v, double usual) = 0;
  virtual void list(described_key k, std::vector<std::string>& v) = 0;
  /// Relative to the experiment file's folder; written only where there is one.
  virtual void path(described_key k, std::filesystem::path& v) = 0;
  /// The same; left out, it is the experiment file's folder.
  virtual void folder(described_key k, std::filesystem::path& v) = 0;
};

} // namespace clade
