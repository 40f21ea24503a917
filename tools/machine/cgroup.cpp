#include "tools/machine/cgroup.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>

// /proc/self/cgroup has a line for each hierarchy, "number:controllers:path", with number
// 0 and no controllers for version 2. /proc/self/mountinfo says where it is mounted:
//
//   36 25 0:31 ROOT MOUNTPOINT options [tags...] - TYPE source SUPEROPTIONS
//
// where ROOT is the group that is seen at MOUNTPOINT, and version 1 names its controllers
// among the SUPEROPTIONS. A limit of a group holds for all below it, so each folder from
// the own group up to MOUNTPOINT is read:
//
//            version 2                      version 1
//   cores    cpu.max "max|QUOTA PERIOD"     cpu.cfs_quota_us (-1: none),
//                                           cpu.cfs_period_us
//   memory   memory.max, memory.current     memory.limit_in_bytes,
//                                           memory.usage_in_bytes
//   files    memory.stat inactive_file      memory.stat total_inactive_file

namespace clade {

namespace {

namespace fs = std::filesystem;

struct memory_files {
  const char* limit;
  const char* used;
  const char* droppable; ///< A key of memory.stat.
};

constexpr memory_files version_2{"memory.max", "memory.current", "inactive_file "};
constexpr memory_files version_1{"memory.limit_in_bytes", "memory.usage_in_bytes",
                                 "total_inactive_file "};

/// Whether a list with commas has the word.
bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const auto comma = list.find(',');
    if (list.substr(0, comma) == word)
      return true;
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return false;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

/// The group's folder and those above it, to the mount point.
std::vector<fs::path> folders_from(const fs::path& group, const fs::path& root,
                                   const fs::path& mount) {
  fs::path below = group.lexically_relative(root);
  if (below.empty() || *below.begin() == "..")
    below = ".";
  std::vector<fs::path> folders;
  for (; !below.empty() && below != "."; below = below.parent_path())
    folders.push_back(mount / below);
  folders.push_back(mount);
  return folders;
}

std::vector<fs::path> find_hierarchy(const std::string& group, std::string_view mounts,
                                     std::string_view controller) {
  std::istringstream lines{std::string(mounts)};
  for (std::string line; std::getline(lines, line);) {
    const auto words = words_of(line);
    const auto dash = std::ranges::find(words, "-");
    if (words.size() < 6 || words.end() - dash < 4)
      continue;
    if (controller.empty() ? dash[1] == "cgroup2"
                           : dash[1] == "cgroup" && has_word(dash[3], controller))
      return folders_from(group, words[3], words[4]);
  }
  return {};
}

template<class T>
void keep_least(std::optional<T>& least, const std::optional<T>& other) {
  if (other && (!least || *other < *least))
    least = other;
}

std::optional<double> quotient(const std::string& quota, const std::string& period) {
  double q = 0, p = 0;
  const auto read = [](const std::string& text, double& value) {
    return std::from_chars(text.data(), text.data() + text.size(), value).ec
           == std::errc{};
  };
  if (!read(quota, q) || !read(period, p) || q <= 0 || p <= 0)
    return std::nullopt;
  return q / p;
}

std::optional<double> quota_2(const fs::path& folder) {
  const auto words = words_of(read_small_file(folder / "cpu.max").value_or(""));
  return words.size() == 2 ? quotient(words[0], words[1]) : std::nullopt;
}

std::optional<double> quota_1(const fs::path& folder) {
  return quotient(read_small_file(folder / "cpu.cfs_quota_us").value_or(""),
                  read_small_file(folder / "cpu.cfs_period_us").value_or(""));
}

void limit_memory(cgroup_limits& limits, const fs::path& folder,
                  const memory_files& files) {
  const auto number = [&](const char* file) {
    return number_after(read_small_file(folder / file).value_or(""), "");
  };
  const auto limit = number(files.limit);
  if (!limit)
    return;
  const auto used = number(files.used).value_or(0);
  const auto droppable =
      number_after(read_small_file(folder / "memory.stat").value_or(""), files.droppable)
          .value_or(0);
  const auto held = used - std::min(used, droppable);
  keep_least(limits.memory_total, limit);
  keep_least(limits.memory_free, std::optional(*limit - std::min(*limit, held)));
}

} // namespace

std::optional<std::string> read_small_file(const fs::path& file) {
  std::ifstream in(file);
  if (!in)
    return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::optional<std::uint64_t> number_after(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.starts_with(key))
      continue;
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(" \t", key.size())));
    std::uint64_t n = 0;
    const auto read = std::from_chars(line.data(), line.data() + line.size(), n);
    return read.ec == std::errc{} ? std::optional(n) : std::nullopt;
  }
  return std::nullopt;
}

cgroup_folders find_cgroups(std::string_view membership, std::string_view mounts) {
  cgroup_folders found;
  std::istringstream lines{std::string(membership)};
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos)
      continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty())
      found.unified = find_hierarchy(group, mounts, "");
    if (has_word(controllers, "cpu"))
      found.cpu = find_hierarchy(group, mounts, "cpu");
    if (has_word(controllers, "memory"))
      found.memory = find_hierarchy(group, mounts, "memory");
  }
  return found;
}

cgroup_limits read_cgroup_limits(const fs::path& root) {
  const auto folders =
      find_cgroups(read_small_file(root / "proc/self/cgroup").value_or(""),
                   read_small_file(root / "proc/self/mountinfo").value_or(""));
  const auto below_root = [&](const fs::path& folder) {
    return root / folder.relative_path();
  };
  cgroup_limits limits;
  for (const auto& f : folders.unified) {
    keep_least(limits.cores, quota_2(below_root(f)));
    limit_memory(limits, below_root(f), version_2);
  }
  for (const auto& f : folders.cpu)
    keep_least(limits.cores, quota_1(below_root(f)));
  for (const auto& f : folders.memory)
    limit_memory(limits, below_root(f), version_1);
  return limits;
}

} // namespace clade
