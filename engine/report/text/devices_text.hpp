#pragma once

#include "engine/store/run/overview.hpp"

#include <span>
#include <string>

namespace clade {

/// Returns what the slots of a run computed on: the processor, and the variables that tell
/// libraries which instructions to take, since the last bits of evaluations depend on both:
/// "AMD EPYC 7B13, MKL_CBWR=AVX2 (cpu:0, cpu:1)". Empty where nothing is known.
[[nodiscard]] std::string devices_text(std::span<const node_overview> nodes);

} // namespace clade
