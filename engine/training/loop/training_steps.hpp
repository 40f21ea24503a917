#pragma once

#include "engine/training/asked/recipe.hpp"
#include "engine/training/network/device_data.hpp"
#include "engine/training/network/network_module.hpp"
#include "engine/training/network/optimiser.hpp"
#include "engine/training/network/weight_average.hpp"
#include "engine/training/weights/loop_position.hpp"
#include "engine/training/weights/position_files.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace clade {

/// The rules by which steps are made, the same for all steps of a training.
struct step_rules {
  clade::recipe recipe;
  loss_kind loss = loss_kind::cross_entropy;
  at::Tensor class_weights{}; ///< The weights of classes, as in device_data.
  at::Tensor quantiles{};     ///< The quantiles of outputs, as in device_data.
  float_format precision = float_format::float32;
  training_key key{};

  /// Returns the stream that the layers of a replica draw from in a step: keyed by these,
  /// so that any replica can do the share of another.
  [[nodiscard]] random_stream stream_of_share(std::size_t share,
                                              std::uint64_t step) const;
};

/// Makes the steps of one training, on one device or on several. Whatever several make
/// together, all of them call, in the same order.
class training_step {
public:
  virtual ~training_step() = default;

  /// One step down the gradients of the batch's mean loss; returns that loss, detached.
  /// Steps that were put off are made with it: then the loss is that of all that were made,
  /// over their examples, divided by the batch's.
  [[nodiscard]] virtual at::Tensor step(const batch& b, double learning_rate) = 0;

  /// `step_position::state` has all that was learnt only after this; called before it is
  /// validated. Returns what the epoch's losses sum up to, over its examples, where steps
  /// could not say; undefined where they did. None: time was up for one of those who make
  /// the steps together.
  [[nodiscard]] virtual std::optional<at::Tensor> settle() { return at::Tensor(); }

  /// From now until the next step the network computes by what the state has.
  virtual void show() {}
  /// After the last step: the network has, whole, what the state has.
  virtual void finish() {}

  /// Whether from now on the steps take care of this average themselves; it is up to date
  /// after `settle`.
  [[nodiscard]] virtual bool keeps(weight_average&) { return false; }
};

/// The position of a training between two steps, as one of those who make them has it.
class step_position {
public:
  virtual ~step_position() = default;

  /// Returns the network's parameters and buffers that this one has: all of them, in the
  /// network's order, if they are not divided over those who make the steps together.
  [[nodiscard]] virtual std::vector<at::Tensor> state() const = 0;
  /// Values that were made like those of `state`, whole, with the network's names.
  [[nodiscard]] virtual std::vector<weight_tensor>
  whole(std::span<const at::Tensor> values) = 0;
  /// How many steps there were.
  [[nodiscard]] virtual std::uint64_t count() const = 0;
  /// How many were asked for and are put off: `state` is that before them.
  [[nodiscard]] virtual std::uint64_t pending() const { return 0; }
  /// Returns the moments that the optimiser keeps (optimiser.hpp), whole.
  [[nodiscard]] virtual std::vector<weight_tensor> moments() = 0;

  /// The network was given other weights.
  virtual void take_over_weights() {}
  /// Goes on as after so many steps, which left these moments. Moments of other shapes
  /// change nothing: the optimiser begins anew.
  virtual void go_on_after(std::uint64_t steps,
                           std::span<const weight_tensor> moments) = 0;

  /// Returns the decisions of timing so far (parallel/updates_log.hpp); empty if it
  /// decides nothing.
  [[nodiscard]] virtual bytes updates() const { return {}; }
  virtual void take_over_updates(const bytes&) {}

  /// Whether the whole position is here at present, so that it can be kept in a file.
  [[nodiscard]] virtual bool is_whole() const { return true; }
  /// Whether it keeps itself in files, and begins at the newest of them.
  [[nodiscard]] virtual bool keeps_files() const { return false; }
  /// For one that is not whole, of a process that leaves: returns the last position that
  /// was, or keeps it in a file if it does that itself.
  [[nodiscard]] virtual std::optional<loop_position> leave() { return std::nullopt; }
};

/// The tensors that a training loop has for each tensor of `step_position::state`, if
/// that is divided.
struct loop_tensors {
  /// The lists of a member without parts are empty.
  std::optional<std::vector<at::Tensor>> best{}, average{};
};

/// The position at which a member of a team goes on: that of another, which it was behind;
/// or where the state is divided and the members are others than before, the last that
/// was kept.
struct position_of_others {
  bytes position; ///< The position, as that one's `handed_over::give` had it.
  /// The tensors, as `give_parts` had them, the parts being those of this member;
  /// `step_position` has its own parts already.
  std::optional<loop_tensors> parts{};
};

