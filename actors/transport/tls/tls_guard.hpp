#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace clade {

/// Whether the functions of tls_guard.cpp are the ones that every library of this process
/// calls. It is false only if the program was linked in a way that hides them, which
/// would be our mistake.
[[nodiscard]] bool tls_is_guarded();

/// From now on the lengths in what this function's library reads from TLS connections are
/// followed, as those of CAF's messages. Bytes that others read in the same process, such
/// as HTTP, are left alone. Returns false if that library is the one that has the guard,
/// so that nobody could tell them apart: the program was linked in a way that is our
/// mistake.
[[nodiscard]] bool follow_frames_read_by(const void* function);

/// Who hears of refused connections: a line that names the address and the reason, at
/// most a hundred a second. Called from CAF's network thread; none at first. Replaces the
/// former one, and returns when that is no longer in use.
void report_refusals(std::function<void(const std::string&)> listener);

/// Tells them: "refused a connection from " and these words, an address and a reason.
void tell_refusal(const std::string& words);

/// Ends connections to this process whose TLS handshake takes longer than that.
void end_slow_handshakes(std::chrono::milliseconds most);

/// Ends all connections of this process that have that port, on either side.
void shut_connections(std::uint16_t port);

} // namespace clade
