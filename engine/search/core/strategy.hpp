#pragma once

#include "engine/search/core/candidate.hpp"
#include "engine/search/core/zero_cost.hpp"
#include "genome/mutation.hpp"
#include "search_spaces/variation.hpp"

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace clade {

/// `[evolution]` of an experiment.
struct evolution_params {
  /// A name of the table in the registry; each one's header says when to take it. An
  /// experiment file may say "auto", and does where it names none: one of them takes its
  /// place as the file is read.
  std::string strategy = "generational";
  /// Candidates of a generation; of a steady state, how many are kept before the oldest
  /// dies.
  std::size_t population = 24;
  /// The search ends after population x generations candidates.
  std::size_t generations = 10;
  /// "tournament", "truncation" or "lexicase", which filters by one metric after another
  /// (generational).
  std::string selection = "tournament";
  /// How many compete for each parent's place. More press harder on fitness. At most the
  /// population.
  std::size_t tournament = 3;
  /// The best share that may breed (truncation).
  double truncation = 0.3;
  /// The best so many stay on as parents beside their children (generational); how many
  /// parents there are, mu (mu_plus_lambda).
  std::size_t elites = 4;
  /// The chance that a child has two parents.
  double crossover = 0.3;
  /// A child takes over the weights of its fitter parent for every gene that they share,
  /// and is trained from there (Lamarck): good results after fewer epochs each, but the
  /// children of much-trained lines look better than their networks are.
  bool inherit = false;
  /// "arrived": a steady state hears results as they come; "asked": in the order in which
  /// they were asked for, which makes the search the same for any number of workers.
  std::string tell_order = "asked";
  /// How many candidates of a steady state are open at a time: as many as there are
  /// slots, and some more to wait out stragglers. At most the population.
  std::size_t in_flight = 8;
  /// The strategies of "islands", or how many run "regularised". The population must be a
  /// multiple of their number.
  std::vector<std::string> islands = {"4"};
  /// "ring" or "star" (islands): who sends its best to whom.
  std::string topology = "ring";
  /// After how many results of an island it does so; 0: never.
  std::size_t migration = 20;
  /// By how much of a difference a child moves, F, from 0 to 2; `crossover` is then the
  /// chance of each parameter to move, CR. 0: every target adapts both, which is seldom
  /// worse (differential_evolution).
  double difference_weight = 0;
  /// What the difference is added to: "random", another one of the population, or
  /// "current_to_best", which climbs faster and gets stuck sooner
  /// (differential_evolution).
  std::string difference_base = "random";
  /// Networks are measured before any training, and the model of "surrogate" chooses by
  /// that too among the children it likes best. Costs the head some milliseconds for each
  /// of them, and takes LibTorch. (surrogate_assisted.hpp)
  bool zero_cost = false;
  /// Why the strategy was chosen where the experiment said "auto"; else empty.
  /// (engine/search/strategies/automatic.hpp)
  std::string chosen;
  /// The epochs of the rungs, rising, the last those of a full training (strategies of
  /// several fidelities; `complete_rungs` gives what is not said).
  std::vector<std::uint32_t> rungs{};
  /// One of so many goes on from a rung to the next (the same). More trust the first
  /// epochs more; as many as the rungs' epochs rise by have each rung cost the same.
  std::optional<std::uint64_t> reduction{};
  mutation_params mutation{};
};

[[nodiscard]] expected<void> validate(const evolution_params& params);

/// Gives a strategy of several fidelities rungs and reduction, where it was not told any:
/// of a full training's epochs one of `reduction` or 3, of those one, and so on down to
/// 1; for those that look in at even distances, five, or one a generation; then
/// `reduction_by` these. Fails where rungs do not rise to just that number of epochs,
/// where there is but one, and where another strategy is given rungs.
[[nodiscard]] expected<void> complete_rungs(evolution_params& params,
                                            std::uint32_t epochs,
                                            std::vector<std::uint32_t> fidelities = {});

/// What holds for all that is bred in a run.
struct breeding_rules {
  const search_space& space;
  const clade::problem& problem;
  const mutation_params& mutation;
  std::uint64_t seed = 0;
  /// Of a run with `evolution_params::zero_cost`; else null. What is asked of it while
  /// breeding, and the scores of what was bred, the candidate holds.
  zero_cost_scorer* scorer = nullptr;
};

struct breeding;

/// A genome that a strategy has thought of in a way of its own, by a model or by
/// arithmetic on its parents. Made where the order is carried out, so that heavy work is
/// the generators' and none of it is done again for what a resumed run finds recorded:
/// what a model needs, a proposal holds, and fits when it is first asked to `make`. It is
/// shared by threads. One whose network is known already is asked again, with a higher
/// `attempt`.
class proposal {
public:
  virtual ~proposal() = default;
  /// A pure function of the order, the rules with what their scorer answers, and what it
  /// was made of: a genome that decodes, and how it came about.
  [[nodiscard]] virtual expected<offspring> make(const breeding_rules& rules,
                                                 const breeding& order) const = 0;
};

/// What a generator is to make: a pure function of this and the rules (`breed`).
struct breeding {
  enum class kind : std::uint8_t {
    sample = 0,
    mutate = 1,
    cross = 2,   ///< Of so many parents, up to here.
    given = 3,   ///< A person's.
    propose = 4, ///< By `proposal`, whatever the number of parents.
    train_on = 5 ///< The one parent's genome, for more epochs.
  };

  candidate_id id = 0;
  std::uint64_t generation = 0;
  std::uint64_t index = 0;
  std::uint64_t attempt =
      0; ///< Raised when what came out was an equal of a known network.
  kind how = kind::sample;
  /// The fitter first. Those that a proposal may choose from, and says which it did.
  std::vector<individual> parents{};
  /// Of `given`, and where it comes from.
  std::shared_ptr<const clade::genome> genome{};
  std::string origin{};
  /// Of `propose`.
  std::shared_ptr<const clade::proposal> proposal{};
  /// In place of the run's.
  std::optional<mutation_params> mutation{};
  /// As in `candidate`.
  std::uint32_t epochs = 0;
  candidate_id start = 0;
  /// In the attempts before. (`candidate::looked_at`)
  std::vector<zero_cost_scores> looked_at{};
};

/// Whether these can be the parents of what the order made.
[[nodiscard]] bool may_be_parents(const breeding& order,
                                  const std::vector<candidate_id>& parents);

/// The epoch at which it goes on with the training of its first parent, which `start`
/// names: as many as that one has behind it, if the order says how many there are to be.
/// (breed.cpp)
[[nodiscard]] std::uint32_t start_epoch_of(const breeding& order);

/// Makes the candidate: samples, mutates, or crosses and then mutates. `work` is set from
/// the decoded network; `equal_to` is left to `resolve`. Fails only where the space has
/// no valid network. (breed.cpp)
[[nodiscard]] expected<candidate> breed(const breeding_rules& rules,
                                        const breeding& order);

/// The same, and how many parameters its network has.
struct counted_candidate {
  candidate made;
  std::uint64_t parameters = 0;
};
[[nodiscard]] expected<counted_candidate> breed_and_count(const breeding_rules& rules,
                                                          const breeding& order);

/// What training the network on one example for one epoch costs, in multiply-adds: an
/// estimate for ordering candidates, from shapes and the genome's batch size.
[[nodiscard]] double training_work(const network& n, const genome& g);

/// Where `params.inherit` says so, an order to mutate or cross starts from the weights of
/// the fitter parent, unless that one failed, or the strategy has said from where. For
/// the bases of strategies, once the parents are chosen. (breed.cpp)
void inherit_weights(const evolution_params& params, breeding& order);

/// A search algorithm as a value: `ask` what to breed next, hear what was `born`, be
/// `tell`-ed its fitness, `close` a generation. State changes in born, tell and close
/// alone, which the fold of the run's records calls; so a stopped search is rebuilt by
/// its records. It knows nothing of actors, files or training.
class strategy {
public:
  virtual ~strategy() = default;

  /// What may be bred now and is not born yet, in the order of ids: those beyond an id
  /// (that the caller has asked for already), at most `limit`. Empty: results, or
  /// `close`, must come first, or the search is over. Asking changes nothing, and an
  /// order once given does not change.
  [[nodiscard]] virtual std::vector<breeding>
  ask(candidate_id beyond = 0,
      std::size_t limit = std::numeric_limits<std::size_t>::max()) const = 0;

  /// The candidate that `ask` named first.
  virtual void born(const candidate& c) = 0;

  /// One call for each candidate that was born, in any order.
  virtual void tell(const individual& evaluated) = 0;

  /// The generation that is complete and not closed yet, with its survivors, best first.
  [[nodiscard]] virtual std::optional<generation_closed> closing() const = 0;
  virtual void close() = 0;

  /// The search ends so many generations later; it must not be finished.
  virtual void extend(std::size_t generations) = 0;
  /// A genome of a person's takes the place of the first candidate that nobody can have
  /// asked for yet; false where there will be none any more.
  [[nodiscard]] virtual bool give(std::shared_ptr<const clade::genome> genome,
                                  const std::string& origin) = 0;

  /// One that was evaluated elsewhere, of an id that is none of its own, takes part as if
  /// it had been heard now, with no place in the budget; false, and nothing has changed,
  /// where the strategy takes none. What is ordered stays as it is. (islands.hpp)
  [[nodiscard]] virtual bool receive(const individual& migrant) {
    static_cast<void>(migrant);
    return false;
  }

  /// Goes on with other parameters and another seed, of the same strategy and tell_order;
  /// those that may breed stay. To be called when a generation has just been closed, or
  /// nothing was born yet; false, and nothing has changed, where that leaves no way to go
  /// on. (A fork of a run: run_forked.)
  [[nodiscard]] virtual bool change(const evolution_params& params,
                                    std::uint64_t seed) = 0;

  /// All that was asked for is told and closed, and there will be no more.
  [[nodiscard]] virtual bool finished() const = 0;

  /// Those that may breed, best first.
  [[nodiscard]] virtual std::vector<individual> population() const = 0;

  /// The generation in progress; once all are closed, their number.
  [[nodiscard]] virtual std::uint64_t generation() const = 0;
};

/// One row in a table for each algorithm (strategies/registry.cpp). Fails if the
/// parameters are not valid. `space`: for those that look into a genome; of a run it is
/// always there.
[[nodiscard]] expected<std::unique_ptr<strategy>>
make_strategy(const evolution_params& params, std::uint64_t seed,
              std::shared_ptr<const search_space> space = {});
[[nodiscard]] std::vector<std::string> strategy_names();

/// Whether candidates may start from the trainings of others, which therefore leave
/// checkpoints.
[[nodiscard]] bool starts_from_others(const evolution_params& params);

/// Whether the strategy of that name (one of the table's) can search that space, whatever
/// else it is told. The error says which can.
[[nodiscard]] expected<void> check_space(const std::string& strategy,
                                         const search_space& space);

/// Whether that strategy can search that space: one that moves numbers alone cannot
/// choose among operators; and for that objective: few weigh several against each other.
/// The error says which can.
[[nodiscard]] expected<void> check_strategy(const evolution_params& params,
                                            const search_space& space,
                                            const objective& goal = {});

} // namespace clade
