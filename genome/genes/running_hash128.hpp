#pragma once

#include "genome/genes/genome.hpp"

#include <memory>
#include <span>

struct XXH3_state_s;

namespace clade {

/// Makes `hash128` of bytes that come piece by piece.
class running_hash128 {
public:
  running_hash128();
  void add(std::span<const char> piece);
  [[nodiscard]] genome_hash value() const;

private:
  struct freed {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, freed> state_;
};

} // namespace clade
