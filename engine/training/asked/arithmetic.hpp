#pragma once

#include "genome/base/error.hpp"

#include <cstdint>
#include <string>

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

/// Returns what decides on the last bits of a training on this machine's processor: its
/// name, and the variables of the environment that tell libraries which instructions to
/// take: "AMD EPYC 7B13, MKL_CBWR=AVX2".
[[nodiscard]] std::string processor_text();

} // namespace clade
