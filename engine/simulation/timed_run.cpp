// One thing happens at a time: a training ends, an interim model is there, or somebody looks
// at the clock. All that follows from it is done at once, as if messages took no time.
#include "engine/simulation/timed_run.hpp"

#include "engine/config/experiment/experiment.hpp"
#include "engine/run/steps/run_course.hpp"
#include "engine/run/steps/time_plan.hpp"
#include "engine/scheduling/shared_time.hpp"
#include "engine/simulation/run_driver.hpp"
#include "genome/genes/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <set>

namespace clade {
namespace {

constexpr double untrained = 0.9;
// Somebody looks at the clock so often in a run.
constexpr double looks = 1000;

/// A slot is at work.
struct work {
  candidate_id id = 0; ///< 0: it puts an interim model together.
  double begun = 0, end = 0;
};

class timed_simulation {
public:
  timed_simulation(const timed_run_params& params, run_state state)
      : p_(params),
        state_(std::move(state)) {}

  expected<timed_run> run();

private:
  expected<void> note(const record& r) { return apply(state_, r); }
  expected<void> settle();
  expected<void> breed_all(std::vector<breeding> orders);
  expected<void> act(const next_steps& due);
  expected<void> plan_end(const std::string& reason);
  expected<void> drop(bool planned);
  expected<void> look_at_clock();
  expected<void> end_next(double latest);
  expected<void> evaluated(const work& w);
  void hand_out();
  void put_together_interim();
  void finish();
  [[nodiscard]] work begin(const candidate& c);
  [[nodiscard]] double epoch_of(const candidate& c) const;
  [[nodiscard]] double left() const { return std::max(0.001, p_.world.seconds - now_); }
  [[nodiscard]] shared_time::clock::time_point clock_now() const {
    return shared_time::clock::time_point(
        std::chrono::duration_cast<shared_time::clock::duration>(
            std::chrono::duration<double>(now_)));
  }
  [[nodiscard]] final_means means(double seconds) const {
    return {.slots = p_.world.slots,
            .time = std::chrono::milliseconds(std::llround(1e3 * seconds)),
            .epochs = p_.epochs,
            .cores = p_.world.slots};
  }

