#pragma once

#include "tools/cli/base/command.hpp"
#include "tools/run/new_run.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace clade {

/// The options that the commands that make a run have in common.
struct fresh_session_options {
  std::optional<std::uint64_t> seed;
  std::string slots;
  sharing_options sharing;
  bool json = false;
};

/// Adds to `overrides` what the options say in the place of the experiment.
void override_by(const fresh_session_options& options,
                 std::vector<std::string>& overrides);

/// Checks the options, has `make` make the run, prints what is known of it and what
/// `say_start` says (for people alone), and shows the session to its end. `file`: what
/// the run was made from. Returns the exit status.
[[nodiscard]] int
show_fresh_session(const fresh_session_options& options,
                   const std::filesystem::path& file,
                   const std::function<expected<new_run>()>& make,
                   const std::function<void(const new_run&)>& say_start);

} // namespace clade
