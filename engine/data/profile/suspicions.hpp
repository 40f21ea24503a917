#pragma once

#include "engine/data/profile/data_profile.hpp"

namespace clade {

/// Adds to `profile.suspicions` what its columns, classes and counts show, in the order
/// of `suspicion_kind`; behind those that are there.
void add_suspicions(data_profile& profile);

/// Decides how the rows are split, and sets `profile.split` and `split_column`:
///   * by group, where a column is an identifier that repeats;
///   * by time, where exactly one column of dates orders the rows, rising or falling, and
///     has at least 10 different dates; without any such, a column of numbers of which
///     the same is true and that is named "year", "time", "timestamp" or "date";
///   * stratified for classes, shuffled for numbers, otherwise.
void choose_split(data_profile& profile);

} // namespace clade
