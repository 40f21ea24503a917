#pragma once

#include "engine/collectives/memory_links.hpp"
#include "engine/collectives/team.hpp"
#include "engine/evaluation/fitness_function.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace clade::test {

/// Who is in the team, one bit for each member, and after how many exchanges, of all its
/// members together, it is formed anew.
struct formation {
  std::uint32_t members = 1;
  std::size_t exchanges = 0;
};

/// Threads that play the processes of a team's slots. Whoever is not in the present
/// formation is lost, with all that it had; if it comes again it begins anew.
class team_of_threads {
public:
  using make_fitness = std::function<std::unique_ptr<fitness_function>()>;

  /// Trains until one member has done it; then the others are told that it is over.
  /// Returns what each had in the end. The last formation stays.
  [[nodiscard]] static std::vector<evaluated_job> train(std::size_t shares,
                                                        std::vector<formation> formations,
                                                        const make_fitness& make,
                                                        const job& j);
};

} // namespace clade::test
