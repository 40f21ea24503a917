#include "engine/run/state/final_stage.hpp"

#include "engine/run/state/learning_speed.hpp"
#include "genome/genes/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace clade {

namespace {

constexpr std::uint32_t usual_members = 3, usual_folds = 5, most_rounds = 3;
// A training of the end is longer than one of the search by this much and has at least so
// many epochs; where time is left over, at most `stretch` times as many.
constexpr std::uint32_t longer = 4, least_epochs = 60, stretch = 3;
constexpr std::size_t most_trainings = 60;
// The shares of the run's time, if nobody gives one.
constexpr double least_share = 0.5, most_share = 0.8;
// If one training a slot would need twice the run's time, all that the search can do is to
// tell what learns from what does not.
constexpr double share_if_far_too_slow = 0.88;
// Trainings are planned for this share of the time; the rest is for delays and for what
// follows them.
constexpr double planned_share = 0.86, planned_share_with_trees = 0.81;
// A training that is not done by then is cut; what follows takes some seconds at least.
constexpr double latest_end = 0.9, latest_end_with_trees = 0.85;
constexpr std::chrono::seconds least_after{6};
// Below so many epochs a training that is twice as long is worth more than another one.
constexpr double too_few_epochs = 20;
// So much of a first epoch is worth a training.
constexpr double least_part = 0.2;
// Beside other processes and with more examples an epoch takes longer than it did.
constexpr double slower = 1.12;

std::uint32_t wanted_epochs(const final_params& params, const final_means& means) {
  return params.epochs != 0 ? params.epochs
                            : std::max(least_epochs, longer * means.epochs);
}

double planned_seconds(const final_means& means) {
  return (means.with_trees ? planned_share_with_trees : planned_share) * 1e-3
         * static_cast<double>(means.time.count());
}

struct sizes {
  std::size_t genomes = 1;
  std::uint32_t folds = 1;
  std::size_t rounds = 1;   ///< How often each is trained, from other initial values.
  std::uint32_t epochs = 1; ///< 0: as many as there may be room for.
  std::size_t threads = 1;  ///< So many compute each training.

  [[nodiscard]] std::size_t trainings() const { return genomes * folds * rounds; }
};

sizes one_genome(sizes s) {
  s.genomes = 1;
  return s;
}

/// Returns the seconds of an epoch of the slowest of so many genomes.
double slowest_epoch(std::span<const individual> best, std::size_t genomes) {
  double slowest = 0;
  for (const auto& i : best.first(genomes))
    slowest = std::max(slowest, i.seconds_per_epoch * slower);
  return slowest;
}

/// Returns the milliseconds after which the trainings end whose epochs take at most so many
/// seconds: then models are asked for their answers, which takes a part of an epoch.
std::uint64_t trainings_end(const final_means& means, double slowest) {
  constexpr double asking = 0.25;
  const auto all = static_cast<double>(means.time.count());
  const double after =
      1e3 * (static_cast<double>(least_after.count()) + asking * slowest);
  return static_cast<std::uint64_t>(
      std::min((means.with_trees ? latest_end_with_trees : latest_end) * all,
               std::max(all / 2, all - after)));
}

/// Says whether trainings fit into the time of the slots.
class schedule_of_end {
public:
  schedule_of_end(std::span<const individual> best, const final_means& means)
      : best_(best),
        slots_(means.slots),
        seconds_(planned_seconds(means)) {}

  /// How many epochs each training can have, one after another on each slot.
  [[nodiscard]] double epochs_for(const sizes& s) const {
    const auto in_turn = (s.trainings() + slots_ - 1) / slots_;
    return seconds_
           / (static_cast<double>(in_turn)
              * std::max(1e-9, slowest_epoch(best_, s.genomes)));
  }
  [[nodiscard]] bool fits(const sizes& s) const {
    return s.trainings() <= most_trainings && epochs_for(s) >= s.epochs;
  }

