#pragma once

#include "actors/messages/wire_messages.hpp"
#include "actors/transport/team/team_door.hpp"
#include "engine/collectives/team.hpp"
#include "genome/base/unique_fd.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace clade {

/// How a node process takes part in teams: its door, what its members must have in common
/// with it, and where it finds the others. Made once, before the first team.
struct team_entrance {
  std::unique_ptr<team_door> door;
  std::uint64_t checksum = 0; ///< The checksum of code, data and experiment.
  std::uint64_t worker = 0;   ///< Members of the same worker are on this machine.
  std::string head;           ///< The host under which this node found the head.
};

/// Counts what a member sent, and how long its calls took, over all its links. The
/// trainer's thread counts; any other may read.
class traffic {
public:
  void sent(std::size_t bytes) { bytes_sent_ += bytes; }
  void begin_waiting();
  void end_waiting();

  [[nodiscard]] std::uint64_t bytes_sent() const { return bytes_sent_; }
  /// With the present call, which may last.
  [[nodiscard]] std::chrono::steady_clock::duration waited() const;

private:
  using clock = std::chrono::steady_clock;

  std::atomic<std::uint64_t> bytes_sent_ = 0;
  mutable std::mutex mutex_;
  clock::duration waited_{0};
  std::optional<clock::time_point> waits_since_;
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
  /// Whether the team has no other member now. From any thread.
  [[nodiscard]] bool is_alone() const;
  /// Returns the number of the newest formation; 0: none came yet. From any thread.
  [[nodiscard]] std::uint64_t generation() const;

  [[nodiscard]] std::size_t shares() const override { return shares_; }
  [[nodiscard]] links& form() override;
  void carry_by(make_carrier carrier) override { carrier_ = std::move(carrier); }
  void has_done(std::uint64_t exchanges) override;
  /// Returns how much this member has done since it began. From any thread.
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
  unique_fd interrupt_;  ///< An eventfd.
  make_carrier carrier_; ///< None: what the door has linked.
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

} // namespace clade
