#pragma once

#include "genome/genes/hash.hpp"

namespace clade {

/// Adds to the hash the bits that this process gives for fixed computations: matrix products
/// of several sizes, convolutions and elementary functions. MKL, oneDNN and ATen choose
/// their instructions by the size of what they are given, so that one training may show no
/// difference where another does. Takes some milliseconds; blocks for so long.
void add_rounding_probes(running_hash& bits);

} // namespace clade