  /// Raises one of the sizes up to `most` as long as the result fits.
  template<class Size>
  void grow(sizes& s, Size sizes::*size, Size most) const {
    while (s.*size < most) {
      auto larger = s;
      ++(larger.*size);
      if (!fits(larger))
        return;
      s = larger;
    }
  }

private:
  std::span<const individual> best_;
  std::size_t slots_;
  double seconds_;
};

/// How many epochs a training of that genome can have, if a slot trains nothing else.
double epochs_alone(const individual& genome, const final_means& means) {
  return schedule_of_end({&genome, 1}, means).epochs_for({});
}

/// Returns as many epochs as there is room for, at least one, and at most a few times as
/// many as are wanted.
std::uint32_t within_most(const final_params& params, std::uint32_t wanted, double room) {
  const double most = params.epochs != 0 ? wanted : stretch * wanted;
  return static_cast<std::uint32_t>(std::clamp(room, 1.0, most));
}

bool deals_folds(const final_params& params) {
  // Without an ensemble the best of them is the champion, judged as all others are.
  return params.folds == 0 && params.model == "ensemble";
}

// Folds of the best genome come first, then more genomes and more rounds, as long as all
// fits, and then more epochs.
sizes within_time(const final_params& params, std::span<const individual> best,
                  const final_means& means, const sizes& wanted) {
  const schedule_of_end schedule(best, means);
  auto found = wanted;
  found.genomes = 1;
  if (deals_folds(params))
    schedule.grow(found, &sizes::folds, usual_folds);
  schedule.grow(found, &sizes::genomes, wanted.genomes);
  schedule.grow(found, &sizes::rounds, std::size_t{most_rounds});
  found.epochs =
      within_most(params, wanted.epochs, std::floor(schedule.epochs_for(found)));
  return found;
}

/// How many times as fast a training is with so many threads, at most.
double speed_up(std::size_t threads) {
  return std::pow(static_cast<double>(threads), 0.9);
}

/// The most epochs that there may be room for on a slot that trains this genome and has so
/// many trainings in turn. If the clock decides, that is as many as anybody wants: what is
/// expected on a busy machine, by a part of an epoch, may be far too few.
std::uint32_t most_epochs(const final_params& params, const individual& genome,
                          const final_means& means, std::uint32_t wanted,
                          const sizes& s) {
  if (means.lone)
    return within_most(params, wanted, std::numeric_limits<double>::infinity());
  const auto in_turn = (s.trainings() + means.slots - 1) / means.slots;
  const double room = epochs_alone(genome, means);
  return within_most(params, wanted, std::ceil(room / static_cast<double>(in_turn)));
}

/// The fewest threads with which a training of this genome that has all of the time has
/// enough epochs, or as many as there are cores.
std::size_t threads_for(const individual& genome, const final_means& means) {
  const double alone = epochs_alone(genome, means);
  std::size_t threads = 1;
  while (threads < means.cores && alone * speed_up(threads) < too_few_epochs)
    ++threads;
  return threads;
}

// There is no time for that: each slot trains one for all of the time, different genomes as
// far as there are any, else folds of one. Their rates follow the clock.
sizes one_for_each_slot(const final_params& params, std::span<const individual> best,
                        const final_means& means, const sizes& wanted) {
  auto found = wanted;
  const auto usable = std::min(wanted.genomes, best.size());
  found.threads = threads_for(best.front(), means);
  const auto places = means.slots / found.threads;
  found.genomes = std::clamp<std::size_t>(places / found.folds, 1, usable);
  if (deals_folds(params))
    found.folds = std::clamp<std::uint32_t>(
        static_cast<std::uint32_t>(places / found.genomes), 1, usual_folds);
  found.epochs = 0;
  return found;
}

/// Returns whether a genome is about as good as the best: its error is at most a tenth more.
/// Fitness that is raised counts as a share that misses 1, else as an error itself.
bool about_as_good(const individual& one, const individual& best) {
  constexpr double more = 1.1;
  const double f = one.fitness.primary, b = best.fitness.primary;
  if (one.fitness.violation > best.fitness.violation)
    return false;
  if (f >= b)
    return true;
  if (b < 0)
    return f >= more * b;
  return b <= 1 ? 1 - f <= more * (1 - b) : f >= b / more;
}

/// Returns those about as good as the best of which each slot can train one for half of the
/// wanted epochs.
std::vector<individual> trained_for_long(std::span<const individual> best,
                                         const final_means& means, std::uint32_t wanted) {
  std::vector<individual> found;
  for (const auto& i : best)
    if (about_as_good(i, best.front())
        && schedule_of_end({&i, 1}, means).fits({.epochs = (wanted + 1) / 2}))
      found.push_back(i);
  return found;
}

/// The least error that is expected of a genome at the end of the time, if a slot trains
/// nothing else.
double error_at_end(const individual& i, const final_means& means, std::uint32_t wanted) {
  const double all = planned_seconds(means);
  const double most = i.seconds_per_epoch * stretch * wanted;
  return expected_error(i.learning, most > 0 ? std::min(all, most) : all)
      .value_or(std::numeric_limits<double>::infinity());
}

/// Returns the seed that is proven with the most parameters among those whose epochs take
/// about as long as those of the fastest; null: there is none. With few steps the larger
/// of two networks learns more (Li et al., "Train Large, Then Compress", ICML 2020).
const individual* largest_proven(std::span<const individual> best,
                                 const final_means& means) {
  constexpr double about_as_long = 1.5;
  std::vector<const individual*> proven;
  for (const auto& i : best)
    if (i.learning.proven && i.fitness.violation <= best.front().fitness.violation
        && epochs_alone(i, means) >= least_part)
      proven.push_back(&i);
  if (proven.empty())
    return nullptr;
  const auto fastest =
      (*std::ranges::min_element(proven, {}, &individual::seconds_per_epoch))
          ->seconds_per_epoch;
  std::erase_if(proven, [&](const individual* i) {
    return i->seconds_per_epoch > about_as_long * fastest;
  });
  return *std::ranges::max_element(proven, {}, &individual::parameters);
}

/// Returns those of which the least error is expected at the end of the time, the least
/// first, and with a violation no larger than that of the best; none that would be trained
/// for less than a part of an epoch.
std::vector<individual> best_at_end(std::span<const individual> best,
                                    const final_means& means, std::uint32_t wanted) {
  constexpr double near = 1.2;
  const auto expected = [&](const individual& i) {
    return error_at_end(i, means, wanted);
  };
  std::vector<individual> found;
  for (const auto& i : best)
    if (i.fitness.violation <= best.front().fitness.violation
        && epochs_alone(i, means) >= least_part)
      found.push_back(i);
  std::ranges::stable_sort(found, {}, expected);
  // If no errors are known, the first is the best.
  const auto worse = std::ranges::find_if(found, [&](const individual& i) {
    return !std::isfinite(expected(i)) || expected(i) > near * expected(found.front());
  });
  auto kept = std::max<std::ptrdiff_t>(worse - found.begin(), !found.empty());
  // So short trainings tell little: one that is proven has the second slot at least.
  const auto* largest = largest_proven(best, means);
  const auto proven = largest == nullptr
                          ? found.end()
                          : std::ranges::find(found, largest->id, &individual::id);
  if (proven != found.end()) {
    kept += proven - found.begin() >= kept ? 1 : 0;
    if (proven != found.begin())
      std::rotate(found.begin() + 1, proven, proven + 1);
  }
  found.resize(static_cast<std::size_t>(kept));
  return found;
}

/// If one genome alone is trained, that is a seed that is proven: the trainings before were
/// so short that they tell nothing.
void trust_proven(std::vector<individual>& those, std::span<const individual> best,
                  const final_means& means) {
  const auto* proven = largest_proven(best, means);
  if (proven == nullptr || means.slots / threads_for(*proven, means) != 1)
    return;
  std::erase_if(those, [&](const individual& i) { return i.id == proven->id; });
  those.insert(those.begin(), *proven);
}

/// Returns whether another genome is better at the end than all of those.
bool is_ahead_at_end(const individual& other, std::span<const individual> those,
                     const final_means& means, std::uint32_t wanted) {
  return std::ranges::all_of(those, [&](const individual& i) {
    return error_at_end(other, means, wanted) < error_at_end(i, means, wanted);
  });
}

} // namespace

