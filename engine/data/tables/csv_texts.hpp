#pragma once

#include "engine/data/columns/date_column.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace clade {

/// Texts by the order in which they appear.
class text_codes {
public:
  /// The text's number, and whether it is new.
  std::pair<std::uint32_t, bool> code(std::string_view text) {
    const auto [at, fresh] =
        codes_.emplace(text, static_cast<std::uint32_t>(codes_.size()));
    if (fresh)
      texts_.emplace_back(text);
    return {at->second, fresh};
  }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }
  [[nodiscard]] std::vector<std::string> take() { return std::move(texts_); }

private:
  std::unordered_map<std::string, std::uint32_t> codes_;
  std::vector<std::string> texts_;
};

/// A column of texts while it is read.
struct open_texts {
  text_codes codes;
  date_column dates;
  std::vector<bool> no_days; ///< By code of a date: it is written as one, but is none.
};

} // namespace clade
