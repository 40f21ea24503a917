#pragma once

#include "genome/described_key.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace clade {

/// Meets the keys of an experiment file that one strategy or one kind of evaluator alone
/// has, to read, write or list them (engine/config/own_section.hpp).
class own_keys {
public:
  virtual ~own_keys() = default;

  virtual void key(described_key k, double& v) = 0;
  virtual void key(described_key k, std::uint32_t& v) = 0;
  virtual void key(described_key k, std::chrono::microseconds& v) = 0;
  /// A key that a resolved experiment has only where it is not as usual, so that it
  /// changes no text that was stored before there was such a key.
  virtual void unusual(described_key k, std::size_t& v, std::size_t usual) = 0;
  virtual void unusual(described_key k, double& v, double usual) = 0;
  virtual void unusual(described_key k, std::string& v, const std::string& usual) = 0;
  /// The same: a list of names of strategies, in whatever spelling.
  virtual void unusual_strategies(described_key k, std::vector<std::string>& v,
                                  const std::vector<std::string>& usual) = 0;
  virtual void list(described_key k, std::vector<std::string>& v) = 0;
  /// Relative to the experiment file's folder; written only where there is one.
  virtual void path(described_key k, std::filesystem::path& v) = 0;
  /// The same; left out, it is the experiment file's folder.
  virtual void folder(described_key k, std::filesystem::path& v) = 0;
};

} // namespace clade
