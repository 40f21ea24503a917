#pragma once

#include "actors/progress.hpp"
#include "engine/evolution/record.hpp"
#include "engine/evolution/run_state.hpp"
#include "engine/evolution/strategy.hpp"
#include "engine/fitness/fitness_function.hpp"
#include "engine/fitness/lineage.hpp"
#include "engine/store/store.hpp"

#include <caf/all.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace clade {

/// Raised with every change of a message between processes. A node of another version is
/// refused in a sentence that names both.
inline constexpr std::uint32_t protocol_version = 7;

// -- between head and node: serialised, over TLS
// ------------------------------------------------

/// A candidate that a node has, and the lease it has it for.
struct held_lease {
  std::uint64_t id = 0;
  std::uint64_t lease = 0;
};

/// A node introduces itself, when it starts and whenever it comes back.
struct node_hello {
  std::string slot;               ///< "cpu:0", or "box/cuda:1" of another machine.
  std::string label;              ///< What the device is, for people.
  std::uint64_t worker = 0;       ///< Its supervisor, drawn at random.
  std::uint64_t session = 0;      ///< This process, drawn at random.
  std::uint64_t run = 0;          ///< What it has is of this run; 0: it has nothing yet.
  bool ready = false;             ///< It loaded the data and did the first step before.
  std::uint64_t memory_bytes = 0; ///< What candidates may take; 0: not known.
  std::vector<held_lease> has;
};

/// A file of the experiment's data.
struct data_file {
  std::string path; ///< On the head's machine, as the experiment names it.
  std::uint64_t size = 0;
  std::string checksum; ///< `to_text` of `checksum_of_file`.
};

/// What it needs to know, or why it may not join.
struct node_welcome {
  std::string refusal; ///< Empty: welcome.
  bool over = false;   ///< The run is: there is nothing left to do.
  std::uint64_t node = 0;
  std::uint64_t run = 0;
  bool ready = false;     ///< The head knows that this node is.
  std::string experiment; ///< Resolved TOML.
  std::vector<data_file> files;
  std::vector<held_lease> keep; ///< Of what it has: under these leases.
};

/// Data is loaded and the first step done: candidates may come. Or the reason why they
/// may not.
struct node_ready {
  std::uint64_t node = 0;
  std::string failure;
};

/// A candidate that is trained again because another starts from it and its checkpoint is
/// lost. As in `candidate`.
struct ancestor {
  std::uint64_t id = 0;
  bytes genome;
  std::uint32_t epochs = 0;
  std::uint64_t start = 0;
  std::uint32_t start_epoch = 0;
};

/// One candidate to be trained.
struct assignment {
  std::uint64_t id = 0;
  std::uint64_t lease = 0;
  /// The bits of a double: CAF 0.17 never ends on an infinite one.
  std::uint64_t keep_weights_above = 0;
  bytes genome;
  /// As in `candidate`; the epochs are never 0 where `start_epoch` is not.
  std::uint32_t epochs = 0;
  std::uint64_t start = 0;
  std::uint32_t start_epoch = 0;
  std::uint8_t keep_checkpoint = 0; ///< A `checkpointing`.
  /// What it starts from, as in `lineage`.
  std::vector<ancestor> before;
  bytes checkpoint;
};

/// Candidates to be trained one after another.
struct assignments {
  std::vector<assignment> batch;
};

/// What became of one; `evaluation` is an encoded candidate_evaluated record.
struct result {
  std::uint64_t id = 0;
  std::uint64_t lease = 0;
  std::uint64_t peak_bytes = 0; ///< Memory it took; 0: not measured.
  bytes evaluation;
  bytes weights;
  bytes checkpoint;
};

struct results {
  std::uint64_t node = 0;
  std::vector<result> batch;
};

/// The head has the results of these candidates, or wants none: the node may forget them.
struct taken {
  std::vector<std::uint64_t> ids;
};

/// An epoch of a candidate in training ended; for people, and not sent of each.
struct epoch_passed {
  std::uint64_t node = 0;
  std::uint64_t id = 0;
  std::uint32_t of = 0;
  bytes passed; ///< An encoded `epoch`.
};

/// "I am there", each second; the answer says whether the node's leases hold.
struct heartbeat {
  std::uint64_t node = 0;
};
struct heartbeat_answer {
  bool known = false;
};

