#include "tools/machine/devices.hpp"

#include "genome/base/text.hpp"
#include "tools/machine/cgroup.hpp"
#include "tools/machine/nvml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace clade {

namespace {

constexpr unsigned most_cores = 1 << 16;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(separator, at), text.size());
    std::string_view part = text.substr(at, end - at);
    part.remove_prefix(std::min(part.size(), part.find_first_not_of(" \t\n")));
    part = part.substr(0, part.find_last_not_of(" \t\n") + 1);
    parts.push_back(part);
    at = end + 1;
  }
  return parts;
}

std::optional<gpu> find_gpu(const std::vector<gpu>& all, std::string_view entry) {
  if (entry.starts_with("MIG-"))
    return gpu{.uuid = std::string(entry), .name = "MIG device"};
  if (const auto number = parse_number<unsigned>(entry))
    return *number < all.size() ? std::optional(all[*number]) : std::nullopt;
  if (!entry.starts_with("GPU-"))
    return std::nullopt;
  const auto matches = [&](const gpu& g) { return g.uuid.starts_with(entry); };
  const auto first = std::ranges::find_if(all, matches);
  // A beginning that several cards share names none of them.
  if (first == all.end() || std::any_of(first + 1, all.end(), matches))
    return std::nullopt;
  return *first;
}

void look_at_gpus(machine& m) {
  const auto all = read_gpus();
  if (!all) {
    m.gpu_trouble = all.error().message;
    return;
  }
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  m.gpus = visible != nullptr ? visible_gpus(*all, visible) : *all;
  m.hidden_gpus = static_cast<unsigned>(std::ranges::count_if(*all, [&](const gpu& g) {
    return std::ranges::find(m.gpus, g.uuid, &gpu::uuid) == m.gpus.end();
  }));
}

} // namespace

std::vector<gpu> visible_gpus(const std::vector<gpu>& all, std::string_view visible) {
  std::vector<gpu> result;
  for (const auto entry : split(visible, ',')) {
    auto found = find_gpu(all, entry);
    if (!found)
      break;
    if (std::ranges::find(result, found->uuid, &gpu::uuid) != result.end())
      return {};
    found->index = static_cast<unsigned>(result.size());
    result.push_back(std::move(*found));
  }
  return result;
}

std::optional<std::vector<unsigned>> parse_cores(std::string_view list) {
  std::vector<unsigned> cores;
  for (const auto part : split(list, ',')) {
    const auto dash = part.find('-');
    const auto first = parse_number<unsigned>(part.substr(0, dash));
    const auto last = dash == std::string_view::npos
                          ? first
                          : parse_number<unsigned>(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last >= most_cores)
      return std::nullopt;
    for (unsigned c = *first; c <= *last; ++c)
      cores.push_back(c);
  }
  std::ranges::sort(cores);
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  return cores;
}

std::string cores_text(const std::vector<unsigned>& cores) {
  std::string text;
  for (std::size_t i = 0; i < cores.size();) {
    std::size_t last = i;
    while (last + 1 < cores.size() && cores[last + 1] == cores[last] + 1)
      ++last;
    text += fmt::format("{}{}{}", text.empty() ? "" : ",", cores[i],
                        last > i ? fmt::format("-{}", cores[last]) : "");
    i = last + 1;
  }
  return text;
}

unsigned cpu_slots(const machine& m) {
  const auto cores = static_cast<double>(m.cores.size());
  const double time = std::min(cores, m.core_quota.value_or(cores));
  return std::max(1U, static_cast<unsigned>(std::floor(time)));
}

expected<machine> look_at_machine(const machine_params& params) {
  constexpr std::string_view mask = "Cpus_allowed_list:";
  machine m;
  const auto status_file = params.root / "proc/self/status";
  const auto status = read_small_file(status_file).value_or("");
  const auto at = status.find(mask);
  const auto cores = at == std::string::npos
                         ? std::nullopt
                         : parse_cores(std::string_view(status).substr(
                             at + mask.size(), status.find('\n', at) - at - mask.size()));
  if (!cores)
    return fail(error_kind::io,
                status_file.string() + " does not say which cores may be used");
  m.cores = *cores;

  const auto memory_file = params.root / "proc/meminfo";
  const auto memory = read_small_file(memory_file).value_or("");
  const auto total = number_after(memory, "MemTotal:");
  const auto available = number_after(memory, "MemAvailable:");
  if (!total || !available)
    return fail(error_kind::io,
                memory_file.string() + " does not say how much memory there is");
  const auto limits = read_cgroup_limits(params.root);
  m.memory_total = std::min(*total * 1024, limits.memory_total.value_or(UINT64_MAX));
  m.memory_free = std::min(*available * 1024, limits.memory_free.value_or(UINT64_MAX));
  m.core_quota = limits.cores;
  if (params.gpus)
    look_at_gpus(m);
  return m;
}

} // namespace clade
