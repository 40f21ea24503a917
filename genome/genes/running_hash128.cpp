#include "genome/genes/running_hash128.hpp"

#include <xxhash.h>

namespace clade {

running_hash128::running_hash128() : state_(XXH3_createState()) {
  XXH3_128bits_reset(state_.get());
}

void running_hash128::add(std::span<const char> piece) {
  XXH3_128bits_update(state_.get(), piece.data(), piece.size());
}

genome_hash running_hash128::value() const {
  const XXH128_hash_t h = XXH3_128bits_digest(state_.get());
  return {h.high64, h.low64};
}

void running_hash128::freed::operator()(XXH3_state_s* state) const {
  XXH3_freeState(state);
}

} // namespace clade
