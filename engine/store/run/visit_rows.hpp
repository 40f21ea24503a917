#pragma once

#include "engine/store/run/store.hpp"

#include <utility>

namespace clade {

/// Calls `visit` with the row of each candidate, by rising id, with few of them in memory
/// at a time.
template<class Visit>
[[nodiscard]] expected<void> visit_rows(const store& s, Visit&& visit) {
  constexpr std::size_t at_a_time = 5000;
  for (candidate_id after = 0;;) {
    auto rows = s.rows(after, at_a_time);
    if (!rows)
      return tl::unexpected(std::move(rows).error());
    if (rows->empty())
      return {};
    after = rows->back().line.id;
    for (auto& row : *rows)
      visit(std::move(row));
  }
}

} // namespace clade
