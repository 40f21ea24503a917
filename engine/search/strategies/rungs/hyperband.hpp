#pragma once

#include "engine/search/bases/brackets.hpp"

namespace clade {

/// Hyperband (Li, Jamieson, DeSalvo, Rostamizadeh and Talwalkar, JMLR 18, 2018):
/// successive halving that hedges against first epochs that mislead. With L rungs, a
/// bracket begins on each rung b = 0..L-1, with a number of candidates in proportion to
///
///   n_b = ceil(L / (L - b) * reduction^(L - 1 - b)),
///
/// so that each bracket costs about the same; the last trains all of its candidates to
/// the end. The paper takes the brackets one after another; here all are under way at
/// once (brackets.hpp), and candidates are bred from the highest rung that enough have
/// reached, where the paper samples.
///
/// To take when it is not known how much the first epochs tell. It costs at most about L
/// times what the best of its brackets would have.
class hyperband : public brackets {
public:
  using brackets::brackets;

private:
  [[nodiscard]] std::vector<double> beginnings() const override;
};

} // namespace clade
