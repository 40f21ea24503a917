#include "tools/slots.hpp"

#include <sched.h>

#include <charconv>
#include <sstream>

namespace clade {

namespace {

constexpr std::size_t most_slots = 1024;

std::size_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof(set), &set) == 0
             ? static_cast<std::size_t>(CPU_COUNT(&set))
             : 1;
}

expected<std::size_t> parse_number(std::string_view text, const std::string& whole) {
  std::size_t number = 0;
  auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || failure != std::errc{} || end != text.data() + text.size()
      || number > most_slots)
    return fail(error_kind::invalid_input,
                "slots \"" + whole
                    + "\": write auto, cpu:N, or devices such as cuda:0,cuda:1");
  return number;
}

void add_cpu_slots(std::vector<slot>& slots, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    slots.push_back({.name = "cpu:" + std::to_string(i),
                     .device = "cpu",
                     .environment = {"OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1",
                                     "CUDA_VISIBLE_DEVICES="}});
}

} // namespace

expected<std::vector<slot>> parse_slots(const std::string& text) {
  std::vector<slot> slots;
  if (text == "auto") {
    add_cpu_slots(slots, usable_cores());
    return slots;
  }
  if (text == "none")
    return slots;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::string_view rest = part;
    const bool cuda = rest.starts_with("cuda:");
    auto number = parse_number(cuda                       ? rest.substr(5)
                               : rest.starts_with("cpu:") ? rest.substr(4)
                                                          : rest,
                               text);
    if (!number)
      return tl::unexpected(number.error());
    if (cuda)
      slots.push_back(
          {.name = part,
           .device = "cuda:0",
           .environment = {"OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1",
                           "CUDA_VISIBLE_DEVICES=" + std::to_string(*number)}});
    else
      add_cpu_slots(slots, *number);
    if (slots.size() > most_slots)
      return fail(error_kind::invalid_input, "slots \"" + text + "\": there may be "
                                                 + std::to_string(most_slots)
                                                 + " at most");
  }
  if (slots.empty())
    return fail(error_kind::invalid_input,
                "slots \"" + text + "\": there must be one at least");
  return slots;
}

process_params node_process(const node_command& command, const slot& s) {
  return {.command = {command.program.string(), "node", "--connect", command.connect,
                      "--keys", command.keys.string(), "--slot",
                      (command.name.empty() ? "" : command.name + "/") + s.name,
                      "--device", s.device, "--worker", std::to_string(command.worker),
                      "--grace", std::to_string(command.grace_seconds), "--give-up",
                      std::to_string(command.give_up_seconds)},
          .environment = s.environment,
          .log = {}};
}

std::filesystem::path own_program() {
  return std::filesystem::read_symlink("/proc/self/exe");
}

std::filesystem::path module_path() {
  return own_program().parent_path() / "libclade_training.so";
}

} // namespace clade
