#pragma once

#include "engine/search/core/strategy.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// How the rungs of a strategy lie where an experiment does not give them; `none`: it
/// trains every candidate to the end.
enum class rung_layout { none, by_ratio, evenly, one_a_generation };

/// How many objectives a strategy is for: `one` raises that alone, `any` takes one or
/// several, `few` are two or three, `many` are four and more.
enum class objective_count { one, any, few, many };

/// The traits that others need to know of a strategy beside its name.
struct strategy_traits {
  rung_layout rungs = rung_layout::none;
  objective_count objectives = objective_count::one;
  /// Keeps `in_flight` candidates open, at most `population`, and waits for no
  /// generation.
  bool steady = false;
  /// Fits a model for each order, which takes milliseconds and more.
  bool model = false;
  /// Its model knows the scores of `zero_cost`.
  bool scores = false;
  /// Chooses parents as `selection` says.
  bool selection = false;
  /// Changes hyperparameters within a training, which no benchmark table knows.
  bool retunes = false;
  /// Needs to know how important the branches of a trained network are.
  bool branches = false;
};

/// A strategy in the table: its name in an experiment file, one or two sentences on when
/// to take it, and what makes one. `serves` says whether it can search a space, and the
/// error which can; `validate` judges what this strategy alone reads; `keys` visits it;
/// `parts` gives the searches that it consists of, none of which has parts; `fits` says
/// whether it can do what it is told in a space that it serves. Null: any space, nothing
/// to judge, no keys, no parts.
struct strategy_row {
  std::string_view name;
  std::string_view advice;
  std::unique_ptr<strategy> (*make)(const evolution_params& params, std::uint64_t seed,
                                    std::shared_ptr<const search_space> space);
  strategy_traits traits{};
  expected<void> (*serves)(const search_space& space) = nullptr;
  expected<void> (*validate)(const evolution_params& params) = nullptr;
  void (*keys)(own_keys& v, own_params& own) = nullptr;
  std::vector<evolution_params> (*parts)(const evolution_params& params) = nullptr;
  expected<void> (*fits)(const evolution_params& params,
                         const search_space& space) = nullptr;
};

[[nodiscard]] std::span<const strategy_row> strategy_rows();

/// Null for a name that is not in the table, as "auto".
[[nodiscard]] const strategy_row* row_of(std::string_view name);
[[nodiscard]] std::vector<std::string> strategy_names();

/// Visits the keys of the known points and of all strategies' own parameters, in the order
/// of the table.
void visit_own_keys(own_keys& v, own_params& own);

/// Whether the strategy, or one of those that it consists of, has the trait.
[[nodiscard]] bool has_trait(const evolution_params& params,
                             bool strategy_traits::*trait);

/// Whether candidates may start from the trainings of others, which therefore leave
/// checkpoints.
[[nodiscard]] bool starts_from_others(const evolution_params& params);

/// Whether parents are chosen by one metric after another (lexicase.hpp).
[[nodiscard]] bool selects_by_cases(const evolution_params& params);

/// Fails if the parameters are not valid (validation.hpp). A strategy that looks into
/// genomes needs `space`; every run has one.
[[nodiscard]] expected<std::unique_ptr<strategy>>
make_strategy(const evolution_params& params, std::uint64_t seed,
              std::shared_ptr<const search_space> space = {});

/// The name of a strategy in an experiment file, and advice on when to take it.
struct strategy_advice {
  std::string_view name;
  std::string_view sentence;
};

/// Every strategy that an experiment file may name, "auto" first.
[[nodiscard]] std::span<const strategy_advice> strategies_with_advice();

} // namespace clade
