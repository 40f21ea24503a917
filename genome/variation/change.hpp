#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace clade {

/// The kinds of change. Records store their numbers, which stay as they are for ever.
enum class change_kind : std::uint8_t {
  // Mutations, in the order of `mutation_params`; the next one gets the next number.
  add_node = 0,
  add_edge = 1,
  remove_node = 2,
  remove_edge = 3,
  change_operator = 4,
  widen = 5,
  narrow = 6,
  change_setting = 7,
  change_hyperparameter = 8,
  add_recurrent_edge = 9,
  remove_recurrent_edge = 10,
  // The origins that a genome can have besides a change of a parent.
  sampled = 32,        ///< It was drawn at random.
  crossed = 33,        ///< It is a cross of two parents.
  unchanged = 34,      ///< The grammar left nothing to change.
  goes_on = 35,        ///< Its parent's genome is trained for more epochs.
  proposed = 36,       ///< A strategy made it by a model or by arithmetic.
  given = 37,          ///< A person or another search gave it.
  trained_to_end = 38, ///< The search is over; its parent's genome is trained anew.
  seeded = 39          ///< It is a seed of the search space, by name.
};
inline constexpr std::size_t mutation_kind_count = 11;

/// Returns "widen", "crossed": of a mutation its key in `[evolution.mutation]`.
[[nodiscard]] const char* to_text(change_kind kind);

/// One thing that was done to make a genome. Members that a kind does not need are empty.
struct change {
  change_kind kind = change_kind::given;
  /// The short name of the node ("n3f2a1") or of the edge ("n1..n2") that was changed.
  std::string gene{};
  /// The setting or hyperparameter that was changed; of `proposed` the model, "TPE".
  std::string name{};
  /// The value or node before and after: "16", "conv(filters=16)". In a `goes_on`, the
  /// candidate that it continues, if it is named, and the epoch to which it is trained.
  /// In changes of recurrent edges, `after` or `before` is the delay, "3 steps".
  /// In a `trained_to_end`, the fold that it leaves out ("without fold 2 of 5"), if any,
  /// and the epochs. In a `crossed`, `after` is a remark; in a `proposed` or `given`, it
  /// is the whole text.
  std::string before{}, after{};

  friend bool operator==(const change&, const change&) = default;
};

/// Returns the sentence that people read: "widen n3f2a1 units 16 -> 32", "sampled". The
/// digest of a run covers it, so that the sentence of a kind never changes.
[[nodiscard]] std::string to_text(const change& c);

/// Returns the sentences of all changes: "crossed; momentum 0.8 -> 0.9".
[[nodiscard]] std::string to_text(const std::vector<change>& changes);

/// Returns the kinds of mutation among the changes, each once, in the order of the changes.
[[nodiscard]] std::vector<change_kind>
mutation_kinds_of(const std::vector<change>& changes);

} // namespace clade
