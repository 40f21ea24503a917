#pragma once

#include "genome/base/error.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// A mean with the half width of its 95 % confidence interval by Student's t; 0 where
/// there is one value alone.
struct mean_interval {
  double mean = 0, half = 0;
};

/// Returns the mean of one value at least.
[[nodiscard]] mean_interval mean_of(std::span<const double> values);

/// The 97.5 % quantile of Student's t.
[[nodiscard]] double student_quantile(std::size_t degrees_of_freedom);

/// The median of values of which some, those that are nothing, are beyond all others;
/// nothing where the median is one of them.
[[nodiscard]] std::optional<double> median_of(std::vector<std::optional<double>> values);

/// The rank of each, 1 for the least; equal ones share their mean rank.
[[nodiscard]] std::vector<double> ranks_of(std::span<const double> values);

/// One search of one strategy on one table, with one seed.
struct search_outcome {
  std::vector<double> regret; ///< After 1, 2, ... evaluations.
  std::optional<double> first_top, first_best;
  double ask_mean_seconds = 0, ask_max_seconds = 0;
};

/// Evaluations until something was found, over all seeds.
struct evaluations_until {
  std::optional<double>
      median;                 ///< Nothing where half of the seeds or more never found it.
  std::optional<double> mean; ///< Nothing where one never did.
  std::size_t seeds = 0;      ///< How many found it.
};

[[nodiscard]] evaluations_until until_of(std::vector<std::optional<double>> seeds);

/// A strategy on a table, over all seeds.
struct search_row {
  std::string name;
  std::vector<mean_interval> regret; ///< At each checkpoint.
  /// The values that it is the mean of: at each checkpoint, the regret of each seed.
  std::vector<std::vector<double>> regret_of_seeds;
  std::vector<double> curve; ///< The mean regret after 1, 2, ... evaluations.
  evaluations_until top{};   ///< One of the top rows.
  std::optional<evaluations_until> best{}; ///< The best; another program may not say.
  double ask_mean_seconds = 0, ask_max_seconds = 0;
};

[[nodiscard]] search_row row_of(std::string name, std::span<const search_outcome> seeds,
                                std::span<const std::size_t> checkpoints);

/// Evaluations until the mean regret is this or less; nothing where it never was.
[[nodiscard]] std::optional<std::size_t> evaluations_to(const search_row& row,
                                                        double regret);

struct search_table_rows {
  std::string name;
  std::vector<search_row> rows; ///< One for each strategy that can search the table.
};

struct search_comparison {
  std::size_t seeds = 0, evaluations = 0;
  std::vector<std::size_t> checkpoints; ///< Evaluations.
  bool of_fronts = false; ///< Regret is of hypervolume: there are several objectives.
  /// The row that others are compared with: how many evaluations they take to the regret
  /// that it has at each checkpoint. May be none of them.
  std::string yardstick;
  std::vector<search_table_rows> tables;
};

/// The strategies that have a row on every table, in the first table's order.
[[nodiscard]] std::vector<std::string> everywhere(const search_comparison& c);

/// Returns, for these, the mean over tables of the rank of each one's mean regret at a
/// checkpoint.
[[nodiscard]] std::vector<double> mean_ranks(const search_comparison& c,
                                             std::size_t checkpoint);

/// Returns the number of seeds that all rows of a table have; as many count.
[[nodiscard]] std::size_t common_seeds(const search_table_rows& t,
                                       std::size_t checkpoint);

/// The mean, over all searches of all tables, of the rank of each strategy's regret at a
/// checkpoint among those of the same table and seed, equal ones sharing theirs.
[[nodiscard]] std::vector<mean_interval> search_ranks(const search_comparison& c,
                                                      std::size_t checkpoint);

/// Tables and rows of two that were written apart, with the same checkpoints. `origin`
/// names the second in errors.
[[nodiscard]] expected<search_comparison> joined(search_comparison a, search_comparison b,
                                                 const std::string& origin);

/// Rows of another comparison, such as one that another program printed, behind those of
/// each table. It must have the same tables, checkpoints among which are all of ours, and
/// a row; else `c` is as it was. `origin` names it in errors.
[[nodiscard]] expected<void>
add_rows(search_comparison& c, const search_comparison& other, const std::string& origin);

/// The geometric mean over tables of the one's mean regret over the other's, at the last
/// checkpoint: above 1, the first is behind. Nothing where one of them is not there. A
/// regret of 0 counts as a thousandth of the other's.
[[nodiscard]] std::optional<double>
regret_ratio(const search_comparison& c, const std::string& of, const std::string& to);

/// For people: a block for each table, then the mean ranks, of means and of searches.
[[nodiscard]] std::string to_text(const search_comparison& c);

/// One JSON object on one line.
[[nodiscard]] std::string to_json(const search_comparison& c);

/// Reads what `to_json` wrote, or experiments/peers/optuna_tables.py; ranks are worked out
/// anew. `origin` names the text in errors.
[[nodiscard]] expected<search_comparison> parse_comparison(std::string_view text,
                                                           const std::string& origin);

} // namespace clade
