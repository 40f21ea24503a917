#pragma once

#include "engine/training/parallel/common/team_session.hpp"

#include <deque>
#include <optional>
#include <utility>

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
/// has kept, and every call throws `team_broken`. A member that has kept none has the
/// position in which the training began.
class message_session final : public team_session {
public:
  /// The kind of the message that ends an epoch for all; the session has one more for its
  /// verdicts.
  static constexpr std::uint32_t stop_kind = 101;

  message_session(team& members, std::function<bytes()> give);

  [[nodiscard]] bool out_of_time(std::chrono::steady_clock::time_point deadline) override;
  [[nodiscard]] verdict agree(const std::function<verdict()>& decide) override;
  /// Twice as many as positions were kept.
  [[nodiscard]] std::uint64_t exchanges() const override { return kept_count_; }
  /// At a position that was read from a file, of when `exchanges` was so many: it comes
  /// before what a member kept then, and after what it kept before.
  void go_on_after_exchanges(std::uint64_t kept) override { kept_count_ = kept - 1; }

  void send(std::size_t to, message_head head, const at::Tensor& values = {},
            const bytes& more = {});
  /// The next message of this epoch, if one has come. Messages of the next epoch wait in
  /// here.
  [[nodiscard]] std::optional<message> poll();
  /// The same; blocks until one comes.
  [[nodiscard]] message wait();
  /// Gives a message back, to come again after the next `begin_epoch`.
  void put_back(message m) { later_.push_back(std::move(m)); }
  /// Blocks until the team is formed, if it is not. From now on the member changes what it
  /// had when it last kept its position.
  void begin_epoch();
  /// Whether the epoch was ended for all; a member hears of it by a message.
  [[nodiscard]] bool stopped() const { return stopped_; }
  void hear_stop() { stopped_ = true; }

  /// Returns the position that was kept last.
  [[nodiscard]] const bytes& position() const { return *kept_; }

private:
  [[nodiscard]] std::optional<position_of_others> meet(links& l);
  template<class Work>
  auto guarded(const Work& work);
  [[nodiscard]] message receive(links& l, std::size_t from) const;
  [[nodiscard]] std::optional<message> from_waiting();
  void keep();

  std::function<bytes()> give_;
  std::size_t last_ = 0; ///< The member of whom the last message came.
  std::uint64_t kept_count_ = 0;
  std::optional<bytes> kept_;
  bool at_kept_ = true; ///< Nothing has happened since it was kept.
  bool stopped_ = false;
  /// The verdict at the position that was kept last but so many; it is said once.
  std::optional<std::pair<std::uint64_t, verdict>> decided_;
  /// Messages of the next epoch, and messages that were put back.
  std::deque<message> waiting_, later_;
};

} // namespace clade
