#pragma once

#include "actors/messages/progress.hpp"
#include "actors/messages/wire_messages.hpp"
#include "engine/evaluation/fitness_function.hpp"
#include "engine/evaluation/lineage.hpp"
#include "engine/run/records/record.hpp"
#include "engine/run/steps/run_course.hpp"
#include "engine/search/core/breeding.hpp"
#include "engine/store/run/store.hpp"
#include "engine/store/sqlite/blob_folder.hpp"

#include <caf/all.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// The messages that go between the actors of one process: never serialised.

namespace clade {

/// To itself: look at the clock.
struct tick {};

/// To itself: hand out what can be.
struct serve_nodes {};

/// A connection stands: the node says what to greet the head with.
struct link_up {};

/// SIGTERM came: finish what is in training, or keep where it stands, take nothing more,
/// then end.
struct drain {};

/// Its grace is over.
struct drain_over {};

/// Newly born candidates, recorded, to be trained.
struct submission {
  std::vector<candidate> candidates;
  double keep_weights_above = 0;
};

/// Hand out no candidate any more; the answer says which no node has. `hands_back`: nor one
/// that a node gives back from now on, which is told by further `withdrawn`; and the answer
/// names those too that nodes of other machines have, for the next head.
struct withdraw {
  bool hands_back = false;
};
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

/// A test on held-out data that some node is to make; the lease is the dispatcher's.
struct test_request {
  assignment what;
};

/// The answer to `test_request`: `measured` holds the metrics, nothing where a test of the
/// linear model has no meaning, or the error that says why the test could not be made.
struct test_answer {
  expected<std::optional<examination>> measured;
  /// The composition, if that was the task.
  std::shared_ptr<const composition> composed{};
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

struct append {
  std::shared_ptr<const std::vector<entry>> entries;
  /// The candidates whose weights stay, if the list is not empty.
  std::vector<candidate_id> keep;
  /// Checkpoints that came with evaluations among them: kept before they are recorded.
  std::shared_ptr<const std::map<candidate_id, blob>> checkpoints{};
  std::optional<kept_checkpoints>
      tidy{}; ///< The checkpoints that `blob_folder::keep` keeps afterwards.
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
  expected<blob> found;
};

/// Asks for the weights that the trainings of these candidates start from, in their
/// order.
struct fetch_lineages {
  std::vector<candidate_id> ids;
};
struct fetched_lineages {
  expected<std::vector<lineage>> found;
};

/// A piece of what a task starts from.
struct read_piece {
  blob from;
  std::uint64_t offset = 0;
};

/// Weights or a checkpoint on their way from a node. The data source alone reads and
/// writes `writer`.
struct upload {
  std::filesystem::path file; ///< The file in which the pieces are gathered.
  candidate_id id = 0;
  std::uint64_t size = 0, checksum = 0;
  std::optional<blob_writer> writer;
};

/// The answer has the blob in `whole` once it is there with the right checksum, and an
/// error in `failure` if the disk takes no more.
struct write_piece {
  std::shared_ptr<upload> to;
  piece part;
};
struct piece_written {
  piece_taken answer;
  blob whole;
  std::optional<error> failure{};
};

struct slots_query {};

struct progress_query {
  std::size_t from_generation = 0;
};

/// To whoever waits for the end of the run: everything is recorded.
struct run_over {};

/// Breed nothing more: what is trained at the end is planned now, and what is in training
/// is dropped. `trainings_too`: what was planned and is not done is dropped as well.
struct end_search {
  std::string reason;
  bool trainings_too = false;
};

/// Finish and record what is in flight, then pause. `may_end`: a search of which all is
/// evaluated by then ends instead, with its champion examined. `hands_back`: what a node
/// gives back meanwhile is in flight no more (`withdraw`).
struct stop_run {
  std::string reason;
  bool may_end = false;
  bool hands_back = false;
};

template<class T>
concept local_message =
    one_of<T, serve_nodes, link_up, drain, drain_over, submission, withdraw, withdrawn,
           hold_back, drop_candidate, test_request, test_answer, told, evaluations,
           observation, run_failure, breeding_orders, brood, append, appended,
           keep_picture, write_kept, kept_written, fetch_evaluation, fetched_evaluation,
           fetch_weights, fetched_weights, fetch_lineages, fetched_lineages, read_piece,
           write_piece, piece_written, slots_query, slots_view, tick, progress_query,
           run_progress, run_over, stop_run, end_search>;

} // namespace clade

namespace caf {

template<clade::local_message T>
struct allowed_unsafe_message_type<T> : std::true_type {};

} // namespace caf