  const timed_run_params& p_;
  run_state state_;
  run_course course_;
  run_clock clock_;
  shared_time finals_;
  interim_course interim_;
  std::vector<work> busy_;
  std::deque<candidate_id> waiting_;
  std::set<candidate_id> seen_; ///< They waited, or were begun.
  std::map<candidate_id, evaluation> evaluations_;
  bool end_wanted_ = false; ///< It is due once a candidate succeeds.
  double now_ = 0;
  timed_run result_;
};

double timed_simulation::epoch_of(const candidate& c) const {
  return network_of(p_.world, c.network).epoch_seconds
         / std::pow(static_cast<double>(c.threads), 0.9);
}

work timed_simulation::begin(const candidate& c) {
  const auto epochs = c.epochs != 0 ? c.epochs : p_.epochs;
  double limit = p_.evaluation_seconds;
  if (c.fold.of != 0 && c.time.count() > 0)
    limit = 1e-3
            * static_cast<double>(
                finals_.hand_out(c.id, p_.world.slots, clock_now()).count());
  const double all = end_of_work(p_.world, now_, epochs * epoch_of(c));
  return {
      .id = c.id, .begun = now_, .end = limit > 0 ? std::min(all, now_ + limit) : all};
}

void timed_simulation::hand_out() {
  for (const auto& [id, c] : state_.open)
    if (c.equal_to == 0 && seen_.insert(id).second)
      waiting_.push_back(id);
  std::erase_if(waiting_, [&](candidate_id id) { return !state_.open.contains(id); });
  const auto free_slots = [&] {
    std::size_t taken = 0;
    for (const auto& w : busy_)
      taken += w.id == 0 ? 1 : state_.open.at(w.id).threads;
    return p_.world.slots - std::min(taken, p_.world.slots);
  };
  put_together_interim();
  while (!waiting_.empty()) {
    const auto& c = state_.open.at(waiting_.front());
    if (std::min<std::size_t>(c.threads, p_.world.slots) > free_slots())
      return;
    waiting_.pop_front();
    busy_.push_back(begin(c));
  }
}

void timed_simulation::put_together_interim() {
  if (busy_.size() >= p_.world.slots)
    return;
  const auto time = interim_.begin(state_, course_,
                                   std::chrono::milliseconds(std::llround(1e3 * left())));
  if (time)
    busy_.push_back({.id = 0,
                     .begun = now_,
                     .end = now_ + 1e-3 * static_cast<double>(time->count())});
}

// The curve holds whole epochs, as that of a real training does, or the part of one.
expected<void> timed_simulation::evaluated(const work& w) {
  const auto c = state_.open.at(w.id);
  const auto n = network_of(p_.world, c.network);
  const double asked = c.epochs != 0 ? c.epochs : p_.epochs;
  const double epochs =
      std::min(asked, work_done(p_.world, w.begun, w.end) / epoch_of(c));
  evaluation e{.id = w.id, .parameters = 1000, .seconds = w.end - w.begun};
  if (n.diverges) {
    fail_with(e, outcome::diverged, "the loss is not finite");
  } else {
    const auto error = error_after(n, epochs, 1);
    const auto count = static_cast<std::uint32_t>(std::max(1.0, std::floor(epochs)));
    for (std::uint32_t k = 1; k <= count; ++k)
      e.curve.push_back(
          {.number = k,
           .metrics = {{"validation.accuracy",
                        1 - error_after(n, std::min<double>(k, epochs), k / asked)}},
           .seconds = e.seconds / std::max(1.0, epochs)});
    e.metrics = {{"validation.accuracy", 1 - error}, {"validation.loss", error}};
    result_.best_validated = std::min(result_.best_validated, error);
    result_.hindsight = std::min(
        result_.hindsight,
        error_after(n, work_done(p_.world, 0, p_.world.seconds) / n.epoch_seconds, 1));
    result_.finals += c.fold.of != 0 ? 1 : 0;
  }
  ++result_.evaluated;
  finals_.end(w.id);
  evaluations_[w.id] = e;
  // A candidate that is ahead of the last interim model is at hand itself; of several folds
  // none is.
  if (c.fold.of <= 1 && e.outcome == outcome::succeeded)
    result_.models.push_back({now_, result_.best_validated});
  return note(candidate_evaluated{std::move(e)}).and_then([&] {
    const bool now = end_wanted_ && !state_.best.empty() && !state_.plan;
    return now ? plan_end("its share of the time is used") : expected<void>();
  });
}

expected<void> timed_simulation::drop(bool planned) {
  for (const auto id : open_to_drop(state_, planned)) {
    result_.dropped += state_.open.at(id).fold.of != 0 ? 1 : 0;
    evaluation e{.id = id};
    fail_with(e, outcome::dropped, "dropped");
    std::erase_if(busy_, [&](const work& w) { return w.id == id; });
    finals_.end(id);
    evaluations_[id] = e;
    if (auto noted = note(candidate_evaluated{std::move(e)}); !noted)
      return noted;
  }
  return {};
}

expected<void> timed_simulation::plan_end(const std::string& reason) {
  course_.stage = run_stage::ending;
  auto plan =
      plan_final_stage(state_.rules.final_stage, state_.for_the_end(), means(left()));
  plan.reason = reason;
  result_.planned = plan.trainings.size();
  return note(std::move(plan)).and_then([&] { return drop(/*planned=*/false); });
}

expected<void> timed_simulation::breed_all(std::vector<breeding> orders) {
  const auto breed = breeder_of(state_.rules, p_.problem);
  open_orders open{.orders = std::move(orders)};
  while (!open.orders.empty()) {
    auto accepted = open.carry_out(0, state_, breed);
    if (!accepted)
      return tl::unexpected(std::move(accepted).error());
    for (auto& c : *accepted)
      if (auto noted = note(candidate_born{std::move(c)}); !noted)
        return noted;
  }
  return {};
}

expected<void> timed_simulation::act(const next_steps& due) {
  if (!due.breed.empty())
    return breed_all(due.breed);
  if (due.close)
    return note(*due.close);
  if (due.plan)
    return plan_end("the search is complete");
  for (const auto& c : due.finals) {
    finals_.submit(c.id, c.time, clock_now());
    if (auto noted = note(candidate_born{c}); !noted)
      return noted;
  }
  for (const auto& copy : due.copy)
    if (auto noted =
            note(candidate_evaluated{copy_for(copy.id, evaluations_.at(copy.original))});
        !noted)
      return noted;
  if (due.finish)
    finish();
  return {};
}

expected<void> timed_simulation::settle() {
  while (!course_.over()) {
    const auto due = due_steps(state_, course_, nothing_under_way(state_));
    if (due.waits())
      return {};
    if (auto done = act(due); !done)
      return done;
  }
  return {};
}

// Whatever is there is put together. Asking a model takes a part of an epoch; the first is
// asked in any case, others as far as there is time.
void timed_simulation::finish() {
  constexpr double asking = 0.25;
  double one = 0, all = 0;
  for (const auto& f : state_.finals) {
    const auto n = network_of(p_.world, canonical_hash(*f.who.genome));
    one = one == 0 ? asking * n.epoch_seconds : one;
    all += asking * n.epoch_seconds;
  }
  result_.trained_until = now_;
  result_.ended = std::max(end_of_work(p_.world, now_, one),
                           std::min(end_of_work(p_.world, now_, all), now_ + left()));
  if (result_.best_validated < untrained)
    result_.models.push_back({result_.ended, result_.best_validated});
  course_.stage = run_stage::over;
}

expected<void> timed_simulation::look_at_clock() {
  const double epoch = state_.best.empty() ? 0 : state_.best.front().seconds_per_epoch;
  const auto order = clock_.look(now_ / p_.world.seconds, state_.rules.final_stage,
                                 means(p_.world.seconds), epoch);
  if (order == clock_order::stop)
    finish();
  if (order == clock_order::stop || order == clock_order::none)
    return {};
  switch (told_to_end(course_, state_, order == clock_order::end_trainings)) {
  case end_answer::passed_over:
    return {};
  case end_answer::waits_for_success:
    end_wanted_ = true;
    return {};
  case end_answer::plans:
    return plan_end("its share of the time is used");
  case end_answer::drops_trainings:
    return drop(/*planned=*/true);
  }
  return {};
}

expected<void> timed_simulation::end_next(double latest) {
  const auto next = std::ranges::min_element(busy_, {}, &work::end);
  if (next == busy_.end() || next->end > latest) {
    now_ = latest;
    return look_at_clock();
  }
  const auto done = *next;
  busy_.erase(next);
  now_ = std::max(now_, done.end);
  if (done.id != 0)
    return evaluated(done);
  interim_.end();
  result_.models.push_back({now_, result_.best_validated});
  return {};
}

expected<timed_run> timed_simulation::run() {
  if (auto begun = note(run_started{
          .version = "0", .experiment = "", .seed = state_.rules.seed, .search = {}});
      !begun)
    return tl::unexpected(begun.error());
  double next_look = p_.world.seconds / looks;
  while (!course_.over()) {
    auto done = settle().and_then([&] {
      if (!course_.over())
        hand_out();
      return course_.over() ? expected<void>() : end_next(next_look);
    });
    if (!done)
      return tl::unexpected(std::move(done).error());
    if (now_ >= next_look)
      next_look += p_.world.seconds / looks;
  }
  return std::move(result_);
}

} // namespace

expected<timed_run_params> planned_run(const made_up_world& world,
                                       std::shared_ptr<const search_space> space) {
  const auto fitted = fit_search({}, world.epoch_seconds, world.slots, world.seconds,
                                 std::chrono::seconds(3600));
  const std::vector<std::string> size{
      "strategy=regularized", fmt::format("population={}", fitted.size.population),
      fmt::format("generations={}", fitted.size.generations)};
  return parse_evolution(size, *space).map([&](evolution_params&& evolution) {
    timed_run_params p;
    p.rules.evolution = std::move(evolution);
    p.rules.seed = world.seed;
    p.rules.space = std::move(space);
    p.rules.final_stage = {.model = "ensemble"};
    p.problem = {.input = {{16}}, .outputs = 4};
    p.world = world;
    p.epochs = fitted.size.epochs;
    p.evaluation_seconds = static_cast<double>(fitted.evaluation_time.count());
    return p;
  });
}

expected<timed_run> simulate_timed_run(const timed_run_params& params) {
  return make_run_state(params.rules).and_then([&](run_state&& state) {
    return timed_simulation(params, std::move(state)).run();
  });
}

timed_run train_one_network(const made_up_world& world, genome_hash network) {
  constexpr int parts = 100;
  const auto n = network_of(world, network);
  timed_run out{.trained_until = world.seconds, .ended = world.seconds, .evaluated = 1};
  if (n.diverges)
    return out;
  for (int i = 1; i <= parts; ++i) {
    const double progress = static_cast<double>(i) / parts;
    const double at = progress * world.seconds;
    const double epochs = work_done(world, 0, at) / n.epoch_seconds;
    out.models.push_back({.at = at, .error = error_after(n, epochs, progress)});
    out.best_validated = std::min(out.best_validated, out.models.back().error);
  }
  out.hindsight = out.best_validated;
  return out;
}

double error_at(const timed_run& run, double seconds) {
  double error = untrained;
  for (const auto& m : run.models)
    if (m.at <= seconds)
      error = std::min(error, m.error);
  return error;
}

double mean_error(const timed_run& run, double seconds) {
  double sum = 0, at = 0, error = untrained;
  for (const auto& m : run.models) {
    const double until = std::min(m.at, seconds);
    sum += error * (until - at);
    at = until;
    error = std::min(error, m.error);
  }
  return (sum + error * std::max(0.0, seconds - at)) / seconds;
}

} // namespace clade
