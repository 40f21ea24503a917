#include "tests/engine/training/team_of_threads.hpp"

#include "tests/engine/training/training_data.hpp"

#include <algorithm>
#include <bit>
#include <condition_variable>
#include <thread>

namespace clade::test {
namespace {

constexpr const char* was_lost = "this member was lost";

/// The head, as a team sees it.
class stage {
public:
  stage(std::size_t shares, std::vector<formation> formations)
      : shares_(shares),
        formations_(std::move(formations)) {
    begin();
  }

  [[nodiscard]] std::size_t shares() const { return shares_; }

  /// The links of a slot in the present formation.
  std::unique_ptr<links> form(std::size_t slot) {
    const std::lock_guard lock(mutex_);
    if (over_)
      throw task_dropped("it is over");
    if (!present(slot))
      throw std::runtime_error(was_lost);
    const auto before = formations_[at_].members & ((1U << slot) - 1);
    return streams_.back()->link(static_cast<std::size_t>(std::popcount(before)));
  }

  void has_done() {
    const std::lock_guard lock(mutex_);
    if (++exchanges_ < formations_[at_].exchanges || at_ + 1 == formations_.size())
      return;
    ++at_;
    streams_.back()->break_up();
    begin();
  }

  void end() {
    const std::lock_guard lock(mutex_);
    over_ = true;
    streams_.back()->break_up();
    changed_.notify_all();
  }

  /// False: it is over.
  bool wait_until_present(std::size_t slot) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return over_ || present(slot); });
    return !over_;
  }

private:
  [[nodiscard]] bool present(std::size_t slot) const {
    return (formations_[at_].members >> slot & 1) != 0;
  }
  void begin() {
    exchanges_ = 0;
    const auto members = std::popcount(formations_[at_].members);
    streams_.push_back(
        std::make_unique<memory_streams>(static_cast<std::size_t>(members)));
    changed_.notify_all();
  }

  std::size_t shares_;
  std::vector<formation> formations_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t at_ = 0, exchanges_ = 0;
  bool over_ = false;
  std::vector<std::unique_ptr<memory_streams>> streams_;
};

class member final : public team {
public:
  member(stage& s, std::size_t slot) : stage_(s), slot_(slot) {}

  [[nodiscard]] std::size_t shares() const override { return stage_.shares(); }
  [[nodiscard]] links& form() override {
    for (;;) {
      link_ = stage_.form(slot_);
      try {
        if (carrier_)
          link_ = carrier_(std::move(link_));
        return *link_;
      } catch (const team_broken&) {
        continue;
      }
    }
  }
  void carry_by(make_carrier carrier) override { carrier_ = std::move(carrier); }
  void has_done(std::uint64_t) override { stage_.has_done(); }

private:
  stage& stage_;
  std::size_t slot_;
  make_carrier carrier_;
  std::unique_ptr<links> link_;
};

evaluated_job train_at(stage& s, std::size_t slot, fitness_function& fitness, job j) {
  evaluated_job done{.evaluation = {.outcome = outcome::dropped}};
  while (s.wait_until_present(slot)) {
    member m(s, slot);
    j.members = &m;
    listener ear;
    done = fitness.evaluate(j, ear);
    // A training that failed by itself would fail again, and the others would wait for
    // it.
    if (done.evaluation.reason.find(was_lost) == std::string::npos) {
      s.end();
      break;
    }
  }
  return done;
}

} // namespace

std::vector<evaluated_job> team_of_threads::train(std::size_t shares,
                                                  std::vector<formation> formations,
                                                  const make_fitness& make,
                                                  const job& j) {
  stage s(shares, std::move(formations));
  std::vector<std::unique_ptr<fitness_function>> fitness;
  for (std::size_t slot = 0; slot < shares; ++slot)
    fitness.push_back(make());
  std::vector<evaluated_job> all(shares);
  std::vector<std::thread> threads;
  for (std::size_t slot = 0; slot < shares; ++slot)
    threads.emplace_back([&, slot] { all[slot] = train_at(s, slot, *fitness[slot], j); });
  for (auto& t : threads)
    t.join();
  return all;
}

} // namespace clade::test
