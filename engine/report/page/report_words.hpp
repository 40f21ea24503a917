#pragma once

#include "engine/report/page/run_report.hpp"

#include <string>
#include <vector>

namespace clade {

/// These are the words of a report, whatever it is written in: nothing is escaped yet.

/// A table of a test has rows for so many classes, and a confusion of at most so many.
inline constexpr std::size_t most_classes = 60, widest_confusion = 20;
inline constexpr std::size_t most_models = 80, most_columns = 50;

struct figure {
  std::string name, value, note;
};
[[nodiscard]] std::vector<figure> figures_of(const run_report& story);

/// "finished; seed 1, clade 0.1.0, started 2026-01-31 14:05:00"
[[nodiscard]] std::string standing_words(const run_report& story);
/// A table of a word, an outcome, numbers and texts, and its rows: see `job_columns`.
[[nodiscard]] std::vector<std::string> jobs_head();
[[nodiscard]] std::vector<std::string> cells_of(const told_job& j);
inline constexpr const char* job_columns = "llnnltt";
[[nodiscard]] std::string fitness_words(const run_report& story);
/// "What the final model made of the test data", or the champion where it is used.
[[nodiscard]] std::string test_title(const run_report& story);
[[nodiscard]] std::string final_words(const run_report& story);
[[nodiscard]] std::string champion_words(const run_report& story);
[[nodiscard]] std::string lineage_words(const explanation& e);
[[nodiscard]] std::string changes_words(const run_report& story);
[[nodiscard]] std::string rates_words();
/// A table of one word and four numbers, and its rows.
[[nodiscard]] std::vector<std::string> rates_head();
[[nodiscard]] std::vector<std::string> cells_of(const adaptive_rates::credit& r);
[[nodiscard]] std::string failures_words(const run_report& story);
[[nodiscard]] std::string time_words(const run_report& story);
[[nodiscard]] std::string again_words(const run_report& story);

/// A line for a shell.
struct command_line {
  std::string purpose, line;
};
[[nodiscard]] std::vector<command_line> commands_of(const run_report& story);

/// A step of a lineage, or how many are left out in its place.
struct told_step {
  const candidate_overview* who = nullptr;
  std::string result;
  std::optional<double> gain;
  std::vector<std::string> changes;
  std::uint64_t hidden = 0;
};
[[nodiscard]] std::vector<told_step> told_steps(const explanation& e);

/// Returns who each annotation is about ("the run", "#12"), its tags, its note and who
/// wrote that, by rising id.
[[nodiscard]] std::vector<std::vector<std::string>>
annotation_rows(const annotations& annotated);

[[nodiscard]] std::string outcome_words(const failure_row& f);
[[nodiscard]] double busy_share(const slot_story& s);
/// "38 %", "0.4 %".
[[nodiscard]] std::string percent(double share);

} // namespace clade
