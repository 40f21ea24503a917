#pragma once

#include "actors/evaluator.hpp"
#include "actors/node_work.hpp"
#include "actors/protocol.hpp"
#include "actors/trainer.hpp"

#include <memory>
#include <string>

namespace clade {

struct node_params {
  dispatcher_actor dispatcher;
  std::string build;
  std::string slot;               ///< "cpu:0"
  std::string device;             ///< "cpu", "cuda:0"
  std::uint64_t memory_bytes = 0; ///< That a candidate may take there; 0: not known.
  std::string label;              ///< The device, for people: "NVIDIA H200 GPU-8932f937".
};

/// Why a node process ends; its exit status.
enum class node_end : int {
  dismissed = 0,  ///< The run is over.
  refused = 2,    ///< The dispatcher would not have it.
  connection = 3, ///< The head is gone, or gave this node up for its silence.
  stuck = 4, ///< An evaluation did not end in its time; a new process must take over.
};

/// One device slot: introduces itself to the dispatcher, keeps a trainer and an evaluator
/// for life, sends heartbeats while they work, and ends an evaluation that does not end
/// by itself.
struct node_state {
  node_actor::stateful_pointer<node_state> self = nullptr;
  node_params params;
  std::shared_ptr<node_work> work = std::make_shared<node_work>();
  trainer_actor trainer;
  evaluator_actor evaluator;
  std::uint64_t id = 0;
  caf::actor ended;
  bool ending = false;

  void introduce();
  void look_at_clock();
  void end(node_end why, std::string words);
};

/// `ended` gets the end as a pair (node_end as int, words) before the actor quits.
node_actor::behavior_type node_behavior(node_actor::stateful_pointer<node_state> self,
                                        node_params params, caf::actor ended);

} // namespace clade
