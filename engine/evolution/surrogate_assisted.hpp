#pragma once

#include "engine/evolution/steady.hpp"
#include "engine/evolution/surrogate.hpp"

#include <deque>
#include <map>

namespace clade {

/// Evolution with a model of fitness (Jin, "Surrogate-assisted evolutionary computation",
/// Swarm and Evolutionary Computation 1, 2011; White, Neiswanger and Savani, "BANANAS",
/// AAAI 2021), in a steady state: the first few candidates are sampled; from then on
/// hundreds of mutated and crossed children of the best are looked at by a model of all
/// that was measured (surrogate.hpp), and the one of which the greatest improvement is
/// expected is trained (screening.hpp).
///
/// Several objectives too: the best are then the front, the lonelier first, and what is
/// expected to improve is its hypervolume (fitness_model.hpp).
///
/// To be taken when a training is dear, and there will be at most some thousands of them:
/// it finds good networks in a third to a half of the evaluations of regularised
/// evolution or local search. Each candidate costs 10 to 20 ms of a generator's time.
///
/// With several in flight, an order waits until those before it are born: their networks
/// are taken for measured as the model expects them, so that what is in training is not
/// asked for again. What a model knows of is the `in_flight` results less than there
/// could be; few in flight search better. Of long histories the best and the newest are
/// kept.
class surrogate_assisted final : public steady {
public:
  surrogate_assisted(const evolution_params& params, std::uint64_t seed);

  [[nodiscard]] std::vector<individual> population() const override;

  /// How many results it remembers.
  static constexpr std::size_t most_known = 2 * surrogate_params{}.examples;

private:
  void hear(const individual& evaluated) override;
  void bear(const candidate& c) override;
  [[nodiscard]] bool may_order() const override;
  void choose(breeding& order) override;

  using history = std::shared_ptr<const std::vector<individual>>;
  /// What was heard when so many results were, thinned out; the newest last.
  struct moment {
    candidate_id latest = 0;
    history known;
  };
  void forget_before(std::uint64_t heard);

  /// Since the eldest that an order can still look at, which is after `told_` results.
  std::deque<moment> moments_;
  std::uint64_t told_ = 0;
  /// Born, and not heard of in the eldest of these moments.
  std::map<candidate_id, std::shared_ptr<const clade::genome>> in_training_;
  std::uint64_t born_ = 0;
};

} // namespace clade
