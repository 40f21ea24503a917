#pragma once

#include "engine/search/core/breeding.hpp"
#include "engine/search/models/fitted/surrogate.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// The results of earlier runs, of whatever data, with which the model of the strategy
/// "surrogate" begins (`clade run --start-from`): a model of them is the trend that the
/// model of the run's own results follows, as far as these bear it out, as a lower
/// fidelity is (surrogate_params::trend). For one objective.
struct earlier_results {
  /// Each as `to_text(earlier_result)` writes it.
  std::vector<std::string> texts;

  /// How many a run begins with at most.
  static constexpr std::size_t most = 60;
  /// Fewer say nothing.
  static constexpr std::size_t fewest = 6;
};

void keys(own_keys& v, earlier_results& p);

/// A network of an earlier run and its normal score among the results of that run; greater
/// is better.
struct earlier_result {
  clade::genome genome;
  double score = 0;
};

/// A line with the score, then those of the genome.
[[nodiscard]] std::string to_text(const earlier_result& r);
[[nodiscard]] expected<earlier_result> parse_earlier_result(std::string_view text);

/// The results that an experiment has; an error where a text is none.
[[nodiscard]] expected<std::vector<earlier_result>>
earlier_results_of(const evolution_params& params);

/// Returns the results as examples from which a model can learn.
[[nodiscard]] std::vector<example> examples_of(std::span<const earlier_result> results,
                                               const genome_features& features);

/// How well these results order a run's own: the correlation of the normal scores of what
/// their model expects with those of the results, of which greater ones are better. None
/// where there are too few of either.
[[nodiscard]] std::optional<double> agreement(std::span<const earlier_result> earlier,
                                              std::span<const earlier_result> own,
                                              const grammar& rules, std::uint64_t seed);

} // namespace clade
