#pragma once

#include "engine/run/records/record.hpp"

#include <chrono>
#include <span>
#include <string>
#include <vector>

namespace clade {

/// The search keeps the genomes of so many, the best.
inline constexpr std::size_t most_final_genomes = 5;

/// `[final]`: a search is turned into a model by these.
struct final_params {
  /// "none": the champion as the search trained it. "best": the best genomes are trained
  /// to the end. "ensemble": an ensemble is then chosen among all models there are.
  std::string model = "none";
  std::uint32_t members = 0; ///< Genomes that are trained to the end; 0: chosen.
  std::uint32_t epochs = 0;  ///< The epochs of such a training; 0: chosen.
  std::uint32_t folds = 0;   ///< Models of each genome (`data_fold::of`); 0: chosen.
  double share = 0;          ///< The share of the wall time, if there is one; 0: chosen.

  [[nodiscard]] bool wanted() const { return model != "none"; }
};

[[nodiscard]] expected<void> validate(const final_params& params);

/// The trainings at the end of a run have these slots and this time.
struct final_means {
  std::size_t slots = 1;
  std::chrono::milliseconds time{0}; ///< 0: as long as it takes.
  std::uint32_t epochs = 1;          ///< The epochs of a full training in the search.
  /// So many slots are cores of one machine, if all are; else 1.
  std::size_t cores = 1;
  bool lone = true; ///< A slot trains alone, and so rates may follow the clock.
  /// The final model may hold boosted trees, which are fitted when the trainings are over.
  bool with_trees = false;
};

/// The share of a run's time, `means.time`, that is kept for its end: as much as one
/// training a slot needs if its epochs take so many seconds, but at least a half and at
/// most four fifths, or 0.88 if it needs twice the time, unless `params.share` says how
/// much.
[[nodiscard]] double share_of_end(const final_params& params, const final_means& means,
                                  double seconds_per_epoch);

/// Plans the trainings of the end: the best genomes for longer than in the search, several
/// folds of each where there is time for them, as many as the slots can do in the time.
/// `best` begins with the best (`run_state::for_the_end`); a slow one gives way to others
/// that are about as good and can be trained for at least half of the wanted epochs. If
/// none can, or another one is expected to be ahead of them all at the end of the time
/// (learning_speed.hpp), each slot trains one for all of the time, of those with the least
/// expected error and one that is proven (learning_speed); the rates of such trainings
/// follow the clock. If that would be very few epochs, fewer are trained, each by several
/// cores, the proven one first. No training at all if there is no time for a fifth of an
/// epoch.
[[nodiscard]] final_planned plan_final_stage(const final_params& params,
                                             std::span<const individual> best,
                                             const final_means& means);

/// The candidate of the i-th training of the plan, in the generation after the last;
/// `source` is who it says it is of.
[[nodiscard]] candidate candidate_of(const final_planned& plan, std::size_t i,
                                     const individual& source, candidate_id id,
                                     std::uint64_t generation);

} // namespace clade
