#pragma once

#include "engine/search/core/candidate.hpp"

#include <compare>
#include <vector>

namespace clade {

/// The place in the archive to which a network belongs: how large it is, in doublings,
/// and how deep.
struct niche {
  std::uint32_t size = 0;  ///< n parameters: 1 + floor(log2 n); 0 for none.
  std::uint32_t depth = 0; ///< Nodes on a path from the input to the output.

  friend auto operator<=>(const niche&, const niche&) = default;
};

[[nodiscard]] niche niche_of(const individual& i);

/// The fittest of each niche. It holds at most 65 sizes for each depth that the space
/// has.
class elite_archive {
public:
  /// Takes its niche if that is empty or held by one less fit; whether it did. The failed
  /// take none.
  bool add(const individual& i);

  /// By niche, the smallest first.
  [[nodiscard]] std::size_t size() const { return elites_.size(); }
  [[nodiscard]] const individual& operator[](std::size_t n) const {
    return elites_[n].fittest;
  }

  /// Best first.
  [[nodiscard]] std::vector<individual> best_first() const;

private:
  struct elite {
    niche where;
    individual fittest;
  };
  std::vector<elite> elites_; ///< Sorted by niche.
};

} // namespace clade
