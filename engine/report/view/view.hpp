#pragma once

#include "engine/report/base/seed_story.hpp"
#include "engine/run/state/failure_ways.hpp"
#include "engine/store/run/store.hpp"
#include "engine/store/sqlite/run_folder.hpp"
#include "search_spaces/operators/network.hpp"

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace clade {

/// Whether a run goes on: one that is stopped is paused, or was killed.
enum class run_standing : std::uint8_t { running, stopped, finished };

/// "running", "stopped", "finished"
[[nodiscard]] const char* to_text(run_standing s);

struct experiment;

/// A run as lists and summaries show it, gathered from its store; the same while it is
/// going on and after.
struct run_view {
  std::string name; ///< The experiment's.
  std::filesystem::path file;
  std::uint64_t bytes = 0; ///< On disk, with what is beside the file.
  run_overview overview;
  std::optional<pid_t> writer; ///< Who works on it; 0: somebody.
  /// Over all that the run decided; only if asked for, because it reads every record.
  std::optional<clade::digest> digest;
  /// The model that a run under way has put together last; only if asked for.
  std::optional<model_composed> interim{};
  /// The slots, as they came and went; only if asked for.
  std::vector<node_overview> nodes{};

  /// "digits-20260131-140500 at generation 3: experiment.seed=7"; empty: no fork.
  [[nodiscard]] std::string forked_from() const;

  /// "regularised: for 5000 evaluations ...", where the strategy was "auto"; else empty.
  [[nodiscard]] std::string chosen() const;

  /// Returns the name as in `evaluator_traits`: the hyperparameter that names its
  /// candidates; else empty.
  [[nodiscard]] std::string named_by() const;

  [[nodiscard]] run_standing state() const;
  /// From its start to the last thing recorded.
  [[nodiscard]] double seconds() const;
};

[[nodiscard]] expected<run_view> view_run(const store& s,
                                          const std::filesystem::path& file);

/// Equal for two runs that decided the same, whatever happened to their processes.
[[nodiscard]] expected<digest> digest_of(const store& s);

/// A candidate with all that is known of it.
struct genome_view {
  candidate born;
  std::optional<evaluation> evaluated;
  /// From itself along the fitter parents to one that has none.
  std::vector<candidate_overview> lineage;
  objective goal;
  bool has_weights = false;
};

[[nodiscard]] expected<genome_view> view_genome(const store& s, candidate_id id);

/// A network and what it made of the data.
struct compared {
  std::string subject; ///< "linear model"
  candidate_id id = 0; ///< 0: not a candidate.
  std::optional<double> validation, test;
  std::uint64_t parameters = 0;
  /// All that the test data said, where it is known ("test.auc").
  std::vector<metric> test_metrics{};
};

/// Returns the one that is called so; null where there is none.
[[nodiscard]] const compared* find(const std::vector<compared>& all,
                                   std::string_view subject);

/// The result of a run, and the metrics that it is measured by.
struct champion_view {
  std::optional<genome_view> champion; ///< None: no candidate succeeded.
  /// How most failed (`failure_ways::text`), where none succeeded.
  std::string failures{};
  std::optional<network> decoded;
  std::vector<compared> comparison; ///< The champion, then the final model, last.
  std::string validation_metric;
  std::string test_metric; ///< Empty: nobody met test data.
  std::optional<model_composed> final_model{};
  /// The details of the final model's test, or without one of the champion's; earlier
  /// versions recorded none.
  std::shared_ptr<const test_details> details{};
  /// The facts to know before using the champion (verdict.hpp), a sentence or two each.
  std::vector<std::string> verdict{};
  std::optional<seed_story> seeds{};
};

/// Returns how candidates of the run failed since the last that did not.
[[nodiscard]] expected<failure_ways> failures_of(const store& s);

/// Returns the view of a run that is finished. The run's experiment and problem let the
/// champion be drawn with its shapes; without them (nullptr) it is drawn as its genes say,
/// and the stored experiment is read for the rest.
[[nodiscard]] expected<champion_view>
view_champion(const store& s, const experiment* known, const problem* p);

} // namespace clade
