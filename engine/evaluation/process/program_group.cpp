#include "engine/evaluation/process/program_group.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

namespace clade {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// "clade-program-PID-NUMBER", the PID of who has made it.
constexpr std::string_view name_prefix = "clade-program-";
constexpr auto patience = 1s;
constexpr auto pause = 1ms;

/// Returns errno, 0 if all went well. The kernel's files are not made.
int write_value(const fs::path& file, std::string_view text) {
  const unique_fd open(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  return open && ::write(open.get(), text.data(), text.size()) == std::ssize(text)
             ? 0
             : errno;
}

tl::unexpected<error> failed(const fs::path& what, int reason) {
  return fail(error_kind::io,
              fmt::format("{}: {}", what.string(), std::strerror(reason)));
}

} // namespace

bool killed_for_memory(const fs::path& group) {
  std::ifstream events(group / "memory.events");
  std::string name;
  for (std::uint64_t count = 0; events >> name >> count;)
    if (name == "oom_kill" && count > 0)
      return true;
  return false;
}

expected<program_group> program_group::make(const fs::path& base,
                                            std::uint64_t memory_bytes) {
  static std::atomic<std::uint64_t> made{0};
  const auto folder = base / (fmt::format("{}{}-{}", name_prefix, ::getpid(), ++made));
  if (::mkdir(folder.c_str(), 0755) != 0)
    return failed(folder, errno);
  program_group group(
      folder, unique_fd(::open((folder / "cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC)));
  if (!group.members_)
    return failed(folder / "cgroup.procs", errno);
  if (memory_bytes == 0)
    return group;
  if (const int reason = write_value(folder / "memory.max", std::to_string(memory_bytes));
      reason != 0)
    return failed(folder / "memory.max", reason);
  // A system without swap has no such file; an old one kills one process and not all.
  static_cast<void>(write_value(folder / "memory.swap.max", "0"));
  static_cast<void>(write_value(folder / "memory.oom.group", "1"));
  return group;
}

program_group::~program_group() {
  if (folder_.empty())
    return;
  members_.reset();
  // Before Linux 5.14 there is no such file; then the guard has killed them.
  static_cast<void>(write_value(folder_ / "cgroup.kill", "1"));
  const auto end = std::chrono::steady_clock::now() + patience;
  while (::rmdir(folder_.c_str()) != 0 && errno == EBUSY
         && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(pause);
}

bool program_group::enter() const {
  return ::write(members_.get(), "0", 1) == 1;
}

fs::path groups_of(const program_host& host) {
  if (!host.groups)
    return {};
  // Why there are none, `clade doctor` says; memory is watched then.
  return host.groups().value_or(fs::path());
}

void remove_left_groups(const fs::path& base) {
  std::error_code failed;
  for (fs::directory_iterator at(base, failed), end; !failed && at != end;
       at.increment(failed)) {
    const auto name = at->path().filename().string();
    if (!name.starts_with(name_prefix))
      continue;
    pid_t maker = 0;
    const auto* from = name.data() + name_prefix.size();
    if (std::from_chars(from, name.data() + name.size(), maker).ec == std::errc{}
        && ::kill(maker, 0) != 0 && errno == ESRCH)
      ::rmdir(at->path().c_str()); // One that is in use stays.
  }
}

} // namespace clade
