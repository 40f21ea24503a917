#include "tools/queue/machine/processes_below.hpp"

#include "genome/base/whole_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <map>
#include <sstream>

namespace clade {

namespace {

constexpr std::size_t most_processes = 256;
constexpr std::size_t most_command_bytes = 200;
constexpr std::uint64_t most_file_bytes = 64 << 20; ///< More than Linux lets words have.

/// Empty if the process ends before its file has been read.
std::string content(const std::filesystem::path& file) {
  return read_whole_file(file, {.most_bytes = most_file_bytes}).value_or("");
}

/// The words of a process, which end with zero bytes; empty of one that has ended.
std::string command_of(const std::filesystem::path& process) {
  auto words = content(process / "cmdline");
  while (!words.empty() && words.back() == '\0')
    words.pop_back();
  // A terminal would obey them.
  std::ranges::replace_if(
      words, [](unsigned char c) { return c < 32 || c == 127; }, ' ');
  return words.substr(0, most_command_bytes);
}

/// Reads the numbers behind "pid (name)": state, parent, ... user and system time in
/// ticks, 14 and 15 of all, and the pages in memory, 24 of all.
bool read_stat(const std::filesystem::path& process, process_seen& p) {
  const auto text = content(process / "stat");
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos)
    return false;
  std::istringstream words(text.substr(name_end + 1));
  const std::vector<std::string> all{std::istream_iterator<std::string>(words), {}};
  constexpr std::size_t parent = 1, user = 11, system = 12, resident = 21;
  if (all.size() <= resident)
    return false;
  const auto number = [&](std::size_t at) {
    std::int64_t n = 0;
    std::from_chars(all[at].data(), all[at].data() + all[at].size(), n);
    return n;
  };
  p.parent = number(parent);
  p.cpu_seconds = static_cast<double>(number(user) + number(system))
                  / static_cast<double>(::sysconf(_SC_CLK_TCK));
  p.resident_bytes = static_cast<std::uint64_t>(number(resident))
                     * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return true;
}

} // namespace

std::vector<process_seen> processes_below(pid_t root) {
  std::map<std::int64_t, process_seen> all;
  std::error_code failed;
  for (std::filesystem::directory_iterator at("/proc", failed), end; !failed && at != end;
       at.increment(failed)) {
    const auto& one = *at;
    const auto name = one.path().filename().string();
    process_seen p;
    const auto [read, problem] =
        std::from_chars(name.data(), name.data() + name.size(), p.pid);
    if (problem == std::errc{} && read == name.data() + name.size()
        && read_stat(one.path(), p))
      all.emplace(p.pid, std::move(p));
  }
  const auto is_below = [&](std::int64_t pid) {
    // Processes change while they are read, so a chain of parents might have a ring.
    for (std::size_t steps = 0; steps <= all.size(); ++steps) {
      const auto found = all.find(pid);
      if (found == all.end())
        return false;
      pid = found->second.parent;
      if (pid == root)
        return true;
    }
    return false;
  };
  std::vector<process_seen> found;
  for (auto& [pid, p] : all) {
    if (found.size() == most_processes || !is_below(pid))
      continue;
    p.command = command_of("/proc/" + std::to_string(pid));
    found.push_back(p);
  }
  return found;
}

} // namespace clade
