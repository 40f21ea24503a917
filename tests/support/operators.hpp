#pragma once

#include "search_spaces/operators/operators.hpp"

namespace clade::test {

/// Whether its layers are nothing without others: steps over time.
inline bool is_of_time(const operator_entry& o) {
  return o.name == "over_time" || o.name == "recall";
}

} // namespace clade::test
