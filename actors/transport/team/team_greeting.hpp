#pragma once

#include "actors/transport/team/team_hello.hpp"
#include "actors/transport/tls/tls_stream.hpp"

#include <string>

namespace clade {

/// A connection until two members know each other by it: the TLS handshake, then their
/// hellos. The side that connected says its own first; the other one looks at it before
/// it `answer`s.
class team_greeting {
public:
  enum class state {
    waiting, ///< Poll for `events`, then `advance`.
    heard,   ///< There is the other's `hello`, and on a client's side nothing left to do.
    complete, ///< The answer is sent.
    ended,    ///< `why_ended`
  };

  team_greeting(tls_stream stream, tls_side side, const team_hello& own);

  /// Goes on as far as it can without blocking.
  [[nodiscard]] state advance();
  void answer() { phase_ = phase::sending; }

  [[nodiscard]] expected<team_hello> hello() const { return decode_team_hello(theirs_); }
  [[nodiscard]] int descriptor() const { return stream_.descriptor(); }
  [[nodiscard]] short events() const;
  [[nodiscard]] const std::string& why_ended() const { return stream_.why_ended(); }
  /// Leaves the connection to the caller.
  [[nodiscard]] tls_stream take() { return std::move(stream_); }

private:
  enum class phase { handshake, sending, receiving };

  tls_step step();

  tls_stream stream_;
  tls_side side_;
  phase phase_ = phase::handshake;
  encoded_team_hello own_, theirs_{};
  std::size_t sent_ = 0, received_ = 0;
};

} // namespace clade