/// The verdict on a training after an epoch.
enum class verdict : std::uint8_t { goes_on, dropped, out_of_time };

/// A view of those who make the steps of a training together, as one of them has it. This
/// one is alone. If it is not, each call of these three interfaces may throw `team_broken`:
/// what it was called for is void, and the training goes on at `newest`.
class step_team {
public:
  virtual ~step_team() = default;

  [[nodiscard]] virtual bool alone() const { return true; }
  /// Whether its time is up, for all.
  [[nodiscard]] virtual bool out_of_time(std::chrono::steady_clock::time_point deadline) {
    return std::chrono::steady_clock::now() > deadline;
  }
  /// Returns the verdict of one of them, for all.
  [[nodiscard]] virtual verdict agree(const std::function<verdict()>& decide) {
    return decide();
  }
  /// Whether this is the first, which keeps the position.
  [[nodiscard]] virtual bool is_first() const { return true; }
  /// How much they have done, to compare positions by.
  [[nodiscard]] virtual std::uint64_t exchanges() const { return 0; }
  virtual void go_on_after_exchanges(std::uint64_t) {}
  /// Blocks until the team is formed, and returns where this member goes on; nothing: where
  /// it stands.
  [[nodiscard]] virtual std::optional<position_of_others> newest() {
    return std::nullopt;
  }
};

/// A training's steps, the position that they change, and those who make them.
struct training_parts {
  std::shared_ptr<training_step> step;
  std::shared_ptr<step_position> position;
  std::shared_ptr<step_team> team = std::make_shared<step_team>();
  /// Nothing is drawn that is not keyed by the step, so that the network's generators have
  /// no state that matters.
  bool keyed = true;
};

/// The position of a training whose network is whole here, with one optimiser for it.
class whole_position : public step_position {
public:
  whole_position(network_module& net, const step_rules& rules, bool scales_loss = false)
      : net_(net),
        rules_(rules),
        optimiser_(rules.recipe, net.parameters(), scales_loss) {}

  [[nodiscard]] std::vector<at::Tensor> state() const override;
  [[nodiscard]] std::vector<weight_tensor>
  whole(std::span<const at::Tensor> values) override;
  [[nodiscard]] std::uint64_t count() const override { return optimiser_.steps(); }
  [[nodiscard]] std::vector<weight_tensor> moments() override;
  void go_on_after(std::uint64_t steps, std::span<const weight_tensor> moments) override;

protected:
  network_module& net_;
  step_rules rules_;
  optimiser optimiser_;
};

/// Tensors of a network's state as a file has them, with its names.
[[nodiscard]] std::vector<weight_tensor> with_names(const network_module& net,
                                                    std::span<const at::Tensor> values);
[[nodiscard]] std::vector<weight_tensor> without_names(std::span<const at::Tensor> all);
/// Copies what a file had into tensors; false, and nothing, if shapes differ.
bool copy_back(std::span<const at::Tensor> to, std::span<const weight_tensor> from);

/// In the format of the forward pass; what comes out of the last layer is for losses.
[[nodiscard]] at::Tensor as_predictions(const at::Tensor& output);

/// The loss of what was predicted for `b`, as `loss_of_share`.
[[nodiscard]] at::Tensor loss_of_predictions(const at::Tensor& predictions,
                                             const batch& b, const batch& whole,
                                             const step_rules& rules);

/// Returns the loss that gradients are taken of: the mean loss of a batch, of which
/// `whole` is all and `b` all or a share. The losses of all shares add up to that of the
/// whole.
[[nodiscard]] at::Tensor loss_of_share(network_module& net, const batch& b,
                                       const batch& whole, const step_rules& rules);

/// The state that a member of a team hands to one that is behind it, and takes from one
/// that is ahead: the position of the training between two steps, whole.
struct handed_over {
  std::function<bytes()> give;
  /// The same without tensors, and those of the loop, for members that have parts of them.
  std::function<std::pair<bytes, loop_tensors>()> give_parts;
  /// The files in which members with parts keep positions on the disk, if anywhere, and
  /// how often.
  position_files* files = nullptr;
  std::chrono::milliseconds keep_every{0};
};

/// Makes the steps of a training for the loop that has the state.
using make_steps = std::function<training_parts(
    network_module& net, const step_rules& rules, handed_over state)>;

/// Makes those of one device, the network's.
[[nodiscard]] training_parts
one_device_steps(network_module& net, const step_rules& rules, const handed_over&);

} // namespace clade
