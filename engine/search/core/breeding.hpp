#pragma once

#include "engine/search/core/candidate.hpp"
#include "engine/search/core/evolution_params.hpp"
#include "engine/search/core/zero_cost.hpp"
#include "search_spaces/operators/variation.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace clade {

/// The rules that hold for all that is bred in a run.
struct breeding_rules {
  const search_space& space;
  const clade::problem& problem;
  const mutation_params& mutation;
  std::uint64_t seed = 0;
  /// Not null in a run with `evolution_params::zero_cost`. The candidate holds the scores
  /// that were asked for while it was bred, and its own.
  zero_cost_scorer* scorer = nullptr;
};

struct breeding;

/// A genome that a strategy makes in a way of its own, by a model or by arithmetic on its
/// parents. It is made where the order is carried out: heavy work is then done by the
/// generators, and none of it is done again for what a resumed run finds recorded. A
/// proposal holds what its model needs and fits the model when it is first asked to
/// `make`. Threads share it. If the network it made is known already, it is asked again
/// with a higher `attempt`.
class proposal {
public:
  virtual ~proposal() = default;
  /// Returns a genome that decodes, and how it came about. A pure function of the order,
  /// of the rules with what their scorer answers, and of what the proposal holds.
  [[nodiscard]] virtual expected<offspring> make(const breeding_rules& rules,
                                                 const breeding& order) const = 0;
};

/// An order to a generator. The genome that it makes is a pure function of this and the
/// rules (`breed`).
struct breeding {
  enum class kind : std::uint8_t {
    sample = 0,
    mutate = 1,
    cross = 2,   ///< Up to here the number is that of the parents.
    given = 3,   ///< A person's genome.
    propose = 4, ///< By `proposal`, whatever the number of parents.
    train_on = 5 ///< The one parent's genome, for more epochs.
  };

  candidate_id id = 0;
  std::uint64_t generation = 0;
  std::uint64_t index = 0;
  /// Raised when what was made is an equal of a known network.
  std::uint64_t attempt = 0;
  kind how = kind::sample;
  /// The fitter first. A proposal chooses among them and says which it took.
  std::vector<individual> parents{};
  /// For `given`: the genome, and where it comes from.
  std::shared_ptr<const clade::genome> genome{};
  std::string origin{};
  /// For `propose`.
  std::shared_ptr<const clade::proposal> proposal{};
  /// Takes the place of the run's, where there is one.
  std::optional<mutation_params> mutation{};
  /// `candidate::epochs` and `candidate::start`.
  std::uint32_t epochs = 0;
  candidate_id start = 0;
  /// The scores asked for in the attempts before (`candidate::looked_at`).
  std::vector<zero_cost_scores> looked_at{};
};

/// Makes the order one for a mutant of `parents[fitter]` or, if `other` is another index,
/// for a cross of the two. `fitter` is the index of the fitter one.
template<class Individuals>
void breed_from(breeding& order, const Individuals& parents, std::size_t fitter,
                std::size_t other) {
  order.how = fitter == other ? breeding::kind::mutate : breeding::kind::cross;
  order.parents.push_back(parents[fitter]);
  if (fitter != other)
    order.parents.push_back(parents[other]);
}

/// Whether these can be the parents of what the order made.
[[nodiscard]] bool may_be_parents(const breeding& order,
                                  const std::vector<candidate_id>& parents);

/// The epoch at which it goes on with the training of its first parent, which `start`
/// names: as many as that one has behind it, if the order says how many there are to be.
[[nodiscard]] std::uint32_t start_epoch_of(const breeding& order);

/// Makes the candidate: samples, mutates, or crosses and then mutates. `work` is set from
/// the decoded network; `equal_to` is left to `resolve`. Fails only where the space has
/// no valid network.
[[nodiscard]] expected<candidate> breed(const breeding_rules& rules,
                                        const breeding& order);

/// A candidate, and how many parameters its network has.
struct counted_candidate {
  candidate made;
  std::uint64_t parameters = 0;
};
[[nodiscard]] expected<counted_candidate> breed_and_count(const breeding_rules& rules,
                                                          const breeding& order);

/// Returns the work of training the network on one example for one epoch, in
/// multiply-adds: an estimate for ordering candidates, from shapes and the genome's batch
/// size.
[[nodiscard]] double training_work(const network& n, const genome& g);

/// If `params.inherit` says so, has an order to mutate or cross start from the weights of
/// the fitter parent, unless that one failed or the strategy has said from where. The
/// bases of strategies call it once the parents are chosen.
void inherit_weights(const evolution_params& params, breeding& order);

} // namespace clade
