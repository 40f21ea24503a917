#pragma once

#include "actors/messages/progress.hpp"
#include "actors/transport/endpoint.hpp"
#include "engine/config/experiment.hpp"
#include "engine/run/run_state.hpp"
#include "engine/store/store.hpp"
#include "tools/cli/command.hpp"

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>

namespace clade {

/// What `run` and `resume` share: a store that is open, its fold, and how people want to
/// see it.
struct session_params {
  clade::experiment experiment;
  clade::problem problem;
  std::filesystem::path file = {};      ///< The experiment's; empty where it is resumed.
  std::filesystem::path folder;         ///< runs/digits-20260101-120000
  std::filesystem::path authority;      ///< Who signs the run's keys; empty: its own.
  std::optional<endpoint> publish = {}; ///< Where others watch it, with its keys.
  std::chrono::milliseconds lease{30'000};
  std::string note = {}; ///< Said with the run's name; empty: nothing.
  bool json = false;
  bool quiet = false; ///< No progress.
  /// Called ten times a second and at the end, if set.
  std::function<void(const run_progress&)> observe = {};
};

/// Where `--publish` wants a run to be watched, its host in numbers; none where it does
/// not. Whether that can be had is looked at before anything is created: the keys of
/// `--keys`, the address and its ports.
[[nodiscard]] expected<std::optional<endpoint>>
publishing_at(const sharing_options& options);

/// How a session ended.
struct session_result {
  int status = 0;      ///< For the shell: 0, 1, 2, or 130 after Ctrl+C.
  bool failed = false; ///< The reason was printed.
  double seconds = 0;
  std::uint64_t evaluated = 0;
  double training_seconds = 0;
  std::size_t slots = 0;
};

/// Runs the search to its end: makes keys (or, where other machines may have them, keeps
/// those it has), starts the head and a worker process with the
/// experiment's slots, shows progress, obeys Ctrl+C (once: finish what is in training and
/// record it; twice: stop at once), prints the report. Blocks; call it from the process's
/// first thread before it has others.
[[nodiscard]] session_result run_session(const session_params& params, store file,
                                         run_state run);

} // namespace clade
