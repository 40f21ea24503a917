#include "tools/run/session.hpp"

#include "actors/head/head.hpp"
#include "actors/transport/keys.hpp"
#include "engine/telemetry/publisher.hpp"
#include "engine/telemetry/viewer_keys.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/live_view.hpp"
#include "tools/launch/network_address.hpp"
#include "tools/machine/slots.hpp"
#include "tools/machine/supervisor.hpp"
#include "tools/run/run_files.hpp"

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <mutex>
#include <optional>
#include <utility>

// The worker is a process of its own even on one machine: the same command that another
// machine would start, so that a local search and a distributed one are the same code. It
// dies with this process, and is started again if it dies alone.

namespace clade {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr auto view_interval = 100ms;
constexpr auto worker_pause = 1s;
// Longer than a node pauses between two looks for the head.
constexpr std::chrono::milliseconds nodes_return = 3s;

// Signals that come together are handled in any order, and by several threads at once.
std::atomic<int> interrupts = 0;
std::atomic<bool> hung_up = false;
static_assert(std::atomic<int>::is_always_lock_free
              && std::atomic<bool>::is_always_lock_free);

// The first interrupt is noticed by the loop below; the second ends the process here and
// now. The store needs no goodbye: whatever it acknowledged is on the disk.
extern "C" void on_interrupt(int signal) {
  // A terminal that goes away may say so often, and a service manager says it right after
  // SIGTERM: it asks to stop and never to hurry.
  if (signal == SIGHUP) {
    hung_up = true;
    return;
  }
  if (++interrupts > 1) {
    constexpr char words[] =
        "\nstopped at once; clade resume goes on from the last record\n";
    [[maybe_unused]] const auto ignored =
        ::write(STDERR_FILENO, words, sizeof(words) - 1);
    ::_exit(130);
  }
}

void watch_interrupts() {
  interrupts = 0;
  hung_up = false;
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  for (int s : {SIGINT, SIGTERM})
    sigaction(s, &action, nullptr);
  if (!is_ignored(SIGHUP)) // As nohup leaves it.
    sigaction(SIGHUP, &action, nullptr);
}

/// The worker process of this machine.
class local_worker {
public:
  local_worker(const std::filesystem::path& folder, const endpoint& head,
               const std::string& slots, std::uint64_t id)
      : params_{.command = {own_program().string(), "worker", "--connect", to_text(head),
                            "--keys", (folder / "keys" / "worker").string(), "--slots",
                            slots, "--local", "--id", std::to_string(id)},
                .environment = {},
                .log = folder / "worker.log"},
        wanted_(slots != "none") {}

  ~local_worker() {
    if (process_ == 0)
      return;
    ::kill(process_, SIGINT);
    ::kill(process_, SIGCONT); // If it is stopped, it hears the other only now.
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR)
      ;
  }

  /// Starts it if it does not run; an error if it cannot be, or will not.
  expected<void> keep_alive() {
    if (!wanted_)
      return {};
    int status = 0;
    if (process_ != 0 && ::waitpid(process_, &status, WNOHANG) == process_) {
      process_ = 0;
      if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
        return fail(error_kind::internal, "the worker process " + describe_exit(status)
                                              + "; " + params_.log.string()
                                              + " says why");
    }
    if (!wanted_ || process_ != 0
        || (started_ && clock::now() - *started_ < worker_pause))
      return {};
    started_ = clock::now();
    return start_process(params_).map([this](pid_t p) { process_ = p; });
  }

  /// What is in training is finished first, or handed back.
  void change(const std::string& slots) {
    *std::next(std::ranges::find(params_.command, "--slots")) = slots;
    wanted_ = slots != "none";
    started_.reset();
    if (process_ != 0)
      ::kill(process_, SIGTERM);
  }

private:
  process_params params_;
  bool wanted_; ///< A run may leave all work to other machines.
  pid_t process_ = 0;
  std::optional<clock::time_point> started_;
};

/// Slots that somebody ordered, on their way from the actors to this thread.
class ordered_slots {
public:
  void put(const std::string& slots) {
    std::lock_guard lock(mutex_);
    wanted_ = slots;
  }

  std::optional<std::string> take() {
    std::lock_guard lock(mutex_);
    return std::exchange(wanted_, std::nullopt);
  }

private:
  std::mutex mutex_;
  std::optional<std::string> wanted_;
};

struct ending {
  int status = 0;
  std::optional<error> failure;
};

struct seen_run {
  run_progress progress;
  slots_view slots;
};

