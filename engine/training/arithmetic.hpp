#pragma once

#include "genome/error.hpp"

#include <cstdint>

namespace clade {

/// With which instructions trainings compute. Libraries take the newest ones that a
/// processor has, and with others the last bits of a result are others.
enum class arithmetic : std::uint8_t {
  native,  ///< The processor's own: machines of different processors differ.
  portable ///< AVX2 and FMA, on every machine: x86-64 processors give the same bits.
};

/// Has MKL, oneDNN and ATen compute so, if none of them computed anything in this process
/// yet. For native they are left as they are. An error names what the processor lacks.
[[nodiscard]] expected<void> enter_arithmetic(arithmetic a);

} // namespace clade
