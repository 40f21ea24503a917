#pragma once

#include "engine/evaluation/process/guarded_process.hpp"
#include "engine/evaluation/process/program.hpp"
#include "engine/evaluation/process/program_group.hpp"

#include <functional>

namespace clade {

/// The streams that a program is to have.
struct program_ends {
  unique_fd input, output, errors;
};

/// Starts a program, which its owner keeps until it is followed no more.
using program_starter = std::function<expected<followed_process*>(const program_ends&)>;

/// Starts a program by `start` and does with it what `run_program` says; nothing of it is
/// left then (`followed_process::end_rest`). `group`: whose kernel limit it is under; null:
/// its memory is watched. An error: it could not be started.
[[nodiscard]] expected<program_result> follow_program(const program_params& params,
                                                      const program_group* group,
                                                      const program_starter& start);

/// Nothing where none is to be had or wanted: then memory is watched instead.
[[nodiscard]] std::optional<program_group> group_for(const program_params& params);

/// Returns the steps that a fork does before it becomes the program; false, with errno,
/// if it cannot.
[[nodiscard]] std::function<bool()> entering(const program_params& params,
                                             const program_group* group);

} // namespace clade
