// A process is started that leaves its namespaces, which takes no right; it has all rights
// in the new ones. Its parent, which has stayed, says which users there are. Then it covers
// the folders with empty file systems, and ends; the parent holds on to the namespaces.
//
// A program that enters them gives up the right to mount, so that one of root's cannot
// take the covers away; one of another user's has no rights once it has been started.
// Namespaces that it makes further down have the covers too, where they are locked.
//
// A process in the new user namespace may not look into processes outside (ptrace(2)), so
// /proc/PID/root leads nowhere.

#include "engine/evaluation/process/isolation.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

namespace clade {

namespace {

/// The ids that there are, each for itself, from a map "INSIDE OUTSIDE COUNT".
std::string own_map(const char* file) {
  std::ifstream in(file);
  std::string out;
  for (std::uint64_t inside = 0, outside = 0, count = 0;
       in >> inside >> outside >> count;)
    out += fmt::format("{} {} {}\n", inside, inside, count);
  return out;
}

std::string only(unsigned id) {
  return fmt::format("{} {} 1\n", id, id);
}

/// Writes a map to /proc/PID/NAME. Returns errno, 0 if all went well.
int write_map(pid_t process, const char* name, const std::string& text) {
  const auto path = fmt::format("/proc/{}/{}", process, name);
  const unique_fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  // A map is written at once.
  return file && ::write(file.get(), text.data(), text.size()) == std::ssize(text)
             ? 0
             : errno;
}

unique_fd open_namespace(pid_t process, const char* name) {
  const auto path = fmt::format("/proc/{}/ns/{}", process, name);
  return unique_fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

bool tell(int line, int number) {
  return ::write(line, &number, sizeof number) == sizeof number;
}

/// Returns the number that is told; EPIPE where the other has ended.
int hear(int line) {
  int number = 0;
  ssize_t count = 0;
  while ((count = ::read(line, &number, sizeof number)) < 0 && errno == EINTR) {
  }
  return count == sizeof number ? number : EPIPE;
}

/// Allocates nothing. Returns errno, 0 if all went well.
int cover(const std::vector<std::string>& folders) {
  // File systems that are mounted outside from now on are seen here; nothing goes the
  // other way.
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0)
    return errno;
  for (const auto& folder : folders)
    if (::mount("hidden", folder.c_str(), "tmpfs",
                MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0555,size=4k")
        != 0)
      return errno;
  return 0;
}

/// The first process of the namespaces; `line`: to its parent. Allocates nothing.
[[noreturn]] void found(const std::vector<std::string>& folders, int line) {
  tell(line, ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 ? 0 : errno);
  if (hear(line) == 0)
    tell(line, cover(folders));
  hear(line); // It has taken what it needs.
  ::_exit(0);
}

/// Says which users there are in the namespace that `process` has made: the same, each by
/// the number that it has; to who is not root, one. Returns errno.
int map_users(pid_t process) {
  const bool is_root = ::geteuid() == 0;
  if (!is_root)
    if (const int reason = write_map(process, "setgroups", "deny"); reason != 0)
      return reason;
  const auto groups = is_root ? own_map("/proc/self/gid_map") : only(::getegid());
  const auto users = is_root ? own_map("/proc/self/uid_map") : only(::geteuid());
  const int reason = write_map(process, "gid_map", groups);
  return reason != 0 ? reason : write_map(process, "uid_map", users);
}

} // namespace

expected<isolation> isolation::make(const std::vector<std::filesystem::path>& hidden) {
  const auto refused = [](int reason) {
    return fail(error_kind::io,
                fmt::format("this system refuses programs namespaces of their own ({})",
                            std::strerror(reason)));
  };
  std::vector<std::string> folders;
  std::error_code unknown;
  for (const auto& folder : hidden)
    if (std::filesystem::is_directory(folder, unknown))
      folders.push_back(folder.string());
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return refused(errno);
  unique_fd ours(ends[0]), its(ends[1]);
  const pid_t process = ::fork();
  if (process == 0) {
    ours.reset();
    found(folders, its.get());
  }
  if (process < 0)
    return refused(errno);
  its.reset();
  int reason = hear(ours.get());
  if (reason == 0)
    reason = map_users(process);
  tell(ours.get(), reason);
  if (reason == 0)
    reason = hear(ours.get());
  isolation made(open_namespace(process, "user"), open_namespace(process, "mnt"),
                 ::geteuid() == 0);
  if (reason == 0 && !(made.users_ && made.mounts_))
    reason = errno;
  ours.reset();
  while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
  }
  return reason == 0 ? expected<isolation>(std::move(made)) : refused(reason);
}

bool isolation::enter() const {
  return ::setns(users_.get(), CLONE_NEWUSER) == 0
         && ::setns(mounts_.get(), CLONE_NEWNS) == 0
         && (!is_root_ || ::prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN) == 0);
}

std::optional<isolation>
isolation_from(const std::vector<std::filesystem::path>& hidden) {
  if (hidden.empty())
    return std::nullopt;
  auto made = isolation::make(hidden);
  if (made)
    return std::move(*made);
  std::fprintf(
      stderr,
      "clade: the programs of this run can read its keys in %s: %s; clade doctor "
      "says more\n",
      hidden.front().c_str(), made.error().message.c_str());
  return std::nullopt;
}

} // namespace clade
