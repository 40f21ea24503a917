#pragma once

#include "engine/telemetry/picture/feed.hpp"
#include "genome/codec/codec.hpp"

#include <span>
#include <string>
#include <variant>

namespace clade {

// The messages that go between a run and those who watch it, over ZeroMQ; every part is
// msgpack. tests/integration/watch.py is a viewer in 20 lines of Python.
//
// On the run's machine its sockets are the files "events", "requests" and "control" in
// the run's folder "live". With --publish ADDRESS:PORT they are also PORT, PORT + 1 and
// PORT + 2, with CURVE: a viewer's bundle has its keys and the publisher's public one
// (engine/telemetry/socket/viewer_keys.hpp).
//
// The run publishes on one socket (XPUB), in messages of two or three parts:
//
//   "record"  [sequence, unix_ms]  RECORD    each record, numbered from 1 without gaps
//   "epoch"   [slot, id, number, of, [[name, value]...]]
//   "slots"   [waiting, [[name, label, ready, away, training, epoch, epochs, joined,
//                         heard, at_work, quarantined, TEAM]...]] durations in ms
//   "alive"   [sequence]                     each second; of the last record
//
// where TEAM is [member, members, steps, bytes, waits] (slots.hpp) and RECORD is what the
// store has (grammar: engine/run/records/record.cpp). Only records are numbered, and only
// they can be had again. On another socket (ROUTER; ask with a DEALER or REQ) it answers
// one message for each:
//
//   ["snapshot"]                  ["snapshot", name, PICTURE]
//   ["candidate", id]             ["candidate", CANDIDATE]
//   ["candidates", after, count]  ["candidates", [ROW...]]     at most `max_rows`
//   anything else                 ["error", sentence]
//
// and on a third (ROUTER), where only who may control a run gets:
//
//   ["tell", instruction, who]    ["done"]                     or ["error", sentence]
//
// A viewer subscribes, asks for a snapshot, and folds in the records whose number is
// greater. If a number is missing, or "alive" names one that never came, it asks for a
// new snapshot.
//
//   PICTURE   {"sequence": .., "unix_ms": .., ...}: names and order in picture_codec.cpp
//   CANDIDATE [candidate, evaluation | nil, [overview...], metric, maximize, has_weights]
//   ROW       [LINE, index, [parent...], equal_to, nodes, {operator: count},
//              {hyperparameter: value}, [[name, value]...], born_sequence,
//              evaluated_sequence | 0]

inline constexpr std::size_t max_rows = 2000;
inline constexpr std::size_t max_request_bytes = 1 << 16;

struct alive {
  std::uint64_t sequence = 0;
};
using published = std::variant<record_event, epoch_event, slots_view, alive>;

/// The parts of a message, the topic first.
[[nodiscard]] std::vector<bytes> encode(const published& p);
[[nodiscard]] expected<published> decode_published(std::span<const bytes> parts);

struct snapshot_request {};
struct candidate_request {
  candidate_id id = 0;
};
struct rows_request {
  candidate_id after = 0;
  std::size_t count = 0;
};
using request = std::variant<snapshot_request, candidate_request, rows_request>;

/// Names are for people; at most so long.
inline constexpr std::size_t longest_name = 64;

[[nodiscard]] bytes encode(const request& r);
[[nodiscard]] expected<request> decode_request(std::span<const char> data);

[[nodiscard]] bytes encode_told(const instruction& order, const std::string& who);
[[nodiscard]] expected<operator_command> decode_told(std::span<const char> data);
[[nodiscard]] bytes encode_done();
/// The refusal is the error.
[[nodiscard]] expected<void> decode_done(std::span<const char> data);

struct snapshot {
  std::string name; ///< The experiment's.
  run_picture picture;
};

[[nodiscard]] bytes encode_snapshot(const std::string& name, const run_picture& p);
[[nodiscard]] bytes encode_answer(const genome_view& g);
[[nodiscard]] bytes encode_answer(const std::vector<candidate_row>& rows);
[[nodiscard]] bytes encode_failure(const std::string& sentence);

/// An answer of another kind, an error among them, is an error.
[[nodiscard]] expected<snapshot> decode_snapshot(std::span<const char> data);
[[nodiscard]] expected<genome_view> decode_candidate_answer(std::span<const char> data);
[[nodiscard]] expected<std::vector<candidate_row>>
decode_rows_answer(std::span<const char> data);

/// Part of a snapshot, and of what `to_keep` keeps.
void encode(encoder& out, const run_picture& p);
[[nodiscard]] run_picture decode_picture(decoder& d);

} // namespace clade
