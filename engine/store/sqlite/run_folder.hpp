#pragma once

#include "genome/base/error.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// A run's folder is `<name>-<YYYYMMDD-HHMMSS>/` under `runs/`, and this is the store in
/// it.
inline constexpr const char* store_file_name = "run.db";
/// Beside it, while a head is at work: where viewers find it (engine/telemetry).
inline constexpr const char* live_folder_name = "live";
/// Beside it, where programs evaluate: what they write, if a slot of the head's own
/// machine runs them.
inline constexpr const char* program_logs_name = "logs";

/// `./runs`, or what the environment variable CLADE_RUNS says.
[[nodiscard]] std::filesystem::path runs_folder();

/// A run's folder and what its name says.
struct run_folder {
  std::filesystem::path path;
  std::string name;  ///< The experiment's.
  std::string stamp; ///< "20260131-140500", perhaps with "-2"; empty if the folder's name
                     ///< does not end so.
  bool readable = true; ///< False: its owner does not let us see what is in it.

  [[nodiscard]] std::filesystem::path store_file() const {
    return path / store_file_name;
  }
};

[[nodiscard]] run_folder parse_run_folder(const std::filesystem::path& path);

/// The folders under `folder` that hold a store, the latest first, and those that are
/// named as a run's folder and may not be read; none if there is no such folder.
[[nodiscard]] expected<std::vector<run_folder>>
list_run_folders(const std::filesystem::path& folder = runs_folder());

/// Finds the run that a person means by: a run's folder; the store in it; the folder's
/// name under `runs/`; the name of an experiment, or the beginning of one's that no other
/// shares, for its latest run; the beginning of one folder's name. Returns the run's
/// folder. `not_found`, `io` if it may not be read, or `invalid_input` naming those that
/// it may mean.
[[nodiscard]] expected<std::filesystem::path>
find_run(std::string_view text, const std::filesystem::path& folder = runs_folder());

/// The same for who only reads: returns the store's file, and takes any other file for a
/// store that was copied from its folder.
[[nodiscard]] expected<std::filesystem::path>
find_store(std::string_view text, const std::filesystem::path& folder = runs_folder());

/// Returns the place at which an upgraded copy of a store is put: for
/// "runs/digits-TIME/run.db" that is "runs/digits-upgraded-TIME/run.db", for a file alone
/// "NAME-upgraded.db" beside it.
[[nodiscard]] std::filesystem::path upgraded_store(const std::filesystem::path& file);

/// "clade COMMAND RUN", for the store's file.
[[nodiscard]] std::string command_for(const std::string& command,
                                      const std::filesystem::path& file);

/// "clade check RUN": what to do about damage.
[[nodiscard]] std::string check_command(const std::filesystem::path& file);

} // namespace clade
