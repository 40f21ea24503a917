#include "tools/machine/supervisor.hpp"

#include "tools/machine/signal_origin.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>
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
constexpr int dismissed_status = 0;
constexpr int refused_status = 2;
constexpr int lonely_status = 5;
constexpr int overdue_status = 6;
// Longer than that between two looks, and this process was stopped itself.
constexpr auto own_gap = 5s;
constexpr auto drain_allowance = 5s;
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

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (auto& s : strings)
    result.push_back(s.data());
  result.push_back(nullptr);
  return result;
}

struct free_cores {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};

/// A set of cores of whatever size it takes; empty for those that this process has.
struct core_set {
  std::unique_ptr<cpu_set_t, free_cores> set;
  std::size_t bytes = 0;
};

core_set make_core_set(const std::vector<unsigned>& cores) {
  if (cores.empty())
    return {};
  const auto count = std::ranges::max(cores) + 1;
  core_set made{.set = std::unique_ptr<cpu_set_t, free_cores>(CPU_ALLOC(count)),
                .bytes = CPU_ALLOC_SIZE(count)};
  if (!made.set)
    throw std::bad_alloc();
  CPU_ZERO_S(made.bytes, made.set.get());
  for (const unsigned c : cores)
    CPU_SET_S(c, made.bytes, made.set.get());
  return made;
}

// Of our caller's cores one may have been taken away since they were looked at.
void pin(const core_set& cores) {
  constexpr char words[] =
      "clade: the cores of a slot cannot be had; its process runs on "
      "any that are left\n";
  if (cores.set && sched_setaffinity(0, cores.bytes, cores.set.get()) != 0) {
    [[maybe_unused]] const auto ignored =
        ::write(STDERR_FILENO, words, sizeof(words) - 1);
  }
}

/// In the child, before exec: only calls that are safe after fork in a threaded process.
[[noreturn]] void become(char* const* arguments, char* const* environment,
                         const core_set& cores, int log, int inherited, pid_t parent) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  // A group of its own: the terminal's Ctrl+C is for the process that decides what to do
  // about it.
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (inherited >= 0)
    fcntl(inherited, F_SETFD, 0);
  // The parent may have died before the line above; then nobody would ever kill this one.
  if (getppid() == parent
      && (log < 0 || (dup2(log, STDOUT_FILENO) >= 0 && dup2(log, STDERR_FILENO) >= 0))) {
    pin(cores);
    execve(arguments[0], arguments, environment);
  }
  _exit(127);
}

} // namespace

expected<pid_t> start_process(const process_params& params) {
  auto command = params.command;
  std::vector<std::string> environment = params.environment;
  for (char** e = environ; *e != nullptr; ++e) {
    const std::string_view old(*e);
    const auto name = old.substr(0, old.find('=') + 1);
    if (std::ranges::none_of(params.environment,
                             [&](const auto& s) { return s.starts_with(name); }))
      environment.emplace_back(old);
  }
  int log = -1;
  if (!params.log.empty()) {
    log = ::open(params.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log < 0)
      return fail(error_kind::io, params.log.string() + ": " + std::strerror(errno));
  }
  auto argument_pointers = pointers(command);
  auto environment_pointers = pointers(environment);
  const auto cores = make_core_set(params.cores);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0)
    become(argument_pointers.data(), environment_pointers.data(), cores, log,
           params.inherited, parent);
  const int reason = errno;
  if (log >= 0)
    ::close(log);
  if (child < 0)
    return fail(error_kind::io,
                "cannot start " + command.front() + ": " + std::strerror(reason));
  return child;
}

std::string describe_exit(int wait_status) {
  if (WIFSIGNALED(wait_status))
    return "killed by signal " + std::to_string(WTERMSIG(wait_status)) + " ("
           + strsignal(WTERMSIG(wait_status)) + ")";
  return "ended with status " + std::to_string(WEXITSTATUS(wait_status));
}

