#pragma once

#include "actors/transport/tls/tls_stream.hpp"
#include "engine/collectives/inbound_bytes.hpp"
#include "engine/collectives/links.hpp"

#include <poll.h>

#include <optional>
#include <string>
#include <vector>

namespace clade {

/// A member as another sees it.
struct team_peer {
  std::string name;                 ///< "member 2 at 10.0.0.5:4711"
  std::optional<tls_stream> stream; ///< None: it is the member itself.
};

/// Links over TLS connections, which `team_door::link` makes. When a member's connection
/// ends, every call of the others that has to wait throws `team_broken` with a sentence
/// that names it, even where it waits for somebody else: so a member keeps its links
/// until all others have what they need. The same holds when the descriptor `interrupt`,
/// which must stay open as long, becomes readable.
class team_links final : public links {
public:
  team_links(std::size_t own, std::vector<team_peer> peers, int interrupt);

  [[nodiscard]] std::size_t own() const override { return own_; }
  [[nodiscard]] std::size_t members() const override { return peers_.size(); }

  void exchange(std::size_t to, std::span<const std::byte> out, std::size_t from,
                std::span<std::byte> in) override;
  void send(std::size_t to, std::span<const std::byte> out) override;
  void receive(std::size_t from, std::span<std::byte> in) override;
  [[nodiscard]] bool has_come(std::size_t from, std::size_t bytes) override;
  [[nodiscard]] std::size_t wait_for_any(std::size_t bytes, std::size_t last) override;

  [[nodiscard]] std::uint64_t bytes_sent() const override { return bytes_sent_; }
  /// The same with the handshakes and what TLS adds, without TCP's headers.
  [[nodiscard]] std::uint64_t wire_bytes_sent() const;

private:
  struct peer : team_peer {
    inbound_bytes came;
    bool may_have_more = true; ///< In the socket, or decrypted already.
    bool ended = false;
  };

  template<class Done>
  void proceed(Done done);
  void write_some();
  void read_some(std::size_t from);
  void end(peer& p);
  [[noreturn]] void break_up(const std::string& why);
  /// Blocks until somebody can go on, or looks only.
  void look(bool block);
  [[nodiscard]] bool can_go_on() const;

  std::size_t own_;
  std::vector<peer> peers_;
  int interrupt_;
  /// The descriptors of the peers, and `interrupt_` at last.
  std::vector<pollfd> polled_;
  std::string broken_; ///< Why.
  std::uint64_t bytes_sent_ = 0;

  // The call that waits:
  std::size_t to_ = 0, from_ = 0;
  std::span<const std::byte> out_;
  std::span<std::byte> in_;
  bool may_write_ = false;
};

} // namespace clade
