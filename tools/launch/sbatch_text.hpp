#pragma once

#include "genome/base/error.hpp"

#include <string>
#include <string_view>

namespace clade {

// The lines of options in a script for sbatch, and what it answers.

/// "#SBATCH --name=\"value\"" and a line break, whatever the value holds that
/// `check_sbatch_text` lets pass.
[[nodiscard]] std::string sbatch_line(const std::string& name, const std::string& value);

/// The line of an option as a user writes it, with or without "--": "partition=gpu",
/// "--exclusive". `invalid_input`: it is none.
[[nodiscard]] expected<std::string> read_sbatch_option(std::string option);

/// `invalid_input`, naming `what`: no option can hold the text.
[[nodiscard]] expected<void> check_sbatch_text(const std::string& what,
                                               const std::string& text);

/// `invalid_input`, with the advice: a job can have no log in this folder.
[[nodiscard]] expected<void> check_sbatch_folder(const std::string& folder,
                                                 const std::string& advice);

/// The path as --output takes it, which replaces "%j" and others.
[[nodiscard]] std::string sbatch_pattern(const std::string& path);

/// The job's number from what `sbatch --parsable` said: "17" or "17;cluster", after
/// whatever warnings.
[[nodiscard]] expected<std::string> read_slurm_job_id(std::string_view said);

} // namespace clade
