// What a queue's head knows of other machines. Each says again and again what it has and
// is answered what it should have, so that nothing depends on a single message: what was
// lost on the way is said again.
#include "genome/child_process.hpp"
#include "genome/wall_clock.hpp"
#include "genome/whole_file.hpp"
#include "tools/queue/entry_command.hpp"
#include "tools/queue/processes_below.hpp"
#include "tools/queue/queue_head.hpp"
#include "tools/queue/queue_tokens.hpp"
#include "tools/views/web/web_access.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <charconv>
#include <csignal>

namespace clade {

namespace {

constexpr std::string_view token_prefix = "entry-";
constexpr std::uint64_t most_token_bytes = 256;

std::string machine_of_entry(const queue_entry& e) {
  return e.slots.empty() ? std::string() : std::string(machine_of(e.slots.front()));
}

std::filesystem::path token_file(const std::filesystem::path& queue, entry_id id) {
  return entry_folder(queue, id) / entry_queue_name / token_file_name;
}

expected<std::string> token_in(const std::filesystem::path& file) {
  return read_whole_file(file, {.most_bytes = most_token_bytes})
      .map([](const std::string& text) { return text.substr(0, text.find('\n')); });
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
    for (const auto id : *ids)
      if (const auto machine = machine_of_entry(state_.entries.at(id)); !machine.empty())
        nodes_[machine].heard = clock::now();
  for (auto& [name, n] : nodes_)
    for (const auto id : running_on(name))
      n.inherited.push_back({.id = id, .start = state_.entries.at(id).starts});
}

void queue_head::find_slots() {
  slots_ = {};
  for (const auto& s : processes_.params().slots)
    slots_.all.push_back({.name = s.name, .device = s.device == "cpu" ? "cpu" : "cuda"});
  for (const auto& [name, n] : nodes_) {
    if (n.session.empty() && !n.lost)
      slots_.awaited.insert(name);
    if (n.lost || n.leaves)
      continue;
    for (const auto& s : n.slots)
      slots_.all.push_back({.name = s.name + "@" + name, .device = s.device});
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
  std::vector<queue_event> lost;
  bool changed = false;
  for (auto& [name, n] : nodes_) {
    if (n.lost || clock::now() < n.heard + lease_)
      continue;
    n.lost = changed = true;
    n.processes.clear();
    for (const auto id : running_on(name))
      lost.emplace_back(entry_lost{id});
  }
  if (changed)
    find_slots();
  return record(lost);
}

/// What the process before had is lost. After a server's start it is the same process, and
/// what it has goes on: what it lacks is told by what it says once it knows of this server,
/// since what it says first may be older than its last orders.
expected<void> queue_head::lose_missing(const node_report& r, node& n) {
  std::vector<held_entry> missing;
  if (r.first && n.session != r.session)
    for (const auto id : running_on(r.node))
      missing.push_back({.id = id, .start = state_.entries.at(id).starts});
  else if (r.server == server_)
    missing = n.inherited;
  else
    return {};
  n.inherited.clear();
  std::erase_if(missing, [&](const held_entry& e) {
    const auto& entry = state_.entries.at(e.id);
    return entry.state != entry_state::running || entry.starts != e.start
           || machine_of_entry(entry) != r.node
           || std::ranges::find(r.holds, e, &node_report::held::entry) != r.holds.end()
           || std::ranges::find(r.ended, e, &node_report::end::entry) != r.ended.end();
  });
  std::vector<queue_event> lost;
  for (const auto& e : missing)
    lost.emplace_back(entry_lost{e.id});
  if (!lost.empty())
    wake(); // Each waits again, for slots that may be free.
  return record(lost);
}

/// What it says of an older start is of no account: that one was lost.
expected<void> queue_head::take_ends_of(const node_report& r) {
  std::vector<queue_event> events;
  std::set<entry_id> seen;
  for (const auto& end : r.ended) {
    const auto id = end.entry.id;
    const auto found = state_.entries.find(id);
    if (found == state_.entries.end() || found->second.state != entry_state::running
        || machine_of_entry(found->second) != r.node
        || found->second.starts != end.entry.start || !seen.insert(id).second)
      continue;
    if (end.reason.empty())
      events.emplace_back(
          end_of(id, found->second, end.wait_status, describe_exit(end.wait_status)));
    else if (found->second.stopping)
      events.emplace_back(end_of(id, found->second, W_EXITCODE(0, SIGTERM), end.reason));
    else
      events.emplace_back(
          entry_ended{.id = id, .state = entry_state::failed, .reason = end.reason});
  }
  return record(events);
}

expected<node_orders> queue_head::report(const node_report& r,
                                         std::chrono::milliseconds most) {
  const auto program = r.program.value_or(node_program{.protocol = 1});
  if (program.protocol != queue_protocol)
    return fail(error_kind::conflict,
                "the clade of " + r.node
                    + (program.version.empty() ? "" : " (" + program.version + ")")
                    + " speaks with queues as this server's (" + version_
                    + ") does not: take the same version on both");
  std::unique_lock lock(mutex_);
  const auto gone = [&] {
    return fail(error_kind::conflict, "another process has come for " + r.node
                                          + "; give each machine a --name of its own");
  };
  auto& n = nodes_[r.node];
  const bool other = n.session != r.session;
  if (other && !n.session.empty() && !r.first)
    return gone();
  if (auto ok = lose_missing(r, n); !ok)
    return tl::unexpected(ok.error());
  n.session = r.session;
  n.heard = clock::now();
  n.folder = r.folder;
  n.version = program.version;
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
  if (auto ok = take_ends_of(r); !ok)
    return tl::unexpected(ok.error());
  if (!r.ended.empty())
    wake();
  told_.wait_for(lock, most,
                 [&] { return n.change != r.seen || r.server != server_ || closed_; });
  if (n.session != r.session)
    return gone();
  // A server that was stopped meanwhile and is not the one any more gives no orders.
  if (auto ours = store_.confirm_held(); !ours)
    return tl::unexpected(ours.error());
  return orders_for(r.node, n);
}

expected<node_orders> queue_head::orders_for(const std::string& name,
                                             const node& n) const {
  node_orders all{.server = server_, .change = n.change};
  for (const auto id : running_on(name)) {
    const auto& e = state_.entries.at(id);
    const auto token = token_of(id);
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
                     .awaited = n.session.empty(),
                     .lost = n.lost,
                     .leaves = n.leaves});
  return all;
}

std::string queue_head::folder_of_node(const std::string& node) const {
  const std::lock_guard lock(mutex_);
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? std::string() : found->second.folder;
}

bool queue_head::runs_on(entry_id id, std::uint32_t start,
                         const std::string& node) const {
  const std::lock_guard lock(mutex_);
  const auto found = state_.entries.find(id);
  return found != state_.entries.end() && found->second.state == entry_state::running
         && found->second.starts == start && machine_of_entry(found->second) == node;
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

/// The entry's own, made when it is first wanted.
expected<std::string> queue_head::token_of(entry_id id) const {
  const auto file = token_file(folder(), id);
  std::error_code failed;
  if (std::filesystem::exists(file, failed))
    return token_in(file);
  const auto drawn = random_token();
  if (!drawn)
    return drawn;
  std::filesystem::create_directories(file.parent_path(), failed);
  if (failed)
    return fail(error_kind::io,
                file.parent_path().string() + ": cannot be made: " + failed.message());
  const auto token = std::string(token_prefix) + std::to_string(id) + "-" + *drawn;
  return write_private(file, token + "\n").map([&] { return token; });
}

expected<std::string> queue_head::user_of_entry(const std::string& token) const {
  const auto nobody = fail(error_kind::refused, "this token is nobody's");
  if (!token.starts_with(token_prefix))
    return nobody;
  entry_id id = 0;
  const char* end = token.data() + token.size();
  const auto [read, problem] =
      std::from_chars(token.data() + token_prefix.size(), end, id);
  if (problem != std::errc{} || read == end || *read != '-')
    return nobody;
  std::string user;
  {
    const std::lock_guard lock(mutex_);
    const auto found = state_.entries.find(id);
    if (found == state_.entries.end() || found->second.state != entry_state::running)
      return nobody;
    user = found->second.what.user;
  }
  const auto known = token_in(token_file(folder(), id));
  if (!known || !equal_in_constant_time(*known, token))
    return nobody;
  return user;
}

} // namespace clade
