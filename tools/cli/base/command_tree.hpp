#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace clade {

/// The sub-commands that are for people, in the order in which --help has them.
[[nodiscard]] std::vector<const CLI::App*> subcommands_of(const CLI::App& app);

/// The one of that name; nullptr if there is none.
[[nodiscard]] const CLI::App* find_subcommand(const CLI::App& app,
                                              const std::string& name);

} // namespace clade
