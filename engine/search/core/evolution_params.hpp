#pragma once

#include "engine/search/core/own_params.hpp"
#include "genome/variation/mutation.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace clade {

/// `[evolution]` of an experiment: what several strategies read, and what was written
/// among that before strategies had parameters of their own (`selection`, `truncation`).
/// Parameters that one strategy alone reads are defined beside it and found in `own`.
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
  /// How many candidates of a steady state are open at a time: at least as many as there
  /// are slots, and more for slots not to wait behind a straggler. At most the
  /// population.
  std::size_t in_flight = 8;
  /// Networks are measured before any training, and the model of "surrogate" chooses by
  /// that too among the children it likes best. Costs the head some milliseconds for each
  /// of them, and takes LibTorch. (surrogate_assisted.hpp)
  bool zero_cost = false;
  /// Why the strategy was chosen where the experiment said "auto"; else empty.
  /// (engine/search/strategies/registry/automatic.hpp)
  std::string chosen;
  /// The epochs of the rungs, rising, the last those of a full training (strategies of
  /// several fidelities; `complete_rungs` gives what is not said).
  std::vector<std::uint32_t> rungs{};
  /// One of so many goes on from a rung to the next (the same). More trust the first
  /// epochs more; as many as the rungs' epochs rise by have each rung cost the same.
  std::optional<std::uint64_t> reduction{};
  mutation_params mutation{};
  /// The parameters that each strategy alone reads.
  own_params own{};
};

} // namespace clade
