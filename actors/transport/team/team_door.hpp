#pragma once

#include "actors/transport/link/endpoint.hpp"
#include "actors/transport/team/team_links.hpp"
#include "actors/transport/tls/keys.hpp"
#include "genome/base/unique_fd.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace clade {

/// A team as the head has formed it.
struct team_formation {
  std::uint64_t task = 0;
  std::uint64_t generation = 0; ///< Grows each time that the task's team is formed.
  /// Stands for what members must have in common: code, data, experiment.
  std::uint64_t checksum = 0;
  std::size_t own = 0;
  std::vector<endpoint> members; ///< Their doors. Names are looked up, which may block.
};

/// The place at which a node process listens for other members of its teams; one for the
/// life of the process. Connections are TLS, and either side shows a worker's certificate
/// of the same authority. One thread at a time uses it.
class team_door {
public:
  /// Listens on `host`, a numeric address or "0.0.0.0", at a port that the system chooses.
  /// The files of `keys` are read again for each connection, since they are renewed.
  [[nodiscard]] static expected<std::unique_ptr<team_door>> open(const key_files& keys,
                                                                 const std::string& host);
  [[nodiscard]] std::uint16_t port() const { return port_; }

  /// Links this member with all others, and waits for those that come later: it connects
  /// to those before it and accepts those after it. Who is not of this formation is not
  /// let in; a member of a later one tries again until this one has it too. A member that
  /// goes before all are linked is waited for again. Blocks.
  ///
  /// Throws `team_broken` when the time `most` is over, when a member has another
  /// checksum, or when the descriptor `interrupt` becomes readable, which the caller does
  /// when the team is formed anew or its task is dropped. The links throw for the last
  /// reason too, so it stays open as long as they live; -1 is none.
  [[nodiscard]] std::unique_ptr<team_links>
  link(const team_formation& formation, int interrupt, std::chrono::milliseconds most);

private:
  team_door(key_files keys, unique_fd listener, std::uint16_t port);

  key_files keys_;
  unique_fd listener_;
  std::uint16_t port_;
};

} // namespace clade
