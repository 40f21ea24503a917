#pragma once

#include "genome/base/unique_fd.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>

namespace clade {

/// Limits of what strangers have of a process: connections of one and of all, and no
/// descriptor from `kept` on.
struct stranger_limits {
  std::size_t all = 0, of_one = 0;
  int kept = 0;
};

/// A connection that was just accepted.
struct stranger {
  int descriptor = -1;
  /// Whom it counts for: a user of this machine, a machine, or a network.
  std::string who{};
  /// Whether the peer is our own user or root, who may connect more often.
  bool own_user = false;
  std::string address{}; ///< In numbers, with `port`.
  std::uint16_t port = 0;
};

/// The connections of those who have shown nothing yet, and how often each may connect.
/// One thread at a time; times come from the caller and never go back.
class stranger_list {
public:
  using clock = std::chrono::steady_clock;
  /// After so long one is no stranger any more.
  inline static constexpr std::chrono::seconds proof_time{10};
  /// The number of peers of whom it is known how often they connect; if there are more,
  /// the one that has not connected for longest is forgotten.
  inline static constexpr std::size_t most_known = 4096;

  /// Whether the connection may stay. The oldest of who has most is cut off where there
  /// would be too many.
  [[nodiscard]] bool admit(stranger s, const stranger_limits& limits,
                           clock::time_point now);

  /// It is no stranger any more.
  void forget(int descriptor);

  /// Forgets how often they connected from there: it is known who they are.
  void vouch_for(const std::string& address, std::uint16_t port);

private:
  /// How often one may connect: a second's worth is gained each second.
  struct allowance {
    double left = 0;
    clock::time_point at{};
  };
  struct seen {
    stranger is;
    ino_t socket = 0; ///< Descriptors are used again, sockets are not.
    clock::time_point since{};
  };

  [[nodiscard]] bool take_allowance(const stranger& s, clock::time_point now);
  void cut_off(const std::string& who);
  [[nodiscard]] std::string who_has_most() const;

  std::list<seen> strangers_; ///< The oldest first.
  std::map<std::string, allowance> allowances_;
};

} // namespace clade
