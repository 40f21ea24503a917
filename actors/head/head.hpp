#pragma once

#include "actors/messages/progress.hpp"
#include "actors/transport/link/endpoint.hpp"
#include "engine/config/experiment/experiment.hpp"
#include "engine/run/state/run_state.hpp"
#include "engine/store/run/store.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace clade {

struct head_params {
  clade::experiment experiment;
  clade::problem problem;
  std::string build;          ///< "0.1.0"
  std::filesystem::path keys; ///< A head's bundle (actors/transport/tls/keys.hpp).
  /// The run's folder, with the store: viewers find the head there. Empty: it has none.
  std::filesystem::path folder;
  /// The address at which viewers of other machines find the head, and the folder of the
  /// authority that made their keys (engine/telemetry/socket/viewer_keys.hpp). None: nowhere.
  std::optional<endpoint> publish = {};
  std::filesystem::path authority = {};
  endpoint listen;                         ///< Port 0: any free one.
  std::chrono::milliseconds lease{30'000}; ///< `schedule_params::lease`.
  /// `dispatcher_params::wait_for_nodes`.
  std::chrono::milliseconds wait_for_nodes{0};
  std::uint64_t local_worker = 0;
  /// Hears, a line at a time, who joins and leaves, and who was refused. From any thread.
  std::function<void(const std::string&)> say;
  std::size_t generators = 2;
  /// `selector_params::refuses` and `change_slots`.
  std::function<std::string(const instruction&)> refuses;
  std::function<void(const std::string& slots)> change_slots;
  /// `selector_params::time_left`.
  std::function<std::chrono::milliseconds()> time_left = {};
};

/// The actors of a run: selector, generators, dispatcher and archive, and the port that
/// nodes join. Used by one thread.
class head {
public:
  /// Goes on where `run`, the fold of what `file` holds, stands.
  [[nodiscard]] static expected<std::unique_ptr<head>> start(const head_params& params,
                                                             store file, run_state run);
  virtual ~head() = default;

  /// The port at which nodes join.
  [[nodiscard]] virtual std::uint16_t port() const = 0;

  /// Blocks until the run is over or the time has passed; true: it is over.
  virtual bool wait(std::chrono::milliseconds most) = 0;

  [[nodiscard]] virtual run_progress progress(std::size_t from_generation) = 0;
  [[nodiscard]] virtual slots_view slots() = 0;

  /// With [final], ends the search: what is trained at the end is planned now.
  /// `trainings_too`: and what of that is not done is dropped.
  virtual void end_search(const std::string& reason, bool trainings_too = false) = 0;

  /// Finish and record what is in training, then pause. `wait` tells when that is done.
  /// `may_end`: a search that is complete by then ends instead (`stop_run`).
  virtual void stop(const std::string& reason, bool may_end = false) = 0;

  /// Stops as `stop` does, but leaves to the next head what nodes of this machine give back
  /// meanwhile and what other machines have.
  virtual void leave(const std::string& reason) = 0;

  /// Lets the nodes go, if the run is finished (else those of other machines look for its
  /// next head), and ends the actors; blocks until the store is closed.
  virtual void close() = 0;
};

} // namespace clade
