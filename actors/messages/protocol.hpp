#pragma once

#include "actors/messages/local_messages.hpp"
#include "actors/messages/wire_messages.hpp"

// The messages that each actor may be sent, and the answers that it gives.

namespace clade {

/// The archive, detached: the only writer of the store. Answers when the disk has it.
using archive_actor =
    caf::typed_actor<caf::replies_to<append>::with<appended>,
                     caf::reacts_to<keep_picture>,
                     caf::replies_to<write_kept>::with<kept_written>,
                     caf::replies_to<fetch_evaluation>::with<fetched_evaluation>,
                     caf::replies_to<fetch_weights>::with<fetched_weights>,
                     caf::replies_to<fetch_lineages>::with<fetched_lineages>>;

/// A generator: makes what it is ordered to; pure, so any of them may make anything.
using generator_actor = caf::typed_actor<caf::replies_to<breeding_orders>::with<brood>>;

/// A node's connection, one after the other, each in an actor system of its own. The
/// dispatcher sends assignments; the node what it has for the dispatcher; to itself it
/// sends ticks.
using link_actor =
    caf::typed_actor<caf::reacts_to<assignments>, caf::reacts_to<team_formed>,
                     caf::reacts_to<leave>, caf::reacts_to<node_ready>,
                     caf::reacts_to<results>, caf::reacts_to<epoch_passed>,
                     caf::reacts_to<team_passed>, caf::reacts_to<leaving>,
                     caf::replies_to<fetch_chunk>::with<chunk>, caf::reacts_to<taken>,
                     caf::reacts_to<tick>>;

/// A node: one process, one device slot, whatever becomes of its connections. They send
/// it what the dispatcher says; its trainer and evaluator send results, the former epochs
/// too.
using node_actor = caf::typed_actor<
    caf::replies_to<link_up>::with<node_hello>, caf::reacts_to<node_welcome, link_actor>,
    caf::reacts_to<assignments>, caf::reacts_to<team_formed>, caf::reacts_to<leave>,
    caf::reacts_to<taken>, caf::reacts_to<may_leave>, caf::reacts_to<node_ready>,
    caf::reacts_to<results>, caf::reacts_to<epoch_passed>,
    caf::replies_to<fetch_chunk>::with<chunk>, caf::reacts_to<drain>,
    caf::reacts_to<drain_over>, caf::reacts_to<tick>>;

/// The trainer of a node, detached: one candidate after another.
using trainer_actor =
    caf::typed_actor<caf::reacts_to<node_welcome>, caf::reacts_to<assignments>>;

/// The evaluator of a node, detached: trained candidates on held-out data.
using evaluator_actor = caf::typed_actor<caf::reacts_to<assignments>>;

/// Reads and writes files for the dispatcher, detached: the run's data files, no others,
/// for nodes that lack them, and weights and checkpoints piece by piece.
using data_source_actor =
    caf::typed_actor<caf::replies_to<fetch_chunk>::with<chunk>,
                     caf::replies_to<read_piece>::with<chunk>,
                     caf::replies_to<write_piece>::with<piece_written>>;

/// The selector: the fold of the run and what it decides.
using selector_actor =
    caf::typed_actor<caf::reacts_to<evaluations>,              // from the dispatcher
                     caf::reacts_to<observation>,              // from the dispatcher
                     caf::reacts_to<run_failure>,              // from the dispatcher
                     caf::reacts_to<withdrawn>,                // from the dispatcher
                     caf::reacts_to<stop_run>,                 // from who watches the run
                     caf::reacts_to<end_search>,               // the same
                     caf::replies_to<told>::with<std::string>, // the same
                     caf::replies_to<progress_query>::with<run_progress>>;

/// The dispatcher: holds the leases. Links call its first nine; the door
/// (actors/transport/link/door.hpp) gives them its address.
using dispatcher_actor = caf::typed_actor<
    caf::replies_to<node_hello, link_actor>::with<node_welcome>,
    caf::reacts_to<node_ready>, caf::replies_to<results>::with<taken>,
    caf::reacts_to<epoch_passed>, caf::reacts_to<team_passed>,
    caf::replies_to<heartbeat>::with<heartbeat_answer>,
    caf::replies_to<leaving>::with<may_leave>, caf::replies_to<fetch_chunk>::with<chunk>,
    caf::replies_to<fetch_piece>::with<chunk>, caf::replies_to<piece>::with<piece_taken>,
    caf::reacts_to<tick>, caf::reacts_to<serve_nodes>,
    caf::reacts_to<selector_actor>, // whom to tell, once what was in flight is submitted
    caf::reacts_to<submission>, caf::replies_to<withdraw>::with<withdrawn>,
    caf::reacts_to<hold_back>, caf::reacts_to<drop_candidate>,
    caf::replies_to<test_request>::with<test_answer>,
    caf::replies_to<slots_query>::with<slots_view>, caf::reacts_to<leave>>;

/// Names every message that crosses processes; the test of the protocol pins the list.
void add_message_types(caf::actor_system_config& config);

} // namespace clade