seen_run show(const session_params& params, head& h, live_view& view, slots_file& file) {
  auto progress = h.progress(view.shown());
  auto slots = h.slots();
  if (!params.quiet)
    view.update(progress, slots);
  file.update(slots);
  if (params.observe)
    params.observe(progress);
  return {std::move(progress), std::move(slots)};
}

ending drive(const session_params& params, head& h, local_worker& worker,
             ordered_slots& ordered, live_view& view, slots_file& file,
             const std::function<void(const slots_view&)>& look_after) {
  const auto wall_time = params.experiment.limits.wall_time;
  const auto start = clock::now();
  bool stopping = false;
  ending result;
  while (!h.wait(view_interval)) {
    look_after(show(params, h, view, file).slots);
    if (const auto slots = ordered.take())
      worker.change(*slots);
    if (auto alive = worker.keep_alive(); !alive) {
      result.failure = alive.error();
      return result;
    }
    if ((interrupts > 0 || hung_up) && result.status == 0) {
      result.status = 130;
      stopping = true;
      h.stop("interrupted");
    } else if (!stopping && wall_time.count() > 0 && clock::now() - start >= wall_time) {
      stopping = true;
      h.stop("wall time used", true);
    }
  }
  const auto last = show(params, h, view, file).progress;
  view.clear();
  result.failure = last.failure;
  if (last.finished)
    result.status = 0;
  return result;
}

session_result failed(const error& e) {
  return {.status = report(e), .failed = true};
}

/// Those that other machines have a part of stay, so that their workers find the next
/// head of the run.
expected<key_renewal> have_keys(const session_params& params) {
  const auto folder = params.folder / "keys";
  key_renewal renewal(folder, params.authority.empty() ? folder : params.authority);
  if (!params.authority.empty())
    return make_run_keys(folder, params.authority).map([&] { return renewal; });
  if (!params.experiment.slots.listen.empty() && renewal.renew()
      && find_keys(folder / "head") && find_keys(folder / "worker"))
    return renewal;
  return make_run_keys(folder).map([&] { return renewal; });
}

/// Where "any free port" is wanted, the one that the run had before is, as far as it is
/// free: its workers look there.
expected<endpoint> listening_at(const session_params& params) {
  const auto& listen = params.experiment.slots.listen;
  if (listen.empty())
    return endpoint{};
  auto wanted = parse_endpoint(listen);
  if (!wanted || wanted->port != 0)
    return wanted;
  const auto had = parse_endpoint(listening_address(params.folder));
  return had && had->host == wanted->host ? *had : *wanted;
}

/// Where processes of this machine find a head that listens there.
endpoint from_here(endpoint listens) {
  if (listens.host == "0.0.0.0")
    listens.host = "127.0.0.1";
  return listens;
}

/// Why this cannot be done, or empty.
std::string why_not(const instruction& order, const search_space& space,
                    const problem& p) {
  if (order.kind == instruction_kind::slots) {
    const auto wanted = parse_slots(order.text);
    return wanted ? std::string() : wanted.error().message;
  }
  const auto fits = check(space.rules, *order.genome).and_then([&] {
    return decode(space, *order.genome, p);
  });
  return fits ? std::string() : "the genome does not fit: " + fits.error().message;
}

/// Tells how other machines join, and leaves the address in the run's folder.
expected<void> announce(const session_params& params, const endpoint& at) {
  if (params.experiment.slots.listen.empty())
    return {};
  const auto address = to_text(at);
  if (auto written = write_address(params.folder, address); !written)
    return written;
  const auto keys = (params.folder / "keys" / "worker").string();
  if (params.json)
    std::cout << nlohmann::json{{"event", "listening"},
                                {"address", address},
                                {"keys", keys}}
                     .dump()
              << std::endl;
  else if (!params.quiet)
    std::cout << "listens on " << address
              << "; a worker of another machine joins with a copy of its keys:\n"
              << "  clade worker --connect " << address << " --keys " << keys
              << std::endl;
  return {};
}

/// The same of where it is watched.
void announce_publishing(const session_params& params) {
  if (!params.publish)
    return;
  const auto address = "tcp://" + to_text(*params.publish);
  if (params.json)
    std::cout << nlohmann::json{{"event", "publishing"}, {"address", address}}.dump()
              << std::endl;
  else if (!params.quiet)
    std::cout << "is watched on " << address
              << "; from another machine, with a copy of a viewer's keys:\n"
              << "  clade attach " << address << " --keys BUNDLE" << std::endl;
}

} // namespace

