// After a fork in a process of several threads only some calls are safe, and none that
// allocates: all that the child needs is made before.

#include "genome/base/child_process.hpp"

#include "genome/base/unique_fd.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>
#include <sstream>
#include <string_view>

namespace clade {

namespace {

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

std::vector<std::string> environment_of(const child_params& params) {
  auto all = params.environment;
  for (char** e = environ; *e != nullptr; ++e) {
    const std::string_view old(*e);
    const auto name = old.substr(0, old.find('=') + 1);
    if (std::ranges::none_of(params.environment,
                             [&](const auto& s) { return s.starts_with(name); }))
      all.emplace_back(old);
  }
  return all;
}

/// The things that the child needs.
struct start_plan {
  const child_params& params;
  std::vector<char*> words, environment; ///< Each ends with nullptr.
  core_set cores;
  /// The place at which a child that cannot become the program writes errno.
  int trouble;
  pid_t parent;
};

void reset_signals(bool ignored_too) {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (ignored_too)
    for (const int s : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGXFSZ, SIGCHLD})
      ::signal(s, SIG_DFL);
}

void lift_memory_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_DATA, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_DATA, &limit);
  }
}

// One of our caller's cores may have been taken away since they were looked at.
void pin(const core_set& cores) {
  constexpr std::string_view words =
      "clade: the cores of a slot cannot be had; its process runs on any that are left\n";
  if (cores.set && ::sched_setaffinity(0, cores.bytes, cores.set.get()) != 0) {
    [[maybe_unused]] const auto ignored =
        ::write(STDERR_FILENO, words.data(), words.size());
  }
}

bool take_streams(const child_params& p) {
  const std::array<int, 3> wanted{p.input, p.output, p.errors};
  for (int stream = 0; stream < 3; ++stream)
    if (wanted[static_cast<std::size_t>(stream)] >= 0
        && ::dup2(wanted[static_cast<std::size_t>(stream)], stream) < 0)
      return false;
  return true;
}

bool prepare(const start_plan& plan) {
  const auto& p = plan.params;
  reset_signals(p.is_foreign);
  if (p.is_foreign)
    lift_memory_limit();
  if ((p.own_session && ::setsid() < 0) || (p.group && ::setpgid(0, *p.group) != 0))
    return false;
  if (p.dies_with_us) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // This process may have died before that; then nobody would ever kill the child.
    if (::getppid() != plan.parent)
      ::_exit(127);
  }
  if (!take_streams(p) || (!p.directory.empty() && ::chdir(p.directory.c_str()) != 0))
    return false;
  ::close_range(STDERR_FILENO + 1, UINT_MAX, CLOSE_RANGE_CLOEXEC);
  if (p.inherited >= 0)
    ::fcntl(p.inherited, F_SETFD, 0);
  pin(plan.cores);
  return true;
}

[[noreturn]] void become(const start_plan& plan) {
  if ((!plan.params.first || plan.params.first()) && prepare(plan))
    ::execve(plan.words.front(), plan.words.data(), plan.environment.data());
  const int reason = errno;
  [[maybe_unused]] const auto written = ::write(plan.trouble, &reason, sizeof reason);
  ::_exit(127);
}

bool is_program(const std::filesystem::path& file) {
  std::error_code unknown;
  return std::filesystem::is_regular_file(file, unknown)
         && ::access(file.c_str(), X_OK) == 0;
}

/// Returns the first line of a file, as far as it is short; empty where it cannot be read.
std::string first_line_of(const std::filesystem::path& file) {
  std::array<char, 512> begin{};
  std::ifstream in(file, std::ios::binary);
  in.read(begin.data(), begin.size());
  const std::string text(begin.data(), static_cast<std::size_t>(in.gcount()));
  return text.substr(0, text.find('\n'));
}

tl::unexpected<error> ends_as_on_windows(const std::filesystem::path& script) {
  return fail(error_kind::invalid_input,
              fmt::format("{}: its lines end as on Windows, in a carriage return, so "
                          "that it cannot be run; change them: sed -i 's/\\r$//' {}",
                          script.string(), script.string()));
}

