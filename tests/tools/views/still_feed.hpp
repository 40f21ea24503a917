#pragma once

#include "engine/telemetry/picture/feed.hpp"

#include <functional>

namespace clade::test {

/// A feed of what a test says. Each `wait` takes the next step, if there is any; without
/// steps left the run is "finished".
class still_feed final : public feed {
public:
  explicit still_feed(run_picture picture, slots_view slots = {});

  /// The steps that change the picture during a later `wait`.
  std::vector<std::function<void(run_picture&)>> steps;
  feed_state shows = feed_state::live;
  std::string named = "digits";
  std::vector<genome_view> known; ///< All that `candidate` finds.

  [[nodiscard]] feed_state showing() const override { return shows; }
  [[nodiscard]] std::string name() const override { return named; }
  [[nodiscard]] const run_picture& picture() const override { return picture_; }
  [[nodiscard]] const slots_view& slots() const override { return slots_; }
  [[nodiscard]] expected<std::vector<news>> wait(std::chrono::milliseconds) override;
  [[nodiscard]] int descriptor() const override { return -1; }
  [[nodiscard]] expected<genome_view> candidate(candidate_id id) override;
  [[nodiscard]] expected<std::vector<candidate_row>> candidates(candidate_id,
                                                                std::size_t) override;

private:
  run_picture picture_;
  slots_view slots_;
  std::size_t next_ = 0;
};

} // namespace clade::test
