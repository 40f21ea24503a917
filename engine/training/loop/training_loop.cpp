#include "engine/training/loop/training_loop.hpp"

#include "engine/collectives/team.hpp"
#include "engine/training/loop/assessment.hpp"
#include "engine/training/loop/running_loop.hpp"

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

using steady_clock = std::chrono::steady_clock;

namespace {

double seconds_since(steady_clock::time_point start) {
  return std::chrono::duration<double>(steady_clock::now() - start).count();
}

const metric* first_not_finite(const std::vector<metric>& metrics) {
  const auto it = std::ranges::find_if(
      metrics, [](const auto& m) { return !std::isfinite(m.value); });
  return it == metrics.end() ? nullptr : &*it;
}

} // namespace

training_loop::training_loop(network_module& net, const device_data& data,
                             const training_task& task, progress& p)
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
                         .quantiles = data.quantiles,
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

void training_loop::restore_best() {
  const at::NoGradGuard no_grad;
  const auto state = position_->state();
  for (std::size_t i = 0; best_state_ && i < state.size(); ++i)
    state[i].detach().copy_((*best_state_)[i]);
  best_state_.reset();
  step_->finish();
}

double training_loop::share_of_epoch() const {
  return static_cast<double>(next_batch_)
         / static_cast<double>(source_.batches_per_epoch());
}

double training_loop::mean_loss() const {
  return total_loss_.item<double>()
         / (share_of_epoch() * static_cast<double>(data_.train.size(0)));
}

std::uint64_t training_loop::steps_before() const {
  return static_cast<std::uint64_t>(source_.batches_per_epoch()) * (number_ - 1)
         + static_cast<std::uint64_t>(next_batch_);
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
  train_loss_ = mean_loss();
  if (!std::isfinite(train_loss_))
    return end(outcome::diverged,
               fmt::format("train.loss became no finite number in epoch {}", number));
  return true;
}

bool training_loop::leave() {
  keep_at_leave();
  return end(outcome::dropped, fmt::format("stopped in epoch {}", number_));
}

void training_loop::train_batch(const batch& b, double learning_rate) {
  total_loss_.add_(step_->step(b, learning_rate), b.features.size(0));
  if (average_ && !steps_keep_average_)
    average_->add(position_->count());
}

bool training_loop::assess_epoch(std::uint32_t number, steady_clock::time_point start) {
  const double trained = seconds_since(start);
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
  const double assessed = seconds_since(start) - trained;
  result_.curve.push_back(
      {number, std::move(metrics), trained / share_of_epoch() + assessed});
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

bool training_loop::end(outcome o, std::string reason) {
  result_.outcome = o;
  result_.reason = std::move(reason);
  return false;
}

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
