#pragma once

#include "engine/run/records/record.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace clade {

/// Rows of a store's tables, for what is counted over all of a run. A text that is a view
/// lives as long as the call that is given it.

struct evaluation_row {
  candidate_id id = 0;
  /// The sequence of its record: the order in which they arrived.
  std::uint64_t sequence = 0;
  std::optional<double> fitness;
  std::uint64_t parameters = 0;
  double seconds = 0;
  bool copied = false;       ///< Not trained: its network equals an older one.
  std::string_view reason{}; ///< The reason of `evaluation`; during the visit alone.
};

/// An evaluated child beside the fitter of its parents.
/// The parent's fitness is that of the same number of epochs: where it was trained on, of
/// the candidate that it went on from; none where there is no such.
struct child_row {
  std::vector<change> changes;
  std::optional<double> fitness, parent_fitness;
};

/// A candidate and one of its parents.
struct descent_row {
  candidate_id id = 0, parent = 0; ///< `parent` is 0 where it has none.
  std::optional<double> fitness;
  std::string_view network; ///< Its canonical hash.
  std::string seed;         ///< The name of the seed of the search space that it is.
  bool to_the_end = false;  ///< It is trained when the search is over, maybe to a fold.
};

/// The work of a slot, until the evaluation was recorded.
struct work_row {
  std::string_view slot;
  std::int64_t end_ms = 0;
  double seconds = 0;
};

/// Evaluations that failed alike, or attempts that were lost alike.
struct failure_row {
  std::optional<clade::outcome> outcome; ///< None: of attempts.
  std::string reason;
  std::uint64_t count = 0;
  candidate_id example = 0; ///< The oldest of them.
};

/// The records of one candidate, as stored.
struct candidate_records {
  candidate_id id = 0;
  std::uint64_t generation = 0;
  bytes born;
  bytes evaluated; ///< Empty: not yet.
};

} // namespace clade
