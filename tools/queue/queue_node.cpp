// Three threads. One asks the server what is wanted here and waits for its answer; one
// tells what has ended, after all of its log was sent; the third, which serves, starts and
// ends processes.
#include "tools/queue/queue_node.hpp"

#include "genome/wall_clock.hpp"
#include "tools/queue/entry_command.hpp"
#include "tools/queue/processes_below.hpp"
#include "tools/views/web/web_access.hpp"

#include <algorithm>
#include <csignal>
#include <future>

namespace clade {

namespace {

using namespace std::chrono_literals;

constexpr auto longest_answer = 2s;
constexpr auto pause = 500ms;
constexpr auto round_with_news = 10ms;
constexpr auto round_without = 100ms;
constexpr auto log_every = 300ms;
/// How long one that leaves waits for a server that is not there.
constexpr auto patience = 10s;
constexpr std::size_t log_piece_bytes = 1 << 20;
constexpr int longest_wait_ms = 60'000;
constexpr auto longest_end_of_former = 20s;

std::uint64_t size_of(const std::filesystem::path& file) {
  std::error_code none;
  const auto size = std::filesystem::file_size(file, none);
  return none ? 0 : size;
}

/// What a process before this one left: its entries end a moment after it, and the log of
/// a command is with the server.
expected<void> clear_former(const std::filesystem::path& folder) {
  const auto until = std::chrono::steady_clock::now() + longest_end_of_former;
  std::error_code none;
  for (const auto& one :
       std::filesystem::directory_iterator(folder / entries_folder_name, none)) {
    if (auto ended = await_former(one.path() / entry_log_name, until); !ended)
      return ended;
    if (std::error_code failed;
        !std::filesystem::exists(one.path() / entry_runs_name, failed))
      std::filesystem::remove_all(one.path(), failed);
  }
  return {};
}

} // namespace

queue_node::queue_node(queue_node_params params, std::string session, queue_client asks,
                       queue_client tells)
    : params_(std::move(params)),
      session_(std::move(session)),
      processes_(params_.processes),
      asks_(std::move(asks)),
      tells_(std::move(tells)) {}

queue_node::~queue_node() = default;

expected<std::unique_ptr<queue_node>> queue_node::open(queue_node_params params) {
  if (auto cleared = clear_former(params.processes.folder); !cleared)
    return tl::unexpected(cleared.error());
  auto session = random_token();
  auto asks = queue_client::open(params.queue), tells = queue_client::open(params.queue);
  if (!session || !asks || !tells)
    return tl::unexpected(!session ? session.error()
                          : !asks  ? asks.error()
                                   : tells.error());
  std::unique_ptr<queue_node> made(new queue_node(std::move(params), std::move(*session),
                                                  std::move(*asks), std::move(*tells)));
  if (!made->news_.usable())
    return fail(error_kind::io, "no event descriptor can be had");
  return made;
}

node_report queue_node::report_now() {
  node_report r{.node = params_.name,
                .folder = params_.processes.folder.string(),
                .session = session_,
                .program =
                    node_program{.version = params_.version, .unix_ms = unix_ms()}};
  for (const auto& s : params_.processes.slots)
    r.slots.push_back({.name = s.name, .device = s.device == "cpu" ? "cpu" : "cuda"});
  std::vector<std::pair<held_entry, pid_t>> roots;
  {
    const std::lock_guard lock(mutex_);
    r.first = first_;
    r.leaves = leaves_;
    r.server = server_;
    r.seen = seen_;
    shown_.clear();
    for (const auto& [id, h] : holds_) {
      roots.emplace_back(held_entry{.id = id, .start = h.start}, h.root);
      shown_[id] = h.start;
    }
    // They are no longer held and not yet told: not lost.
    for (const auto& e : ended_)
      roots.emplace_back(e.end.entry, 0);
  }
  for (const auto& [entry, root] : roots)
    r.holds.push_back(
        {.entry = entry,
         .processes = root > 0 ? processes_below(root) : std::vector<process_seen>()});
  return r;
}

expected<node_orders> queue_node::send(queue_client& client, const node_report& r,
                                       std::chrono::milliseconds wait) const {
  const auto body = encode(r);
  return client
      .post_bytes("/v1/nodes?wait=" + std::to_string(wait.count()), "application/msgpack",
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
    lock.lock();
    // A server that answers too many at once does not let them wait.
    const auto round = !answered                  ? pause
                       : answer->change != r.seen ? round_with_news
                                                  : round_without;
    changed_.wait_until(lock, begun + round, [&] { return closed_; });
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
        tells_.post_bytes("/v1/nodes/log?entry=" + std::to_string(id) + "&node="
                              + params_.name + "&start=" + std::to_string(h.start)
                              + "&offset=" + std::to_string(h.log_base + h.log_sent),
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
    // What has ended since the logs were sent may have a log that was not.
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

void queue_node::take_ends() {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, status] : processes_.take_ends()) {
    const auto h = holds_.at(id);
    ended_.push_back(
        {.end = {.entry = {.id = id, .start = h.start}, .wait_status = status},
         .before = h});
    holds_.erase(id);
    changed_.notify_all();
  }
}

void queue_node::begin(const node_orders::order& o) {
  const auto log = entry_folder(params_.processes.folder, o.entry.id) / entry_log_name;
  held h{.start = o.entry.start,
         .removable = !is_resumable(o.what.kind),
         .log_from = size_of(log),
         .log_base = o.log_bytes};
  // It was told to end before it began.
  auto started = o.stopping ? fail(error_kind::conflict, "it had not begun")
                            : processes_.start(o.entry.id, o.what, o.slots, o.token);
  const std::lock_guard lock(mutex_);
  if (started) {
    h.root = processes_.root_of(o.entry.id);
    holds_.emplace(o.entry.id, h);
    return;
  }
  ended_.push_back(
      {.end = {.entry = o.entry, .reason = started.error().message}, .before = h});
  changed_.notify_all();
}

/// Makes what runs what is wanted.
void queue_node::reconcile() {
  const auto wanted = [&](const held_entry& e) {
    return std::ranges::find(orders_.orders, e, &node_orders::order::entry)
           != orders_.orders.end();
  };
  const auto has_ended = [&](const held_entry& e) {
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(ended_,
                               [&](const ended& one) { return one.end.entry == e; });
  };
  const auto running = processes_.ids();
  const auto start_of = [&](entry_id id) {
    const std::lock_guard lock(mutex_);
    return holds_.at(id).start;
  };
  for (const auto id : running)
    if (!wanted({.id = id, .start = start_of(id)}))
      processes_.kill(id);
  for (const auto& o : orders_.orders) {
    const bool runs = std::ranges::find(running, o.entry.id) != running.end();
    if (runs && o.stopping)
      processes_.stop(o.entry.id);
    else if (!runs && !has_ended(o.entry))
      begin(o);
  }
}

void queue_node::wait_for_news() const {
  std::vector<pollfd> files{{.fd = news_.descriptor(), .events = POLLIN, .revents = 0}};
  processes_.add_descriptors(files);
  auto most = std::chrono::milliseconds(longest_wait_ms);
  if (const auto next = processes_.next_tend())
    most = std::clamp(std::chrono::ceil<std::chrono::milliseconds>(*next - clock::now()),
                      0ms, most);
  if (idle_since_)
    most = std::clamp(std::chrono::ceil<std::chrono::milliseconds>(
                          *idle_since_ + *params_.idle - clock::now()),
                      0ms, most);
  const timespec time{.tv_sec = most / 1s, .tv_nsec = (most % 1s).count() * 1'000'000L};
  sigset_t none;
  ::sigemptyset(&none);
  ::ppoll(files.data(), files.size(), &time, &none);
}

/// Returns whether there is something to do.
bool queue_node::take_news() {
  bool any = false;
  for (auto& o : news_.take()) {
    // Answers may overtake each other.
    if (o.server == orders_.server && o.change < orders_.change)
      continue;
    orders_ = std::move(o);
    any = true;
  }
  return any;
}

/// Whether it has had nothing to run for so long that it leaves. Its caller has the lock.
bool queue_node::is_idle() {
  if (!params_.idle)
    return false;
  if (!holds_.empty() || !ended_.empty() || !orders_.orders.empty()) {
    idle_since_.reset();
    return false;
  }
  const auto now = clock::now();
  if (!idle_since_)
    idle_since_ = now;
  return now >= *idle_since_ + *params_.idle;
}

expected<void> queue_node::serve(const std::function<bool()>& stop,
                                 const queue_node_listener& listener) {
  // If one of these threads throws, the process ends: it must not go on while it gets no
  // orders, or tells nobody what has ended.
  const auto asking = std::async(std::launch::async, [this]() noexcept { ask(); });
  const auto telling = std::async(std::launch::async, [this]() noexcept { tell(); });
  bool told = false, in_trouble = false;
  for (bool done = false; !done;) {
    wait_for_news();
    take_ends();
    if (take_news() && !std::exchange(told, true))
      listener.joined();
    reconcile();
    processes_.tend();
    const std::lock_guard lock(mutex_);
    if (const bool was = std::exchange(in_trouble, !trouble_.empty());
        in_trouble && !was && !closed_)
      listener.troubled(trouble_);
    server_ = orders_.server;
    seen_ = orders_.change;
    if ((stop() || (told && is_idle())) && !leaves_) {
      leaves_ = true;
      changed_.notify_all();
    }
    const bool waited = clock::now() > heard_ + patience;
    const bool has_nothing = holds_.empty() && ended_.empty() && orders_.orders.empty();
    done = closed_ || (leaves_ && ((leave_told_ && has_nothing) || waited));
  }
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
  return refused_;
}

} // namespace clade