expected<std::optional<endpoint>> publishing_at(const sharing_options& options) {
  if (options.publish.empty())
    return std::optional<endpoint>();
  if (options.keys.empty())
    return fail(error_kind::invalid_input,
                "--publish needs --keys, the folder of clade keys new that knows the "
                "viewers");
  auto wanted = parse_endpoint(options.publish);
  if (!wanted)
    return tl::unexpected(wanted.error());
  if (wanted->port == 0 || wanted->port > 65'536 - ports_of_a_publisher)
    return fail(error_kind::invalid_input,
                "--publish " + options.publish
                    + ": write a port between 1 and 65533; it and the next two are used");
  if (auto keys = publisher_keys(options.keys); !keys)
    return tl::unexpected(keys.error());
  auto host = in_numbers(wanted->host);
  if (!host)
    return tl::unexpected(host.error());
  wanted->host = std::move(*host);
  for (std::uint16_t i = 0; i < ports_of_a_publisher; ++i)
    if (auto free = check_listening(
            {.host = wanted->host, .port = static_cast<std::uint16_t>(wanted->port + i)});
        !free)
      return tl::unexpected(free.error());
  return std::optional(std::move(*wanted));
}

session_result run_session(const session_params& params, store file, run_state run) {
  const auto start = clock::now();
  // From here on an interrupt drains the run, also where its head takes a while to start.
  watch_interrupts();
  session_result result;
  const auto& e = params.experiment;
  auto slots = parse_slots(e.slots.local);
  if (!slots) {
    return failed(slots.error());
  }
  result.slots = slots->size();
  const auto evaluated_before = run.evaluated;
  const auto seconds_before = run.training_seconds;
  const auto listens = listening_at(params);
  if (!listens)
    return failed(listens.error());
  auto keys = have_keys(params);
  if (!keys)
    return failed(keys.error());
  // Whoever had these from another head, on another machine, may still be at work on
  // them.
  const auto waits = !e.slots.listen.empty() && !run.open.empty()
                         ? nodes_return
                         : std::chrono::milliseconds(0);
  run_log log(params.folder / "head.log");
  ordered_slots ordered;
  const auto worker_id = drawn_worker();
  auto head = head::start(
      {.experiment = e,
       .problem = params.problem,
       .build = CLADE_VERSION,
       .keys = params.folder / "keys" / "head",
       .folder = params.folder,
       .publish = params.publish,
       .authority = params.authority,
       .listen = *listens,
       .lease = params.lease,
       .wait_for_nodes = waits,
       .local_worker = worker_id,
       .say = [&log](const std::string& line) { log.write(line); },
       .generators = std::max<std::size_t>(2, slots->size() / 8),
       .refuses = [&e, &p = params.problem](
                      const instruction& order) { return why_not(order, e.space, p); },
       .change_slots = [&ordered](const std::string& s) { ordered.put(s); }},
      std::move(file), std::move(run));
  if (!head)
    return failed(head.error());
  const endpoint at{.host = listens->host, .port = (*head)->port()};
  if (auto told = announce(params, at); !told)
    return failed(told.error());
  announce_publishing(params);
  live_view view({.candidates = e.evolution.generations * e.evolution.population,
                  .json = params.json,
                  .terminal = !params.quiet && ::isatty(STDOUT_FILENO) == 1});
  slots_file shown(params.folder);
  slot_watch watch(params.folder / "worker.log");
  ending end;
  {
    local_worker worker(params.folder, from_here(at), e.slots.local, worker_id);
    if (auto started = worker.keep_alive(); !started)
      end.failure = started.error();
    else
      end = drive(
          params, **head, worker, ordered, view, shown, [&](const slots_view& slots) {
            const bool local = e.slots.local != "none";
            if (const auto missing = watch.look(slots, clock::now()); missing && local)
              std::cerr << "clade: " << *missing << std::endl;
            if (const auto renewed = keys->renew_if_due(); !renewed)
              log.write(renewed.error().message);
            else if (*renewed)
              log.write("the keys of this run were renewed");
          });
    const auto last = (*head)->progress(view.shown());
    result.evaluated = last.evaluated - evaluated_before;
    result.training_seconds = last.training_seconds - seconds_before;
    (*head)->close();
  }
  result.seconds = std::chrono::duration<double>(clock::now() - start).count();
  result.failed = end.failure.has_value();
  result.status = end.failure ? report(*end.failure) : end.status;
  return result;
}

} // namespace clade
