#pragma once

#include <string_view>

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

} // namespace clade
