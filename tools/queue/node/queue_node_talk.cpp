// The work of the two threads of a machine that speak with the queue's server. One asks
// what is wanted and waits for the answer; the other tells what has ended, after all of
// its log was sent. An answer that does not come is asked for again.
#include "engine/store/queue/queue_lease.hpp"
#include "genome/base/wall_clock.hpp"
#include "tools/queue/client/client_folder.hpp"
#include "tools/queue/machine/processes_below.hpp"
#include "tools/queue/node/queue_node.hpp"
#include "tools/queue/processes/entry_command.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

namespace {

using namespace std::chrono_literals;

constexpr auto longest_answer = 2s;
constexpr auto pause = 500ms;
constexpr auto round_with_news = 10ms;
constexpr auto round_without = 100ms;
constexpr auto log_every = 300ms;
constexpr std::size_t log_piece_bytes = 1 << 20;
/// The number of processes in one report: a MiB or so.
constexpr std::size_t most_processes_reported = 4096;

std::chrono::milliseconds time_since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - then);
}

std::uint64_t size_of(const std::filesystem::path& file) {
  std::error_code none;
  const auto size = std::filesystem::file_size(file, none);
  return none ? 0 : size;
}

} // namespace

node_report queue_node::report_now() {
  node_report r{.node = params_.name,
                .folder = params_.processes.folder.string(),
                .session = session_,
                .program = node_program{.version = params_.version,
                                        .unix_ms = unix_ms(),
                                        .machine = this_machine()}};
  const auto since = [](const held& h) {
    return held_since{.ran = time_since(h.began), .token = h.token};
  };
  std::vector<std::pair<node_report::held, pid_t>> all;
  {
    const std::lock_guard lock(mutex_);
    if (full_.empty()) // Else nobody can begin anything here.
      for (const auto& s : params_.processes.slots)
        r.slots.push_back({.name = s.name, .device = s.device == "cpu" ? "cpu" : "cuda"});
    r.first = first_;
    r.leaves = leaves_;
    r.server = server_;
    r.seen = seen_;
    shown_.clear();
    for (const auto& [id, h] : holds_) {
      all.emplace_back(node_report::held{.entry = {.id = id, .start = h.start},
                                         .processes = {},
                                         .since = since(h)},
                       h.root);
      shown_[id] = h.start;
    }
    // They are no longer held and not yet told: not lost.
    for (const auto& e : ended_)
      all.emplace_back(node_report::held{.entry = e.end.entry,
                                         .processes = {},
                                         .since = since(e.before)},
                       0);
  }
  auto left = most_processes_reported;
  for (auto& [held, root] : all) {
    if (root > 0)
      held.processes = processes_below(root, std::min(left, most_processes));
    left -= held.processes.size();
    r.holds.push_back(std::move(held));
  }
  return r;
}

expected<node_orders> queue_node::send(queue_client& client, const node_report& r,
                                       std::chrono::milliseconds wait) const {
  const auto body = encode(r);
  return client
      .post_bytes(fmt::format("/v1/nodes?wait={}", wait.count()), "application/msgpack",
                  {body.data(), body.size()})
      .and_then([](const std::string& answer) { return decode_node_orders(answer); });
}

/// False: the server cannot be reached, or wants nothing more of this process.
bool queue_node::take_answer(const node_report& r, const expected<node_orders>& answer) {
  const std::lock_guard lock(mutex_);
  if (answer) {
    heard_ = clock::now();
    first_ = false;
    trouble_.clear();
    leave_told_ = leave_told_ || r.leaves;
    news_.put(*answer);
    return true;
  }
  trouble_ = answer.error().message;
  const auto kind = answer.error().kind;
  if (kind == error_kind::conflict || kind == error_kind::refused) {
    refused_ = tl::unexpected(answer.error());
    closed_ = true;
    changed_.notify_all();
  }
  news_.wake();
  return false;
}

void queue_node::ask() {
  std::unique_lock lock(mutex_);
  while (!closed_) {
    lock.unlock();
    const auto begun = clock::now();
    const auto r = report_now();
    const auto answer = send(asks_, r, longest_answer);
    const bool answered = take_answer(r, answer);
    if (answered && asks_.take_learned())
      share_addresses();
    lock.lock();
    // A server that answers too many at once does not let them wait.
    const auto round = !answered                  ? pause
                       : answer->change != r.seen ? round_with_news
                                                  : round_without;
    changed_.wait_until(lock, begun + round, [&] { return closed_; });
  }
}

