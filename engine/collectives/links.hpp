#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

namespace clade {

/// Thrown by an exchange among members of a team: one of them is gone, or the team is
/// formed anew. The values in exchange are void; `team::form` says who goes on.
class team_broken : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Connections between the members of a team, which are processes or threads, numbered
/// from 0. Between each two is a stream of bytes in each direction that keeps its order;
/// whoever receives knows how many bytes come. One thread uses them.
///
/// Every call that waits takes in what others send meanwhile and keeps it until it is
/// asked for, so that members that send to each other never wait for each other. Every
/// call may throw `team_broken`.
class links {
public:
  virtual ~links() = default;

  [[nodiscard]] virtual std::size_t own() const = 0; ///< This member's number.
  [[nodiscard]] virtual std::size_t members() const = 0;

  /// Sends `out` to one member while receiving `in` from one, perhaps the same. Blocks
  /// until `in` is there and `out` is on its way.
  virtual void exchange(std::size_t to, std::span<const std::byte> out, std::size_t from,
                        std::span<std::byte> in) = 0;
  virtual void send(std::size_t to, std::span<const std::byte> out) = 0;
  virtual void receive(std::size_t from, std::span<std::byte> in) = 0;

  /// Whether so many bytes from that member are there already; does not block. Throws
  /// `team_broken` if they are not and the team is known to be formed anew, also where the
  /// member asks for its own.
  [[nodiscard]] virtual bool has_come(std::size_t from, std::size_t bytes) = 0;
  /// Blocks until so many bytes of any one member are there, and returns which: of several
  /// the first after `last`, in turn.
  [[nodiscard]] virtual std::size_t wait_for_any(std::size_t bytes, std::size_t last) = 0;

  /// Bytes that this member has sent, without what encryption adds.
  [[nodiscard]] virtual std::uint64_t bytes_sent() const = 0;
};

} // namespace clade
