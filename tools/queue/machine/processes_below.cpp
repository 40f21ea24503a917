#include "tools/queue/machine/processes_below.hpp"

#include "engine/evaluation/process/process_table.hpp"

#include <algorithm>

namespace clade {

namespace {

constexpr std::size_t most_command_bytes = 200;

std::string command_of(pid_t process) {
  std::string text;
  for (const auto& word : words_of(process))
    text.append(text.empty() ? "" : " ").append(word);
  // A terminal would obey them.
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 32 || c == 127; }, ' ');
  return text.substr(0, most_command_bytes);
}

} // namespace

std::vector<pid_t> numbers_below(pid_t root) {
  std::vector<pid_t> numbers;
  for (const auto& p : below(root, read_processes()))
    numbers.push_back(p.id);
  return numbers;
}

std::vector<process_seen> processes_below(pid_t root, std::size_t most) {
  auto found = below(root, read_processes());
  found.resize(std::min(found.size(), most));
  std::vector<process_seen> seen;
  for (const auto& p : found)
    seen.push_back({.pid = p.id,
                    .parent = p.parent,
                    .cpu_seconds = p.cpu_seconds,
                    .resident_bytes = p.resident_bytes,
                    .command = command_of(p.id)});
  return seen;
}

} // namespace clade
