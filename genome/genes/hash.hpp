#pragma once

#include "genome/genes/genome.hpp"

#include <memory>
#include <span>

struct XXH3_state_s;

namespace clade {

/// A canonical hash: the same for two genomes whose live parts (nodes and enabled edges
/// on a path from input to output) are the same network under some renaming of
/// innovations, with the same hyperparameters; different otherwise but for collisions.
/// The inputs of a merge count without order; the setting "merge" counts where several
/// edges enter. Weisfeiler and Leman's refinement, which is exact on the graphs that
/// occur here in practice: it takes a network of nodes that are all alike, joined by
/// recurrent edges alone, to mislead it.
[[nodiscard]] genome_hash canonical_hash(const genome& g);

/// XXH3, 64 and 128 bits: for checksums and digests of what we wrote ourselves.
[[nodiscard]] std::uint64_t hash64(std::span<const char> bytes, std::uint64_t seed = 0);
[[nodiscard]] genome_hash hash128(std::span<const char> bytes);

/// Makes `hash64` of bytes that come piece by piece.
class running_hash {
public:
  running_hash();
  void add(std::span<const char> piece);
  [[nodiscard]] std::uint64_t value() const;

private:
  struct freed {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, freed> state_;
};

} // namespace clade
