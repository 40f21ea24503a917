// The position of a training, as it is kept, handed to others and taken over.
#include "engine/training/loop/running_loop.hpp"
#include "engine/training/weights/tensor_copy.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace clade {

using steady_clock = std::chrono::steady_clock;

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

// A process that leaves has time to finish what it is at. Whoever told it to leave may not
// wait for so long: the position is kept at once.
void training_loop::keep_position() {
  if (progress_.goes_on_later() && !std::exchange(leaves_, true))
    return keep_at_leave();
  const auto now = steady_clock::now();
  const bool begins = number_ == task_.first_epoch && next_batch_ == 0;
  if (task_.files == nullptr || begins || now - kept_ < task_.keep_every
      || !position_->is_whole() || !team_->is_first())
    return;
  kept_ = now;
  task_.files->keep({.position = where_it_stands(), .exchanges = team_->exchanges()});
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

} // namespace clade