/// The node wants nothing more; `not_done` it will not do.
struct leaving {
  std::uint64_t node = 0;
  std::vector<std::uint64_t> not_done;
};

/// The head has heard it: nobody waits for the node any more.
struct may_leave {};

/// A piece of a data file.
struct fetch_chunk {
  std::string path;
  std::uint64_t offset = 0;
};
struct chunk {
  std::string failure;
  bytes data; ///< Empty at the file's end.
};

/// Test this candidate on the held-out data (or, without a genome, the linear baseline).
struct examine {
  std::string subject;
  std::uint64_t id = 0;
  bytes genome;             ///< Empty: the baseline.
  bytes weights;            ///< Empty: it is trained again, and the rest says how.
  std::uint32_t epochs = 0; ///< As in `candidate`.
  std::uint64_t start = 0;
  std::uint32_t start_epoch = 0;
  std::vector<ancestor> before;
  bytes checkpoint;
};

/// The examination as a run_finished record with that one examination, or none where the
/// baseline has no meaning; or a failure.
struct examined {
  std::string failure;
  bytes record;
};

/// The run is over: the node process ends.
struct leave {
  std::string reason;
};

// -- inside a node process: never serialised
// ------------------------------------------------------

/// To itself: look at the clock.
struct tick {};

/// To itself: hand out what can be.
struct serve_nodes {};

/// A connection stands: the node says what to greet the head with.
struct link_up {};

/// SIGTERM came: finish what is in training, take nothing more, then end.
struct drain {};

/// Its grace is over.
struct drain_over {};

// -- inside the head: never serialised
// ----------------------------------------------------------

/// Newly born candidates, recorded, to be trained.
struct submission {
  std::vector<candidate> candidates;
  double keep_weights_above = 0;
};

/// Hand out nothing more; the answer says how many candidates nodes still have.
struct withdraw {};
struct withdrawn {
  std::vector<candidate_id> ids;
};

/// Hand out nothing, or again, while it is so.
struct hold_back {
  bool on = true;
};

/// Nobody wants this candidate any more: if no result is there yet, it is evaluated as
/// dropped.
struct drop_candidate {
  candidate_id id = 0;
  std::string who;
};

/// A person tells the run something; the answer is why it refuses, or empty.
struct told {
  instruction order;
  std::string who;
};

/// Evaluations that hold a lease, with weights.
struct evaluations {
  std::vector<evaluated_job> batch;
};

/// Something to be recorded that decides nothing.
struct observation {
  clade::record record;
};

/// No node can be had any more: the run cannot go on.
struct run_failure {
  error why;
};

struct breeding_orders {
  std::vector<breeding> orders;
};

struct brood {
  std::vector<candidate> candidates;
  std::optional<error> failure;
};

/// `checkpoints::keep`, after the entries.
struct tidying {
  std::vector<candidate_id> keep;
  candidate_id last = 0;
};

struct append {
  std::shared_ptr<const std::vector<entry>> entries;
  std::vector<candidate_id> keep; ///< Whose weights stay, where not empty.
  /// Checkpoints that came with evaluations among them: kept before they are recorded.
  std::shared_ptr<const std::map<candidate_id, bytes>> checkpoints{};
  std::optional<tidying> tidy{}; ///< Of checkpoints, afterwards.
};

/// The entries are on the disk, and where, or the error.
struct appended {
  expected<store::place> at;
};

/// For views: goes to the disk with the entries that come next.
struct keep_picture {
  std::shared_ptr<const kept_picture> picture;
};

/// No entries come any more: has on the disk what waits for them.
struct write_kept {};
struct kept_written {
  expected<void> done;
};

struct fetch_evaluation {
  candidate_id id = 0;
};
struct fetched_evaluation {
  expected<evaluation> found;
};

struct fetch_weights {
  candidate_id id = 0;
};
struct fetched_weights {
  expected<bytes> found;
};

/// What the trainings of these candidates start from, in their order.
struct fetch_lineages {
  std::vector<candidate_id> ids;
};
struct fetched_lineages {
  expected<std::vector<lineage>> found;
};

struct slots_query {};

struct progress_query {
  std::size_t from_generation = 0;
};

/// To whoever waits for the end of the run: everything is recorded.
struct run_over {};

/// Finish and record what is in flight, then pause.
struct stop_run {
  std::string reason;
};