expected<void> validate(const final_params& params) {
  static constexpr std::array models{"none", "best", "ensemble"};
  if (std::ranges::find(models, params.model) == models.end())
    return fail(error_kind::invalid_input,
                "model must be \"none\", \"best\" or \"ensemble\"");
  if (params.members > most_final_genomes)
    return fail(
        error_kind::invalid_input,
        fmt::format("members must be at most {}: of so many the search keeps the genomes",
                    most_final_genomes));
  if (params.folds > 20)
    return fail(error_kind::invalid_input, "folds must be at most 20");
  if (params.share != 0 && !(params.share >= 0.05 && params.share <= 0.95))
    return fail(error_kind::invalid_input,
                "share must be from 0.05 to 0.95, or 0: chosen by the time");
  return {};
}

double share_of_end(const final_params& params, const final_means& means,
                    double seconds_per_epoch) {
  if (params.share != 0)
    return params.share;
  const auto trainings = std::max(1U, params.members) * std::max(1U, params.folds);
  const auto in_turn = (trainings + means.slots - 1) / means.slots;
  const double needed = static_cast<double>(in_turn * wanted_epochs(params, means))
                        * seconds_per_epoch * slower / planned_share;
  const double all = 1e-3 * static_cast<double>(means.time.count());
  return needed > 2 * all ? share_if_far_too_slow
                          : std::clamp(needed / all, least_share, most_share);
}

