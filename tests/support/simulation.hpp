#pragma once

#include "engine/run/steps/next_step.hpp"

#include <functional>
#include <limits>
#include <vector>

namespace clade {

/// A whole run in one thread, without actors, files or processes: what breeds and what
/// evaluates are functions, and what happens next is picked.
struct simulation {
  run_rules rules;
  std::function<candidate(const breeding&)> breed;
  std::function<evaluation(const candidate&)> evaluate;
  /// Chooses one of n things that may happen next. The first by default: orders are
  /// carried out, then copies made, then generations closed, then the oldest open
  /// candidate evaluated, so that what happens is a function of the fold alone.
  std::function<std::size_t(std::size_t)> pick = [](std::size_t) { return 0; };
};

struct simulated {
  run_state state;
  std::vector<record> records;
};

/// Goes on behind `stored` until the run is finished, or there are `records` records.
[[nodiscard]] simulated
simulate(const simulation& s, std::vector<record> stored = {},
         std::size_t records = std::numeric_limits<std::size_t>::max());

/// Picks by a generator of its own with that seed.
[[nodiscard]] std::function<std::size_t(std::size_t)> shuffled(std::uint64_t seed);

/// The state that these records fold to.
[[nodiscard]] run_state fold(const run_rules& rules, const std::vector<record>& records);

} // namespace clade
