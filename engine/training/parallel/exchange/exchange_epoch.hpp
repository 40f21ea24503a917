#pragma once

#include "engine/training/parallel/exchange/message_session.hpp"
#include "engine/training/parallel/exchange/parameter_holder.hpp"
#include "engine/training/parallel/exchange/replay_plan.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

namespace clade {

/// Who does what of a training: its parts are dealt to members as shares are
/// (collectives.hpp). Part i is holder i and worker i, or, where they are `separate`, the
/// first parts are holders and the others workers.
struct exchange_parts {
  exchange_rules rules;
  bool separate = false;

  [[nodiscard]] std::size_t count() const {
    return rules.workers + (separate ? rules.holders : 0);
  }
  [[nodiscard]] std::size_t owner_of_holder(std::size_t holder,
                                            std::size_t members) const;
  [[nodiscard]] std::size_t owner_of_worker(std::size_t worker,
                                            std::size_t members) const;
};

/// The parts that an epoch begins with and is made by; they outlive it.
struct exchange_setup {
  network_module& net;
  const step_rules& rules;
  exchange_parts parts;
  tensor_list parameters, statistics; ///< The tensors of the network.
  std::vector<holder_layout> layouts; ///< The layout of each holder.
  std::vector<std::int64_t> offsets;  ///< The offsets, as for `add_up_shares`.
};

/// One epoch of holders of parameters and of workers that read them, compute gradients and
/// send them, as one member of a team does its part of it.
class exchange_epoch {
public:
  /// `states`: of each holder the tensors of its whole state (parameter_holder.hpp), after
  /// so many steps of its optimiser. `given`: the log of the epoch, if it is made again;
  /// it throws if that cannot be.
  exchange_epoch(const exchange_setup& setup, message_session& session,
                 std::span<const tensor_list> states, std::uint64_t steps_before,
                 std::optional<epoch_updates> given);

  /// The next step: computes its shares that this member has. Blocks until others are near
  /// enough. An epoch that is made again is done as far as that goes.
  void step(const batch& b, double learning_rate);

  /// Does the rest, together with all others. False: it was stopped.
  [[nodiscard]] bool finish();

  /// For after `finish`: the state of each holder, or of peers the sum of all as the first;
  /// the log; and the sum of the losses of all examples.
  [[nodiscard]] std::vector<at::Tensor>& states() { return states_; }
  [[nodiscard]] const epoch_updates& updates() const { return updates_; }
  [[nodiscard]] at::Tensor total_loss() const;
  /// How many steps each holder's optimiser made.
  [[nodiscard]] std::uint64_t versions() const { return rules_.updates_of(steps_); }

private:
  enum class kind : std::uint32_t { gradients, parameters, norms, state, done };

  /// Parameters and statistics of a holder, as a worker has them.
  struct copy {
    at::Tensor row;
    std::uint64_t version = 0;
  };
  struct pushed {
    std::uint64_t step = 0, version = 0;
    double rate = 0;
    at::Tensor row;
  };
  struct held {
    std::size_t number = 0;
    parameter_holder holder;
    std::uint64_t version = 0;
    std::vector<applied_gradient> log;
    std::vector<std::uint64_t> counts, replied; ///< The counts of each worker.
    /// The gradients of each worker that are not yet taken in.
    std::vector<std::deque<pushed>> queues;
    at::Tensor sum; ///< The sum of the gradients of a step that waits for norms.
    double rate = 0;
    std::size_t delivered = 0; ///< The number of the plan's deliveries that were made.
    bool sent = false;
  };
  struct working {
    std::size_t number = 0;
    std::size_t next = 0;               ///< The next step, or gradient of the plan.
    std::vector<std::uint64_t> replies; ///< The number of replies of each holder.
    std::vector<copy> copies;           ///< The copies of each holder, by a plan.
    std::vector<std::deque<copy>> inbox;
  };
  struct stored_batch {
    batch examples;
    double rate = 0;
  };

  // exchange_epoch.cpp: messages, and what workers do.
  [[nodiscard]] held* own_holder(std::size_t holder);
  [[nodiscard]] working* own_worker(std::size_t worker);
  void handle(const message& m);
  void take_parameters(const message& m);
  void take_losses(const message& m);
  bool advance(); ///< Whether it computed or left out anything.
  bool advance(working& w);
  bool advance_planned(working& w);
  [[nodiscard]] bool may_compute(const working& w);
  [[nodiscard]] std::uint64_t version_of(std::size_t holder);
  [[nodiscard]] const at::Tensor& values_for(const working& w, std::size_t holder);
  void compute(const working& w, std::uint64_t step);
  void clip(tensor_list& gradients) const;
  void push(const working& w, std::uint64_t step, const tensor_list& gradients);
  [[nodiscard]] std::uint64_t first_open_step() const;
  void send_losses();

  // exchange_holders.cpp: what holders do.
  void take_in(held& h, std::size_t worker, pushed p);
  void take_planned(held& h);
  void take_step(held& h);
  [[nodiscard]] at::Tensor gradients_in(const held& h) const;
  [[nodiscard]] std::vector<held_part> parts_of_holder(std::size_t holder) const;
  [[nodiscard]] at::Tensor scale_of_step(std::uint64_t step) const;
  void finish_steps();
  void apply(held& h, const at::Tensor& row, double rate, bool takes_statistics);
  void deliver_planned(held& h);
  void release(held& h);
  void broadcast_parameters(held& h);
  void send_parameters(const held& h, std::size_t worker, std::size_t member);
  void send_states();
  void take_state(std::size_t holder, const at::Tensor& state, const bytes& log);

  const exchange_setup& setup_;
  exchange_rules rules_;
  message_session& session_;
  std::uint64_t steps_before_;
  std::optional<replay_plan> plan_;
  std::uint64_t steps_ = 0; ///< That were begun.
  bool sent_done_ = false;
  std::vector<held> holders_;
  std::vector<working> workers_;
  std::vector<copy> copies_; ///< The copies of each holder, if there is no plan.
  std::map<std::uint64_t, stored_batch> batches_;
  std::vector<std::int64_t> sizes_;        ///< The size of each step's batch.
  std::map<std::size_t, message> norms_;   ///< The norms of each holder's present step.
  std::vector<std::vector<float>> losses_; ///< The losses of each worker, by step.
  std::vector<at::Tensor> states_;
  epoch_updates updates_;
  std::size_t states_missing_ = 0, done_missing_ = 0;
  std::size_t added_ = 0; ///< The number of the copies of peers that were added.
};

} // namespace clade
