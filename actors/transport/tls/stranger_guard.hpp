#pragma once

#include <cstdint>
#include <string>

namespace clade {

/// Whether the functions of stranger_guard.cpp are the ones that every library of this
/// process calls; false only if the program was linked in a way that hides them.
[[nodiscard]] bool accepting_is_guarded();

/// The peer of this connection has shown its keys: it is no stranger any more.
void no_stranger(int descriptor);

/// Somebody from this address (in numbers, as "192.0.2.1") is known, who connected from
/// that port: how often they have connected by now is forgotten, and of users of this
/// machine only of that one.
void vouch_for(const std::string& address, std::uint16_t port);

/// From now on, connections to this port of processes that other users of this machine
/// run, but for root's, are ended at once; so are those that no process has any more.
void admit_own_user_only(std::uint16_t port);

} // namespace clade
