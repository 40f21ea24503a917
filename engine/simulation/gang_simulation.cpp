#include "engine/simulation/gang_simulation.hpp"

#include "engine/scheduling/schedule.hpp"
#include "genome/base/random.hpp"

#include <algorithm>
#include <cmath>
#include <queue>
#include <vector>

namespace clade {

namespace {

using clock = schedule::clock;

// A gang that would wait for less is not counted: any multiple of so short a wait is soon
// reached.
constexpr auto least_wait = std::chrono::seconds(1);

clock::duration seconds(double s) {
  return std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(s));
}

class gang_simulation {
public:
  explicit gang_simulation(const gang_mix& mix) : mix_(mix), free_at_(mix.slots) {
    for (std::size_t i = 0; i < mix.slots; ++i)
      schedule_.join(i + 1, {.slot = std::to_string(i), .machine = machine_of(i)}, {});
    draw_tasks();
  }

  gang_figures run();

private:
  struct drawn_task {
    task what;
    clock::duration takes;
    bool begun = false;
  };
  struct ending {
    clock::time_point at;
    node_id node;
    lease given;

    friend bool operator>(const ending& a, const ending& b) {
      return a.at != b.at ? a.at > b.at : a.node > b.node;
    }
  };

  [[nodiscard]] std::uint64_t machine_of(std::size_t slot) const {
    return slot / mix_.slots_of_machine + 1;
  }
  [[nodiscard]] drawn_task& task_of(const lease& l) { return tasks_[l.id.candidate - 1]; }
  void draw_tasks();
  void begin_tasks();
  void end_next();
  void look_at_next();
  [[nodiscard]] clock::time_point alone(std::uint32_t slots) const;
  void judge(const drawn_task& begun);

  gang_mix mix_;
  schedule schedule_;
  std::vector<drawn_task> tasks_;
  std::vector<std::size_t> order_;         ///< The order that the schedule has.
  std::vector<clock::time_point> free_at_; ///< The time at which each slot is free.
  std::priority_queue<ending, std::vector<ending>, std::greater<>> ends_;
  clock::time_point now_{};
  std::size_t next_ = 0; ///< In `order_`: the first that has not begun.
  std::size_t judged_ = 0;
  clock::time_point next_since_, next_alone_;
  clock::duration busy_{};
  std::size_t begun_ = 0;
  gang_figures figures_;
};

// Sizes are log-uniform; times are exponential, of a minute in the mean.
void gang_simulation::draw_tasks() {
  auto random = derive(mix_.seed, purpose::training, 0, 0);
  for (std::size_t i = 0; i < mix_.tasks; ++i) {
    const auto slots = static_cast<std::uint32_t>(
        std::exp2(random.uniform() * std::log2(mix_.largest + 1.0)));
    const double expected = 1 - 60 * std::log(1 - random.uniform());
    const double surprise = std::exp(mix_.surprise * (2 * random.uniform() - 1));
    tasks_.push_back({{.id = i + 1,
                       .work = expected * slots,
                       .needs = {.slots = slots},
                       .alone = true},
                      seconds(expected * surprise)});
    schedule_.submit(tasks_.back().what);
    order_.push_back(i);
  }
  std::ranges::sort(order_, [&](std::size_t a, std::size_t b) {
    const auto& x = tasks_[a].what;
    const auto& y = tasks_[b].what;
    return x.work != y.work ? x.work > y.work : a < b;
  });
}

gang_figures gang_simulation::run() {
  for (begin_tasks(); begun_ < tasks_.size() && !ends_.empty(); begin_tasks()) {
    look_at_next();
    end_next();
  }
  const auto all = static_cast<double>(mix_.slots) * (now_ - clock::time_point{}).count();
  // Running tasks were counted to their end: the time after now is taken off again.
  clock::duration left{};
  for (const auto at : free_at_)
    left += std::max(clock::duration{}, at - now_);
  figures_.busy = static_cast<double>((busy_ - left).count()) / all;
  if (figures_.waited > 0)
    figures_.mean_wait /= static_cast<double>(figures_.waited);
  return figures_;
}

void gang_simulation::begin_tasks() {
  for (std::size_t i = 0; i < mix_.slots; ++i)
    schedule_.hear(i + 1, now_);
  for (const auto& out : schedule_.hand_out(now_)) {
    for (const auto& l : out.leases) {
      auto& t = task_of(l);
      t.begun = true;
      ++begun_;
      judge(t);
      const auto end = now_ + t.takes;
      ends_.push({end, out.node, l});
      busy_ += t.takes * t.what.needs.slots;
      free_at_[out.node - 1] = end;
    }
  }
  for (const auto& [node, leader] : schedule_.held())
    free_at_[node - 1] = free_at_[leader - 1];
}

void gang_simulation::end_next() {
  const auto e = ends_.top();
  ends_.pop();
  now_ = e.at;
  const std::chrono::duration<double> took = task_of(e.given).takes;
  static_cast<void>(schedule_.accept(e.node, e.given.id, e.given.number, took.count()));
}

// From the moment at which a gang is next.
void gang_simulation::look_at_next() {
  while (next_ < order_.size() && tasks_[order_[next_]].begun)
    ++next_;
  if (next_ == order_.size() || judged_ == next_ + 1)
    return;
  judged_ = next_ + 1;
  next_since_ = now_;
  next_alone_ = alone(tasks_[order_[next_]].what.needs.slots);
}

clock::time_point gang_simulation::alone(std::uint32_t slots) const {
  auto first = clock::time_point::max();
  for (std::size_t begin = 0; begin < mix_.slots; begin += mix_.slots_of_machine) {
    const auto end = std::min(mix_.slots, begin + mix_.slots_of_machine);
    if (end - begin < slots)
      continue;
    std::vector<clock::time_point> of_machine(
        free_at_.begin() + static_cast<std::ptrdiff_t>(begin),
        free_at_.begin() + static_cast<std::ptrdiff_t>(end));
    std::ranges::nth_element(of_machine, of_machine.begin() + (slots - 1));
    first = std::min(first, of_machine[slots - 1]);
  }
  return first;
}

void gang_simulation::judge(const drawn_task& begun) {
  if (judged_ != next_ + 1 || next_ >= order_.size() || &begun != &tasks_[order_[next_]]
      || begun.what.needs.slots == 1 || next_alone_ - next_since_ < least_wait)
    return;
  const auto waited = static_cast<double>((now_ - next_since_).count())
                      / static_cast<double>((next_alone_ - next_since_).count());
  ++figures_.waited;
  figures_.mean_wait += waited;
  figures_.longest_wait = std::max(figures_.longest_wait, waited);
}

} // namespace

gang_figures simulate_gangs(const gang_mix& mix) {
  return gang_simulation(mix).run();
}

} // namespace clade
