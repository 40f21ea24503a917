#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// A key's name and the sentence that the reference has of it: what it decides, and how
/// to choose. It is taken where a name is; the reference takes nothing else, so that a
/// key without a sentence does not compile there.
struct described_key {
  std::string_view name;
  std::string_view sentence;
  constexpr operator std::string_view() const { return name; }
};

constexpr described_key describe(std::string_view name, std::string_view sentence) {
  return {name, sentence};
}

/// Meets the keys of an evaluator's own section, to read, write or list them
/// (engine/config/own_section.hpp).
class own_keys {
public:
  virtual ~own_keys() = default;

  virtual void key(described_key k, double& v) = 0;
  virtual void key(described_key k, std::uint32_t& v) = 0;
  virtual void key(described_key k, std::chrono::microseconds& v) = 0;
  virtual void list(described_key k, std::vector<std::string>& v) = 0;
  /// Relative to the experiment file's folder; written only where there is one.
  virtual void path(described_key k, std::filesystem::path& v) = 0;
  /// The same; left out, it is the experiment file's folder.
  virtual void folder(described_key k, std::filesystem::path& v) = 0;
};

} // namespace clade
