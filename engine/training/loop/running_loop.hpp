#pragma once

#include "engine/training/loop/training_loop.hpp"
#include "engine/training/weights/loop_position.hpp"

#include <ATen/core/Tensor.h>

#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace clade {

/// One training under way, for `train` alone. Its epochs are in training_loop.cpp, the
/// position at which it can go on in training_place.cpp, and the time that it may take in
/// training_time.cpp.
class training_loop {
public:
  training_loop(network_module& net, const device_data& data, const training_task& task,
                progress& p);

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
  bool assess_epoch(std::uint32_t number, std::chrono::steady_clock::time_point start);
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
  /// The part of the present epoch that is done, and the mean loss over its examples.
  [[nodiscard]] double share_of_epoch() const;
  [[nodiscard]] double mean_loss() const;
  [[nodiscard]] bool complete() const;
  [[nodiscard]] double validation_steps() const;
  std::chrono::steady_clock::time_point latest_batch() const;
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
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now(),
                                        epoch_start_ = begun_;
  bool assessed_ = false; ///< That epoch was, and its verdict is due.
  double train_loss_ = 0;
  std::chrono::steady_clock::time_point kept_ =
      std::chrono::steady_clock::now(); ///< The position.
  bool leaves_ = false; ///< Its process was told to leave, and it is kept.
  fitness best_fitness_;
  std::optional<std::vector<at::Tensor>> best_state_;
  double lowest_loss_ = std::numeric_limits<double>::infinity();
  std::uint32_t epochs_since_lowest_ = 0;
  training_result result_;
};

} // namespace clade