// -- interfaces
// ---------------------------------------------------------------------------------

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
/// dispatcher sends assignments and, when the search is over, examinations; the node what
/// it has for the dispatcher; to itself it sends ticks.
using link_actor =
    caf::typed_actor<caf::reacts_to<assignments>,
                     caf::replies_to<examine>::with<examined>, caf::reacts_to<leave>,
                     caf::reacts_to<node_ready>, caf::reacts_to<results>,
                     caf::reacts_to<epoch_passed>, caf::reacts_to<leaving>,
                     caf::replies_to<fetch_chunk>::with<chunk>, caf::reacts_to<taken>,
                     caf::reacts_to<tick>>;

/// A node: one process, one device slot, whatever becomes of its connections. They send
/// it what the dispatcher says; its trainer sends results and epochs.
using node_actor = caf::typed_actor<
    caf::replies_to<link_up>::with<node_hello>, caf::reacts_to<node_welcome, link_actor>,
    caf::reacts_to<assignments>, caf::replies_to<examine>::with<examined>,
    caf::reacts_to<leave>, caf::reacts_to<taken>, caf::reacts_to<may_leave>,
    caf::reacts_to<node_ready>, caf::reacts_to<results>, caf::reacts_to<epoch_passed>,
    caf::replies_to<fetch_chunk>::with<chunk>, caf::reacts_to<drain>,
    caf::reacts_to<drain_over>, caf::reacts_to<tick>>;

/// The trainer of a node, detached: one candidate after another.
using trainer_actor =
    caf::typed_actor<caf::reacts_to<node_welcome>, caf::reacts_to<assignments>>;

/// The evaluator of a node, detached: trained candidates on held-out data.
using evaluator_actor = caf::typed_actor<caf::replies_to<examine>::with<examined>>;

/// Reads the run's data files for nodes that lack them, detached; no others.
using data_source_actor = caf::typed_actor<caf::replies_to<fetch_chunk>::with<chunk>>;

/// The selector: the fold of the run and what it decides.
using selector_actor =
    caf::typed_actor<caf::reacts_to<evaluations>,              // from the dispatcher
                     caf::reacts_to<observation>,              // from the dispatcher
                     caf::reacts_to<run_failure>,              // from the dispatcher
                     caf::reacts_to<stop_run>,                 // from who watches the run
                     caf::replies_to<told>::with<std::string>, // the same
                     caf::replies_to<progress_query>::with<run_progress>>;

/// The dispatcher: holds the leases. Links call its first seven; the door
/// (actors/door.hpp) gives them its address.
using dispatcher_actor = caf::typed_actor<
    caf::replies_to<node_hello, link_actor>::with<node_welcome>,
    caf::reacts_to<node_ready>, caf::replies_to<results>::with<taken>,
    caf::reacts_to<epoch_passed>, caf::replies_to<heartbeat>::with<heartbeat_answer>,
    caf::replies_to<leaving>::with<may_leave>, caf::replies_to<fetch_chunk>::with<chunk>,
    caf::reacts_to<tick>, caf::reacts_to<serve_nodes>,
    caf::reacts_to<selector_actor>, // whom to tell, once what was in flight is submitted
    caf::reacts_to<submission>, caf::replies_to<withdraw>::with<withdrawn>,
    caf::reacts_to<hold_back>, caf::reacts_to<drop_candidate>,
    caf::replies_to<examine>::with<examined>,
    caf::replies_to<slots_query>::with<slots_view>, caf::reacts_to<leave>>;

// -- serialisation
// ------------------------------------------------------------------------------

template<class Inspector>
typename Inspector::result_type inspect(Inspector& f, held_lease& x) {
  return f(caf::meta::type_name("held_lease"), x.id, x.lease);
}

template<class Inspector>
typename Inspector::result_type inspect(Inspector& f, node_hello& x) {
  return f(caf::meta::type_name("node_hello"), x.slot, x.label, x.worker, x.session,
           x.run, x.ready, x.memory_bytes, x.has);
}

template<class Inspector>
typename Inspector::result_type inspect(Inspector& f, data_file& x) {
  return f(caf::meta::type_name("data_file"), x.path, x.size, x.checksum);
}

template<class Inspector>
typename Inspector::result_type inspect(Inspector& f, node_welcome& x) {
  return f(caf::meta::type_name("node_welcome"), x.refusal, x.over, x.node, x.run,
           x.ready, x.experiment, x.files, x.keep);
}

