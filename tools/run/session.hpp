#pragma once

#include "actors/messages/progress.hpp"
#include "actors/transport/link/endpoint.hpp"
#include "engine/config/experiment/experiment.hpp"
#include "engine/run/state/run_state.hpp"
#include "engine/store/run/store.hpp"

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace clade {

/// A run whose store is open, and how it is to be run.
struct session_params {
  clade::experiment experiment;
  clade::problem problem;
  std::filesystem::path folder;         ///< runs/digits-20260101-120000
  std::filesystem::path authority = {}; ///< Who signs the run's keys; empty: its own.
  /// The address at which others watch it, with its keys.
  std::optional<endpoint> publish = {};
  std::chrono::milliseconds lease{30'000};
  /// The program whose `worker` command trains on this machine; empty: this one.
  std::filesystem::path program = {};
  /// Is asked ten times a second. Once it returns true, what is in training is finished
  /// and recorded, and the session ends.
  std::function<bool()> interrupted = {};
  /// Is asked as often. Once it returns true, the session ends within half a minute: what is
  /// in training on this machine has some seconds to finish, and then keeps where it stands,
  /// from which it goes on when the run is resumed here.
  std::function<bool()> leaves = {};
  /// Is asked as often. Once it returns true, the session ends at once: what is in training
  /// on this machine is killed, and done again when the run is resumed.
  std::function<bool()> hurried = {};
};

/// Is told what a session does, by the thread that called `run_session`.
class session_observer {
public:
  virtual ~session_observer() = default;

  /// Workers of other machines join at this address with a copy of these keys.
  virtual void listens(const std::string& /*address*/,
                       const std::filesystem::path& /*keys*/) {}

  /// Viewers of other machines watch at this address.
  virtual void publishes(const std::string& /*address*/) {}

  /// Is called ten times a second and at the end. `progress.generations` holds those that
  /// were closed since the call before.
  virtual void progressed(const run_progress& /*progress*/, const slots_view& /*slots*/) {
  }

  /// Says in a sentence what is probably wrong while the session goes on.
  virtual void warns(const std::string& /*sentence*/) {}
};

/// How a session ended that did not fail.
struct session_result {
  bool interrupted = false; ///< By `session_params::interrupted`, before the run's end.
  bool too_short = false;   ///< Its wall time was used before a candidate had succeeded.
  double seconds = 0;
  std::uint64_t evaluated = 0; ///< In this session.
  double training_seconds = 0; ///< The same.
  std::size_t slots = 0;       ///< The number of slots of this machine.
};

/// Runs the search until it ends, its wall time is used, or it is interrupted. Makes keys
/// (or, where other machines may have them, keeps those that the run has), starts the
/// head and a worker process with the experiment's slots of this machine. `state` is the
/// fold of what `file` holds. Blocks; call it from the process's first thread, which the
/// worker process does not outlive. After an error the run can be resumed as well.
[[nodiscard]] expected<session_result> run_session(const session_params& params,
                                                   session_observer& observer, store file,
                                                   run_state state);

} // namespace clade
