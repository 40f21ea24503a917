#pragma once

#include "engine/evaluation/evaluator_spec.hpp"

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace clade {

/// `retry = {codes = [75, 137], times = 3, pause = "10s"}`: exit statuses that tell of the
/// machine and not of the candidate. That of a program that a signal has ended is 128 and
/// the signal's number, as a shell says.
struct retry_params {
  std::vector<std::uint32_t> codes; ///< None: nothing is tried again.
  std::uint32_t times = 3;          ///< After the first time.
  std::chrono::microseconds pause{10'000'000};

  friend bool operator==(const retry_params&, const retry_params&) = default;
};

/// `[command]`: a program of the user's scores each candidate. The header
/// candidate_files.hpp says what it is told, and how; program_answer.hpp, what it
/// answers. If it ends otherwise than with status 0, the candidate has failed: `crashed`,
/// and the reason has its last line of standard error.
struct command_params {
  std::vector<std::string> run;    ///< The program and its arguments, with placeholders.
  std::filesystem::path directory; ///< The folder in which it runs.
  bool copy = false;               ///< Whether each candidate runs in a copy of that.
  /// Modules that a Python loads once for all candidates (fork_server.hpp). None: each has
  /// a process of its own from the start.
  std::vector<std::string> preload{};
  std::vector<named_text> environment{}; ///< With placeholders.
  /// "last_line", "json_lines", "tensorboard", or the name of a file, with placeholders.
  std::string metrics = "last_line";
  /// The epochs that a full evaluation is told; less if a strategy has rungs.
  std::uint32_t epochs = 1;
  /// Whether it keeps what it needs to go on in its checkpoint folder.
  bool checkpoints = false;
  retry_params retry{};
  /// Whether it is kept from the run's keys (isolation.hpp).
  bool isolate = true;
  /// Between the word to end (SIGTERM) and the kill.
  std::chrono::microseconds grace{2'000'000};
};

/// No folder of a larger directory is copied for each candidate.
inline constexpr std::uint64_t most_copied_bytes = 256 << 20;

[[nodiscard]] expected<void> validate(const command_params& params);
/// An error names what is in braces and no word, and the words that there are.
/// `networks`: what the space's networks are for; null: nobody has said.
[[nodiscard]] expected<void> check_placeholders(const command_params& params,
                                                const search_space& space,
                                                const problem* networks = nullptr);

struct command_setup {
  command_params params;
  search_space space;
  clade::problem problem;
  objective goal;
  program_host host{};
};

/// Returns the file, in a job's folder of logs, that keeps what the program of a
/// candidate writes.
[[nodiscard]] std::filesystem::path log_file(const std::filesystem::path& logs,
                                             candidate_id id);

/// Keeps to a budget's time and memory; both count all processes that the program starts.
[[nodiscard]] std::unique_ptr<fitness_function> make_command(command_setup setup);

/// The kind "command" with its defaults.
[[nodiscard]] std::shared_ptr<const evaluator_spec> make_command_spec();

} // namespace clade
