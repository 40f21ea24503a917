#include "tools/machine/supervisor.hpp"

#include "actors/node/node_end.hpp"
#include "genome/base/child_process.hpp"
#include "tools/machine/signal_origin.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <random>
#include <utility>

// Signals are blocked and read from a descriptor, beside those of the pulses, with the
// time until the next thing to do as the limit: there is no handler and no race.

namespace clade {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds least_pause = 50ms;
constexpr auto first_pause = 250ms;
constexpr std::chrono::milliseconds longest_pause = 30s;
constexpr auto healthy_life = 10s;
// Longer than that between two looks, and this process was stopped itself.
constexpr auto own_gap = 5s;
// Beyond the grace: a training that is given up keeps its position on the disk.
constexpr auto drain_allowance = 12s;
// Its successor may end before it could tell the head.
constexpr std::size_t former_kept = 4;

std::uint64_t drawn_session() {
  std::random_device random;
  return std::max<std::uint64_t>(1, (std::uint64_t{random()} << 32) | random());
}

/// How often the kernel has ended a process of this machine for want of memory.
std::uint64_t memory_kills() {
  std::ifstream counters("/proc/vmstat");
  std::string name;
  std::uint64_t count = 0;
  while (counters >> name >> count)
    if (name == "oom_kill")
      return count;
  return 0;
}

std::chrono::milliseconds longer_pause(std::chrono::milliseconds pause) {
  return std::clamp<std::chrono::milliseconds>(2 * pause, first_pause, longest_pause);
}

} // namespace

expected<pid_t> start_process(const process_params& params) {
  unique_fd log;
  if (!params.log.empty()) {
    log.reset(
        ::open(params.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (!log)
      return fail(error_kind::io,
                  fmt::format("{}: {}", params.log.string(), std::strerror(errno)));
  }
  return start_child({.command = params.command,
                      .environment = params.environment,
                      .cores = params.cores,
                      .output = log.get(),
                      .errors = log.get(),
                      .inherited = params.inherited,
                      .group = 0, // The terminal's Ctrl+C is for who decides about it.
                      .dies_with_us = true});
}

std::string describe_node_end(int wait_status, bool own_doing) {
  const auto end = node_end_of(wait_status);
  if (end == node_end::overdue)
    return "as what it did took longer than limits.evaluation_time";
  if (end == node_end::drained)
    return "it was told to leave";
  const bool for_memory =
      own_doing && WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL;
  return describe_exit(wait_status)
         + (end ? fmt::format(" ({})", to_text(*end)) : std::string())
         + (for_memory ? ", out of memory" : "");
}

bool is_ignored(int signal) {
  struct sigaction now {};
  return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

supervisor::supervisor(supervisor_params params) : params_(std::move(params)) {
  for (auto& s : params_.slots)
    slots_.push_back({.params = std::move(s), .start_again = clock::now()});
}

void supervisor::start_due() {
  const auto now = clock::now();
  for (auto& s : slots_)
    if (!s.done && s.process == 0 && now >= s.start_again)
      if (const auto started = start(s); !started) // Perhaps the machine has no process
        start_later(s, longer_pause(s.pause), started.error().message); // left for now.
}

expected<void> supervisor::start(slot& s) {
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC | O_NONBLOCK) != 0)
    return fail(error_kind::io, std::string("no pipe: ") + std::strerror(errno));
  s.pulse.reset(pipe[0]);
  const unique_fd beats(pipe[1]);
  auto params = s.params;
  s.session = drawn_session();
  s.kills_before = memory_kills();
  s.sent_signal = false;
  params.command.insert(params.command.end(), {"--pulse", std::to_string(beats.get()),
                                               "--session", std::to_string(s.session)});
  for (const auto& end : s.former)
    params.command.insert(params.command.end(), {"--former", end});
  params.inherited = beats.get();
  return start_process(params).map([&](pid_t process) {
    s.process = process;
    s.started = s.heard = clock::now();
  });
}

// Evidence is what the process itself shows: a fault, or that it ended because a test did
// not. SIGKILL tells nothing of who sent it; that the kernel did, for want of memory, its
// counter tells, and the process's greatest size whether that was its own fault.
bool supervisor::own_doing(const slot& s, int status, const rusage& used) const {
  if (!WIFSIGNALED(status))
    return node_end_of(status) == node_end::overdue;
  if (is_fault(WTERMSIG(status)))
    return !s.sent_signal;
  const auto bytes = static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
  return WTERMSIG(status) == SIGKILL && params_.memory_share != 0
         && bytes > params_.memory_share && memory_kills() > s.kills_before;
}

void supervisor::ended(slot& s, int status, const rusage& used) {
  const pid_t process = std::exchange(s.process, 0);
  read_pulse(s);
  const bool own = own_doing(s, status, used);
  const auto end = node_end_of(status);
  const auto how = describe_node_end(status, own);
  s.former.push_back(fmt::format("{}{}{}", s.session, own ? ":1:" : ":0:", how));
  if (s.former.size() > former_kept)
    s.former.pop_front();
  s.pulse.reset();
  if (end == node_end::refused)
    status_ = 2;
  if (end == node_end::lonely)
    status_ = std::max(status_, 1);
  if (draining_ || end == node_end::refused || end == node_end::lonely
      || end == node_end::dismissed) {
    s.done = true;
    return;
  }
  // A process that is killed by a signal, or kept beyond its time, was so by a task; the
  // cause that ends it with a status is there again next time.
  start_later(s,
              own || end == node_end::drained || WIFSIGNALED(status)
                      || clock::now() - s.started >= healthy_life
                  ? least_pause
                  : longer_pause(s.pause),
              fmt::format("node process {}: {}", process, how));
}

void supervisor::start_later(slot& s, std::chrono::milliseconds pause,
                             const std::string& why) {
  s.pause = pause;
  s.start_again = clock::now() + pause;
  std::fprintf(stderr, "clade worker: %s; started again in %.1f s\n", why.c_str(),
               std::chrono::duration<double>(pause).count());
}

void supervisor::reap() {
  int status = 0;
  rusage used{};
  for (pid_t process = 0; (process = ::wait4(-1, &status, WNOHANG, &used)) > 0;)
    if (auto s = std::ranges::find(slots_, process, &slot::process); s != slots_.end())
      ended(*s, status, used);
}

void supervisor::read_pulse(slot& s) {
  char beats[64];
  ssize_t count = 0;
  while (s.pulse && (count = ::read(s.pulse.get(), beats, sizeof(beats))) > 0) {
    s.heard = clock::now();
    s.sent_signal |= std::find(beats, beats + count, signal_was_sent) != beats + count;
  }
  if (s.pulse && count == 0) // It is about to end.
    s.pulse.reset();
}

void supervisor::hear() {
  const auto now = clock::now();
  // Stopped ourselves, we heard nobody; that says nothing of them.
  const bool deaf = std::exchange(last_look_, now) + own_gap < now;
  for (auto& s : slots_) {
    read_pulse(s);
    if (deaf)
      s.heard = now;
  }
}

void supervisor::kill_silent() {
  for (auto& s : slots_)
    if (s.process != 0 && clock::now() - s.heard > params_.silence) {
      std::fprintf(stderr,
                   "clade worker: node process %d gave no sign of life for %.0f s "
                   "and is killed\n",
                   s.process, std::chrono::duration<double>(params_.silence).count());
      ::kill(s.process, SIGKILL);
      s.heard = clock::now(); // Said once.
    }
}

std::chrono::milliseconds supervisor::until_next_step() const {
  auto next = clock::now() + 1s; // A pulse is due.
  for (const auto& s : slots_)
    if (!s.done && s.process == 0)
      next = std::min(next, s.start_again);
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(next - clock::now()), 1ms);
}

