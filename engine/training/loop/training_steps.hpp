#pragma once

#include "engine/training/asked/recipe.hpp"
#include "engine/training/network/device_data.hpp"
#include "engine/training/network/network_module.hpp"
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
  float_format precision = float_format::float32;
  training_key key{};

  /// Returns the stream that the layers of a replica draw from in a step: keyed by these,
  /// so that any replica can do the share of another.
  [[nodiscard]] random_stream stream_of_share(std::size_t share,
                                              std::uint64_t step) const;
};

/// The verdict on a training after an epoch.
enum class verdict : std::uint8_t { goes_on, dropped, out_of_time };

/// Makes the steps of one training, on one device or on several. Whatever several make
/// together, all of them call, in the same order.
class training_steps {
public:
  explicit training_steps(network_module& net) : net_(net) {}
  virtual ~training_steps() = default;

  /// One step down the gradients of the batch's mean loss; returns that loss, detached.
  /// Steps that were put off are made with it: then the loss is that of all that were made,
  /// over their examples, divided by the batch's.
  [[nodiscard]] virtual at::Tensor step(const batch& b, double learning_rate) = 0;

  /// `state` has all that was learnt only after this; called before it is validated.
  /// Returns what the epoch's losses sum up to, over its examples, where steps could not
  /// say; undefined where they did. None: time was up for one of those who make the steps
  /// together.
  [[nodiscard]] virtual std::optional<at::Tensor> settle() { return at::Tensor(); }

  /// Returns the network's parameters and buffers that this one has: all of them, in the
  /// network's order, if they are not divided over those who make the steps together.
  [[nodiscard]] virtual std::vector<at::Tensor> state() const;
  /// Values that were made like those of `state`, whole, with the network's names.
  [[nodiscard]] virtual std::vector<weight_tensor>
  whole(std::span<const at::Tensor> values);
  /// From now until the next step the network computes by what `state` has.
  virtual void show() {}
  /// After the last step: the network has, whole, what `state` has.
  virtual void finish() {}

  /// Whether its time is up, for all who make the steps together.
  [[nodiscard]] virtual bool out_of_time(std::chrono::steady_clock::time_point deadline) {
    return std::chrono::steady_clock::now() > deadline;
  }
  /// Whether this is the first of those who make the steps together, and has the whole
  /// position, which it keeps; and how much they have done, to compare positions by.
  [[nodiscard]] virtual bool is_first() const { return true; }
  [[nodiscard]] virtual std::uint64_t exchanges() const { return 0; }
  virtual void go_on_after_exchanges(std::uint64_t) {}
  /// Whether it keeps positions in files by itself, and begins at the newest of them.
  [[nodiscard]] virtual bool keeps_files() const { return false; }
  /// For who keeps files by itself, when it leaves.
  virtual void keep_at_leave() {}
  /// Returns the last position that this one had, if it has no whole one at present.
  [[nodiscard]] virtual std::optional<loop_position> last_position() const {
    return std::nullopt;
  }
  /// Returns the verdict of one of those who make the steps together, for all of them.
  [[nodiscard]] virtual verdict agree(const std::function<verdict()>& decide) {
    return decide();
  }

  /// Whether from now on the steps take care of this average themselves; it is up to date
  /// after `settle`.
  [[nodiscard]] virtual bool keeps(weight_average&) { return false; }

  /// Returns the decisions of timing so far (parallel/updates_log.hpp); empty if it
  /// decides nothing.
  [[nodiscard]] virtual bytes updates() const { return {}; }
  virtual void take_over_updates(const bytes&) {}

  /// The network was given other weights.
  virtual void take_over_weights() {}

  /// How many steps there were.
  [[nodiscard]] virtual std::uint64_t count() const = 0;
  /// How many were asked for and are put off: `state` is that before them.
  [[nodiscard]] virtual std::uint64_t pending() const { return 0; }

  /// Returns the moments that the optimiser keeps (optimiser.hpp), whole.
  [[nodiscard]] virtual std::vector<weight_tensor> moments();
  /// Goes on as after so many steps, which left these moments. Moments of other shapes
  /// change nothing: the optimiser begins anew.
  virtual void go_on_after(std::uint64_t steps, std::span<const weight_tensor> moments);

  /// Returns the states of the network (network_module.hpp).
  [[nodiscard]] virtual std::vector<bytes> random_states() const = 0;
  virtual void set_random_states(std::span<const bytes> states) = 0;

protected:
  /// Returns the tensors of the optimiser, whose own they are.
  [[nodiscard]] virtual std::vector<at::Tensor> moment_tensors() const { return {}; }
  virtual void begin_after(std::uint64_t) {}

  network_module& net_;
};

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

/// The tensors that a training loop has for each tensor of `training_steps::state`, if
/// that is divided.
struct loop_tensors {
  /// The lists of a member without parts are empty.
  std::optional<std::vector<at::Tensor>> best{}, average{};
};

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

/// Thrown by the functions of a member of a team that is behind: what they were called for
/// is done, and the training goes on at another's position. If the state is divided, it
/// is thrown by all members when they are others than before: they go back.
struct position_of_others {
  bytes position; ///< The position, as that one's `give` had it.
  /// The tensors, as `give_parts` had them, the parts being those of this member;
  /// `training_steps` has its own parts already.
  std::optional<loop_tensors> parts{};
};

/// Makes the steps of a training for the loop that has the state.
using make_steps = std::function<std::unique_ptr<training_steps>(
    network_module& net, const step_rules& rules, handed_over state)>;

/// Makes those of one device, the network's.
[[nodiscard]] std::unique_ptr<training_steps>
one_device_steps(network_module& net, const step_rules& rules, const handed_over&);

} // namespace clade
