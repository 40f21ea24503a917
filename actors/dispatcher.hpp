#pragma once

#include "actors/protocol.hpp"
#include "engine/dispatch/schedule.hpp"

#include <deque>
#include <map>
#include <string>

namespace clade {

struct dispatcher_params {
  schedule_params schedule;
  std::string build;      ///< Nodes of another build are refused.
  std::string experiment; ///< Resolved TOML, for the nodes.
  std::string module;     ///< The LibTorch module's path, for the nodes.
};

/// Hands candidates to nodes and their results to the selector. What may be handed out,
/// to whom, and which result counts, `schedule` decides; this keeps the handles.
struct dispatcher_state {
  struct node_entry {
    node_actor handle;
    slot_view view;
    bool examining = false;
  };
  struct pending_examination {
    examine request;
    caf::typed_response_promise<examined> answer;
    int tries = 0;
  };

  dispatcher_actor::stateful_pointer<dispatcher_state> self = nullptr;
  dispatcher_params params;
  clade::schedule schedule;
  selector_actor selector;
  std::map<node_id, node_entry> nodes;
  std::map<candidate_id, candidate> open; ///< Submitted, no result yet.
  std::deque<pending_examination> examinations;
  double keep_weights_above = 0;
  node_id last_node = 0;
  bool leaving = false;

  node_welcome welcome(const node_hello& hello, const node_actor& node);
  void ready(const node_ready& message);
  void take(const submission& message);
  void take(const results& message);
  void show(const epoch_passed& message);
  void lose(node_id id, const std::string& reason);
  void lose_silent();
  withdrawn take_back();
  void serve();
  void examine_next();
  void dismiss(const std::string& reason);
};

dispatcher_actor::behavior_type
dispatcher_behavior(dispatcher_actor::stateful_pointer<dispatcher_state> self,
                    dispatcher_params params);

} // namespace clade
