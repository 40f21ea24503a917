#pragma once

#include "engine/collectives/team.hpp"
#include "engine/evaluation/composition.hpp"
#include "engine/run/records/record.hpp"
#include "engine/search/core/candidate.hpp"
#include "genome/codec/blob.hpp"

#include <chrono>
#include <filesystem>
#include <memory>

namespace clade {

/// The limits of what an evaluation may spend.
struct budget {
  std::uint32_t epochs = 15; ///< In all, with those before `job::start_epoch`.
  /// A schedule of learning rates is laid over so many epochs, however many of them this
  /// candidate is trained for: the experiment's. So one that goes on later, to more, has
  /// been on the same schedule all along. Epochs beyond have the last rate. 0: `epochs`.
  std::uint32_t horizon = 0;
  std::chrono::milliseconds time{0}; ///< 0: unlimited.
  std::uint64_t memory_bytes = 0;    ///< 0: unlimited.
  std::uint32_t threads = 1;         ///< So many may compute it.
};

/// The parts of a training that are wanted by those that may start from it.
enum class checkpointing : std::uint8_t {
  none = 0,
  weights = 1, ///< For other networks, which take over weights.
  whole = 2    ///< For the same one too, which goes on.
};

/// One evaluation to be done.
struct job {
  candidate_id id = 0;
  clade::genome genome;
  std::uint64_t seed = 0; ///< The run's; what is random is keyed by (seed, id).
  clade::budget budget;
  /// Give the weights back if the fitness is above this; +infinity: never.
  double keep_weights_above = std::numeric_limits<double>::infinity();
  /// The candidate whose weights it starts from, as in `candidate`, and the epoch at
  /// which it goes on.
  candidate_id start = 0;
  std::uint32_t start_epoch = 0;
  data_fold fold{}; ///< The fold, as in `candidate`.
  /// That one's, as it gave it.
  blob checkpoint{};
  checkpointing keep_checkpoint = checkpointing::none;
  /// The processes that do it together, of which this process is one; null: it does it
  /// alone.
  team* members = nullptr;
  /// The folder in which a training may keep positions on the disk, from which it goes on
  /// if its process is lost; empty: none.
  std::filesystem::path positions{};
  /// A folder for what a program that evaluates writes, which need not be there yet;
  /// empty: nobody wants that.
  std::filesystem::path logs{};
  /// The decisions of timing in the training that this is to make again: that one's, as
  /// it gave it (`evaluation`). Empty: timing decides anew, where it decides anything.
  bytes updates{};
};

/// Hears of each epoch as it ends.
class progress {
public:
  virtual ~progress() = default;
  /// False: stop soon, nobody wants the rest (out of time or dropped).
  virtual bool report(const epoch& e) = 0;
  /// Returns whether anybody still wants the result, for what has no epochs to report.
  [[nodiscard]] virtual bool wanted() const { return true; }
  /// Returns whether what is not wanted here any more is to go on in another process: then
  /// a training keeps its position first.
  [[nodiscard]] virtual bool goes_on_later() const { return false; }
};

/// The progress of a caller who neither listens nor stops anything.
class unheard_progress final : public progress {
public:
  bool report(const epoch&) override { return true; }
};

struct evaluated_job {
  clade::evaluation evaluation;
  blob weights;      ///< Empty unless asked for.
  blob checkpoint{}; ///< Likewise; and of what failed.
  /// This machine cannot go on with it, whatever the candidate is: another may try. Why,
  /// the evaluation's reason says.
  bool machine_failed = false;
};

/// The one narrow seam to fitness: behind it are LibTorch training, the synthetic
/// function, tables and commands (registry.hpp), and later control tasks. One object
/// belongs to one node process and one thread at a time. Nothing throws through it.
class fitness_function {
public:
  virtual ~fitness_function() = default;

  /// Does once what the first evaluation would otherwise pay for. Blocks. Returns the
  /// rounding of this process: two whose evaluations have the same bits return the same; 0
  /// where no processor makes them others.
  [[nodiscard]] virtual expected<std::uint64_t> warm_up() = 0;

  /// Trains and validates; blocks until it is done. A bad candidate is an outcome.
  [[nodiscard]] virtual evaluated_job evaluate(const job& j, progress& p) = 0;

  /// Metrics on the held-out test data of these weights, or, where there are none, of the
  /// weights that training again yields (the same, bit for bit, on the same kind of
  /// device).
  [[nodiscard]] virtual expected<examination> examine(const job& j,
                                                      const bytes& weights) = 0;

  /// Puts the final model together from trained ones and tests it (composition.hpp).
  [[nodiscard]] virtual expected<composition> compose(std::span<const trained_member>,
                                                      std::uint64_t, const budget&,
                                                      composition_purpose) {
    return fail(error_kind::internal, "there is nothing to put together");
  }

  /// A linear model trained on the same split, tested; nothing where that has no meaning.
  [[nodiscard]] virtual expected<std::optional<examination>> baseline(std::uint64_t,
                                                                      const budget&) {
    return std::nullopt;
  }
};

} // namespace clade
