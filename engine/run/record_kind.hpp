#pragma once

#include <cstdint>

namespace clade {

/// The first value of each record, numbered for ever; for the two files that write and
/// read them.
namespace record_kind {

enum number : std::uint64_t {
  started = 1,
  born,
  evaluated,
  closed,
  finished,
  paused,
  resumed,
  failed_attempt,
  changed_slot,
  forked,
  ordered_by_person,
};

} // namespace record_kind

} // namespace clade
