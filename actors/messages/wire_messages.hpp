#pragma once

#include "actors/messages/task_messages.hpp"

#include <caf/all.hpp>

#include <cstdint>
#include <string>
#include <vector>

// The messages that go between head and node: serialised, over TLS. Each is its members on
// the wire, in the order in which it declares them.

namespace clade {

/// Raised with every change of a message between processes. A node of another version is
/// refused in a sentence that names both.
inline constexpr std::uint32_t protocol_version = 20;

/// A task that a node has, and the lease it has it for.
struct held_lease {
  task_id id;
  std::uint64_t lease = 0;
  std::uint64_t generation = 0; ///< For a team's task: when the team was formed last.
};

/// How an earlier node process of a slot ended, as its worker saw it.
struct former_process {
  std::uint64_t session = 0;
  /// By what it did itself: a fault of its own, or more than its share of a memory that
  /// ran out. Not by a signal from elsewhere.
  bool own_doing = false;
  std::string how; ///< "killed by signal 11 (Segmentation fault)"
};

/// The address at which other members of a team find a node.
struct team_address {
  std::string host;       ///< Empty: on the head's machine.
  std::uint16_t port = 0; ///< 0: the experiment has no teams.
};

/// A node introduces itself, when it starts and whenever it comes back.
struct node_hello {
  std::string slot;          ///< "cpu:0", or "box/cuda:1" of another machine.
  std::string label;         ///< The name of the device, for people.
  std::uint64_t worker = 0;  ///< Its supervisor, drawn at random.
  std::uint64_t session = 0; ///< This process, drawn at random.
  /// The run to which its leases and files belong; 0: it has nothing yet.
  std::uint64_t run = 0;
  bool ready = false;             ///< It loaded the data and did the first step before.
  std::uint64_t memory_bytes = 0; ///< The memory that candidates may take; 0: not known.
  bool measured = true;           ///< `offer::measured`.
  std::vector<held_lease> has;
  /// The former processes of its slot, the latest last.
  std::vector<former_process> former;
  /// Its address as in `node_ready`, if it has said that already.
  team_address team;
  std::uint64_t rounding = 0; ///< The same.
  std::uint64_t clock_ms = 0; ///< Its machine's, since 1970; 0: it does not say.
};

/// A file of the experiment's data, or a folder of images or texts.
struct data_file {
  std::string path; ///< On the head's machine, as the experiment names it.
  /// The number of bytes that are sent, of a folder those of its bundle (folder_bundle.hpp).
  std::uint64_t size = 0;
  std::string checksum; ///< `to_text` of `checksum_of_data`, or of all listed images.
  bool folder = false;
  bool listed = false; ///< It is the folder of the images that a table names.
};

/// The facts that it needs to know, or why it may not join.
struct node_welcome {
  std::string refusal; ///< Empty: welcome.
  bool over = false;   ///< The run is: there is nothing left to do.
  std::uint64_t node = 0;
  std::uint64_t run = 0;
  bool ready = false; ///< The head knows that this node is.
  /// How often the node is to be heard, so that its lease does not end meanwhile.
  std::uint64_t heartbeat_ms = 1000;
  std::string experiment; ///< Resolved TOML.
  std::vector<data_file> files;
  std::vector<held_lease> keep; ///< The leases that it may keep, of those that it has.
};

/// Data is loaded and the first step done: tasks may come. Or the reason why they
/// may not.
struct node_ready {
  std::uint64_t node = 0;
  std::string failure;
  team_address team;
  std::uint64_t rounding = 0; ///< The rounding as `fitness_function::warm_up` returns it.
};

/// Tasks of one type, to be done one after another.
struct assignments {
  std::vector<assignment> batch;
};

struct results {
  std::uint64_t node = 0;
  std::vector<result> batch;
};

/// The head has the results of these tasks, or wants none: the node may forget them.
struct taken {
  std::vector<task_id> ids;
};

/// An epoch of a candidate in training ended; for people, and not sent of each.
struct epoch_passed {
  std::uint64_t node = 0;
  std::uint64_t id = 0;
  std::uint32_t of = 0;
  bytes passed; ///< An encoded `epoch`.
};

/// A node says how much it has done of a team's task since it began; for people.
struct team_passed {
  std::uint64_t node = 0;
  std::uint64_t exchanges = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t waited_us = 0;
  std::uint64_t time_us = 0;
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
  std::vector<task_id> not_done;
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

/// Asks for a piece of what an assignment starts from; answered by `chunk`.
struct fetch_piece {
  std::uint64_t node = 0;
  std::uint64_t lease = 0;
  blob_part part = blob_part::weights;
  std::uint64_t offset = 0;
};

/// A piece of what a result under that lease comes with. Without `data` it only asks how
/// much is there already.
struct piece {
  std::uint64_t node = 0;
  std::uint64_t lease = 0;
  blob_part part = blob_part::weights;
  std::uint64_t size = 0, checksum = 0; ///< The size and checksum of the whole blob.
  std::uint64_t offset = 0;
  bytes data;
};
struct piece_taken {
  std::string failure;    ///< Why the head takes no more of this blob.
  std::uint64_t next = 0; ///< It has all before this offset.
};

struct team_member {
  std::uint64_t worker = 0; ///< Members of the same are on one machine.
  team_address address;
};

/// The head says who does a task together from now on. Earlier formations are void.
struct team_formed {
  task_id id;
  std::uint64_t generation = 0; ///< Grows; a former one means nothing any more.
  std::uint32_t own = 0;        ///< The receiver's place among the members.
  std::vector<team_member> members;
};

/// The run is over: the node process ends.
struct leave {
  std::string reason;
};

template<class Inspector,
         one_of<held_lease, former_process, team_address, node_hello, data_file,
                node_welcome, node_ready, assignments, results, taken, epoch_passed,
                team_passed, heartbeat, heartbeat_answer, leaving, may_leave, fetch_chunk,
                chunk, fetch_piece, piece, piece_taken, team_member, team_formed, leave>
             Message>
typename Inspector::result_type inspect(Inspector& f, Message& x) {
  return with_members(x, f);
}

} // namespace clade
