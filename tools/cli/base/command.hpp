#pragma once

#include "engine/search/core/candidate.hpp"
#include "genome/base/error.hpp"

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdint>
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
void add_pods(CLI::App& app, command& chosen);
void add_cancel(CLI::App& app, command& chosen);
void add_check(CLI::App& app, command& chosen);
void add_complete_line(CLI::App& app, command& chosen);
void add_completion(CLI::App& app, command& chosen);
void add_control(CLI::App& app, command& chosen);
void add_note(CLI::App& app, command& chosen);
void add_tag(CLI::App& app, command& chosen);
void add_devices(CLI::App& app, command& chosen);
void add_describe(CLI::App& app, command& chosen);
void add_doctor(CLI::App& app, command& chosen);
void add_evaluate(CLI::App& app, command& chosen);
void add_export(CLI::App& app, command& chosen);
void add_diff(CLI::App& app, command& chosen);
void add_explain(CLI::App& app, command& chosen);
void add_fleet(CLI::App& app, command& chosen);
void add_get(CLI::App& app, command& chosen);
void add_help(CLI::App& app, command& chosen);
void add_jobs(CLI::App& app, command& chosen);
void add_keys(CLI::App& app, command& chosen);
void add_launch(CLI::App& app, command& chosen);
void add_list(CLI::App& app, command& chosen);
void add_logs(CLI::App& app, command& chosen);
void add_new(CLI::App& app, command& chosen);
void add_node(CLI::App& app, command& chosen);
void add_ranks(CLI::App& app, command& chosen);
void add_operators(CLI::App& app, command& chosen);
void add_plan(CLI::App& app, command& chosen);
void add_predict(CLI::App& app, command& chosen);
void add_replay(CLI::App& app, command& chosen);
void add_report_command(CLI::App& app, command& chosen);
void add_resume(CLI::App& app, command& chosen);
void add_run(CLI::App& app, command& chosen);
void add_serve(CLI::App& app, command& chosen);
void add_show(CLI::App& app, command& chosen);
void add_submit(CLI::App& app, command& chosen);
void add_top(CLI::App& app, command& chosen);
void add_train(CLI::App& app, command& chosen);
void add_upgrade(CLI::App& app, command& chosen);
void add_version(CLI::App& app, command& chosen);
void add_wait(CLI::App& app, command& chosen);
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

/// A lease that heartbeats can keep (`node_welcome::heartbeat_ms`).
inline constexpr std::chrono::milliseconds shortest_lease{1000};

/// The text of `--lease`; refused where it is shorter. `heard`: who is heard of within it.
[[nodiscard]] expected<std::chrono::milliseconds> parse_lease(const std::string& text,
                                                              const char* heard);
[[nodiscard]] expected<std::chrono::milliseconds>
lease_of(const sharing_options& options);

/// "231" or "#231"; else an error that says `before`, the number as it stands without
/// the "#", and `behind`.
expected<candidate_id> parse_candidate(std::string text, const std::string& before,
                                       const std::string& behind);

/// Takes a whole number from `low` to `high`, so that an error names the option and the
/// range.
CLI::Validator whole_number(std::uint64_t low, std::uint64_t high);

/// Takes a number from `low` to `high`, so that an error names the option and the range.
CLI::Validator number_between(double low, double high);

inline constexpr std::uint64_t largest_seed = INT64_MAX;
inline constexpr std::uint64_t largest_candidate = std::uint64_t{1} << 53;

/// Returns the text without its middle where it is longer than a person would read.
std::string shortened_middle(const std::string& text);

/// Returns what `clade --version` prints: the version and the license.
std::string version_text();

/// Prints "clade: ..." on standard error and returns the exit status.
int report(const error& e);

} // namespace clade
