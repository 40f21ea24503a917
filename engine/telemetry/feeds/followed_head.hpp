#pragma once

#include "engine/telemetry/picture/feed.hpp"
#include "engine/telemetry/socket/subscription.hpp"

#include <memory>

namespace clade {

/// The state that a viewer has of a head: a picture, into which it folds what is
/// published. A viewer subscribes before it asks for a snapshot, and folds in what is
/// newer; whenever something is missing it asks for another one. Used by one thread.
class followed_head {
public:
  /// Blocks for the snapshot.
  [[nodiscard]] static expected<followed_head> follow(std::unique_ptr<subscription> head);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const run_picture& picture() const { return picture_; }
  [[nodiscard]] const slots_view& slots() const { return slots_; }
  [[nodiscard]] int descriptor() const { return head_->descriptor(); }

  /// Adds what came, and `restarted` where the picture was taken anew. Blocks until
  /// something was heard, of which it returns whether, or the time has passed.
  bool take(std::chrono::milliseconds most, std::vector<news>& came);
  /// `subscription::connect_again`; what is heard next is behind a gap.
  [[nodiscard]] expected<void> connect_again();

  [[nodiscard]] expected<genome_view> candidate(candidate_id id);
  [[nodiscard]] expected<std::vector<candidate_row>> candidates(candidate_id after,
                                                                std::size_t count);
  [[nodiscard]] expected<void> tell(const operator_command& order);

private:
  explicit followed_head(std::unique_ptr<subscription> head) : head_(std::move(head)) {}

  [[nodiscard]] expected<void> adopt_snapshot();
  void start_anew(std::vector<news>& came);
  void take_one(published p, std::vector<news>& came);

  std::unique_ptr<subscription> head_;
  bool anew_ = false; ///< Whether the next that is heard is behind a gap.
  std::string name_;
  run_picture picture_;
  slots_view slots_;
};

} // namespace clade
