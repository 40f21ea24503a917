#pragma once

#include "actors/node/node_team.hpp"
#include "engine/config/experiment/experiment.hpp"
#include "engine/evaluation/lineage.hpp"
#include "engine/scheduling/task.hpp"
#include "engine/training/asked/training_params.hpp"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace clade {

/// The module with LibTorch lies beside the program.
[[nodiscard]] std::filesystem::path training_module();
/// Returns the settings that the experiment gives to all its trainings.
[[nodiscard]] training_setup training_setup_of(const experiment& e,
                                               const std::string& device);

/// Whether this machine can evaluate candidates of the experiment; an error says what is
/// missing.
[[nodiscard]] expected<void> check_machine(const experiment& e);

/// Folders of this machine, for who runs programs.
struct program_places {
  /// The folder of their logs; empty: in this user's cache.
  std::filesystem::path logs{};
  /// They mean the same as in `program_host`.
  std::vector<std::filesystem::path> hidden{};
  std::function<expected<std::filesystem::path>()> groups{};
};

/// The state that the actors of one node process share: the fitness function, used by one
/// of them at a time, and which task is at work, for the node, which must notice one that
/// does not end. Every member function may be called from any thread.
class node_work {
public:
  using clock = std::chrono::steady_clock;

  struct current {
    task_id task;
    std::uint64_t lease = 0;
    /// The beginning of its present training, if it takes several.
    clock::time_point since;
    std::chrono::milliseconds limit{
        0}; ///< How long that may take; 0: as long as it does.
  };

  /// Makes the fitness function that the experiment asks for and warms it up; then sets
  /// the memory limit of this process. Trainings of the run of that number keep positions
  /// on this machine's disk; 0: they keep none. Blocks for seconds.
  [[nodiscard]] expected<void> prepare(const experiment& e, const std::string& device,
                                       std::uint64_t run = 0,
                                       const program_places& programs = {});

  /// Trains for the task of that candidate, be it what the candidate starts from. Epochs
  /// of 0 are the experiment's, here and in all below. The job's seed and limits are set
  /// here.
  [[nodiscard]] evaluated_job evaluate(candidate_id of, std::uint64_t lease, job j,
                                       progress& p);
  /// `before`: its lineage, where there are no weights and it is trained again, of which
  /// `p` hears.
  [[nodiscard]] expected<examination> examine(std::uint64_t lease, job j,
                                              const bytes& weights,
                                              std::vector<job> before, progress& p);
  [[nodiscard]] expected<composition> compose(std::uint64_t lease,
                                              std::span<const trained_member> members,
                                              const clade::budget& said,
                                              composition_purpose purpose);
  /// Tests the linear model; returns nothing where that has no meaning.
  [[nodiscard]] expected<std::optional<examination>> baseline(std::uint64_t lease);

  /// Says that the work for this lease is wanted no more: it does not begin, or ends
  /// soon.
  void drop(std::uint64_t lease);
  [[nodiscard]] bool dropped(std::uint64_t lease) const;
  /// From now on what is dropped is to go on elsewhere, or later: this process leaves.
  void leave() { leaves_ = true; }
  [[nodiscard]] bool leaves() const { return leaves_; }
  /// Nobody asks for it any more.
  void forget_dropped(std::uint64_t lease);

  /// Set once, before `prepare` ends, where the experiment has teams.
  void open_to_teams(std::shared_ptr<team_entrance> entrance);
  /// The team of what this lease is for; null where this process takes part in none.
  std::shared_ptr<node_team> begin_team(std::uint64_t lease, std::size_t shares);
  [[nodiscard]] std::shared_ptr<node_team> team_of(std::uint64_t lease) const;

  /// The task at work, if any.
  [[nodiscard]] std::optional<current> at_work() const;

  /// Returns the limits of a training: those that a job says, and the experiment's for
  /// what it leaves at 0.
  [[nodiscard]] clade::budget budget(const clade::budget& said = {.epochs = 0}) const;

  /// Returns the rounding of this process, as fitness_function::warm_up does; 0 before.
  [[nodiscard]] std::uint64_t rounding() const { return rounding_; }

  /// Whether evaluations train networks, which takes memory.
  [[nodiscard]] bool trains() const { return trains_; }

private:
  /// Says what is at work while it lives.
  class occupation {
  public:
    occupation(node_work& work, const task_id& task, std::uint64_t lease,
               std::chrono::milliseconds limit);
    ~occupation();

  private:
    node_work& work_;
  };

  [[nodiscard]] job limited(job j) const;
  [[nodiscard]] std::chrono::milliseconds
  longest_test(std::chrono::milliseconds at_least = {}) const;

  std::mutex fitness_mutex_;
  std::unique_ptr<fitness_function> fitness_;
  std::uint64_t rounding_ = 0;
  std::uint64_t seed_ = 0;
  clade::budget budget_;
  bool trains_ = false;
  /// The time that the evaluator has beyond its limit.
  std::chrono::milliseconds grace_{0};
  std::chrono::milliseconds wall_time_{0}; ///< The experiment's limit of the run.
  std::filesystem::path positions_, logs_;
  mutable std::mutex current_mutex_;
  std::optional<current> current_;
  std::set<std::uint64_t> dropped_;
  std::atomic<bool> leaves_ = false;
  std::shared_ptr<team_entrance> entrance_;
  std::map<std::uint64_t, std::shared_ptr<node_team>> teams_; ///< By lease.
};

} // namespace clade
