#pragma once

namespace clade {

/// The byte that `tell_sent_signals` writes.
inline constexpr char signal_was_sent = '!';

/// From now on, where one of the signals by which a process ends for a fault of its own
/// (SIGSEGV, SIGABRT and their like) was sent by another process, `signal_was_sent` is
/// written to this descriptor before the signal has its usual effect. Call it once.
void tell_sent_signals(int descriptor);

/// Whether processes end by this signal for faults of their own.
[[nodiscard]] bool is_fault(int signal);

} // namespace clade
