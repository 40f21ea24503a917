#pragma once

#include <span>
#include <string_view>

namespace clade {

/// What a strategy is called in an experiment file, and when to take it.
struct strategy_advice {
  std::string_view name;
  std::string_view sentence;
};

/// Every strategy that an experiment file may name, "auto" first.
/// (strategies/registry.cpp)
[[nodiscard]] std::span<const strategy_advice> strategies_with_advice();

} // namespace clade
