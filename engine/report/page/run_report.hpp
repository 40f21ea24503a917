#pragma once

#include "engine/report/base/best_curve.hpp"
#include "engine/report/base/node_costs.hpp"
#include "engine/report/page/importance.hpp"
#include "engine/report/view/data_story.hpp"
#include "engine/report/view/explain.hpp"
#include "engine/report/view/front_view.hpp"
#include "engine/report/view/mutation_credit.hpp"
#include "engine/report/view/view.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace clade {

/// A cell counts candidates of about one size and fitness.
struct size_cell {
  double parameters = 0, fitness = 0;
  std::uint64_t count = 0;
};

/// Tells what a slot did, column by column of the run's working time.
struct slot_story {
  std::string slot;
  std::uint64_t candidates = 0;
  double busy_seconds = 0, there_seconds = 0;
  std::vector<double> busy;  ///< Share of each column spent on candidates, 0 to 1.
  std::vector<double> there; ///< In which it had joined.
};

/// Spreads spans over columns of equal width.
class columns {
public:
  columns(double seconds, std::size_t count) : seconds_(seconds), shares_(count) {}

  void add(double begin, double end);
  /// Shares of each column, none above 1.
  [[nodiscard]] std::vector<double> shares() const;

private:
  double seconds_;
  std::vector<double> shares_;
};

/// A job of a run of jobs, as it stands.
struct told_job {
  std::string name, command, outcome, slot, reason;
  double seconds = 0;
  std::size_t tries = 0; ///< 0: it has not ended.
};

/// All that a report tells of a run.
struct run_report {
  run_view run; ///< With its digest.
  /// The jobs of a run of jobs, which has no champion and no generations.
  std::vector<told_job> jobs;
  std::string test_metric;
  /// The champion, or the best so far; none before the first success.
  std::optional<genome_view> best;
  bool is_champion = false;
  std::vector<compared> comparison;
  std::optional<model_composed> final_model;
  /// Details and verdict, as in `champion_view`.
  std::shared_ptr<const test_details> details;
  std::vector<std::string> verdict;
  std::optional<seed_story> seeds;
  std::optional<explanation> why;
  /// At most `most_generations`, evenly chosen; `generations_in_all` were there.
  std::vector<generation_overview> generations;
  /// The best until the end of each of these, of all candidates; none before the first
  /// success.
  std::vector<std::optional<double>> best_so_far;
  std::uint64_t generations_in_all = 0;
  std::vector<size_cell> sizes;
  std::vector<size_cell> front;      ///< The fittest for their size, the smallest first.
  std::optional<front_view> weighed; ///< The front of a run with several objectives.
  std::vector<change_credit> credits;
  std::vector<adaptive_rates::credit> rates; ///< The rates, if they adapt.
  std::optional<importance> matters;         ///< None where too few candidates succeeded.
  annotations annotated;                     ///< The annotations that people wrote.
  std::vector<failure_row> failures, lost_attempts;
  std::vector<slot_story> slots; ///< By name.
  double working_seconds = 0;    ///< In which there was any slot.
  std::vector<double> pauses;    ///< The places in it at which the run stood still.
  std::string shell_word;        ///< The run, as a shell takes it.

  /// The story of the data, which the store does not have.
  std::optional<data_story> data;
  std::vector<std::string> wrong_pictures; ///< See wrong_pictures.hpp.
  /// See wrong_examples_shown.hpp.
  std::vector<std::string> wrong_texts;
  std::vector<std::vector<std::vector<float>>> wrong_series;
  std::string without_data; ///< Why there is none; empty where the run needs none.
  node_costs costs;         ///< The costs of the best candidate's network.

  static constexpr std::size_t most_generations = 400, most_failures = 20,
                               timeline_columns = 360;

  [[nodiscard]] double busy_share() const;
  /// Returns its word for the things that were run: "candidate", "job".
  [[nodiscard]] const char* noun() const { return jobs.empty() ? "candidate" : "job"; }
};

/// `shell_word`: the run, as its commands name it. `jobs`: those of a run of jobs. Reads the
/// whole store: seconds for a million evaluations, and some 50 MB.
[[nodiscard]] expected<run_report> tell_story(const store& s,
                                              const std::filesystem::path& file,
                                              std::string shell_word,
                                              std::vector<told_job> jobs = {});

/// Returns the cells than which no other of at most their size is fitter.
[[nodiscard]] std::vector<size_cell> front_of(std::vector<size_cell> sizes,
                                              bool maximize);

/// One HTML file that stands alone, without a script or an outside address.
[[nodiscard]] std::string to_html(const run_report& story);
/// The same as Markdown, with tables in the place of charts.
[[nodiscard]] std::string to_markdown(const run_report& story);

} // namespace clade
