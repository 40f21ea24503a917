#pragma once

#include "engine/telemetry/picture/feed.hpp"

#include <deque>
#include <map>
#include <mutex>

namespace clade::test {

/// A feed of whatever a test says that happened.
class made_up_feed final : public feed {
public:
  /// Makes the feed of a run of experiments/synthetic.toml, with that population, that
  /// has begun.
  explicit made_up_feed(std::size_t population = 4);
  ~made_up_feed() override;

  // From any thread:

  /// It happens a second after what was before.
  void happen(record r);
  void announce(news n);
  /// A candidate of one of the metric's values, bred of the one before, and what became
  /// of it.
  void evaluate(double accuracy);
  /// So many whole generations.
  void evolve(std::size_t generations);
  void show(feed_state what);

  [[nodiscard]] feed_state showing() const override;
  [[nodiscard]] std::string name() const override { return "made up"; }
  [[nodiscard]] const run_picture& picture() const override { return picture_; }
  [[nodiscard]] const slots_view& slots() const override { return slots_; }
  [[nodiscard]] expected<std::vector<news>> wait(std::chrono::milliseconds most) override;
  [[nodiscard]] int descriptor() const override { return event_; }
  [[nodiscard]] expected<genome_view> candidate(candidate_id id) override;
  [[nodiscard]] expected<std::vector<candidate_row>>
  candidates(candidate_id after, std::size_t count) override;

  [[nodiscard]] bool takes_orders() const override { return true; }
  /// Refuses to extend.
  [[nodiscard]] expected<void> tell(const operator_command& order) override;
  /// Returns the commands that it was told, in their order; once nobody tells any more.
  [[nodiscard]] const std::vector<operator_command>& told() const { return told_; }

private:
  struct known {
    clade::candidate born;
    std::optional<evaluation> evaluated;
    candidate_row row;
  };

  void fold(const record_event& h);

  mutable std::mutex mutex_;
  std::deque<news> coming_;
  feed_state showing_ = feed_state::live;
  std::uint64_t sequence_ = 0, generation_ = 0, members_ = 0;
  candidate_id last_ = 0;
  std::size_t population_;

  int event_;
  run_picture picture_;
  slots_view slots_;
  std::map<candidate_id, known> known_;
  std::vector<operator_command> told_;
};

} // namespace clade::test