bool is_ignored(int signal) {
  struct sigaction now {};
  return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

supervisor::supervisor(supervisor_params params) : params_(std::move(params)) {
  for (auto& s : params_.slots)
    slots_.push_back({.params = std::move(s), .start_again = clock::now()});
}

expected<void> supervisor::start_due() {
  const auto now = clock::now();
  for (auto& s : slots_) {
    if (s.done || s.process != 0 || now < s.start_again)
      continue;
    int pipe[2];
    if (::pipe2(pipe, O_CLOEXEC | O_NONBLOCK) != 0)
      return fail(error_kind::io, std::string("no pipe: ") + std::strerror(errno));
    auto params = s.params;
    s.session = drawn_session();
    s.kills_before = memory_kills();
    s.sent_signal = false;
    params.command.insert(params.command.end(), {"--pulse", std::to_string(pipe[1]),
                                                 "--session", std::to_string(s.session)});
    for (const auto& end : s.former)
      params.command.insert(params.command.end(), {"--former", end});
    params.inherited = pipe[1];
    auto started = start_process(params);
    ::close(pipe[1]);
    s.pulse = pipe[0];
    if (!started)
      return tl::unexpected(started.error());
    s.process = *started;
    s.started = s.heard = now;
  }
  return {};
}

// Evidence is what the process itself shows: a fault, or that it ended because a test did
// not. SIGKILL tells nothing of who sent it; that the kernel did, for want of memory, its
// counter tells, and the process's greatest size whether that was its own fault.
bool supervisor::own_doing(const slot& s, int status, const rusage& used) const {
  if (!WIFSIGNALED(status))
    return WEXITSTATUS(status) == overdue_status;
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
  const auto how =
      own && WIFEXITED(status)
          ? "as what it did took longer than limits.evaluation_time"
          : describe_exit(status)
                + (own && WTERMSIG(status) == SIGKILL ? ", out of memory" : "");
  s.former.push_back(std::to_string(s.session) + (own ? ":1:" : ":0:") + how);
  if (s.former.size() > former_kept)
    s.former.pop_front();
  if (s.pulse >= 0)
    ::close(std::exchange(s.pulse, -1));
  const int exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (draining_ || exit_status == dismissed_status || exit_status == refused_status
      || exit_status == lonely_status) {
    s.done = true;
    if (exit_status == refused_status || exit_status == lonely_status)
      status_ = exit_status == refused_status ? 2 : std::max(status_, 1);
    return;
  }
  const auto now = clock::now();
  // What kills a process by a signal, or keeps it beyond its time, is a task; what ends
  // it with a status is there again next time.
  s.pause = own || WIFSIGNALED(status) || now - s.started >= healthy_life
                ? least_pause
                : std::clamp<std::chrono::milliseconds>(2 * s.pause, first_pause,
                                                        longest_pause);
  s.start_again = now + s.pause;
  std::fprintf(stderr, "clade worker: node process %d: %s; started again in %.1f s\n",
               process, how.c_str(), std::chrono::duration<double>(s.pause).count());
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
  while (s.pulse >= 0 && (count = ::read(s.pulse, beats, sizeof(beats))) > 0) {
    s.heard = clock::now();
    s.sent_signal |= std::find(beats, beats + count, signal_was_sent) != beats + count;
  }
  if (s.pulse >= 0 && count == 0) // It is about to end.
    ::close(std::exchange(s.pulse, -1));
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
    all.push_back({.fd = s.pulse, .events = POLLIN, .revents = 0});
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
  for (int s : {SIGCHLD, SIGTERM, SIGINT})
    sigaddset(&wanted, s);
  if (!is_ignored(SIGHUP))
    sigaddset(&wanted, SIGHUP);
  sigprocmask(SIG_BLOCK, &wanted, nullptr);
  const int signals = ::signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC);
  if (signals < 0)
    return fail(error_kind::io, std::string("no signals: ") + std::strerror(errno));
  last_look_ = clock::now();
  while (std::ranges::any_of(slots_, [](const slot& s) { return !s.done; })) {
    if (auto started = draining_ ? expected<void>{} : start_due(); !started)
      return tl::unexpected(started.error());
    wait(signals);
    hear();
    reap();
    kill_silent();
    if (draining_ && clock::now() >= drained_)
      end_all();
  }
  ::close(signals);
  return status_;
}

} // namespace clade
