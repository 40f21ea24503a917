#pragma once

#include "engine/search/bases/ageing.hpp"

namespace clade {

/// Prunes and grows the branches of trained networks, as EnvelopeNets do (Kamath, Singh and
/// Dutta, "Neural architecture construction using EnvelopeNets", 2018), in a population that
/// ages. A branch is a parameter of an operator for which "zero" is a word
/// (search_spaces/envelope.toml). Trainings say how important each branch is
/// (`evaluation::branches`). Two of three children are the winner of a tournament with other
/// branches: the least important ones are pruned, up to a quarter of them, or the node whose
/// branches matter most gets a pruned one back or is followed by a copy of itself that has
/// all, or both. The third is a mutant or a cross, as in regularised evolution; so all else
/// of a genome is searched too.
///
/// Unlike in the paper, which restructures one network again and again, several lines are
/// followed at once, and a branch counts by what the loss says of it and not by the variance
/// of what it gives. If nobody has measured branches, as for a fitness that trains nothing,
/// those to be pruned are drawn. With `inherit` a child starts from its parent's weights.
class envelope_nets final : public ageing {
public:
  using ageing::ageing;

  [[nodiscard]] static expected<void> serves(const search_space& space);

private:
  void choose(breeding& order) override;
};

} // namespace clade
