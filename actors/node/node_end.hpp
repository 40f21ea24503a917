#pragma once

#include <sys/wait.h>

#include <optional>
#include <string_view>

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

inline constexpr int node_ends = 8;

/// Returns the word for it: "dismissed", "stuck" ...
[[nodiscard]] constexpr std::string_view to_text(node_end e) {
  switch (e) {
  case node_end::dismissed:
    return "dismissed";
  case node_end::failed:
    return "failed";
  case node_end::refused:
    return "refused";
  case node_end::connection:
    return "disconnected";
  case node_end::stuck:
    return "stuck";
  case node_end::lonely:
    return "lonely";
  case node_end::overdue:
    return "overdue";
  case node_end::drained:
    return "drained";
  }
  return {};
}

/// Reads a wait status; none: a signal has ended the process, or no node ends so.
[[nodiscard]] inline std::optional<node_end> node_end_of(int wait_status) {
  if (!WIFEXITED(wait_status) || WEXITSTATUS(wait_status) >= node_ends)
    return std::nullopt;
  return static_cast<node_end>(WEXITSTATUS(wait_status));
}

} // namespace clade
