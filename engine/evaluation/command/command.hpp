#pragma once

#include "engine/evaluation/evaluator_spec.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace clade {

/// `[command]`: a program of the user's scores each candidate. It reads one JSON object
/// from standard input:
///
///     {"candidate": 12, "seed": 1804289383, "epochs": 1,
///      "hyperparameters": {"learning_rate": 0.01, ...},
///      "genome": {"layers": [{"op": "dense", "settings": {"units": 32}, "inputs": [0]}],
///                 "output": {"inputs": [1], "settings": {}}}}
///
/// "inputs" number what enters a layer: 0 is the input, 1 the first layer. "seed" is the
/// same for equal networks of a run. It answers with its metrics as the last line of its
/// standard output that is a JSON object, {"validation.accuracy": 0.93}, and ends with
/// status 0. Else the candidate has failed: `crashed` where the program ended otherwise
/// (the reason has its last line of standard error), `invalid` where it answers with no
/// metrics or lacks one that the objective names, `diverged` where one is not finite.
struct command_params {
  std::vector<std::string> run;    ///< The program and its arguments.
  std::filesystem::path directory; ///< Where it runs.
  /// What a full evaluation is told; less where a strategy has rungs.
  std::uint32_t epochs = 1;
};

[[nodiscard]] expected<void> validate(const command_params& params);

struct command_setup {
  command_params params;
  search_space space;
  clade::problem problem;
  objective goal;
};

/// Keeps to a budget's time and memory; both count all processes that the program starts.
[[nodiscard]] std::unique_ptr<fitness_function> make_command(command_setup setup);

/// What the program reads of this candidate.
[[nodiscard]] std::string command_input(const job& j);

/// The kind "command" with its defaults.
[[nodiscard]] std::shared_ptr<const evaluator_spec> make_command_spec();

} // namespace clade
