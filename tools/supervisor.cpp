#include "tools/supervisor.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

// Signals are blocked and taken by sigtimedwait, one at a time, with the time until the
// next start as its limit: there is no handler, no race and no poll.

namespace clade {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds least_pause = 50ms;
constexpr auto first_pause = 250ms;
constexpr std::chrono::milliseconds longest_pause = 30s;
constexpr auto healthy_life = 10s;
constexpr int dismissed_status = 0;
constexpr int refused_status = 2;

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
                         const core_set& cores, int log, pid_t parent) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  // A group of its own: the terminal's Ctrl+C is for the process that decides what to do
  // about it.
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
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
    become(argument_pointers.data(), environment_pointers.data(), cores, log, parent);
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
    return "was killed by signal " + std::to_string(WTERMSIG(wait_status)) + " ("
           + strsignal(WTERMSIG(wait_status)) + ")";
  return "ended with status " + std::to_string(WEXITSTATUS(wait_status));
}

supervisor::supervisor(std::vector<process_params> slots) {
  for (auto& s : slots)
    slots_.push_back({.params = std::move(s), .start_again = clock::now()});
}

expected<void> supervisor::start_due() {
  const auto now = clock::now();
  for (auto& s : slots_) {
    if (s.done || s.process != 0 || now < s.start_again)
      continue;
    auto started = start_process(s.params);
    if (!started)
      return tl::unexpected(started.error());
    s.process = *started;
    s.started = now;
  }
  return {};
}

void supervisor::reap() {
  int status = 0;
  for (pid_t ended = 0; (ended = waitpid(-1, &status, WNOHANG)) > 0;) {
    auto s = std::ranges::find(slots_, ended, &slot::process);
    if (s == slots_.end())
      continue;
    s->process = 0;
    const bool refused = WIFEXITED(status) && WEXITSTATUS(status) == refused_status;
    if ((WIFEXITED(status) && WEXITSTATUS(status) == dismissed_status) || refused) {
      s->done = true;
      refused_ = refused_ || refused;
      continue;
    }
    const auto now = clock::now();
    // What kills a process by a signal is a candidate; what ends it with a status is
    // there again next time.
    s->pause = WIFSIGNALED(status) || now - s->started >= healthy_life
                   ? least_pause
                   : std::clamp<std::chrono::milliseconds>(2 * s->pause, first_pause,
                                                           longest_pause);
    s->start_again = now + s->pause;
    std::fprintf(stderr, "clade worker: node process %d %s; started again in %.1f s\n",
                 ended, describe_exit(status).c_str(),
                 std::chrono::duration<double>(s->pause).count());
  }
}

std::chrono::milliseconds supervisor::until_next_start() const {
  std::chrono::milliseconds least = 1h;
  for (const auto& s : slots_)
    if (!s.done && s.process == 0)
      least = std::min(least, std::chrono::ceil<std::chrono::milliseconds>(
                                  s.start_again - clock::now()));
  return std::max(least, 1ms);
}

// A node has nothing to bring to an end; and one that is stopped would not hear SIGTERM.
void supervisor::end_all() {
  for (const auto& s : slots_)
    if (s.process != 0)
      ::kill(s.process, SIGKILL);
  for (auto& s : slots_)
    if (s.process != 0)
      waitpid(std::exchange(s.process, 0), nullptr, 0);
}

expected<int> supervisor::keep_alive() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int s : {SIGCHLD, SIGTERM, SIGINT})
    sigaddset(&signals, s);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  while (std::ranges::any_of(slots_, [](const slot& s) { return !s.done; })) {
    if (auto started = start_due(); !started)
      return tl::unexpected(started.error());
    const auto most = until_next_start();
    const timespec limit{.tv_sec = most.count() / 1000,
                         .tv_nsec = most.count() % 1000 * 1'000'000};
    const int signal = sigtimedwait(&signals, nullptr, &limit);
    if (signal == SIGTERM || signal == SIGINT) {
      end_all();
      return 0;
    }
    reap();
  }
  return refused_ ? 2 : 0;
}

} // namespace clade
