// The driver keeps what a head process would have under way: orders that generators carry
// out, candidates that came back from them and are not resolved. All else is in the
// state. One thing happens at a time: a generator delivers, a copy is made, a generation
// closes, an evaluation arrives; each is applied before the next is picked.
#include "tests/support/simulation.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <memory>
#include <random>

namespace clade {

namespace {

class driver {
public:
  driver(const simulation& s, std::vector<record> stored)
      : s_(s),
        run_{fold(s.rules, stored), std::move(stored)} {
    for (const auto& r : run_.records)
      remember(r);
    ordered_ = run_.state.born;
    if (run_.records.empty())
      note(run_started{
          .version = "0", .experiment = "", .seed = s.rules.seed, .search = {}});
  }

  simulated run(std::size_t limit) && {
    while (!run_.state.finished && run_.records.size() < limit) {
      const auto next = next_step(run_.state, ordered_);
      for (const auto& order : next.breed) {
        ordered_ = order.id;
        orders_.push_back(order);
      }
      if (next.finish)
        note(run_finished{run_.state.best.empty() ? 0 : run_.state.best.front().id, {}});
      else
        happen(next);
    }
    if (run_.records.size() > limit)
      run_ = {fold(s_.rules,
                   {run_.records.begin(), run_.records.begin() + std::ptrdiff_t(limit)}),
              {run_.records.begin(), run_.records.begin() + std::ptrdiff_t(limit)}};
    return std::move(run_);
  }

private:
  void happen(const next_steps& next) {
    std::vector<std::function<void()>> possible;
    for (std::size_t i = 0; i < orders_.size(); ++i)
      possible.emplace_back([this, i] { deliver(i); });
    for (const auto& c : next.copy)
      possible.emplace_back([this, c] {
        note(candidate_evaluated{copy_for(c.id, evaluations_.at(c.original))});
      });
    if (next.close)
      possible.emplace_back([this, &next] { note(*next.close); });
    for (const auto& [id, c] : run_.state.open)
      if (c.equal_to == 0)
        possible.emplace_back(
            [this, born = &c] { note(candidate_evaluated{s_.evaluate(*born)}); });
    if (possible.empty())
      FAIL("the run is stuck:\n" << to_text(run_.state));
    possible.at(s_.pick(possible.size()))();
  }

  void deliver(std::size_t i) {
    const auto order = orders_[i];
    orders_.erase(orders_.begin() + std::ptrdiff_t(i));
    delivered_.push_back({order, s_.breed(order)});
    auto resolved = resolve(run_.state, std::move(delivered_));
    delivered_ = std::move(resolved.held);
    orders_.insert(orders_.begin(), resolved.again.begin(), resolved.again.end());
    for (auto& c : resolved.accepted)
      note(candidate_born{std::move(c)});
  }

  void note(const record& r) {
    const auto applied = apply(run_.state, r);
    if (!applied)
      FAIL(applied.error().message);
    remember(r);
    run_.records.push_back(r);
  }

  void remember(const record& r) {
    if (const auto* e = std::get_if<candidate_evaluated>(&r))
      evaluations_[e->evaluated.id] = e->evaluated;
  }

  const simulation& s_;
  simulated run_;
  candidate_id ordered_ = 0;
  std::vector<breeding> orders_;
  std::vector<bred> delivered_;
  std::map<candidate_id, evaluation> evaluations_;
};

} // namespace

simulated simulate(const simulation& s, std::vector<record> stored, std::size_t records) {
  return driver(s, std::move(stored)).run(records);
}

std::function<std::size_t(std::size_t)> shuffled(std::uint64_t seed) {
  return [random = std::make_shared<std::mt19937_64>(seed)](std::size_t n) {
    return static_cast<std::size_t>((*random)() % n);
  };
}

run_state fold(const run_rules& rules, const std::vector<record>& records) {
  auto state = make_run_state(rules);
  if (!state)
    FAIL(state.error().message);
  for (const auto& r : records) {
    const auto applied = apply(*state, r);
    if (!applied)
      FAIL(applied.error().message);
  }
  return std::move(*state);
}

} // namespace clade
