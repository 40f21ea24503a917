#pragma once

#include "genome/error.hpp"

#include <CLI/CLI.hpp>

#include <functional>

namespace clade {

/// Every sub-command is one file, which adds itself to the application; `main` runs the
/// one that was chosen and returns what it returns: 0, 1 (the machine's fault or ours), 2
/// (the user's).
using command = std::function<int()>;

void add_bench(CLI::App& app, command& chosen);
void add_check(CLI::App& app, command& chosen);
void add_devices(CLI::App& app, command& chosen);
void add_keys(CLI::App& app, command& chosen);
void add_launch(CLI::App& app, command& chosen);
void add_list(CLI::App& app, command& chosen);
void add_node(CLI::App& app, command& chosen);
void add_plan(CLI::App& app, command& chosen);
void add_resume(CLI::App& app, command& chosen);
void add_run(CLI::App& app, command& chosen);
void add_show(CLI::App& app, command& chosen);
void add_worker(CLI::App& app, command& chosen);
void add_workers(CLI::App& app, command& chosen);

/// Prints "clade: ..." on standard error and returns the exit status.
int report(const error& e);

} // namespace clade
