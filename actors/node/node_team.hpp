#pragma once

#include "actors/messages/wire_messages.hpp"
#include "actors/transport/team_door.hpp"
#include "engine/collectives/team.hpp"
#include "genome/unique_fd.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace clade {

/// How a node process takes part in teams: its door, what its members must have in common
/// with it, and where it finds the others. Made once, before the first team.
struct team_entrance {
  std::unique_ptr<team_door> door;
  std::uint64_t checksum = 0; ///< Of code, data and experiment.
  std::uint64_t worker = 0;   ///< Members of the same worker are on this machine.
  std::string head;           ///< The host under which this node found the head.
};

/// What a member sent, and how long it waited for others to send; of all its links.
struct traffic {
  std::atomic<std::uint64_t> bytes_sent = 0;
  std::atomic<std::uint64_t> waited_us = 0;
};

/// One task of a team, as a member sees it: the node's actor is told by the head who the
/// members are, and the trainer's thread waits for them.
class node_team final : public team {
public:
  node_team(std::size_t shares, std::shared_ptr<team_entrance> entrance);

  /// The team is formed anew; calls on former links throw. From any thread.
  void formed(const team_formed& message);
  /// Nobody wants the task any more. From any thread.
  void drop();
  /// Whether this member is the one that answers for the team. From any thread.
  [[nodiscard]] bool answers() const;
  [[nodiscard]] bool is_alone() const;
  /// Of the newest formation; 0: none came yet. The same.
  [[nodiscard]] std::uint64_t generation() const;

  [[nodiscard]] std::size_t shares() const override { return shares_; }
  [[nodiscard]] links& form() override;
  void has_done(std::uint64_t exchanges) override;
  /// What it has done since it began. From any thread.
  [[nodiscard]] team_passed passed() const;

private:
  [[nodiscard]] team_formation formation_of(const team_formed& m) const;
  /// Waits until there is one, and takes back what was to interrupt former links.
  [[nodiscard]] team_formation next_formation();
  void interrupt() const;

  std::size_t shares_;
  std::shared_ptr<team_entrance> entrance_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<team_formation> newest_;
  bool dropped_ = false;
  unique_fd interrupt_; ///< An eventfd.
  std::unique_ptr<links> links_;
  const std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  std::atomic<std::uint64_t> exchanges_ = 0;
  /// Since when the team has been formed anew; the trainer's thread alone knows.
  std::optional<std::chrono::steady_clock::time_point> broken_since_;
  traffic traffic_;
};

/// Opens the door of a node process whose experiment has teams: to other machines where
/// `open`, else to this one.
[[nodiscard]] expected<std::unique_ptr<team_entrance>>
make_entrance(const key_files& keys, bool open);

/// The address of this machine that packets to `host` leave from; empty where they do not
/// leave it.
[[nodiscard]] std::string address_towards(const endpoint& there);

} // namespace clade
