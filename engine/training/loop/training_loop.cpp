#include "engine/training/loop/training_loop.hpp"

#include "engine/collectives/team.hpp"
#include "engine/training/loop/assessment.hpp"
#include "engine/training/weights/loop_position.hpp"
#include "engine/training/weights/tensor_copy.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

// An epoch: the examples in a new order, batch by batch: forward, loss, backward, step.
// The sums over batches stay in tensors until the epoch ends, so that an accelerator is
// never waited for in between; whether the loss is still a number is therefore looked at
// once an epoch.

namespace clade {
namespace {

using steady_clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds deadline_tolerance{100};

double seconds_since(steady_clock::time_point start) {
  return std::chrono::duration<double>(steady_clock::now() - start).count();
}

const metric* first_not_finite(const std::vector<metric>& metrics) {
  const auto it = std::ranges::find_if(
      metrics, [](const auto& m) { return !std::isfinite(m.value); });
  return it == metrics.end() ? nullptr : &*it;
}

class training_loop {
public:
  training_loop(network_module& net, const device_data& data, const training_task& task,
                progress& p)
      : net_(net),
        data_(data),
        task_(task),
        progress_(p),
        source_(data, task.recipe, task.key),
        number_(task.first_epoch) {
    net.use_stochastic_depth(task.recipe.stochastic_depth, task.key);
    const step_rules rules{.recipe = task.recipe,
                           .loss = data.task.loss,
                           .class_weights = data.class_weights,
                           .precision = task.precision,
                           .key = task.key};
    auto made = task.steps(net, rules,
                           {.give = [this] { return encode(where_it_stands()); },
                            .give_parts = [this] { return parts(); },
                            .files = task.files,
                            .keep_every = task.keep_every});
    step_ = std::move(made.step);
    position_ = std::move(made.position);
    team_ = std::move(made.team);
    keyed_ = made.keyed;
    if (task.follows_clock && team_->alone())
      pace_.emplace(limits_of_pace());
    if (task.recipe.ema > 0)
      average_.emplace(task.recipe.ema, position_->state());
    steps_keep_average_ = average_ && step_->keeps(*average_);
  }

  expected<void> go_on(const resumption& from);
  expected<void> follow(const bytes& pace);
  training_result run();

private:
  std::optional<training_result> run_until_broken();
  training_result run_on();
  expected<void> take_over(const training_position& p);
  void take_over_course(const training_position& p);
  void take_over(const position_of_others& others);
  void take_over(const loop_position& p);
  void take_over_place(const loop_position& p);
  void take_over(loop_tensors parts);
  loop_position where_it_stands();
  loop_position without_tensors() const;
  std::pair<bytes, loop_tensors> parts() const;
  // False, and an outcome in the result, when training must end.
  bool train_epoch(std::uint32_t number);
  void keep_position();
  bool leave();
  void keep_at_leave();
  void train_batch(const batch& b, double learning_rate);
  void exchange_average();
  void restore_average(const std::vector<weight_tensor>& stored);
  bool assess_epoch(std::uint32_t number, steady_clock::time_point start);
  void keep_if_best();
  void keep_state();
  void hear_loss();
  bool goes_on();
  bool out_of_patience() const;
  void say_pace();
  training_position position();
  training_position course() const;
  bool cut(const std::string& where);
  bool assess_part();
  [[nodiscard]] training_pace::limits limits_of_pace() const;
  [[nodiscard]] std::uint64_t steps_before() const;
  [[nodiscard]] bool complete() const;
  [[nodiscard]] double validation_steps() const;
  steady_clock::time_point latest_batch() const;
  void restore_best();
  bool end(outcome o, std::string reason);

