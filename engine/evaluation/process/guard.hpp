#pragma once

#include <functional>

namespace clade {

/// A byte that tells a guard to end its program.
inline constexpr char end_yourselves = 't';
/// A byte that tells a guard to kill what former processes of the program have left behind,
/// and not the program; it answers with `nothing_is_left`, which is no wait status.
inline constexpr char end_what_is_left = 'l';
inline constexpr int nothing_is_left = -1;

/// Forks the calling process, itself a fresh fork, into a guard and its child; returns in
/// the child alone, which is to become a program (`child_params::first`) and to lead a
/// process group. Returns false where it cannot fork.
///
/// The guard outlives the program and adopts what the program's processes leave behind,
/// in whatever group or session it is. Over `line`, its end of a pair of sockets, it
/// sends the program's wait status, an int, once the program has ended. When it reads
/// `end_yourselves` it sends SIGTERM to the program's group; when the other end is closed
/// it kills all that is below it and ends. In the program `enter` is called first, if
/// it is set; false, with errno, keeps it from being started.
[[nodiscard]] bool fork_guard(int line, const std::function<bool()>& enter = {});

} // namespace clade
