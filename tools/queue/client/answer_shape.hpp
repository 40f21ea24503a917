#pragma once

#include "engine/report/base/json_parts.hpp"
#include "genome/base/error.hpp"

#include <cstdint>
#include <span>

namespace clade {

/// The kind of a key's value in an answer.
enum class answer_kind : std::uint8_t {
  natural,
  integer,
  number,
  text,
  texts,    ///< A list of texts.
  truth,    ///< true or false
  naturals, ///< A list of naturals.
  objects,  ///< A list of objects, each of the shape `each`.
};

struct answer_shape;

struct answer_key {
  const char* name;
  answer_kind kind;
  bool needed = false; ///< Else it may be null, or not there.
  const answer_shape* each = nullptr;
};

/// The parts that a client reads of an answer of a queue's server. Other keys are let be:
/// a newer server may have more.
struct answer_shape {
  std::span<const answer_key> keys;
};

/// {"change", "entries"}, one entry, {"ids"}, {"cancelled"}, and the answers of /v1/machine
/// and of /v1/entries/N/processes, as queue_json.hpp has them.
extern const answer_shape entries_answer, entry_answer, ids_answer, cancelled_answer,
    machine_answer, processes_answer;
/// Any object, of which nothing is read.
extern const answer_shape any_answer;

/// Says which key of an answer is not what it should be, so that what follows can take all
/// of the shape as it is. A server may answer anything: it may be another program.
[[nodiscard]] expected<void> check_shape(const ordered_json& answer,
                                         const answer_shape& shape);

} // namespace clade
