#pragma once

#include "genome/codec/field_list.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// Counts from 1 in the order of submission; 0 is none.
using entry_id = std::uint64_t;

enum class entry_kind : std::uint8_t {
  run,     ///< `clade run`: an experiment file.
  train,   ///< `clade train`: one network.
  command, ///< Any program.
};
inline constexpr std::size_t entry_kinds = 3;

[[nodiscard]] constexpr bool is_known(entry_kind k) {
  return static_cast<std::size_t>(k) < entry_kinds;
}

/// "run", "train", "command"
[[nodiscard]] std::string_view to_text(entry_kind k);

/// Whether what it had done when it was stopped is not lost: `clade resume` goes on.
[[nodiscard]] constexpr bool is_resumable(entry_kind k) {
  return k != entry_kind::command;
}

/// The work that a user wants done.
struct queue_submission {
  std::string user{};
  entry_kind kind = entry_kind::command;
  /// The arguments of `clade run` or `clade train`, or a program and its arguments.
  std::vector<std::string> words{};
  std::string directory{}; ///< The folder in which it works, an absolute path.
  std::string name{};      ///< For people.
  /// Larger is sooner.
  std::int64_t priority = 0;
  /// How many it needs together.
  std::uint32_t slots = 1;
  std::string device{}; ///< Their kind, "cpu" or "cuda"; empty: any.
  /// How long it may run each time it is started; 0: unlimited. Entries that say it can
  /// be put before one that waits for more slots.
  std::chrono::seconds time{0};
  /// The entries that must have succeeded before.
  std::vector<entry_id> after{};
  /// A command that may be stopped for a higher priority, and is then begun again.
  bool requeue = false;
  /// The user's own word for it; empty: none. An entry that they submit again under it is
  /// there already.
  std::string once{};
  /// A command that is started so many times at once, each with an equal share of its slots
  /// and a number of its own: a training by several processes. None: once, without one.
  std::optional<std::uint32_t> ranks{};

  friend bool operator==(const queue_submission&, const queue_submission&) = default;
};

/// The schema and the sentence that the OpenAPI document has of a field: for one that is sent
/// with a submission, and for one that an entry shows in the order of the list. A field
/// without a schema is not sent, or an entry shows it in a place of its own.
struct documented {
  const char* sent_as = "";
  const char* sent = "";
  const char* shown_as = "";
  const char* shown = "";

  [[nodiscard]] constexpr bool is_sent() const { return *sent_as != 0; }
  [[nodiscard]] constexpr bool is_shown() const { return *shown_as != 0; }
};

/// All forms of a submission are made of this list: what is stored and sent to machines
/// (genome/codec/fields.hpp), its JSON and that of an entry (tools/queue/head/queue_json.cpp),
/// what clients check of that (tools/queue/client/answer_shape.cpp), the OpenAPI document
/// (tools/queue/server/openapi.cpp), and the memory that it takes (waiting_limits.cpp).
inline void fields(auto& v, like<queue_submission> auto& s) {
  constexpr const char* line =
      R"("type": "string", "maxLength": 200, "pattern": "^[^\\u0000-\\u001f\\u007f]*$")";
  v("user", s.user, documented{});
  v("kind", s.kind,
    documented{
        R"("allOf": [{"$ref": "#/components/schemas/Kind"}], "default": "command")"});
  v("command", s.words,
    documented{
        R"("type": "array", "minItems": 1,
                  "items": {"type": "string", "pattern": "^[^\\u0000]*$"},
                  "prefixItems": [{"type": "string", "minLength": 1, "pattern": "^[^\\u0000]+$"}])",
        "A program and its arguments; of a run or a training, the arguments of `clade "
        "run` or `clade train`, without --slots and --runs. 64 KiB at most, the "
        "directory included."});
  v("directory", s.directory,
    documented{R"("type": "string", "pattern": "^/[^\\u0000]*$")",
               "Where it works: an absolute path on the server's machine."});
  v("name", s.name, documented{line, "For people; 200 bytes of UTF-8 at most."});
  v("priority", s.priority,
    documented{R"("type": "integer", "minimum": -1000, "maximum": 1000, "default": 0)",
               "Larger is sooner.", R"("type": "integer")", "Larger is sooner."});
  v("slots", s.slots,
    documented{R"("type": "integer", "minimum": 1, "maximum": 4294967295, "default": 1)",
               "How many it gets, all at once.", R"("type": "integer", "minimum": 1)",
               "How many it gets, all at once."});
  v("device", s.device,
    documented{R"("type": "string", "enum": ["", "cpu", "cuda"], "default": "")",
               "The kind of its slots; empty: any.", R"("type": ["string", "null"])",
               "The kind of its slots; null: any."});
  v("seconds", s.time,
    documented{
        R"("type": "integer", "minimum": 0, "maximum": 2147483648, "default": 0)",
        "How long it may run each time it is started; 0: unlimited. What says so may "
        "begin before an entry that waits for many slots.",
        R"("type": "integer", "minimum": 0)",
        "How long it may run each time it is started; 0: unlimited."});
  v("after", s.after,
    documented{R"("type": "array", "items": {"type": "integer", "minimum": 1,
                  "maximum": 999999999999999999}, "default": [])",
               "Entries that must have succeeded before.",
               R"("type": "array", "items": {"type": "integer"})",
               "Entries that must have succeeded before."});
  v("requeue", s.requeue,
    documented{
        R"("type": "boolean", "default": false)",
        "A command that may be stopped for a higher priority, and is then begun again.",
        R"("type": "boolean")",
        "A command that may be stopped for a higher priority, and begun again."});
  v("once", s.once,
    documented{
        line,
        "A word of the user's own: what they have submitted under it already is not "
        "submitted again, and its number is answered; 200 bytes of UTF-8 at most.",
        R"("type": ["string", "null"])", "The word that it was submitted once under."});
  v.last("ranks", s.ranks,
         documented{
             R"("type": "integer", "minimum": 1, "maximum": 4294967295)",
             "A command is started so many times at once, each with an equal share of "
             "the slots, a number in RANK, and its lines of the log behind this number "
             "(\"2: \").",
             R"("type": ["integer", "null"], "minimum": 1)",
             "How many processes it is started as; null: one, without a number."});
}

[[nodiscard]] inline bool is_preemptible(const queue_submission& s) {
  return s.requeue || is_resumable(s.kind);
}

enum class entry_state : std::uint8_t {
  waiting,
  held, ///< It never starts: an entry that it comes after did not succeed.
  running,
  preempted, ///< It waits for slots to go on with.
  succeeded,
  failed,
  cancelled,
};
inline constexpr std::size_t entry_states = 7;

/// "waiting", "held", ...
[[nodiscard]] std::string_view to_text(entry_state s);

/// The machine of a slot: "rome" of "cuda:0@rome"; empty of one that the server has itself.
[[nodiscard]] constexpr std::string_view machine_of(std::string_view slot) {
  const auto at = slot.find('@');
  return at == std::string_view::npos ? std::string_view() : slot.substr(at + 1);
}

/// Whether nothing happens to it any more, unless somebody cancels a held one.
[[nodiscard]] constexpr bool is_over(entry_state s) {
  return s == entry_state::held || s >= entry_state::succeeded;
}

/// Whether it waits for slots, or for others.
[[nodiscard]] constexpr bool is_waiting(entry_state s) {
  return s == entry_state::waiting || s == entry_state::preempted;
}

} // namespace clade