template<class Inspector>
typename Inspector::result_type inspect(Inspector& f, node_ready& x) {
  return f(caf::meta::type_name("node_ready"), x.node, x.failure);
}

template<class Inspector>
typename Inspector::result_type inspect(Inspector& f, ancestor& x) {
  return f(caf::meta::type_name("ancestor"), x.id, x.genome, x.epochs, x.start,
           x.start_epoch);
}

template<class Inspector>
typename Inspector::result_type inspect(Inspector& f, assignment& x) {
  return f(caf::meta::type_name("assignment"), x.id, x.lease, x.keep_weights_above,
           x.genome, x.epochs, x.start, x.start_epoch, x.keep_checkpoint, x.before,
           x.checkpoint);
}

template<class Inspector>
typename Inspector::result_type inspect(Inspector& f, assignments& x) {
  return f(caf::meta::type_name("assignments"), x.batch);
}

template<class Inspector>
typename Inspector::result_type inspect(Inspector& f, result& x) {
  return f(caf::meta::type_name("result"), x.id, x.lease, x.peak_bytes, x.evaluation,
           x.weights, x.checkpoint);
}

template<class Inspector>
typename Inspector::result_type inspect(Inspector& f, results& x) {
  return f(caf::meta::type_name("results"), x.node, x.batch);
}

template<class Inspector>
typename Inspector::result_type inspect(Inspector& f, taken& x) {
  return f(caf::meta::type_name("taken"), x.ids);
}

template<class Inspector>
typename Inspector::result_type inspect(Inspector& f, epoch_passed& x) {
  return f(caf::meta::type_name("epoch_passed"), x.node, x.id, x.of, x.passed);
}

template<class Inspector>
typename Inspector::result_type inspect(Inspector& f, heartbeat& x) {
  return f(caf::meta::type_name("heartbeat"), x.node);
}

template<class Inspector>
typename Inspector::result_type inspect(Inspector& f, heartbeat_answer& x) {
  return f(caf::meta::type_name("heartbeat_answer"), x.known);
}

template<class Inspector>
typename Inspector::result_type inspect(Inspector& f, leaving& x) {
  return f(caf::meta::type_name("leaving"), x.node, x.not_done);
}

template<class Inspector>
typename Inspector::result_type inspect(Inspector& f, may_leave&) {
  return f(caf::meta::type_name("may_leave"));
}

template<class Inspector>
typename Inspector::result_type inspect(Inspector& f, fetch_chunk& x) {
  return f(caf::meta::type_name("fetch_chunk"), x.path, x.offset);
}

template<class Inspector>
typename Inspector::result_type inspect(Inspector& f, chunk& x) {
  return f(caf::meta::type_name("chunk"), x.failure, x.data);
}

template<class Inspector>
typename Inspector::result_type inspect(Inspector& f, examine& x) {
  return f(caf::meta::type_name("examine"), x.subject, x.id, x.genome, x.weights,
           x.epochs, x.start, x.start_epoch, x.before, x.checkpoint);
}

template<class Inspector>
typename Inspector::result_type inspect(Inspector& f, examined& x) {
  return f(caf::meta::type_name("examined"), x.failure, x.record);
}

template<class Inspector>
typename Inspector::result_type inspect(Inspector& f, leave& x) {
  return f(caf::meta::type_name("leave"), x.reason);
}

/// What is to be trained before another, encoded.
[[nodiscard]] std::vector<ancestor> ancestors_of(const lineage& l);

/// Names every message that crosses processes; the test of the protocol pins the list.
void add_message_types(caf::actor_system_config& config);

} // namespace clade

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::serve_nodes)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::link_up)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::drain)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::drain_over)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::submission)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::withdraw)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::withdrawn)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::hold_back)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::drop_candidate)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::told)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::evaluations)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::observation)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::run_failure)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::breeding_orders)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::brood)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::append)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::appended)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::keep_picture)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::write_kept)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::kept_written)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::fetch_evaluation)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::fetched_evaluation)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::fetch_weights)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::fetched_weights)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::fetch_lineages)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::fetched_lineages)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::slots_query)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::slots_view)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::tick)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::progress_query)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::run_progress)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::run_over)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(clade::stop_run)
