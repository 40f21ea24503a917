#pragma once

#include "engine/queue/next_entries.hpp"
#include "genome/codec/codec.hpp"
#include "genome/codec/field_list.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace clade {

/// A process of an entry, as its machine sees it.
struct process_seen {
  std::int64_t pid = 0, parent = 0;
  double cpu_seconds = 0; ///< The seconds of processor time that it has had.
  std::uint64_t resident_bytes = 0;
  std::string command{}; ///< Its words, with spaces between them.

  friend bool operator==(const process_seen&, const process_seen&) = default;
};

void fields(auto& v, like<process_seen> auto& p) {
  v("pid", p.pid);
  v("parent", p.parent);
  v("cpu_seconds", p.cpu_seconds);
  v("resident_bytes", p.resident_bytes);
  v("command", p.command);
}

/// An entry and which start of it, counted from 1: who has an older one has nothing.
struct held_entry {
  entry_id id = 0;
  std::uint32_t start = 0;

  friend auto operator<=>(const held_entry&, const held_entry&) = default;
};

/// How a machine has an entry.
struct held_since {
  std::chrono::milliseconds ran{0}; ///< By a clock of the machine that nobody sets.
  /// The token with which a program there asks the server: a server that has taken over
  /// may not know it.
  std::string token{};

  friend bool operator==(const held_since&, const held_since&) = default;
};

/// Counts up when what is said below changes so that one side would not understand the
/// other, or misunderstand it.
inline constexpr std::uint64_t queue_protocol = 2;

/// The process of a machine.
struct node_program {
  std::uint64_t protocol = queue_protocol;
  std::string version{};    ///< The version of clade.
  std::int64_t unix_ms = 0; ///< Its clock.
  /// `this_machine` of the store. None: its clade is of before that was said.
  std::optional<std::string> machine{};

  friend bool operator==(const node_program&, const node_program&) = default;
};

/// The report of a machine to the queue's server.
struct node_report {
  /// An entry has ended there.
  struct end {
    held_entry entry{};
    int wait_status = 0;
    std::string reason{}; ///< Why it could not be started; else empty.

    friend bool operator==(const end&, const end&) = default;
  };
  /// An entry that it has.
  struct held {
    held_entry entry{};
    std::vector<process_seen> processes{};
    /// None: its clade is of before this was said.
    std::optional<held_since> since{};

    friend bool operator==(const held&, const held&) = default;
  };

  std::string node{};              ///< Its name.
  std::string folder{};            ///< The folder in which it has the folders of entries.
  std::string session{};           ///< Drawn by the process there when it began.
  bool first = false;              ///< No report of this session was answered before.
  bool leaves = false;             ///< It takes no more, and ends when it has nothing.
  std::vector<queue_slot> slots{}; ///< The slots under the machine's own names: "cpu:0".
  std::vector<held> holds{};
  std::vector<end> ended{};
  /// `node_orders::server` and `change` of what it knows.
  std::string server{};
  std::uint64_t seen = 0;
  /// None: it speaks the first protocol, which did not say so.
  std::optional<node_program> program{};

  friend bool operator==(const node_report&, const node_report&) = default;
};

/// The entries that are to run on a machine: all of it, so that one answer that is lost
/// costs nothing. Entries that it has beside them are no longer its own, and are ended.
struct node_orders {
  struct order {
    held_entry entry{};
    queue_submission what{};
    std::vector<std::string> slots{}; ///< The slots under the machine's own names.
    bool stopping = false;            ///< It is to be told to end.
    std::string token{};              ///< For what runs there to ask the server with.
    std::uint64_t log_bytes = 0;      ///< That the server has of its log.

    friend bool operator==(const order&, const order&) = default;
  };

  std::string server{};     ///< Which start of the server: `change` counts within it.
  std::uint64_t change = 0; ///< Counts up whenever the rest changes.
  std::vector<order> orders{};

  friend bool operator==(const node_orders&, const node_orders&) = default;
};

/// msgpack; grammar at the top of node_report.cpp.
[[nodiscard]] bytes encode(const node_report& r);
[[nodiscard]] bytes encode(const node_orders& o);
/// Errors (`invalid_input`) say what is wrong in a sentence.
[[nodiscard]] expected<node_report> decode_node_report(std::span<const char> data);
[[nodiscard]] expected<node_orders> decode_node_orders(std::span<const char> data);

} // namespace clade
