#pragma once

#include "genome/base/described_key.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace clade {

/// A name and what stands for it.
using named_text = std::pair<std::string, std::string>;

/// Meets the keys of an experiment file that one strategy or one kind of evaluator alone
/// has, to read, write or list them (engine/config/file/own_section.hpp).
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
  virtual void unusual(described_key k, bool& v, bool usual) = 0;
  virtual void unusual(described_key k, std::chrono::microseconds& v,
                       std::chrono::microseconds usual) = 0;
  virtual void unusual_list(described_key k, std::vector<std::string>& v,
                            const std::vector<std::string>& usual) = 0;
  /// The same: a list of names of strategies, in whatever spelling.
  virtual void unusual_strategies(described_key k, std::vector<std::string>& v,
                                  const std::vector<std::string>& usual) = 0;
  virtual void list(described_key k, std::vector<std::string>& v) = 0;
  /// A table whose values are lists of texts, in the order of its keys, which may be any.
  virtual void lists(described_key k,
                     std::map<std::string, std::vector<std::string>>& v) = 0;
  /// Written only where there is one, as the two below.
  virtual void numbers(described_key k, std::vector<std::uint32_t>& v) = 0;
  /// A table of texts, of which any word may be a key.
  virtual void texts(described_key k, std::vector<named_text>& v) = 0;
  /// A table with the keys that `inner` shows.
  virtual void table(described_key k, bool written,
                     const std::function<void(own_keys&)>& inner) = 0;
  /// Relative to the experiment file's folder; written only where there is one.
  virtual void path(described_key k, std::filesystem::path& v) = 0;
  /// The same; left out, it is the experiment file's folder.
  virtual void folder(described_key k, std::filesystem::path& v) = 0;
};

} // namespace clade
