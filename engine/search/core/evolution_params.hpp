#pragma once

#include "genome/mutation.hpp"

#include <cstddef>
#include <cstdint>
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

} // namespace clade
