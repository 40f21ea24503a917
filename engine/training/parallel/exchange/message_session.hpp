#pragma once

#include "engine/collectives/team.hpp"
#include "engine/training/loop/training_steps.hpp"

#include <deque>
#include <optional>

namespace clade {

/// The facts that tell what a message is about. The session passes it on and looks at
/// `epoch` alone.
struct message_head {
  std::uint32_t kind = 0;
  std::uint32_t worker = 0, holder = 0, reserved = 0;
  std::uint64_t epoch = 0; ///< Set by the session: positions that the sender had kept.
  std::uint64_t step = 0, version = 0;
  double rate = 0;
  /// The sizes of the parts that follow; set by the session.
  std::uint64_t values = 0, more = 0;
};

struct message {
  message_head head;
  std::size_t from = 0;
  at::Tensor values; ///< float32 [n]
  bytes more;
};

/// Messages between the members of a team, in any order, each member at its own pace.
///
/// The changes of a training since a member last kept its position are lost with any
/// member: when the team is formed anew all go back to the last position that one of them
/// has kept, and every call throws `position_of_others`. A member that has kept none has
/// the position in which the training began.
class message_session {
public:
  message_session(team& members, handed_over state);

  /// Blocks until the team is formed, if it is not.
  void meet();
  /// For after `meet`.
  [[nodiscard]] std::size_t own() const { return own_; }
  [[nodiscard]] std::size_t members() const { return count_; }

  void send(std::size_t to, message_head head, const at::Tensor& values = {},
            const bytes& more = {});
  /// The next message of this epoch, if one has come. Messages of the next epoch wait in
  /// here.
  [[nodiscard]] std::optional<message> poll();
  /// The same; blocks until one comes.
  [[nodiscard]] message wait();
  /// Gives a message back, to come again after the next `begin_epoch`.
  void put_back(message m) { later_.push_back(std::move(m)); }
  /// From now on the member changes what it had when it last kept its position.
  void begin_epoch();

  /// Keeps the present position, unless it is the one that was kept last. All members do
  /// so at the same place; messages sent before are of another epoch than those after.
  void keep();
  /// Twice as many as positions were kept.
  [[nodiscard]] std::uint64_t kept() const { return kept_count_; }
  /// At a position that was read from a file, of when `kept()` was so many: it comes
  /// before what a member kept then, and after what it kept before.
  void go_on_after(std::uint64_t kept) { kept_count_ = kept - 1; }
  /// Whether this member is the one that keeps positions on the disk, by the last formation
  /// that it met.
  [[nodiscard]] bool is_first() const { return first_; }
  /// Returns the position that was kept last; for after `meet`.
  [[nodiscard]] const bytes& position() const { return *kept_; }

  /// For who watches.
  void has_done() { team_.has_done(++done_); }

private:
  template<class Work>
  auto guarded(const Work& work);
  void form();
  void gather_positions(links& l);
  [[nodiscard]] message receive(std::size_t from);
  [[nodiscard]] std::optional<message> from_waiting();

  team& team_;
  handed_over state_;
  links* links_ = nullptr; ///< Null: the team is to be formed.
  std::size_t own_ = 0, count_ = 1, last_ = 0;
  bool first_ = false;
  std::uint64_t done_ = 0;
  std::uint64_t kept_count_ = 0;
  std::optional<bytes> kept_;
  bool at_kept_ = true; ///< Nothing has happened since it was kept.
  /// Messages of the next epoch, and messages that were put back.
  std::deque<message> waiting_, later_;
};

} // namespace clade
