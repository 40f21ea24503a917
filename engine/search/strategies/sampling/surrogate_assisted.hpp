#pragma once

#include "engine/search/bases/model_guided.hpp"
#include "engine/search/models/fitted/earlier_results.hpp"
#include "engine/search/models/fitted/surrogate.hpp"

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
/// If the last three results were each equal to one before, as on a plateau, the next
/// candidate is sampled: a model learns nothing from more of them, and what it has learnt
/// says that there is nothing else.
///
/// With `zero_cost`, the model's 16 best are measured before any training of theirs
/// (engine/training/loop/zero_cost.hpp), and a second model, of the same kind and of all that
/// was trained, with these scores beside the rest, says which of them it is to be
/// (Abdelfattah, Mehrotra, Dudziak and Lane, "Zero-cost proxies for lightweight NAS",
/// ICLR 2021, where such scores warm up and narrow a search). On the digits the scores
/// raise the rank correlation of predictions with how unseen random networks do (from 40
/// examples .47 to .63), but not, beyond chance, what a search finds: so it is off unless
/// asked for, and worth a try where a training takes much longer than 16 measurements.
///
/// It may begin with the results of earlier runs (earlier_results.hpp).
///
/// With several in flight, an order waits until those before it are born: their networks
/// are taken for measured as the model expects them, so that what is in training is not
/// asked for again. The results that a model knows are `in_flight` less than there could
/// be; few in flight search better. In a long history the best and the newest are kept.
class surrogate_assisted final : public model_guided {
public:
  surrogate_assisted(const evolution_params& params, std::uint64_t seed);

  /// Says which of the results of earlier runs is none.
  [[nodiscard]] static expected<void> validate(const evolution_params& params);

  [[nodiscard]] std::vector<individual> population() const override;

  /// How many results it remembers.
  static constexpr std::size_t most_known = 2 * surrogate_params{}.examples;

private:
  void thin(std::vector<individual>& known) const override;
  void choose(breeding& order) override;

  std::shared_ptr<const std::vector<earlier_result>> earlier_;
};

} // namespace clade
