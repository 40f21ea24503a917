#pragma once

#include "tests/engine/training/team_of_threads.hpp"
#include "tests/engine/training/training_data.hpp"

namespace clade {

/// Images, in batches that several devices can share.
struct team_bench : training_bench {
  team_bench();

  void share(const std::string& name, std::uint32_t devices);
  /// By a parameter server.
  void serve(std::uint32_t servers, std::uint32_t workers);
};

/// Three epochs of a network that has dropout and normalisation, with an average.
[[nodiscard]] job a_team_job();

[[nodiscard]] evaluated_job trained_alone(const team_bench& bench, const job& j);
[[nodiscard]] std::vector<evaluated_job>
trained_by_team(const team_bench& bench, std::size_t slots,
                std::vector<test::formation> formations, const job& j);

/// How many members ended well; each is to have what is expected.
[[nodiscard]] std::size_t check_successes(const std::vector<evaluated_job>& all,
                                          const evaluated_job& expected);

/// By chance, in a property; each for fewer exchanges than this.
[[nodiscard]] std::vector<test::formation> some_formations(std::size_t slots,
                                                           std::size_t exchanges = 25);

} // namespace clade