/// A program that runs here, or will, asks where this machine does.
void queue_node::share_addresses() {
  const auto& folder = params_.processes.folder;
  std::vector<std::filesystem::path> all{folder};
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, _] : holds_)
      all.push_back(entry_folder(folder, id) / entry_queue_name);
  }
  for (const auto& one : all) {
    if (std::error_code gone; !std::filesystem::is_directory(one, gone))
      continue;
    const auto shared = copy_client_files(params_.queue, one);
    if (!shared && params_.processes.warn)
      params_.processes.warn(shared.error());
  }
}

void queue_node::tell() {
  std::unique_lock lock(mutex_);
  while (!closed_) {
    const auto has_news = [&] { return !ended_.empty() || leaves_ != leave_told_; };
    changed_.wait_for(lock, log_every, [&] { return closed_ || has_news(); });
    // Whoever asks for the processes of what has begun is to see them soon.
    const bool any = has_news() || std::ranges::any_of(holds_, [&](const auto& one) {
                       return shown_[one.first] != one.second.start;
                     });
    lock.unlock();
    const bool sent = send_logs();
    if (sent && any)
      send_ends();
    lock.lock();
    if (!sent)
      changed_.wait_for(lock, pause, [&] { return closed_; });
  }
}

bool queue_node::send_log(entry_id id, held& h) {
  const auto file = entry_folder(params_.processes.folder, id) / entry_log_name;
  while (!h.log_refused) {
    const auto piece = read_log(file, h.log_from + h.log_sent, log_piece_bytes);
    if (!piece || piece->text.empty())
      return true;
    h.log_sent = piece->offset - h.log_from; // Its middle may be freed.
    const auto taken =
        tells_.post_bytes(fmt::format("/v1/nodes/log?entry={}&node={}&start={}&offset={}",
                                      id, params_.name, h.start, h.log_base + h.log_sent),
                          "application/octet-stream", piece->text);
    if (!taken
        && (taken.error().kind == error_kind::not_found
            || taken.error().kind == error_kind::io))
      return false;
    if (taken)
      h.log_sent += piece->text.size();
    else // It is no longer wanted here.
      h.log_refused = true;
  }
  return true;
}

bool queue_node::send_logs() {
  std::vector<std::pair<entry_id, held>> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& e : ended_)
      all.emplace_back(e.end.entry.id, e.before);
    for (const auto& [id, h] : holds_)
      all.emplace_back(id, h);
  }
  for (auto& [id, h] : all) {
    if (!send_log(id, h))
      return false;
    const std::lock_guard lock(mutex_);
    if (const auto its = holds_.find(id);
        its != holds_.end() && its->second.start == h.start)
      its->second = h;
    for (auto& e : ended_)
      if (e.end.entry == held_entry{.id = id, .start = h.start})
        e.before = h;
  }
  return true;
}

void queue_node::send_ends() {
  auto r = report_now();
  std::vector<ended> told;
  {
    const std::lock_guard lock(mutex_);
    // An entry that has ended since the logs were sent may have a log that was not.
    told = ended_;
  }
  std::erase_if(told, [&](const ended& e) {
    const auto file =
        entry_folder(params_.processes.folder, e.end.entry.id) / entry_log_name;
    return !e.before.log_refused && e.end.reason.empty()
           && size_of(file) > e.before.log_from + e.before.log_sent;
  });
  for (const auto& e : told)
    r.ended.push_back(e.end);
  const auto answer = send(tells_, r, 0ms);
  if (answer) {
    const std::lock_guard lock(mutex_);
    std::erase_if(ended_, [&](const ended& e) {
      return std::ranges::find(r.ended, e.end.entry, &node_report::end::entry)
             != r.ended.end();
    });
    for (const auto& e : told)
      if (std::error_code none; e.before.removable && !holds_.contains(e.end.entry.id))
        std::filesystem::remove_all(
            entry_folder(params_.processes.folder, e.end.entry.id), none);
  }
  static_cast<void>(take_answer(r, answer));
}

} // namespace clade
