#pragma once

#include "engine/run/state/final_stage.hpp"

#include <chrono>
#include <cstdint>

namespace clade {

/// How large a search is, where nothing else is known than the data.
struct search_size {
  std::uint64_t population = 24;
  std::uint64_t generations = 10;
  std::uint32_t epochs = 15; ///< Each training has so many.
};

/// A search that has its part of a run's time, and how long a training of it may take.
struct fitted_search {
  search_size size;
  std::chrono::seconds evaluation_time{0};
};

/// Returns the size of a search with `slots` slots in a run of so many seconds that ends in an
/// ensemble, where an epoch takes so many. If many trainings fit, they are as many and as long
/// as possible, `size.epochs` at most. If few do, they have the same time each, at most `most`,
/// and their rates follow the clock as far as their epochs do not fit into it.
[[nodiscard]] fitted_search fit_search(search_size size, double seconds_per_epoch,
                                       std::size_t slots, double seconds,
                                       std::chrono::seconds most);

/// The orders that a clock gives to a run that was given a time.
enum class clock_order : std::uint8_t {
  none,
  end_search,    ///< The rest of the time is for the trainings of the end.
  end_trainings, ///< The rest of it is for the final model.
  stop           ///< All of it is used.
};

/// Gives each order once, in this order; the first two where there is an end.
class run_clock {
public:
  /// `used`: the share of the run's time, `means.time`, that is used; an epoch of the best
  /// candidate took so many seconds, 0 where there is none.
  [[nodiscard]] clock_order look(double used, const final_params& end,
                                 const final_means& means, double seconds_per_epoch);

private:
  clock_order given_ = clock_order::none;
};

} // namespace clade
