#pragma once

#include "engine/queue/next_entries.hpp"
#include "engine/report/base/json_parts.hpp"
#include "tools/queue/client/queue_tokens.hpp"
#include "tools/queue/head/queue_head.hpp"

namespace clade {

/// How much of an entry somebody sees.
struct entry_view {
  bool readable =
      true;           ///< They may read its log; else its command and directory are null.
  bool brief = false; ///< Keys without a value, or with 0, are left out, as in lists.
};

/// {"id","user","name","kind","state","reason",...}: an entry as clients get it. `reason`:
/// of one that waits, why.
[[nodiscard]] ordered_json entry_json(entry_id id, const queue_entry& e,
                                      const std::string& reason, const entry_view& view);

/// {"slots": [{"slot","device","entry","user"}], "users": [{"user","running","waiting",
/// "slots","quota","used"}]}: who has what; a quota of 0 is none; "used" is in seconds of
/// slots, decayed as of that time. `queue_machines_json` is its "machines".
[[nodiscard]] ordered_json machine_json(const queue_state& state,
                                        const queue_rules& rules,
                                        const std::vector<queue_slot>& slots,
                                        std::int64_t unix_ms);

/// [{"machine","state","slots","version","heard_ms","clock_ahead_ms"}]: the machines beside
/// the server's own; a state is "there", "awaited", "leaves" or "lost".
[[nodiscard]] ordered_json queue_machines_json(const std::vector<queue_machine>& all);

/// Whether the user may read the log of the entry and cancel it.
[[nodiscard]] bool is_theirs(const queue_user& u, const queue_entry& e);

/// Reads {"entries": [{"command": [...], ...}, ...]}; each may have kind, directory, name,
/// priority, slots, device, seconds, after, requeue and once. An error names the entry and the
/// key.
[[nodiscard]] expected<std::vector<queue_submission>>
parse_submissions(const std::string& text, const std::string& user);

/// Returns the JSON that `parse_submissions` reads.
[[nodiscard]] ordered_json submission_json(const queue_submission& s);

} // namespace clade
