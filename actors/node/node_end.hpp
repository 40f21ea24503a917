#pragma once

namespace clade {

/// Why the process of a node ends: its exit status, which its worker knows. A process that
/// is killed by a signal has none of them.
enum class node_end : int {
  dismissed = 0,  ///< The run is over.
  failed = 1,     ///< Clade or the machine failed; as of every command.
  refused = 2,    ///< The head would not have it, or it cannot train here.
  connection = 3, ///< The head was not found for too long, or another run is there now.
  stuck = 4,  ///< A training did not end in its time, which the head knows; a new process
              ///< must take over.
  lonely = 5, ///< No head was found for as long as its worker looks for one.
  overdue = 6, ///< A test did not end in its time, and only the worker tells of it.
  drained = 7, ///< It was told to leave, and has: by its worker, which ends too, or by
               ///< somebody else, and then a new process takes its place.
};

} // namespace clade
