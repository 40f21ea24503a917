// The guard is a fork of a process that may have had several threads: it makes system
// calls alone, and allocates nothing.
//
// Every process below the guard is its child or becomes one when its parent has died, as
// the guard is a subreaper. So it is enough to kill its children until there are none.
// The program is not waited for before that, for its group to keep its number.

#include "engine/evaluation/process/guard.hpp"

#include "engine/evaluation/process/process_table.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>

namespace clade {

namespace {

/// All children but one. Returns how many; less than 0 where nobody can tell which they are.
int kill_children_but(pid_t spared) {
  const int proc = ::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (proc < 0)
    return -1;
  const pid_t self = ::getpid();
  int killed = 0;
  alignas(dirent64) std::array<char, 8192> block;
  ssize_t count = 0;
  while ((count = ::getdents64(proc, block.data(), block.size())) > 0)
    for (ssize_t at = 0; at < count;) {
      const auto* entry = reinterpret_cast<const dirent64*>(block.data() + at);
      at += entry->d_reclen;
      const auto child = read_process(proc, entry->d_name);
      if (!child || child->parent != self || child->id == spared)
        continue;
      ::kill(child->id, SIGKILL);
      ++killed;
    }
  ::close(proc);
  return killed;
}

/// Whether no child is left, dead ones waited for: then nobody has to be looked for.
bool has_no_children() {
  pid_t ended = 0;
  while ((ended = ::waitpid(-1, nullptr, WNOHANG)) > 0) {
  }
  return ended < 0 && errno == ECHILD;
}

[[noreturn]] void end_all(pid_t program) {
  ::kill(-program, SIGKILL);
  if (has_no_children())
    ::_exit(0);
  while (kill_children_but(0) >= 0 && (::waitpid(-1, nullptr, 0) > 0 || errno == EINTR))
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
  ::_exit(0);
}

/// Waits for adopted processes that have ended. Returns whether the program has.
bool reap_adopted(pid_t program, int& status) {
  siginfo_t ended{};
  while (::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0
         && ended.si_pid != 0) {
    if (ended.si_pid == program) {
      status =
          ended.si_code == CLD_EXITED ? W_EXITCODE(ended.si_status, 0) : ended.si_status;
      return true;
    }
    ::waitpid(ended.si_pid, nullptr, 0);
    ended.si_pid = 0;
  }
  return false;
}

/// Kills what the program's former processes have left to the guard, and waits for its end.
void end_all_but(pid_t program) {
  while (kill_children_but(program) > 0) {
    siginfo_t ended{};
    while (::waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
    int status = 0;
    if (reap_adopted(program, status))
      return; // The program has ended itself, and all is ended with it.
  }
}

void close_all_but(int one) {
  const auto kept = static_cast<unsigned>(one);
  if (kept > 0)
    ::close_range(0, kept - 1, 0);
  ::close_range(kept + 1, UINT_MAX, 0);
}

[[noreturn]] void guard(pid_t program, int line) {
  ::setpgid(0, 0);
  for (const int s : {SIGINT, SIGHUP, SIGTERM, SIGPIPE})
    ::signal(s, SIG_IGN); // It ends with its line.
  ::prctl(PR_SET_NAME, "clade guard");
  close_all_but(line);
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  ::sigprocmask(SIG_SETMASK, &child, nullptr);
  std::array<pollfd, 2> files{
      {{line, POLLIN, 0},
       {::signalfd(-1, &child, SFD_NONBLOCK | SFD_CLOEXEC), POLLIN, 0}}};
  bool reported = false;
  while (true) {
    int status = 0;
    if (!reported && reap_adopted(program, status)) {
      reported = true;
      if (::write(line, &status, sizeof status) != sizeof status)
        end_all(program);
    }
    ::poll(files.data(), files.size(), -1);
    signalfd_siginfo seen{};
    while (::read(files[1].fd, &seen, sizeof seen) > 0) {
    }
    if (files[0].revents == 0)
      continue;
    char order = 0;
    const auto count = ::read(line, &order, 1);
    if (count == 0)
      end_all(program);
    if (count == 1 && order == end_yourselves)
      ::kill(-program, SIGTERM);
    if (count == 1 && order == end_what_is_left) {
      end_all_but(program);
      if (::write(line, &nothing_is_left, sizeof nothing_is_left) < 0)
        end_all(program);
    }
  }
}

} // namespace

bool fork_guard(int line, const std::function<bool()>& enter) {
  ::signal(SIGCHLD, SIG_DFL); // Else nobody could wait for a child.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t self = ::getpid();
  const pid_t program = ::fork();
  if (program > 0)
    guard(program, line);
  if (program == 0 && enter && !enter())
    return false;
  // A program does not outlive a guard that somebody has killed.
  return program == 0 && ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && ::getppid() == self;
}

} // namespace clade