void supervisor::drain() {
  draining_ = true;
  drained_ = clock::now() + params_.grace + drain_allowance;
  for (auto& s : slots_) {
    if (s.process == 0)
      s.done = true;
    else
      ::kill(s.process, SIGTERM);
  }
}

void supervisor::end_all() {
  for (const auto& s : slots_)
    if (s.process != 0)
      ::kill(s.process, SIGKILL);
  for (auto& s : slots_) {
    if (s.process != 0)
      waitpid(std::exchange(s.process, 0), nullptr, 0);
    s.done = true;
  }
}

void supervisor::wait(int signals) {
  std::vector<pollfd> all{{.fd = signals, .events = POLLIN, .revents = 0}};
  for (const auto& s : slots_)
    all.push_back({.fd = s.pulse.get(), .events = POLLIN, .revents = 0});
  ::poll(all.data(), all.size(), static_cast<int>(until_next_step().count()));
  signalfd_siginfo signal{};
  while (::read(signals, &signal, sizeof(signal)) == sizeof(signal)) {
    if (signal.ssi_signo == SIGCHLD)
      continue;
    if (signal.ssi_signo == SIGINT || (signal.ssi_signo == SIGTERM && draining_))
      return end_all();
    if (!draining_)
      drain();
  }
}

expected<int> supervisor::keep_alive() {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (int s : {SIGCHLD, SIGTERM, SIGINT, SIGUSR1})
    sigaddset(&wanted, s);
  if (!is_ignored(SIGHUP))
    sigaddset(&wanted, SIGHUP);
  sigprocmask(SIG_BLOCK, &wanted, nullptr);
  const unique_fd signals(::signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!signals)
    return fail(error_kind::io, std::string("no signals: ") + std::strerror(errno));
  last_look_ = clock::now();
  while (std::ranges::any_of(slots_, [](const slot& s) { return !s.done; })) {
    if (!draining_)
      start_due();
    wait(signals.get());
    hear();
    reap();
    kill_silent();
    if (draining_ && clock::now() >= drained_)
      end_all();
  }
  return status_;
}

} // namespace clade