final_planned plan_final_stage(const final_params& params,
                               std::span<const individual> best,
                               const final_means& means) {
  final_planned plan{.time_ms = trainings_end(means, 0)};
  if (params.model == "ensemble")
    plan.folds_apart = true;
  if (best.empty())
    return plan;
  const auto epochs = wanted_epochs(params, means);
  const bool limited = means.time.count() > 0;
  std::vector<individual> sources(best.begin(), best.end());
  bool for_long = true;
  if (limited) {
    sources = trained_for_long(best, means, epochs);
    auto at_end = best_at_end(best, means, epochs);
    for_long =
        !sources.empty()
        && (at_end.empty() || !is_ahead_at_end(at_end.front(), sources, means, epochs));
    if (!for_long) {
      sources = std::move(at_end);
      trust_proven(sources, best, means);
    }
  }
  if (sources.empty())
    return plan;
  sizes s{.genomes = std::min<std::size_t>(
              params.members != 0 ? params.members : usual_members, sources.size()),
          .folds = std::max<std::uint32_t>(1, params.folds),
          .epochs = epochs};
  if (limited)
    s = for_long && schedule_of_end(sources, means).fits(one_genome(s))
            ? within_time(params, sources, means, s)
            : one_for_each_slot(params, sources, means, s);
  plan.time_ms = trainings_end(means, slowest_epoch(sources, s.genomes));
  for (std::size_t round = 0; round < s.rounds; ++round)
    for (std::size_t g = 0; g < s.genomes; ++g)
      for (std::uint32_t f = 0; f < s.folds; ++f)
        plan.trainings.push_back(
            {.source = sources[g].id,
             .epochs = s.epochs != 0 ? s.epochs
                                     : most_epochs(params, sources[g], means, epochs, s),
             .fold = {.index = f, .of = s.folds},
             .threads = s.threads > 1 ? std::optional(static_cast<std::uint32_t>(
                            std::min<std::size_t>(s.threads, most_threads)))
                                      : std::nullopt});
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
              .threads = t.threads.value_or(1),
              .time = std::chrono::milliseconds(plan.time_ms)};
  change what{.kind = change_kind::trained_to_end, .after = std::to_string(t.epochs)};
  if (t.fold.of > 1)
    what.before = fmt::format("without fold {} of {}", t.fold.index + 1, t.fold.of);
  c.changes.push_back(std::move(what));
  return c;
}

} // namespace clade
