#include "actors/transport/team/team_greeting.hpp"

#include <utility>

namespace clade {

team_greeting::team_greeting(tls_stream stream, tls_side side, const team_hello& own)
    : stream_(std::move(stream)),
      side_(side),
      own_(encode(own)) {}

tls_step team_greeting::step() {
  if (phase_ == phase::handshake)
    return stream_.shake_hands();
  if (phase_ == phase::sending) {
    auto left = std::span<const std::byte>(own_).subspan(sent_);
    const auto done = stream_.write(left);
    sent_ = own_.size() - left.size();
    return done;
  }
  auto left = std::span(theirs_).subspan(received_);
  const auto done = stream_.read(left);
  received_ = theirs_.size() - left.size();
  return done;
}

team_greeting::state team_greeting::advance() {
  for (;;) {
    if (const auto done = step(); done != tls_step::done)
      return done == tls_step::waiting ? state::waiting : state::ended;
    const bool client = side_ == tls_side::client;
    if (phase_ == phase::receiving)
      return state::heard;
    if (phase_ == phase::sending && !client)
      return state::complete;
    phase_ = phase_ == phase::handshake && client ? phase::sending : phase::receiving;
  }
}

short team_greeting::events() const {
  return phase_ == phase::sending ? stream_.write_events() : stream_.read_events();
}

} // namespace clade
