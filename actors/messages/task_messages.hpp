#pragma once

#include "actors/messages/members.hpp"
#include "engine/evaluation/lineage.hpp"
#include "engine/run/records/record.hpp"
#include "engine/scheduling/task.hpp"
#include "genome/codec/blob.hpp"

#include <caf/all.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

// Tasks that nodes get and results that they send: one struct for each kind of task, and
// one for what comes of it. They are parts of messages (actors/messages/wire_messages.hpp).

namespace clade {

/// Files, and weights and checkpoints that are larger, travel in pieces of this size.
inline constexpr std::size_t piece_bytes = 1 << 20;

/// Says whether a message carries the blob itself. Otherwise it carries size and checksum,
/// and the receiver finds the blob absent until the pieces have come: a link fetches them
/// for a node (`fetch_piece`), and sends those of a result before the result (`piece`).
[[nodiscard]] inline bool travels_whole(const blob& b) {
  return b.empty() || (b.in_memory() && b.size() <= piece_bytes);
}

/// One of the blobs that an assignment or a result may come with.
enum class blob_part : std::uint8_t { weights = 0, checkpoint = 1, members = 2 };
inline constexpr auto blob_parts = {blob_part::weights, blob_part::checkpoint,
                                    blob_part::members};

/// "weights", "checkpoint", "members".
[[nodiscard]] const char* to_text(blob_part part);

/// A candidate that is trained again because another starts from it and its checkpoint is
/// lost. It means the same as in `candidate`.
struct ancestor {
  std::uint64_t id = 0;
  bytes genome;
  std::uint32_t epochs = 0;
  std::uint64_t start = 0;
  std::uint32_t start_epoch = 0;
};

/// A network, how long it is trained and what its training starts from.
struct network_training {
  bytes genome;
  /// They mean the same as in `candidate`; the epochs are never 0 where `start_epoch` is not.
  std::uint32_t epochs = 0;
  std::uint64_t start = 0;
  std::uint32_t start_epoch = 0;
  /// The trainings that it starts from, in the order of `lineage`.
  std::vector<ancestor> before;
  blob checkpoint;
};

/// Train a candidate and validate it.
struct training_task {
  network_training network;
  /// The bits of a double: CAF 0.17 never ends on an infinite one.
  std::uint64_t keep_weights_above = 0;
  /// `data_fold` and the time of a candidate that is trained at the end of the run; else 0.
  std::uint32_t fold = 0, folds = 0;
  std::uint64_t time_ms = 0;
  std::uint32_t threads = 1;        ///< The same as in `candidate`.
  std::uint8_t keep_checkpoint = 0; ///< A `checkpointing`.
  /// How many parts the task has, where a team does it together; else 0. Every member gets
  /// the assignment, and then `team_formed`.
  std::uint32_t shares = 0;
};

/// Measure a trained candidate on held-out data.
struct test_task {
  blob weights; ///< If they are empty, the node trains `network` again first.
  network_training network;
};

/// Measure the linear model on held-out data.
struct linear_model_task {};

/// Put the final model together and measure it.
struct composition_task {
  blob members;              ///< Encoded (engine/evaluation/composition.hpp).
  std::uint64_t time_ms = 0; ///< 0: as long as it takes.
  std::uint32_t threads = 1; ///< So many may compute it.
  bool interim = false;      ///< `composition_purpose`.
};

/// One task, as a node needs it.
struct assignment {
  task_id id;
  std::uint64_t lease = 0;
  std::variant<training_task, test_task, linear_model_task, composition_task> what{};
};

/// A test could not be made, or this machine cannot go on with a training, which another
/// may.
struct task_failure {
  std::string why;
};

struct training_result {
  bytes evaluated;              ///< An encoded candidate_evaluated record.
  std::uint64_t peak_bytes = 0; ///< Memory it took; 0: not measured.
  blob weights;
  blob checkpoint;
};

struct test_result {
  /// An encoded examination; empty where a test of the linear model has no meaning.
  bytes examined;
};

struct composition_result {
  bytes composed; ///< An encoded composition.
};

/// A node reports how a task ended.
struct result {
  task_id id;
  std::uint64_t lease = 0;
  std::variant<task_failure, training_result, test_result, composition_result> what{};
};

/// Returns a pointer to that blob; null: a task, or a result, of this kind has none.
[[nodiscard]] const blob* blob_of(const assignment& a, blob_part part);
[[nodiscard]] blob* blob_of(assignment& a, blob_part part);
[[nodiscard]] const blob* blob_of(const result& r, blob_part part);

/// Returns the ancestors that are to be trained before another candidate, encoded.
[[nodiscard]] std::vector<ancestor> ancestors_of(const lineage& l);

template<class Inspector>
typename Inspector::result_type inspect(Inspector& f, blob& x) {
  bytes whole;
  std::uint64_t size = 0, checksum = 0;
  if (!travels_whole(x)) {
    size = x.size();
    checksum = x.checksum();
  } else if (!x.empty()) {
    whole = *x.in_memory();
  }
  const auto take = [&]() -> caf::error {
    x = whole.empty() ? blob::absent(size, checksum) : blob(std::move(whole));
    return caf::none;
  };
  return f(caf::meta::type_name("blob"), whole, size, checksum,
           caf::meta::load_callback(take));
}

template<class Inspector>
typename Inspector::result_type inspect(Inspector& f, task_id& x) {
  return f(caf::meta::type_name("task_id"), x.candidate, x.type);
}

/// These are sent as their members, in the order in which they are declared.
template<class Inspector, one_of<ancestor, network_training, training_task, test_task,
                                 linear_model_task, composition_task, task_failure,
                                 training_result, test_result, composition_result>
                              Part>
typename Inspector::result_type inspect(Inspector& f, Part& x) {
  return with_members(x, f);
}

/// The alternative that a variant holds. On the wire its index comes first.
template<class Variant>
struct alternative_of {
  Variant& of;
};

template<class Inspector, class Variant>
typename Inspector::result_type inspect(Inspector& f, alternative_of<Variant>& x) {
  return std::visit([&f](auto& held) { return f(held); }, x.of);
}

/// Makes `x` hold its alternative of that index; false: there is none.
template<class... Alternatives>
[[nodiscard]] bool hold_alternative(std::variant<Alternatives...>& x, std::size_t index) {
  std::size_t next = 0;
  return ((next++ == index && (x = Alternatives{}, true)) || ...);
}

/// The fields that assignments and results have in common on the wire.
template<class Inspector, class Message>
typename Inspector::result_type inspect_task(Inspector& f, const char* name, Message& x) {
  auto index = static_cast<std::uint8_t>(x.what.index());
  const auto take = [&]() -> caf::error {
    return hold_alternative(x.what, index) ? caf::none
                                           : caf::error(caf::sec::invalid_argument);
  };
  alternative_of<decltype(x.what)> held{x.what};
  return f(caf::meta::type_name(name), x.id, x.lease, index,
           caf::meta::load_callback(take), held);
}

template<class Inspector>
typename Inspector::result_type inspect(Inspector& f, assignment& x) {
  return inspect_task(f, "assignment", x);
}

template<class Inspector>
typename Inspector::result_type inspect(Inspector& f, result& x) {
  return inspect_task(f, "result", x);
}

} // namespace clade
