// Three threads: two speak with the server (queue_node_talk.cpp), and the third, which
// serves, starts and ends processes.
#include "tools/queue/node/queue_node.hpp"

#include "tools/queue/machine/queue_disk.hpp"
#include "tools/queue/processes/entry_command.hpp"
#include "tools/views/web/web_access.hpp"

#include <algorithm>
#include <csignal>
#include <future>

namespace clade {

namespace {

using namespace std::chrono_literals;

/// How long one that leaves waits for a server that is not there.
constexpr auto patience = 10s;
constexpr int longest_wait_ms = 60'000;
/// Between two looks at a disk that is full, while something waits for it.
constexpr std::chrono::milliseconds look_for_room = 500ms;
constexpr auto longest_end_of_former = 20s;

std::uint64_t size_of(const std::filesystem::path& file) {
  std::error_code none;
  const auto size = std::filesystem::file_size(file, none);
  return none ? 0 : size;
}

/// Clears what a process before this one left: its entries end a moment after it, and the
/// log of a command is with the server.
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
         .began = clock::now(),
         .token = o.token,
         .removable = !is_resumable(o.what.kind),
         .log_base = o.log_bytes};
  {
    // From here on nobody removes its folder as that of an earlier start.
    const std::lock_guard lock(mutex_);
    h.log_from = size_of(log);
    holds_.emplace(o.entry.id, h);
  }
  // It was told to end before it began.
  auto started = o.stopping ? fail(error_kind::conflict, "it had not begun")
                            : processes_.start(o.entry.id, o.what, o.slots, o.token);
  const std::lock_guard lock(mutex_);
  if (started) {
    holds_.at(o.entry.id).root = processes_.root_of(o.entry.id);
    return;
  }
  holds_.erase(o.entry.id);
  if (is_of_full_disk(started.error())) { // That was full meanwhile; nobody is to blame.
    unbegun_ = true;
    return;
  }
  ended_.push_back(
      {.end = {.entry = o.entry, .reason = started.error().message}, .before = h});
  changed_.notify_all();
}

/// Whether the disk has room for what begins; the server hears of each change.
bool queue_node::has_room() {
  const auto room = check_room(params_.processes.folder);
  const std::lock_guard lock(mutex_);
  if (full_.empty() != room.has_value())
    changed_.notify_all();
  full_ = room ? std::string() : room.error().message;
  return room.has_value();
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
  const bool room = has_room();
  unbegun_ = false;
  for (const auto& o : orders_.orders) {
    const bool runs = std::ranges::find(running, o.entry.id) != running.end();
    if (runs && o.stopping)
      processes_.stop(o.entry.id);
    else if (runs || has_ended(o.entry))
      continue;
    else if (room || o.stopping)
      begin(o);
    else
      unbegun_ = true;
  }
}

void queue_node::wait_for_news() const {
  std::vector<pollfd> files{{.fd = news_.descriptor(), .events = POLLIN, .revents = 0}};
  processes_.add_descriptors(files);
  auto most = unbegun_ ? look_for_room : std::chrono::milliseconds(longest_wait_ms);
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
    const auto& wrong = trouble_.empty() ? full_ : trouble_;
    if (const bool was = std::exchange(in_trouble, !wrong.empty());
        in_trouble && !was && !closed_)
      listener.troubled(wrong);
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
