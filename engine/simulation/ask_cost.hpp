#pragma once

#include "engine/run/state/run_state.hpp"
#include "search_spaces/operators/network.hpp"

#include <memory>
#include <vector>

namespace clade {

/// A search whose own cost is measured: on the synthetic fitness, which is free, in the
/// caller's thread.
struct ask_cost_params {
  evolution_params evolution; ///< `generations` is set to what the evaluations take.
  clade::objective objective{};
  std::shared_ptr<const search_space> space{};
  clade::problem problem{};
  std::uint64_t seed = 1;
  /// How long the search is; the last so many of it are measured, at least one.
  std::size_t evaluations = 100'000;
  std::size_t measured = 1'000;
  /// Proposals of the candidates before the last so many are not asked: a mutant of the
  /// first parent takes their place, or a sample. So a strategy with a model has its
  /// whole history after minutes. 0: all are asked.
  std::size_t modelled = 0;
};

/// Over the candidates measured, in seconds.
struct cost_spread {
  double mean = 0, p99 = 0, most = 0;
};

/// Returns the spread of one value at least; the 99th percentile is one of them, the
/// nearest from above.
[[nodiscard]] cost_spread spread_of(std::vector<double> values);

struct ask_cost {
  std::size_t candidates = 0;
  std::size_t proposals = 0; ///< How often one was asked, in the whole search.
  /// The time of one candidate on the head, which does nothing else meanwhile: asking,
  /// resolving, and the fold of its records. Whoever closes a generation pays for it
  /// alone.
  cost_spread head;
  /// The time of one candidate where orders are carried out, beside the head: mutation,
  /// crossover, proposals with the fit of their models, and decoding; all attempts.
  cost_spread breeding;
  /// The time of the whole search, evaluations included.
  double seconds = 0;
};

/// Runs the search to its end. The seconds are the thread's processor time; all else is a
/// function of the arguments. Fails where the strategy cannot search the space.
[[nodiscard]] expected<ask_cost> measure_ask_cost(const ask_cost_params& params);

} // namespace clade
