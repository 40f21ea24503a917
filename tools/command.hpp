#pragma once

#include "engine/evolution/candidate.hpp"
#include "genome/error.hpp"

#include <CLI/CLI.hpp>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

namespace clade {

/// Every sub-command is one file, which adds itself to the application; `main` runs the
/// one that was chosen and returns what it returns: 0, 1 (the machine's fault or ours), 2
/// (the user's).
using command = std::function<int()>;

void add_attach(CLI::App& app, command& chosen);
void add_bench(CLI::App& app, command& chosen);
void add_check(CLI::App& app, command& chosen);
void add_control(CLI::App& app, command& chosen);
void add_devices(CLI::App& app, command& chosen);
void add_evaluate(CLI::App& app, command& chosen);
void add_export(CLI::App& app, command& chosen);
void add_diff(CLI::App& app, command& chosen);
void add_explain(CLI::App& app, command& chosen);
void add_fleet(CLI::App& app, command& chosen);
void add_keys(CLI::App& app, command& chosen);
void add_launch(CLI::App& app, command& chosen);
void add_list(CLI::App& app, command& chosen);
void add_node(CLI::App& app, command& chosen);
void add_plan(CLI::App& app, command& chosen);
void add_predict(CLI::App& app, command& chosen);
void add_replay(CLI::App& app, command& chosen);
void add_report_command(CLI::App& app, command& chosen);
void add_resume(CLI::App& app, command& chosen);
void add_run(CLI::App& app, command& chosen);
void add_show(CLI::App& app, command& chosen);
void add_upgrade(CLI::App& app, command& chosen);
void add_worker(CLI::App& app, command& chosen);
void add_workers(CLI::App& app, command& chosen);

/// Options that `run` and `resume` share: how the run is open to other machines.
struct sharing_options {
  std::string listen;
  std::filesystem::path keys;
  std::string publish;
  std::string lease = "30s";
};
void add_sharing(CLI::App& sub, sharing_options& options);

/// The time that an option says, such as "90s".
expected<std::chrono::milliseconds> parse_time(const std::string& option,
                                               const std::string& text);

/// "231" or "#231"; else an error that says `before`, the number as it stands without
/// the "#", and `behind`.
expected<candidate_id> parse_candidate(std::string text, const std::string& before,
                                       const std::string& behind);

/// Prints "clade: ..." on standard error and returns the exit status.
int report(const error& e);

} // namespace clade
