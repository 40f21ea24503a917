// The knowledge that a queue's head has of other machines. Each says again and again what
// it has and is answered what it should have, so that nothing depends on a single
// message: what was lost on the way is said again.
#include "genome/base/child_process.hpp"
#include "genome/base/text.hpp"
#include "genome/base/wall_clock.hpp"
#include "tools/queue/client/queue_tokens.hpp"
#include "tools/queue/head/entry_tokens.hpp"
#include "tools/queue/head/queue_head.hpp"
#include "tools/queue/machine/processes_below.hpp"
#include "tools/queue/processes/entry_command.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>

namespace clade {

namespace {

std::string machine_of_entry(const queue_entry& e) {
  return e.slots.empty() ? std::string() : std::string(machine_of(e.slots.front()));
}

tl::unexpected<error> gone(const std::string& node) {
  return fail(
      error_kind::conflict,
      fmt::format(
          "another process has come for {}; give each machine a --name of its own",
          node));
}

entry_id id_of_event(const queue_event& e) {
  return std::visit([](const auto& one) { return one.id; }, e);
}

} // namespace

std::vector<entry_id> queue_head::running_on(const std::string& node) const {
  std::vector<entry_id> found;
  for (const auto id : state_.running)
    if (machine_of_entry(state_.entries.at(id)) == node)
      found.push_back(id);
  return found;
}

void queue_head::await_nodes() {
  for (const auto* ids : {&state_.running, &state_.waiting})
    for (const auto id : *ids) {
      const auto& e = state_.entries.at(id);
      if (const auto machine = machine_of_entry(e); !machine.empty()) {
        nodes_[machine].heard = clock::now();
        nodes_[machine].user = e.worker;
      }
    }
  for (auto& [name, n] : nodes_)
    for (const auto id : running_on(name))
      n.inherited.push_back({.id = id, .start = state_.entries.at(id).starts});
}

void queue_head::find_slots() {
  slots_.all.clear();
  slots_.awaited.clear();
  for (const auto& s : processes_.params().slots)
    slots_.all.push_back({.name = s.name, .device = s.device == "cpu" ? "cpu" : "cuda"});
  for (const auto& [name, n] : nodes_) {
    // Its disk may be full, and it says for now that it has none.
    if ((n.session.empty() || n.slots.empty()) && !n.lost)
      slots_.awaited.insert(name);
    if (n.lost || n.leaves)
      continue;
    for (const auto& s : n.slots)
      slots_.all.push_back(
          {.name = fmt::format("{}@{}", s.name, name), .device = s.device});
  }
}

void queue_head::note_changes(const std::vector<queue_event>& events) {
  for (const auto& e : events)
    if (const auto found =
            nodes_.find(machine_of_entry(state_.entries.at(id_of_event(e))));
        found != nodes_.end())
      ++found->second.change;
}

expected<void> queue_head::lose_silent_nodes() {
  const auto is_silent = [&](const node& n) {
    return !n.lost && clock::now() >= n.heard + lease_;
  };
  for (auto& [name, n] : nodes_) {
    if (!is_silent(n))
      continue;
    // Silence shows nothing of what ran there.
    if (auto ok = record(losses_of(running_on(name), false)); !ok)
      return ok;
    n.lost = true;
    n.processes.clear();
    find_slots();
  }
  return {};
}

/// The entries that the process before had are lost. After a server's start it is the
/// same process, and what it has goes on: what it lacks is told by what it says once it
/// knows of this server, since what it says first may be older than its last orders.
expected<void> queue_head::lose_missing(const node_report& r, node& n) {
  std::vector<held_entry> missing;
  bool went_down = false;
  if (r.first && n.session != r.session) {
    const auto machine = r.program ? r.program->machine.value_or("") : "";
    went_down = !n.machine.empty() && !machine.empty() && n.machine != machine;
    for (const auto id : running_on(r.node))
      missing.push_back({.id = id, .start = state_.entries.at(id).starts});
  } else if (r.server == server_) {
    missing = n.inherited;
  } else {
    return {};
  }
  went_down = went_down && missing.size() == 1;
  std::erase_if(missing, [&](const held_entry& e) {
    return !is_running_on(e, r.node)
           || std::ranges::find(r.holds, e, &node_report::held::entry) != r.holds.end()
           || std::ranges::find(r.ended, e, &node_report::end::entry) != r.ended.end();
  });
  std::vector<entry_id> ids;
  for (const auto& e : missing)
    ids.push_back(e.id);
  return record(losses_of(ids, went_down)).map([&] {
    n.inherited.clear();
    if (!ids.empty())
      wake(); // Each waits again, for slots that may be free.
  });
}

/// Takes in how long what runs there has run, and what it asks with: a server that has taken
/// over from another folder has no tokens of entries.
expected<void> queue_head::take_held_of(const node_report& r) {
  for (const auto& h : r.holds) {
    if (!is_running_on(h.entry, r.node))
      continue;
    if (h.since)
      began_[h.entry.id] = clock::now() - h.since->ran;
    else
      began_.try_emplace(h.entry.id, clock::now());
    if (!h.since || !is_token_of(h.entry.id, h.since->token)
        || has_token(folder(), h.entry.id))
      continue;
    if (auto ok = while_others_read(
            [&] { return give_token(folder(), h.entry.id, h.since->token); });
        !ok)
      return ok;
  }
  return {};
}

/// Whether that start of an entry runs on that machine.
bool queue_head::is_running_on(const held_entry& e, const std::string& node) const {
  const auto found = state_.entries.find(e.id);
  return found != state_.entries.end() && found->second.state == entry_state::running
         && found->second.starts == e.start && machine_of_entry(found->second) == node;
}

/// Ends that it tells of an older start are of no account: that one was lost.
expected<void> queue_head::take_ends_of(const node_report& r) {
  std::vector<queue_event> events;
  std::set<entry_id> seen;
  for (const auto& end : r.ended) {
    const auto id = end.entry.id;
    if (!is_running_on(end.entry, r.node) || !seen.insert(id).second)
      continue;
    const auto& e = state_.entries.at(id);
    if (end.reason.empty())
      events.emplace_back(end_of(id, e, end.wait_status, describe_exit(end.wait_status)));
    else if (e.stopping)
      events.emplace_back(end_of(id, e, W_EXITCODE(0, SIGTERM), end.reason));
    else
      events.emplace_back(
          entry_ended{.id = id, .state = entry_state::failed, .reason = end.reason});
  }
  return record(events);
}

expected<node_orders> queue_head::report(const node_report& r, const queue_user& who,
                                         std::chrono::milliseconds most) {
  const auto program = r.program.value_or(node_program{.protocol = 1});
  if (program.protocol != queue_protocol)
    return fail(
        error_kind::conflict,
        fmt::format("the clade of {}{} speaks with queues as this server's ({}) does "
                    "not: take the same version on both",
                    r.node,
                    program.version.empty() ? "" : fmt::format(" ({})", program.version),
                    version_));
  auto taken = take(r, who);
  if (!taken)
    return tl::unexpected(taken.error());
  const auto& n = **taken;
  {
    std::unique_lock lock(mutex_);
    // However long it wants to wait, its next report comes within the lease.
    told_.wait_for(lock, std::min(most, lease_ / 3),
                   [&] { return n.change != r.seen || r.server != server_ || closed_; });
  }
  const changing lock(*this);
  if (n.session != r.session)
    return gone(r.node);
  // A server that was stopped meanwhile and is not the one any more gives no orders.
  if (auto ours = while_others_read([&] { return store_.confirm_held(); }); !ours)
    return tl::unexpected(ours.error());
  return orders_for(r.node, n);
}

/// Whether a machine is there, or is awaited, that another user's token asks for. An admin
/// may ask for each.
bool queue_head::is_of_others(const std::string& name, const node& n,
                              const queue_user& who) const {
  const bool has_gone = n.lost || (n.leaves && running_on(name).empty());
  return who.role != queue_role::admin && !has_gone && !n.user.empty()
         && n.user != who.name;
}

/// Takes in what a machine says; it is there, whatever of that cannot be recorded.
expected<const queue_head::node*> queue_head::take(const node_report& r,
                                                   const queue_user& who) {
  const changing lock(*this);
  auto& n = nodes_[r.node];
  if (is_of_others(r.node, n, who))
    return fail(error_kind::conflict,
                fmt::format("{} is a machine of {}'s; give this one a --name of its own",
                            r.node, n.user));
  const auto program = r.program.value_or(node_program{});
  const bool other = n.session != r.session;
  if (other && !n.session.empty() && !r.first)
    return gone(r.node);
  n.heard = clock::now();
  if (auto ok = lose_missing(r, n); !ok)
    return tl::unexpected(ok.error());
  n.session = r.session;
  n.user = who.name;
  n.folder = r.folder;
  n.version = program.version;
  n.machine = program.machine.value_or("");
  n.clock_ahead = std::chrono::milliseconds(program.unix_ms - unix_ms());
  if (other || n.lost || n.leaves != r.leaves || n.slots != r.slots) {
    n.lost = false;
    n.leaves = r.leaves;
    n.slots = r.slots;
    find_slots();
    wake();
  }
  n.processes.clear();
  for (const auto& h : r.holds)
    n.processes[h.entry.id] = h.processes;
  if (auto ok = take_held_of(r).and_then([&] { return take_ends_of(r); }); !ok)
    return tl::unexpected(ok.error());
  if (!r.ended.empty())
    wake();
  return &n;
}

expected<node_orders> queue_head::orders_for(const std::string& name,
                                             const node& n) const {
  node_orders all{.server = server_, .change = n.change};
  for (const auto id : running_on(name)) {
    const auto& e = state_.entries.at(id);
    const auto token = while_others_read([&] { return given_token(folder(), id); });
    if (!token)
      return tl::unexpected(token.error());
    node_orders::order o{.entry = {.id = id, .start = e.starts},
                         .what = e.what,
                         .stopping = e.stopping.has_value(),
                         .token = *token};
    for (const auto& s : e.slots)
      o.slots.push_back(s.substr(0, s.find('@')));
    std::error_code none;
    const auto size =
        std::filesystem::file_size(entry_folder(folder(), id) / entry_log_name, none);
    o.log_bytes = none ? 0 : size;
    all.orders.push_back(std::move(o));
  }
  return all;
}

std::vector<queue_machine> queue_head::machines() const {
  const std::lock_guard lock(mutex_);
  std::vector<queue_machine> all;
  for (const auto& [name, n] : nodes_)
    if (!n.leaves || !running_on(name).empty())
      all.push_back({.name = name,
                     .version = n.version,
                     .slots = n.slots.size(),
                     .heard = std::chrono::duration_cast<std::chrono::milliseconds>(
                         clock::now() - n.heard),
                     .clock_ahead = n.clock_ahead,
                     .state = n.lost              ? machine_state::lost
                              : n.session.empty() ? machine_state::awaited
                              : n.leaves          ? machine_state::leaves
                                                  : machine_state::there});
  return all;
}

std::string queue_head::folder_of_node(const std::string& node) const {
  const std::lock_guard lock(mutex_);
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? std::string() : found->second.folder;
}

expected<void> queue_head::check_log_of(const held_entry& e, const std::string& node,
                                        const queue_user& who) const {
  const std::lock_guard lock(mutex_);
  const auto n = nodes_.find(node);
  // The server's own machine has no name, and writes its logs itself.
  if (n == nodes_.end() || !is_running_on(e, node) || is_of_others(node, n->second, who))
    return fail(error_kind::conflict,
                fmt::format("{} does not run on {}, or that is not a machine of {}'s",
                            numbered(e.id), node, who.name));
  if (n->second.user.empty() && who.role != queue_role::admin)
    return fail(error_kind::io, node + " has not reported to this server yet");
  return {};
}

std::vector<process_seen> queue_head::processes_of(entry_id id) const {
  pid_t root = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto found = state_.entries.find(id);
    if (found == state_.entries.end() || found->second.state != entry_state::running)
      return {};
    if (const auto n = nodes_.find(machine_of_entry(found->second)); n != nodes_.end()) {
      const auto seen = n->second.processes.find(id);
      return seen == n->second.processes.end() ? std::vector<process_seen>()
                                               : seen->second;
    }
    root = processes_.root_of(id);
  }
  return root > 0 ? processes_below(root) : std::vector<process_seen>();
}

expected<queue_head::asking_entry>
queue_head::user_of_entry(const std::string& token) const {
  const auto nobody = fail(error_kind::refused, "this token is nobody's");
  const auto id = entry_of_token(token);
  if (!id)
    return nobody;
  std::string user;
  {
    const std::lock_guard lock(mutex_);
    const auto found = state_.entries.find(*id);
    if (found == state_.entries.end() || found->second.state != entry_state::running)
      return nobody;
    user = found->second.what.user;
  }
  if (!has_token(folder(), *id))
    return fail(error_kind::conflict,
                fmt::format("the machine of {} has not yet told this server its token",
                            numbered(*id)));
  if (!is_its_token(folder(), *id, token))
    return nobody;
  return asking_entry{.id = *id, .user = std::move(user)};
}

} // namespace clade
