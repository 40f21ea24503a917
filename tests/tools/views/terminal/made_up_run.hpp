#pragma once

#include "tools/views/terminal/pages.hpp"

namespace clade::test {

/// A run of 10 generations of 24 in its fourth, whose clock counts from 1970-01-01: 75 of
/// 240 candidates evaluated, 3 of them failed, 2 in training.
[[nodiscard]] run_picture a_picture();

/// Four slots: one trains, one is idle, one is away, one is in quarantine.
[[nodiscard]] slots_view some_slots();

/// The candidates with these ids, the greatest first.
[[nodiscard]] std::vector<candidate_row> some_rows(candidate_id from, std::size_t count);

/// Local time is UTC while it lives.
class utc {
public:
  utc();
  ~utc();
  utc(const utc&) = delete;
  utc& operator=(const utc&) = delete;

private:
  std::optional<std::string> before_;
};

} // namespace clade::test