  network_module& net_;
  const device_data& data_;
  const training_task& task_;
  progress& progress_;
  batch_source source_;
  std::shared_ptr<training_step> step_;
  std::shared_ptr<step_position> position_;
  std::shared_ptr<step_team> team_;
  bool keyed_ = true;                 ///< The same as in `training_parts`.
  std::optional<training_pace> pace_; ///< The pace of one that follows the clock.
  std::optional<weight_average> average_;
  bool steps_keep_average_ = false;
  at::Tensor total_loss_;       ///< The loss of the epoch, over its examples.
  std::uint32_t number_;        ///< The number of the present epoch.
  std::int64_t next_batch_ = 0; ///< The next batch of that epoch.
  steady_clock::time_point begun_ = steady_clock::now(), epoch_start_ = begun_;
  bool assessed_ = false; ///< That epoch was, and its verdict is due.
  double train_loss_ = 0;
  steady_clock::time_point kept_ = steady_clock::now(); ///< The position.
  fitness best_fitness_;
  std::optional<std::vector<at::Tensor>> best_state_;
  double lowest_loss_ = std::numeric_limits<double>::infinity();
  std::uint32_t epochs_since_lowest_ = 0;
  training_result result_;
};

// The order of examples and their augmentation are drawn anew for each epoch, from its
// number, so that the generators inside the network are all that has a state.
expected<void> training_loop::go_on(const resumption& from) {
  const auto& p = from.position;
  if (auto best = net_.load(from.weights); !best)
    return best;
  keep_state();
  number_ = p.epochs + 1;
  return take_over(p);
}

expected<void> training_loop::take_over(const training_position& p) {
  if (auto last = net_.load(p.weights); !last)
    return last;
  position_->take_over_weights();
  if (!keyed_)
    net_.set_random_states(p.generators);
  restore_average(p.average);
  take_over_course(p);
  if (p.optimiser == to_text(task_.recipe.optimiser))
    position_->go_on_after(p.steps, p.moments);
  return {};
}

void training_loop::take_over_course(const training_position& p) {
  lowest_loss_ = p.lowest_loss;
  epochs_since_lowest_ = p.since_lowest;
  result_.best = p.best;
  evaluation so_far;
  so_far.metrics = p.best;
  best_fitness_ = fitness_of(so_far, task_.goal);
}

// Members of one version send nothing that another cannot read.
void training_loop::take_over(const position_of_others& others) {
  const auto p = decode_loop_position(others.position);
  TORCH_CHECK(p, "the position of another member: ", p.error().message);
  if (!others.parts) {
    take_over(*p);
    return;
  }
  take_over_course(p->training);
  take_over(*others.parts);
  take_over_place(*p);
}

void training_loop::take_over(const loop_position& p) {
  best_state_.reset();
  if (!p.best.empty()) {
    const auto best = net_.load(p.best);
    TORCH_CHECK(best, "a position of the same training: ", best.error().message);
    keep_state();
  }
  const auto there = take_over(p.training);
  TORCH_CHECK(there, "a position of the same training: ", there.error().message);
  take_over_place(p);
}

void training_loop::take_over_place(const loop_position& p) {
  result_.updates = p.updates;
  number_ = p.epoch;
  next_batch_ = static_cast<std::int64_t>(p.next_batch);
  if (pace_) {
    const auto fits = pace_->go_on(p.updates, steps_before(), steady_clock::now());
    TORCH_CHECK(fits, "a position of the same training: ", fits.error().message);
  } else {
    position_->take_over_updates(p.updates);
  }
  assessed_ = p.assessed;
  total_loss_ = at::full({}, p.total_loss, data_.features.options().dtype(at::kDouble));
  train_loss_ = p.train_loss;
  result_.curve = p.curve;
}

void training_loop::take_over(loop_tensors parts) {
  best_state_ = std::move(parts.best);
  if (!average_)
    return;
  average_.emplace(task_.recipe.ema, position_->state());
  if (parts.average)
    average_->set(*parts.average);
}

loop_position training_loop::where_it_stands() {
  auto p = without_tensors();
  p.training = position();
  if (best_state_)
    p.best = position_->whole(*best_state_);
  return p;
}

loop_position training_loop::without_tensors() const {
  return {.training = course(),
          .best = {},
          .epoch = number_,
          .next_batch = static_cast<std::uint64_t>(next_batch_) - position_->pending(),
          .assessed = assessed_,
          .total_loss = total_loss_.defined() ? total_loss_.item<double>() : 0,
          .train_loss = train_loss_,
          .curve = result_.curve,
          .updates = pace_ ? pace_->log() : result_.updates};
}

std::pair<bytes, loop_tensors> training_loop::parts() const {
  loop_tensors tensors{.best = best_state_};
  if (average_)
    tensors.average = average_->values();
  return {encode(without_tensors()), std::move(tensors)};
}

// A training that had none begins one.
void training_loop::restore_average(const std::vector<weight_tensor>& stored) {
  if (!average_)
    return;
  average_->begin_again();
  if (!std::ranges::equal(average_->values(), stored, same_shape))
    return;
  for (std::size_t i = 0; i < stored.size(); ++i)
    copy_to(average_->values()[i], stored[i]);
}

void training_loop::exchange_average() {
  if (average_)
    average_->exchange();
}

// A member of a team that fell behind goes on where the others stand.
training_result training_loop::run() {
  const bool from_file = task_.files != nullptr && !position_->keeps_files();
  if (const auto kept = from_file ? task_.files->newest() : std::nullopt) {
    std::fprintf(stderr, "clade node: a training goes on in epoch %u of %u\n",
                 kept->position.epoch, task_.epochs);
    take_over(kept->position);
    team_->go_on_after_exchanges(kept->exchanges);
  }
  try {
    for (;;) {
      if (auto done = run_until_broken())
        return std::move(*done);
      if (const auto others = team_->newest())
        take_over(*others);
    }
  } catch (const task_dropped&) {
    keep_at_leave();
    throw;
  }
}

/// Returns nothing where the team was broken up.
std::optional<training_result> training_loop::run_until_broken() try {
  return run_on();
} catch (const team_broken&) {
  return std::nullopt;
}

training_result training_loop::run_on() {
  for (; number_ <= task_.epochs && (assessed_ || !(out_of_patience() || complete()));
       ++number_) {
    if (!assessed_) {
      keep_position();
      epoch_start_ = steady_clock::now();
      if (!train_epoch(number_))
        return std::move(result_);
      exchange_average();
      step_->show();
      if (!assess_epoch(number_, epoch_start_))
        return std::move(result_);
      keep_if_best();
      exchange_average();
      hear_loss();
      assessed_ = true;
    }
    if (!goes_on())
      return std::move(result_);
    if (complete())
      break;
    assessed_ = false;
    next_batch_ = 0;
  }
  say_pace();
  if (task_.keep_position)
    result_.position = position();
  restore_best();
  return std::move(result_);
}

// If a member leaves, the others are to hear nothing but that.
bool training_loop::goes_on() {
  const auto said = team_->agree([this] {
    if (progress_.report(result_.curve.back()) || number_ == task_.epochs || complete())
      return verdict::goes_on;
    if (progress_.goes_on_later() && !progress_.wanted())
      throw task_dropped("it goes on in another process");
    // Whoever hears of epochs may have the same limit, and have begun to count before.
    const auto now = steady_clock::now();
    if (now <= task_.deadline - deadline_tolerance)
      return verdict::dropped;
    return pace_ && progress_.wanted() && now < latest_batch() ? verdict::goes_on
                                                               : verdict::out_of_time;
  });
  if (said == verdict::out_of_time)
    return cut(fmt::format("after epoch {}", number_));
  if (said == verdict::dropped)
    return end(outcome::dropped, fmt::format("stopped after epoch {}", number_));
  return true;
}

void training_loop::restore_best() {
  const at::NoGradGuard no_grad;
  const auto state = position_->state();
  for (std::size_t i = 0; best_state_ && i < state.size(); ++i)
    state[i].detach().copy_((*best_state_)[i]);
  best_state_.reset();
  step_->finish();
}

// Its best epoch counts, or what it learnt in a part of the first. A training that others
// go on from is compared with those that had as many epochs, so that a part of it counts
// for nothing.
bool training_loop::cut(const std::string& where) {
  if (task_.keep_position || (result_.curve.empty() && !assess_part())) {
    // A part may have diverged.
    return result_.outcome == outcome::succeeded
               ? end(outcome::timed_out, "out of time " + where)
               : false;
  }
  result_.updates.clear(); // It does not say where the training was cut.
  result_.reason =
      fmt::format("cut by limits.evaluation_time {} of {}", where, task_.epochs);
  restore_best();
  return false;
}

/// Measures what was learnt in a part of the first epoch, as far as it is worth that; the
/// epoch's seconds are those that all of it would take.
bool training_loop::assess_part() {
  constexpr std::int64_t least_part = 10, least_steps = 32;
  const auto batches = source_.batches_per_epoch();
  const auto part = (batches + least_part - 1) / least_part;
  // A machine that stood still may have cut one whose rates follow the clock.
  const auto least = pace_ ? std::min(least_steps, part) : part;
  if (!team_->alone() || next_batch_ < least)
    return false;
  const double share = static_cast<double>(next_batch_) / static_cast<double>(batches);
  train_loss_ =
      total_loss_.item<double>() / (share * static_cast<double>(data_.train.size(0)));
  if (!step_->settle() || !std::isfinite(train_loss_))
    return false;
  exchange_average();
  step_->show();
  if (!assess_epoch(number_, epoch_start_))
    return false;
  keep_if_best();
  exchange_average();
  static_cast<void>(progress_.report(result_.curve.back()));
  return true;
}

// The reserve is for validation: a forward pass takes about a third of a step.
training_pace::limits training_loop::limits_of_pace() const {
  const auto batches = static_cast<std::uint64_t>(source_.batches_per_epoch());
  constexpr double spare = 0.03; // For what comes after, and for a clock that runs on.
  auto end = task_.deadline;
  if (end != steady_clock::time_point::max())
    end -=
        std::chrono::duration_cast<steady_clock::duration>((end - epoch_start_) * spare);
  return {.steps = batches * task_.epochs,
          .begin = epoch_start_,
          .end = end,
          .reserve_steps = validation_steps()};
}

double training_loop::validation_steps() const {
  return static_cast<double>(source_.batches_per_epoch())
         * static_cast<double>(data_.validation.size(0))
         / (3 * static_cast<double>(data_.train.size(0)));
}

std::uint64_t training_loop::steps_before() const {
  return static_cast<std::uint64_t>(source_.batches_per_epoch()) * (number_ - 1)
         + static_cast<std::uint64_t>(next_batch_);
}

bool training_loop::complete() const {
  return pace_ && pace_->by_clock() && pace_->over(steps_before());
}

expected<void> training_loop::follow(const bytes& pace) {
  if (pace.empty() || !pace_)
    return {};
  return pace_->follow(pace);
}

/// Says in the result how far one came whose rates followed the clock.
void training_loop::say_pace() {
  if (!pace_ || !pace_->by_clock())
    return;
  result_.updates = pace_->log();
  result_.reason = fmt::format("limits.evaluation_time had room for {:.1f} of {} epochs: "
                               "the rates followed the clock",
                               static_cast<double>(steps_before())
                                   / static_cast<double>(source_.batches_per_epoch()),
                               task_.epochs);
}

/// Returns when the first epoch must end for its part to be measured in time: a forward
/// pass takes about a third of a step.
steady_clock::time_point training_loop::latest_batch() const {
  if (task_.deadline == steady_clock::time_point::max())
    return task_.deadline;
  // One whose rates follow the clock ends by itself, a moment late if the machine was busy.
  if (pace_)
    return task_.deadline
           + std::max<steady_clock::duration>(std::chrono::milliseconds(500),
                                              (task_.deadline - begun_) / 20);
  if (!result_.curve.empty() || next_batch_ == 0)
    return task_.deadline;
  const double steps = validation_steps();
  const std::chrono::duration<double> each =
      (steady_clock::now() - epoch_start_) / static_cast<double>(next_batch_);
  return task_.deadline
         - std::chrono::duration_cast<steady_clock::duration>(each * steps);
}

bool training_loop::train_epoch(std::uint32_t number) {
  net_.train();
  source_.start(number);
  if (next_batch_ == 0)
    total_loss_ = at::zeros({}, data_.features.options().dtype(at::kDouble));
  const auto batches = source_.batches_per_epoch();
  const auto horizon = task_.horizon != 0 ? task_.horizon : task_.epochs;
  const auto all_steps = static_cast<double>(batches) * horizon;
  for (std::int64_t behind = 0; behind < next_batch_; ++behind)
    static_cast<void>(source_.next());
  while (next_batch_ < batches) {
    if (!progress_.wanted())
      return leave();
    if (team_->out_of_time(latest_batch()))
      return cut(fmt::format("in epoch {}", number));
    const auto step = steps_before();
    if (pace_)
      pace_->look(step, steady_clock::now());
    if (complete())
      break;
    const auto done =
        pace_ ? pace_->progress(step)
              : std::min(static_cast<double>(step), all_steps - 1) / all_steps;
    train_batch(source_.next(), learning_rate_at(task_.recipe, done));
    ++next_batch_;
    keep_position();
  }
  const auto unsaid = step_->settle();
  if (!unsaid)
    return cut(fmt::format("in epoch {}", number));
  if (unsaid->defined())
    total_loss_.add_(*unsaid);
  if (!pace_)
    result_.updates = position_->updates();
  const double share = static_cast<double>(next_batch_) / static_cast<double>(batches);
  train_loss_ =
      total_loss_.item<double>() / (share * static_cast<double>(data_.train.size(0)));
  if (!std::isfinite(train_loss_))
    return end(outcome::diverged,
               fmt::format("train.loss became no finite number in epoch {}", number));
  return true;
}

void training_loop::keep_position() {
  const auto now = steady_clock::now();
  const bool begins = number_ == task_.first_epoch && next_batch_ == 0;
  if (task_.files == nullptr || begins || now - kept_ < task_.keep_every
      || !position_->is_whole() || !team_->is_first())
    return;
  kept_ = now;
  task_.files->keep({.position = where_it_stands(), .exchanges = team_->exchanges()});
}

bool training_loop::leave() {
  keep_at_leave();
  return end(outcome::dropped, fmt::format("stopped in epoch {}", number_));
}

// Others may go on without it, which then matters to nobody; or leave the moment after.
void training_loop::keep_at_leave() {
  if (task_.files == nullptr || !progress_.goes_on_later())
    return;
  auto last = position_->leave();
  if (!team_->is_first())
    return;
  if (!last && position_->is_whole())
    last = where_it_stands();
  if (!last)
    return;
  std::fprintf(stderr, "clade node: a training keeps its position in epoch %u of %u\n",
               last->epoch, task_.epochs);
  task_.files->keep({.position = std::move(*last), .exchanges = team_->exchanges()});
}

void training_loop::train_batch(const batch& b, double learning_rate) {
  total_loss_.add_(step_->step(b, learning_rate), b.features.size(0));
  if (average_ && !steps_keep_average_)
    average_->add(position_->count());
}

bool training_loop::assess_epoch(std::uint32_t number, steady_clock::time_point start) {
  net_.eval();
  const auto predict = [this](const at::Tensor& x) { return net_.forward(x); };
  auto metrics =
      assess(predict, data_, data_.validation, "validation.", task_.asked.validation);
  if (!task_.asked.train.empty()) {
    const auto train = assess(predict, data_, data_.train, "train.", task_.asked.train);
    for (const auto& name : task_.asked.train)
      metrics.push_back({"train." + name, *find(train, "train." + name)});
  }
  metrics.push_back({"train.loss", train_loss_});
  std::ranges::sort(metrics, {}, &metric::name);
  if (const auto* bad = first_not_finite(metrics))
    return end(outcome::diverged,
               fmt::format("{} became no finite number in epoch {}", bad->name, number));
  const double share =
      static_cast<double>(next_batch_) / static_cast<double>(source_.batches_per_epoch());
  result_.curve.push_back({number, std::move(metrics), seconds_since(start) / share});
  return true;
}

void training_loop::keep_if_best() {
  evaluation so_far;
  so_far.metrics = result_.curve.back().metrics;
  const auto f = fitness_of(so_far, task_.goal);
  const bool better =
      !best_state_ || f.primary > best_fitness_.primary
      || (f.primary == best_fitness_.primary && f.secondary > best_fitness_.secondary);
  if (!better)
    return;
  best_fitness_ = f;
  result_.best = so_far.metrics;
  keep_state();
}

void training_loop::keep_state() {
  const at::NoGradGuard no_grad;
  const auto state = position_->state();
  if (!best_state_) {
    best_state_.emplace();
    for (const auto& s : state)
      best_state_->push_back(s.detach().clone());
    return;
  }
  for (std::size_t i = 0; i < state.size(); ++i)
    (*best_state_)[i].copy_(state[i]);
}

void training_loop::hear_loss() {
  const double loss = *find(result_.curve.back().metrics, "validation.loss");
  const bool lower = loss < lowest_loss_;
  lowest_loss_ = lower ? loss : lowest_loss_;
  epochs_since_lowest_ = lower ? 0 : epochs_since_lowest_ + 1;
}

bool training_loop::out_of_patience() const {
  return task_.patience > 0 && epochs_since_lowest_ >= task_.patience;
}

training_position training_loop::position() {
  auto p = course();
  p.weights = position_->whole(position_->state());
  p.moments = position_->moments();
  if (!keyed_)
    p.generators = net_.random_states();
  if (average_)
    p.average = position_->whole(average_->values());
  for (auto& a : p.average)
    a.name.clear();
  return p;
}

training_position training_loop::course() const {
  return {.key = task_.key.id,
          .epochs = number_ - 1,
          .weights = {},
          .best = result_.best,
          .lowest_loss = lowest_loss_,
          .since_lowest = epochs_since_lowest_,
          .optimiser = to_text(task_.recipe.optimiser),
          .steps = position_->count(),
          .moments = {},
          .average = {},
          .generators = {}};
}

bool training_loop::end(outcome o, std::string reason) {
  result_.outcome = o;
  result_.reason = std::move(reason);
  return false;
}

} // namespace

expected<training_result> train(network_module& net, const device_data& data,
                                const training_task& task, progress& p,
                                const std::optional<resumption>& from) {
  training_loop loop(net, data, task, p);
  if (auto fits = loop.follow(task.pace); !fits)
    return tl::unexpected(fits.error());
  if (from)
    if (auto there = loop.go_on(*from); !there)
      return tl::unexpected(there.error());
  return loop.run();
}

} // namespace clade
