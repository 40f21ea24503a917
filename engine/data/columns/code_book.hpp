#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace clade {

/// Numbers texts from 0 on, in the order in which they appear.
struct code_book {
  std::vector<std::string> texts; ///< By code.

  /// Returns the code of a text, a new one where it was not seen before.
  std::uint32_t code_of(const std::string& text) {
    const auto [at, fresh] =
        codes_.emplace(text, static_cast<std::uint32_t>(texts.size()));
    if (fresh)
      texts.push_back(text);
    return at->second;
  }

private:
  std::unordered_map<std::string, std::uint32_t> codes_;
};

} // namespace clade
