#pragma once

#include <string_view>

namespace clade {

// Clade writes American English, as the interfaces of its field do, and reads British,
// which earlier versions wrote.

/// "optimizer" of "optimiser", "regularized" of "regularised"; other names as they are.
[[nodiscard]] std::string_view american(std::string_view name);

/// "optimiser" of "optimizer", "regularised" of "regularized": what earlier versions
/// wrote into resolved experiments, of which search hashes are taken. Other names as they
/// are.
[[nodiscard]] std::string_view spelling_of_hashes(std::string_view name);

} // namespace clade
