#pragma once

#include "engine/report/base/best_curve.hpp"
#include "engine/report/base/sign_test.hpp"
#include "engine/report/view/view.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace clade {

/// A run that is compared with others.
struct compared_run {
  run_view run; ///< With its digest.
  /// The settings of the resolved experiment, by key.
  std::map<std::string, std::string> settings;
  best_curve curve;
};

/// A setting in which the sides differ: the values that each side's runs have, each once,
/// in the order of the runs; "-" where a run has none.
struct setting_difference {
  std::string key;
  std::vector<std::string> a, b;
};

/// A decision that was not the same, as both sides have it.
struct record_difference {
  std::string what; ///< "the birth of #12"
  std::string a, b; ///< Lines.
};

/// A run of A beside the run of B that has the same seed, or the only two.
struct run_pair {
  std::size_t a = 0, b = 0; ///< Places among the runs of each side.
  bool same_start = false;  ///< The seed and all that decides the search.
  /// None: all decisions that both recorded are equal.
  std::optional<record_difference> first;
  std::uint64_t candidates = 0; ///< Equal ones before it.
};

/// The best at some effort, of each run of each side.
struct effort_mark {
  double effort = 0;
  std::vector<std::optional<double>> a, b;
};

/// How the sides became good by one measure.
struct effort_comparison {
  enum class measure : std::uint8_t { evaluations, training, wall };

  measure by = measure::evaluations;
  std::vector<effort_mark> marks; ///< The last at the effort that all runs reached.
  /// At the last mark, over pairs of one seed; if there are several runs on a side.
  std::optional<paired_signs> signs;
};

struct run_diff {
  objective goal;
  bool same_goal = true; ///< If not, fitness is not compared.
  std::vector<compared_run> a, b;
  std::vector<setting_difference> settings;
  std::vector<run_pair> pairs;
  std::vector<std::uint64_t> unpaired; ///< Seeds that only one side has.
  std::vector<effort_comparison> efforts;

  [[nodiscard]] bool several() const { return a.size() > 1 || b.size() > 1; }
};

/// A store and its file.
struct opened_run {
  store s;
  std::filesystem::path file;
};

/// Compares two runs, or several on each side, paired by seed; `invalid_input` where one
/// side has a seed twice.
[[nodiscard]] expected<run_diff> diff_runs(std::span<const opened_run> a,
                                           std::span<const opened_run> b);

/// The parts of it, over values.
[[nodiscard]] std::vector<setting_difference>
diff_settings(std::span<const std::map<std::string, std::string>> a,
              std::span<const std::map<std::string, std::string>> b);

/// Which pairs are better on which side at this mark; a run without a success is worse
/// than any with one.
[[nodiscard]] paired_signs count_signs(const effort_mark& mark,
                                       std::span<const run_pair> pairs, bool maximize);

/// For people, 80 columns.
[[nodiscard]] std::string to_text(const run_diff& d);
/// For programs: one object on one line, without the line's end.
[[nodiscard]] std::string to_json(const run_diff& d);

} // namespace clade
