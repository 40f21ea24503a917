#pragma once

#include "engine/scheduling/schedule.hpp"

#include <string>
#include <vector>

namespace clade::test {

using namespace std::chrono_literals;

inline constexpr schedule::clock::time_point start{};

/// A schedule with so many nodes, numbered from 1.
inline schedule with_nodes(std::size_t count, schedule_params params = {}) {
  schedule s(params);
  for (std::size_t i = 1; i <= count; ++i)
    s.join(i, {.slot = "cpu:" + std::to_string(i)}, start);
  return s;
}

inline std::vector<candidate_id> ids(const handout& out) {
  std::vector<candidate_id> result;
  for (const auto& l : out.leases)
    result.push_back(l.id.candidate);
  return result;
}

/// So many nodes on each machine, numbered from 1 on.
inline schedule on_machines(const std::vector<std::size_t>& sizes) {
  schedule s;
  node_id id = 0;
  for (std::size_t m = 0; m < sizes.size(); ++m)
    for (std::size_t i = 0; i < sizes[m]; ++i) {
      ++id;
      s.join(id, {.slot = "slot " + std::to_string(id), .machine = m + 1}, start);
    }
  return s;
}

} // namespace clade::test
