#include "actors/transport/tls/stranger_list.hpp"

#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

namespace clade {

namespace {

/// How often one may connect in a second, and at once.
struct connect_rate {
  double each_second = 0, at_once = 0;
};

// Nodes of a fleet on one machine connect twice each, at once.
constexpr connect_rate own_rate{128, 1024}, others_rate{32, 128};

ino_t socket_of(int descriptor) {
  struct stat s {};
  return ::fstat(descriptor, &s) == 0 && S_ISSOCK(s.st_mode) ? s.st_ino : 0;
}

} // namespace

bool stranger_list::admit(stranger s, const stranger_limits& limits,
                          clock::time_point now) {
  std::erase_if(strangers_, [&](const seen& one) {
    return now - one.since > proof_time || socket_of(one.is.descriptor) != one.socket;
  });
  if (!take_allowance(s, now))
    return false;
  const auto of_one =
      std::ranges::count(strangers_, s.who, [](const seen& one) { return one.is.who; });
  if (static_cast<std::size_t>(of_one) >= limits.of_one)
    cut_off(s.who);
  else if (strangers_.size() >= limits.all)
    cut_off(who_has_most());
  if (s.descriptor >= limits.kept) {
    if (strangers_.empty())
      return false;
    cut_off(who_has_most());
  }
  const auto socket = socket_of(s.descriptor);
  strangers_.push_back({std::move(s), socket, now});
  return true;
}

bool stranger_list::take_allowance(const stranger& s, clock::time_point now) {
  const auto& rate = s.own_user ? own_rate : others_rate;
  auto its = allowances_.find(s.who);
  if (its == allowances_.end()) {
    if (allowances_.size() >= most_known)
      allowances_.erase(std::ranges::min_element(
          allowances_, {}, [](const auto& one) { return one.second.at; }));
    its = allowances_.emplace(s.who, allowance{.left = rate.at_once, .at = now}).first;
  }
  auto& a = its->second;
  a.left = std::min(
      rate.at_once,
      a.left + rate.each_second * std::chrono::duration<double>(now - a.at).count());
  a.at = now;
  if (a.left < 1)
    return false;
  a.left -= 1;
  return true;
}

/// Returns who has most connections; among equals, the one whose oldest is the oldest.
std::string stranger_list::who_has_most() const {
  std::map<std::string, std::size_t> counts;
  for (const auto& one : strangers_)
    ++counts[one.is.who];
  std::string most;
  for (const auto& one : strangers_)
    if (most.empty() || counts[one.is.who] > counts[most])
      most = one.is.who;
  return most;
}

// The reader of the connection sees its end, and closes it.
void stranger_list::cut_off(const std::string& who) {
  const auto oldest =
      std::ranges::find(strangers_, who, [](const seen& one) { return one.is.who; });
  if (oldest == strangers_.end())
    return;
  if (socket_of(oldest->is.descriptor) == oldest->socket)
    ::shutdown(oldest->is.descriptor, SHUT_RDWR);
  strangers_.erase(oldest);
}

void stranger_list::forget(int descriptor) {
  std::erase_if(strangers_,
                [&](const seen& one) { return one.is.descriptor == descriptor; });
}

void stranger_list::vouch_for(const std::string& address, std::uint16_t port) {
  allowances_.erase(address);
  for (const auto& one : strangers_)
    if (one.is.port == port && one.is.address == address)
      allowances_.erase(one.is.who);
}

} // namespace clade
