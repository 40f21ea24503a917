#pragma once

#include <ctime>

namespace clade {

[[nodiscard]] inline double clock_seconds(clockid_t clock) {
  timespec t{};
  ::clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Processor time of the calling thread: what others do on the machine is not measured.
[[nodiscard]] inline double thread_seconds() {
  return clock_seconds(CLOCK_THREAD_CPUTIME_ID);
}

/// The same of all threads of the process.
[[nodiscard]] inline double process_seconds() {
  return clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

} // namespace clade
