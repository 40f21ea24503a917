#pragma once

#include "genome/base/random.hpp"
#include "genome/genes/hash.hpp"

#include <fmt/format.h>

#include <string_view>

namespace clade {

/// The key of the training whose randomness it is. Each use has a stream of its own, so
/// that one that draws more leaves the others as they are.
struct training_key {
  std::uint64_t seed = 0;
  purpose what = purpose::training;
  candidate_id id = 0;
  /// For a training that several devices share: which of them draws. The first draws what
  /// one device alone would.
  std::uint32_t share = 0;

  /// The stream for a layer's initial values, "order of examples", and so on; `round` is
  /// the epoch where each epoch draws anew.
  [[nodiscard]] random_stream stream(std::string_view use,
                                     std::uint64_t round = 0) const {
    if (share == 0)
      return derive(seed, what, id, hash64(use), round);
    return derive(seed, what, id, hash64(fmt::format("{} of share {}", use, share)),
                  round);
  }
};

} // namespace clade
