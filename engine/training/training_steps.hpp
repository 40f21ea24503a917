#pragma once

#include "engine/training/device_data.hpp"
#include "engine/training/network_module.hpp"
#include "engine/training/recipe.hpp"

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace clade {

/// What steps are made by, the same for all steps of a training.
struct step_rules {
  clade::recipe recipe;
  loss_kind loss = loss_kind::cross_entropy;
  at::Tensor class_weights{}; ///< As in device_data.
  float_format precision = float_format::float32;
  training_key key{};
};

/// Makes the steps of one training, on one device or on several.
class training_steps {
public:
  virtual ~training_steps() = default;

  /// One step down the gradients of the batch's mean loss; returns that loss, detached.
  [[nodiscard]] virtual at::Tensor step(const batch& b, double learning_rate) = 0;

  /// The network has all that was learnt only after this; called before it is validated.
  virtual void settle() {}

  /// The network was given other weights.
  virtual void take_over_weights() {}

  /// How many steps there were.
  [[nodiscard]] virtual std::uint64_t count() const = 0;

  /// As of the optimiser (optimiser.hpp).
  [[nodiscard]] virtual std::vector<at::Tensor> moments() const = 0;
  virtual void go_on_after(std::uint64_t steps) = 0;

  /// As of the network (network_module.hpp).
  [[nodiscard]] virtual std::vector<bytes> random_states() const = 0;
  virtual void set_random_states(std::span<const bytes> states) = 0;
};

/// What gradients are taken of: the mean loss of a batch, of which `whole` is all and `b`
/// all or a share. The losses of all shares add up to that of the whole.
[[nodiscard]] at::Tensor loss_of_share(network_module& net, const batch& b,
                                       const batch& whole, const step_rules& rules);

/// On the network's device.
[[nodiscard]] std::unique_ptr<training_steps>
make_training_steps(network_module& net, const step_rules& rules);

/// Other networks that share each batch with the first.
struct replica_team {
  /// The same network, whose layers draw from streams of their own.
  std::vector<std::unique_ptr<network_module>> others;
  /// Called in each thread that works for them, before it does.
  std::function<void()> prepare_thread;
};

/// On as many threads as there are replicas (distribution.hpp).
[[nodiscard]] std::unique_ptr<training_steps>
make_training_steps(network_module& net, const step_rules& rules, replica_team& team,
                    const distribution_params& how);

} // namespace clade
