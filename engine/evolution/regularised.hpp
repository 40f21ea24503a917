#pragma once

#include "engine/evolution/strategy.hpp"

#include <deque>
#include <map>

namespace clade {

/// Regularised (ageing) evolution in a steady state (Real, Aggarwal, Huang and Le,
/// "Regularized Evolution for Image Classifier Architecture Search", AAAI 2019). The
/// first `population` candidates are sampled. From then on each child has the winner of a
/// tournament among the living as its parent, is mutated, and takes the place of the
/// oldest, however fit that one is. With the chance `crossover`, which the paper does not
/// have, the child has a second such parent.
///
/// No generation is waited for: `in_flight` candidates are open at any time, and the
/// order for candidate k is given as the (k - in_flight)-th result is heard. If
/// tell_order is "asked", results are heard in the order of ids, those that come early
/// being kept back; then the search depends on nothing but the seed and the fitness. If
/// it is "arrived", they are heard as they come. A generation is closed after each
/// `population` results heard; those beyond wait for it. After a change of parameters,
/// generations are counted on from the one that was closed; what is open or ordered stays
/// so.
class regularised final : public strategy {
public:
  regularised(const evolution_params& params, std::uint64_t seed);

  [[nodiscard]] std::vector<breeding> ask(candidate_id beyond,
                                          std::size_t limit) const override;
  void born(const candidate& c) override;
  void tell(const individual& evaluated) override;
  [[nodiscard]] std::optional<generation_closed> closing() const override;
  void close() override;
  [[nodiscard]] bool change(const evolution_params& params, std::uint64_t seed) override;
  [[nodiscard]] bool finished() const override;
  void extend(std::size_t more) override;
  [[nodiscard]] bool give(std::shared_ptr<const clade::genome> genome,
                          const std::string& origin) override;
  [[nodiscard]] std::vector<individual> population() const override;
  [[nodiscard]] std::uint64_t generation() const override { return closed_; }

private:
  void hear();
  void order_due();
  void order_next();
  [[nodiscard]] std::uint64_t end_of_generation() const;
  [[nodiscard]] candidate_id last_candidate() const;
  [[nodiscard]] std::size_t win(random_stream& random) const;

  evolution_params params_;
  std::uint64_t seed_;
  std::deque<individual> living_; ///< The oldest first.
  std::deque<breeding> orders_;   ///< Given, not born.
  std::deque<breeding> gifts_;    ///< A person's genomes, for the next orders.
  std::map<std::uint64_t, individual>
      told_; ///< By the turn in which they are heard, from 1.
  std::uint64_t ordered_ = 0, arrived_ = 0, heard_ = 0, closed_ = 0;
  /// Where parameters were changed last: generations closed, and results in them.
  std::uint64_t changed_closed_ = 0, changed_heard_ = 0;
};

} // namespace clade
