#pragma once

#include "engine/search/core/candidate.hpp"

#include <vector>

namespace clade {

/// Which networks were born, by canonical hash: an equal one is not trained twice. An
/// open addressing table of 16 bytes an entry, 8 of the hash and 8 of the id, so that a
/// million networks take 32 MB. Two networks that share those 8 bytes count as equal:
/// among a million, a chance of one in 40 million that any two do.
class known_networks {
public:
  /// The oldest candidate with that network, or 0.
  [[nodiscard]] candidate_id find(genome_hash network) const;

  /// Keeps the older one if there is one already.
  void insert(genome_hash network, candidate_id id);

  [[nodiscard]] std::size_t size() const { return size_; }

private:
  struct entry {
    std::uint64_t key = 0;
    candidate_id id = 0;
  };
  std::vector<entry> entries_;
  std::size_t size_ = 0;
};

} // namespace clade
