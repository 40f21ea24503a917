#include "engine/run/final_stage.hpp"

#include "genome/hash.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace clade {

namespace {

constexpr std::uint32_t usual_members = 3;
constexpr std::uint32_t usual_folds = 5;
// A training of the end is longer than one of the search by this much and has at least so
// many epochs; where time is left over, at most `stretch` times as many.
constexpr std::uint32_t longer = 4, least_epochs = 40, stretch = 3;
constexpr std::size_t most_trainings = 60;
// Trainings are planned for this share of the time; the rest is for delays and for what
// follows them.
constexpr double planned_share = 0.85;
// A training that is not done by then is cut.
constexpr double latest_end = 0.92;
// Beside other processes and with more examples an epoch takes longer than it did.
constexpr double slower = 1.1;

struct sizes {
  std::size_t genomes = 1;
  std::uint32_t folds = 1;
  std::size_t rounds = 1; ///< How often each is trained, from other initial values.
  std::uint32_t epochs = 1;

  [[nodiscard]] std::size_t trainings() const { return genomes * folds * rounds; }
};

/// Returns the seconds of an epoch of the slowest of so many genomes.
double slowest_epoch(std::span<const final_source> sources, std::size_t genomes) {
  double slowest = 0;
  for (const auto& s : sources.first(genomes))
    slowest = std::max(slowest, s.seconds_per_epoch * slower);
  return slowest;
}

/// Says whether trainings fit into the time of the slots.
class schedule_of_end {
public:
  schedule_of_end(std::span<const final_source> sources, const final_means& means)
      : sources_(sources),
        slots_(means.slots),
        seconds_(planned_share * 1e-3 * static_cast<double>(means.time.count())) {}

  /// How many epochs each training can have, one after another on each slot.
  [[nodiscard]] double epochs_for(const sizes& s) const {
    const auto in_turn = (s.trainings() + slots_ - 1) / slots_;
    return seconds_
           / (static_cast<double>(in_turn)
              * std::max(1e-9, slowest_epoch(sources_, s.genomes)));
  }
  [[nodiscard]] bool fits(const sizes& s) const {
    return s.trainings() <= most_trainings && epochs_for(s) >= s.epochs;
  }

  /// Applies the change as often as the result fits, until `done`.
  template<class Change, class Done>
  void grow(sizes& s, Change change, Done done) const {
    while (!done(s)) {
      auto larger = s;
      change(larger);
      if (!fits(larger))
        return;
      s = larger;
    }
  }

private:
  std::span<const final_source> sources_;
  std::size_t slots_;
  double seconds_;
};

// One training a slot comes first, then folds, more genomes and more rounds, as long as
// all fits, and then more epochs.
sizes within_time(const final_params& params, std::span<const final_source> sources,
                  const final_means& means, const sizes& wanted) {
  const schedule_of_end schedule(sources, means);
  auto found = wanted;
  found.genomes = 1;
  found.folds = std::max<std::uint32_t>(1, params.folds);
  // A genome that takes much longer than the best would be cut short.
  const auto alike = [&](std::size_t genomes) {
    return slowest_epoch(sources, genomes) <= 1.5 * slowest_epoch(sources, 1);
  };
  if (!schedule.fits(found)) {
    found.folds = 1;
    found.genomes = std::min(wanted.genomes, means.slots);
    if (!alike(found.genomes))
      found.genomes = 1;
    found.rounds = std::max<std::size_t>(1, means.slots / found.genomes);
  } else {
    if (params.folds == 0)
      schedule.grow(
          found, [](sizes& s) { s.folds = usual_folds; },
          [](const sizes& s) { return s.folds == usual_folds; });
    schedule.grow(
        found, [](sizes& s) { ++s.genomes; },
        [&](const sizes& s) { return s.genomes == wanted.genomes; });
    schedule.grow(
        found, [](sizes& s) { ++s.rounds; },
        [](const sizes& s) { return s.rounds == usual_members; });
  }
  const double most = params.epochs != 0 ? wanted.epochs : stretch * wanted.epochs;
  found.epochs = static_cast<std::uint32_t>(
      std::clamp(std::floor(schedule.epochs_for(found)), 0.0, most));
  return found;
}

} // namespace

expected<void> validate(const final_params& params) {
  static constexpr std::array models{"none", "best", "ensemble"};
  if (std::ranges::find(models, params.model) == models.end())
    return fail(error_kind::invalid_input,
                "model must be \"none\", \"best\" or \"ensemble\"");
  if (params.members > most_final_genomes)
    return fail(error_kind::invalid_input,
                "members must be at most " + std::to_string(most_final_genomes)
                    + ": of so many the search keeps the genomes");
  if (params.folds > 20)
    return fail(error_kind::invalid_input, "folds must be at most 20");
  if (!(params.share >= 0.05 && params.share <= 0.95))
    return fail(error_kind::invalid_input, "share must be from 0.05 to 0.95");
  return {};
}

final_planned plan_final_stage(const final_params& params,
                               std::span<const final_source> sources,
                               const final_means& means) {
  final_planned plan{.time_ms = static_cast<std::uint64_t>(
                         latest_end * static_cast<double>(means.time.count()))};
  if (sources.empty())
    return plan;
  const std::size_t genomes = std::min<std::size_t>(
      params.members != 0 ? params.members : usual_members, sources.size());
  sizes s{.genomes = genomes,
          .folds = std::max<std::uint32_t>(1, params.folds),
          .epochs = params.epochs != 0 ? params.epochs
                                       : std::max(least_epochs, longer * means.epochs)};
  if (means.time.count() > 0)
    s = within_time(params, sources, means, s);
  if (s.epochs == 0)
    return plan;
  for (std::size_t round = 0; round < s.rounds; ++round)
    for (std::size_t g = 0; g < s.genomes; ++g)
      for (std::uint32_t f = 0; f < s.folds; ++f)
        plan.trainings.push_back({.source = sources[g].id,
                                  .epochs = s.epochs,
                                  .fold = {.index = f, .of = s.folds}});
  return plan;
}

candidate candidate_of(const final_planned& plan, std::size_t i, const individual& source,
                       candidate_id id, std::uint64_t generation) {
  const auto& t = plan.trainings[i];
  candidate c{.id = id,
              .generation = generation,
              .index = i,
              .genome = source.genome,
              .network = canonical_hash(*source.genome),
              .parents = {source.id},
              .epochs = t.epochs,
              .fold = t.fold,
              .time = std::chrono::milliseconds(plan.time_ms)};
  change what{.kind = change_kind::trained_to_end, .after = std::to_string(t.epochs)};
  if (t.fold.of > 1)
    what.before = "without fold " + std::to_string(t.fold.index + 1) + " of "
                  + std::to_string(t.fold.of);
  c.changes.push_back(std::move(what));
  return c;
}

} // namespace clade
