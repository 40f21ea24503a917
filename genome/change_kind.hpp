#pragma once

#include "genome/mutation.hpp"

#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace clade {

/// The kinds of change that mutation makes, in the order of `mutation_params`.
enum class change_kind : std::uint8_t {
  add_node,
  add_edge,
  remove_node,
  remove_edge,
  change_operator,
  widen,
  narrow,
  change_setting,
  change_hyperparameter,
};
inline constexpr std::size_t change_kind_count = 9;

/// Their names, as in `[evolution.mutation]`, and where their weights are.
struct change_kind_row {
  const char* name;
  double mutation_params::*weight;
};
inline constexpr std::array<change_kind_row, change_kind_count> change_kind_table{{
    {"add_node", &mutation_params::add_node},
    {"add_edge", &mutation_params::add_edge},
    {"remove_node", &mutation_params::remove_node},
    {"remove_edge", &mutation_params::remove_edge},
    {"change_operator", &mutation_params::change_operator},
    {"widen", &mutation_params::widen},
    {"narrow", &mutation_params::narrow},
    {"change_setting", &mutation_params::change_setting},
    {"change_hyperparameter", &mutation_params::change_hyperparameter},
}};

/// What `offspring::change` tells of one change: "widen n3f2a1 units 16 -> 32" is
/// `widen`. None of what is no mutation: "sampled", "crossed", "unchanged". The text is
/// what is stored of a candidate and covered by a run's digest; hence the kinds are read
/// from it rather than kept beside it.
[[nodiscard]] std::optional<change_kind> kind_of_change(std::string_view change);

/// Of several, "crossed; widen ..; momentum 0.8 -> 0.9", each kind once.
[[nodiscard]] std::vector<change_kind> kinds_of_changes(std::string_view changes);

} // namespace clade
