#include "tools/machine/program_groups.hpp"

#include "engine/evaluation/process/program_group.hpp"
#include "genome/base/unique_fd.hpp"
#include "tools/machine/cgroup.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>
#include <string>
#include <string_view>

namespace clade {

namespace {

namespace fs = std::filesystem;

// The group for the processes of a group that is to have others below it.
constexpr std::string_view leaf = "clade-processes";
// While it is emptied, others in it may start processes.
constexpr int most_tries = 20;

bool has_memory(const fs::path& list) {
  std::istringstream words(read_small_file(list).value_or(""));
  for (std::string word; words >> word;)
    if (word == "memory")
      return true;
  return false;
}

bool is_writable(const fs::path& path) {
  return ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0;
}

/// Root may write to every group; systemd marks those that it has given over.
bool was_given_over(const fs::path& group) {
  struct stat is {};
  if (::geteuid() != 0)
    return ::stat(group.c_str(), &is) == 0 && is.st_uid == ::geteuid();
  char mark = 0;
  return (::getxattr(group.c_str(), "trusted.delegate", &mark, 1) == 1
          || ::getxattr(group.c_str(), "user.delegate", &mark, 1) == 1)
         && mark == '1';
}

int write_value(const fs::path& file, std::string_view text) {
  const unique_fd open(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  return open ? write_all(open.get(), std::string(text)) : errno;
}

tl::unexpected<error> failed(const fs::path& what, int reason) {
  return fail(error_kind::io,
              fmt::format("{}: {}", what.string(), std::strerror(reason)));
}

expected<void> empty_and_enable(const fs::path& group) {
  const auto target = group / leaf;
  if (::mkdir(target.c_str(), 0755) != 0 && errno != EEXIST)
    return failed(target, errno);
  int reason = EBUSY;
  for (int i = 0; i < most_tries && reason == EBUSY; ++i) {
    std::istringstream processes(read_small_file(group / "cgroup.procs").value_or(""));
    for (std::string process; processes >> process;)
      if (const int why = write_value(target / "cgroup.procs", process);
          why != 0 && why != ESRCH) // It has ended.
        return failed(target / "cgroup.procs", why);
    reason = write_value(group / "cgroup.subtree_control", "+memory");
  }
  return reason == 0 ? expected<void>{}
                     : failed(group / "cgroup.subtree_control", reason);
}

} // namespace

expected<fs::path> find_program_groups(const fs::path& root) {
  const auto refused = [](const std::string& why) { return fail(error_kind::io, why); };
  const auto folders =
      find_cgroups(read_small_file(root / "proc/self/cgroup").value_or(""),
                   read_small_file(root / "proc/self/mountinfo").value_or(""));
  if (folders.unified.empty())
    return refused("version 2 is not there");
  auto own = root / folders.unified.front().relative_path();
  if (own.filename() == leaf)
    own = own.parent_path();
  if (!has_memory(own / "cgroup.controllers"))
    return refused(fmt::format("those of {} do not limit memory", own.string()));
  if (!is_writable(own) || !is_writable(own / "cgroup.procs")
      || !is_writable(own / "cgroup.subtree_control") || !was_given_over(own))
    return refused("none may be made below " + own.string());
  return own;
}

expected<fs::path> prepare_program_groups(const fs::path& root) {
  return find_program_groups(root).and_then(
      [](const fs::path& own) -> expected<fs::path> {
        if (!has_memory(own / "cgroup.subtree_control"))
          if (auto enabled = empty_and_enable(own); !enabled)
            return tl::unexpected(enabled.error());
        remove_left_groups(own);
        return own;
      });
}

} // namespace clade
