#pragma once

#include "engine/run/records/record.hpp"

namespace clade {

/// Returns the number with which records of this kind are stored, for ever: the place of
/// the kind in the variant, from 1.
[[nodiscard]] inline std::uint64_t kind_of(const record& r) {
  return r.index() + 1;
}

} // namespace clade
