#include "engine/evaluation/process/process_table.hpp"

#include "genome/base/text.hpp"
#include "genome/base/unique_fd.hpp"
#include "genome/base/whole_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>

namespace clade {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t most_words_bytes = 64 << 20; ///< More than Linux lets words have.
constexpr std::uint64_t most_description_bytes = 4096;

bool is_number(std::string_view name) {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
}

fs::path folder_of(pid_t process) {
  return fmt::format("/proc/{}", process);
}

/// Whether an open file may be written, as /proc describes it ("flags:\t0100001"). One that
/// was closed meanwhile may not.
bool is_open_to_write(const fs::path& description) {
  const auto text =
      read_whole_file(description, {.most_bytes = most_description_bytes}).value_or("");
  constexpr std::string_view key = "flags:";
  const auto at = text.find(key);
  return at != std::string::npos
         && (std::strtoul(text.c_str() + at + key.size(), nullptr, 8) & O_ACCMODE)
                != O_RDONLY;
}

} // namespace

// "pid (name) state parent ...", where the name may hold anything. Behind it come, counted
// from the state: 1 the parent, 11 and 12 the time of user and system in ticks, 21 the pages
// in memory.
std::optional<process_entry> parse_process(std::string_view stat) {
  constexpr std::size_t parent = 1, user = 11, system = 12, resident = 21;
  const auto name_begin = stat.find(" ("), name_end = stat.rfind(')');
  if (name_begin == stat.npos || name_end == stat.npos || name_end < name_begin)
    return std::nullopt;
  std::array<std::string_view, resident + 1> words;
  auto rest = stat.substr(name_end + 1);
  for (auto& word : words) {
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    word = rest.substr(0, rest.find_first_of(" \n"));
    rest.remove_prefix(word.size());
  }
  const auto id = parse_number<pid_t>(stat.substr(0, name_begin));
  const auto parent_id = parse_number<pid_t>(words[parent]);
  const auto user_ticks = parse_number<std::uint64_t>(words[user]);
  const auto system_ticks = parse_number<std::uint64_t>(words[system]);
  const auto pages = parse_number<std::uint64_t>(words[resident]);
  if (!id || !parent_id || !user_ticks || !system_ticks || !pages)
    return std::nullopt;
  return process_entry{.id = *id,
                       .parent = *parent_id,
                       .cpu_seconds = static_cast<double>(*user_ticks + *system_ticks)
                                      / static_cast<double>(::sysconf(_SC_CLK_TCK)),
                       .resident_bytes =
                           *pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))};
}

std::optional<process_entry> read_process(int proc, const char* name) {
  std::array<char, 32> path{};
  const std::string_view number(name);
  constexpr std::string_view file = "/stat";
  if (!is_number(number) || number.size() + file.size() >= path.size())
    return std::nullopt;
  std::ranges::copy(file, std::ranges::copy(number, path.begin()).out);
  const unique_fd open(::openat(proc, path.data(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> text{}; // Holds all up to the pages, however large the numbers.
  const auto count = open ? ::read(open.get(), text.data(), text.size()) : -1;
  return count <= 0 ? std::nullopt
                    : parse_process({text.data(), static_cast<std::size_t>(count)});
}

std::vector<process_entry> read_processes(const fs::path& proc) {
  const unique_fd open(::open(proc.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::vector<process_entry> all;
  std::error_code failed;
  for (fs::directory_iterator at(proc, failed), end; !failed && at != end;
       at.increment(failed))
    if (const auto p = read_process(open.get(), at->path().filename().c_str()))
      all.push_back(*p);
  return all;
}

std::vector<process_entry> below(pid_t ancestor, std::span<const process_entry> all) {
  std::multimap<pid_t, process_entry> children;
  for (const auto& p : all)
    if (p.id != ancestor)
      children.emplace(p.parent, p);
  std::vector<process_entry> found;
  std::vector<pid_t> parents{ancestor};
  while (!parents.empty()) {
    const auto [first, last] = children.equal_range(parents.back());
    parents.pop_back();
    for (auto child = first; child != last; ++child) {
      found.push_back(child->second);
      parents.push_back(child->second.id);
    }
    children.erase(first, last); // Nobody is met twice, in a ring neither.
  }
  std::ranges::sort(found, {}, &process_entry::id);
  return found;
}

std::uint64_t resident_bytes_below(pid_t ancestor, pid_t spared) {
  std::uint64_t sum = 0;
  for (const auto& p : below(ancestor, read_processes()))
    sum += p.id == spared ? 0 : p.resident_bytes;
  return sum;
}

std::vector<std::string> words_of(pid_t process) {
  const auto text =
      read_whole_file(folder_of(process) / "cmdline", {.most_bytes = most_words_bytes})
          .value_or("");
  std::vector<std::string> words;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\0', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
  }
  return words;
}

std::vector<fs::path> files_written_by(pid_t process) {
  const auto folder = folder_of(process);
  std::vector<fs::path> files;
  std::error_code gone;
  for (fs::directory_iterator one(folder / "fd", gone), end; !gone && one != end;
       one.increment(gone))
    if (is_open_to_write(folder / "fdinfo" / one->path().filename()))
      files.push_back(one->path());
  return files;
}

fs::path own_program() {
  return fs::read_symlink("/proc/self/exe");
}

} // namespace clade