/// A program, or the reason why no system runs it.
expected<std::filesystem::path> runnable(const std::filesystem::path& file) {
  const auto line = first_line_of(file);
  if (line.starts_with("#!") && line.ends_with('\r'))
    return ends_as_on_windows(file);
  return file;
}

tl::unexpected<error> cannot_start(const child_params& params, int reason) {
  return fail(
      reason == ENOENT ? error_kind::not_found : error_kind::io,
      fmt::format("cannot start {}: {}", params.command.front(), std::strerror(reason)));
}

} // namespace

expected<pid_t> start_child(const child_params& params) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
    return cannot_start(params, errno);
  const unique_fd told(pipe[0]);
  unique_fd trouble(pipe[1]);
  auto words = params.command;
  auto environment = environment_of(params);
  const start_plan plan{.params = params,
                        .words = pointers(words),
                        .environment = pointers(environment),
                        .cores = make_core_set(params.cores),
                        .trouble = trouble.get(),
                        .parent = ::getpid()};
  const pid_t child = ::fork();
  if (child == 0)
    become(plan);
  if (child < 0)
    return cannot_start(params, errno);
  trouble.reset();
  int reason = 0;
  ssize_t count = 0;
  while ((count = ::read(told.get(), &reason, sizeof reason)) < 0 && errno == EINTR) {
  }
  if (count != sizeof reason)
    return child;
  ::kill(child, SIGKILL); // `first` may have left it to something else.
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return cannot_start(params, reason);
}

expected<std::filesystem::path> find_program(const std::string& name,
                                             const std::filesystem::path& directory) {
  if (name.find('/') != std::string::npos) {
    const auto file = directory / name;
    return is_program(file) ? runnable(file)
                            : fail(error_kind::not_found,
                                   file.string() + " is no program that may be run");
  }
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const auto file = directory / folder / name; is_program(file))
      return runnable(file);
  return fail(error_kind::not_found,
              fmt::format("there is no program {} on this machine", name));
}

expected<void> check_shell_script(const std::vector<std::string>& command,
                                  const std::filesystem::path& directory) {
  constexpr std::array<std::string_view, 6> shells{"sh",  "bash", "dash",
                                                   "ksh", "zsh",  "ash"};
  const auto program = std::filesystem::path(command.front()).filename().string();
  if (std::ranges::find(shells, program) == shells.end())
    return {};
  const auto script =
      std::find_if(command.begin() + 1, command.end(),
                   [](const std::string& word) { return !word.starts_with('-'); });
  // Behind -c stands no file.
  if (script == command.end() || (script != command.begin() + 1 && *(script - 1) == "-c"))
    return {};
  const auto file = directory / *script;
  std::error_code unknown;
  if (std::filesystem::is_regular_file(file, unknown)
      && first_line_of(file).ends_with('\r'))
    return ends_as_on_windows(file);
  return {};
}

std::string describe_exit(int wait_status) {
  if (WIFSIGNALED(wait_status))
    return fmt::format("killed by signal {} ({})", WTERMSIG(wait_status),
                       ::strsignal(WTERMSIG(wait_status)));
  return fmt::format("ended with status {}", WEXITSTATUS(wait_status));
}

int exit_code(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status)
                                  : WEXITSTATUS(wait_status);
}

std::size_t available_cores() {
  // Machines have more cores than a cpu_set_t has room for.
  constexpr std::size_t most_cores = 1 << 14;
  std::vector<cpu_set_t> cores(CPU_ALLOC_SIZE(most_cores) / sizeof(cpu_set_t));
  const auto bytes = cores.size() * sizeof(cpu_set_t);
  return ::sched_getaffinity(0, bytes, cores.data()) == 0
             ? static_cast<std::size_t>(CPU_COUNT_S(bytes, cores.data()))
             : 1;
}

} // namespace clade
