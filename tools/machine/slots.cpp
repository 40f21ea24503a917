#include "tools/machine/slots.hpp"

#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <string_view>

// A text is first added up to a demand, so many slots on each GPU and so many on cores,
// and then the demand is laid out: names, shares of memory, shares of the cores.

namespace clade {

namespace {

constexpr unsigned most_slots = 1024;

struct demand {
  std::vector<unsigned> on_gpu; ///< How many slots on each; 0 where it is not asked for.
  unsigned on_cores = 0;

  [[nodiscard]] unsigned total() const {
    return std::accumulate(on_gpu.begin(), on_gpu.end(), on_cores);
  }
};

tl::unexpected<error> refuse(const std::string& text, const std::string& why) {
  return fail(error_kind::invalid_input, fmt::format("slots \"{}\": {}", text, why));
}

std::string what_there_is(const machine& m) {
  const auto name = [](std::size_t i) { return fmt::format("cuda:{}", i); };
  const auto count = m.gpus.size();
  if (count > 0)
    return fmt::format("this machine has {}{}", name(0),
                       count == 1   ? " only"
                       : count == 2 ? " and " + name(1)
                                    : " to " + name(count - 1));
  return m.hidden_gpus > 0 ? fmt::format(
             "CUDA_VISIBLE_DEVICES leaves none of this machine's {} GPUs", m.hidden_gpus)
                           : "this machine has no GPU";
}

std::optional<unsigned> slot_number(std::string_view text) {
  const auto n = parse_number<unsigned>(text);
  return n && *n <= most_slots ? n : std::nullopt;
}

/// "cuda", "cuda:1", either with "*2".
struct gpu_part {
  bool all = false;
  unsigned number = 0;
  unsigned slots_each = 1;
};

std::optional<gpu_part> parse_gpu_part(std::string_view text) {
  gpu_part part;
  if (const auto star = text.find('*'); star != std::string_view::npos) {
    const auto each = slot_number(text.substr(star + 1));
    if (!each || *each == 0)
      return std::nullopt;
    part.slots_each = *each;
    text = text.substr(0, star);
  }
  if (text == "cuda") {
    part.all = true;
    return part;
  }
  const auto number =
      text.starts_with("cuda:") ? slot_number(text.substr(5)) : std::nullopt;
  if (!number)
    return std::nullopt;
  part.number = *number;
  return part;
}

expected<void> add_gpus(demand& d, const gpu_part& part, const std::string& text,
                        const machine& m) {
  if (!m.gpu_trouble.empty())
    return fail(error_kind::io, fmt::format("slots \"{}\": {}", text, m.gpu_trouble));
  const std::size_t first = part.all ? 0 : part.number;
  const std::size_t end = part.all ? m.gpus.size() : first + 1;
  if (m.gpus.empty() || end > m.gpus.size())
    return refuse(text, what_there_is(m));
  for (std::size_t i = first; i < end; ++i) {
    const auto name = fmt::format("cuda:{}", i);
    if (d.on_gpu[i] > 0)
      return refuse(
          text, fmt::format("{} is named twice; {}*2 is two slots on it", name, name));
    d.on_gpu[i] = part.slots_each;
  }
  return {};
}

/// One part between commas.
expected<void> add_part(demand& d, std::string_view part, const std::string& text,
                        const machine& m) {
  if (const auto gpus = parse_gpu_part(part))
    return add_gpus(d, *gpus, text, m);
  const auto cores = slot_number(part.starts_with("cpu:") ? part.substr(4) : part);
  if (!cores || *cores == 0)
    return refuse(text, "write auto, none, a number of CPU slots, cpu:N, or GPUs such as "
                        "cuda, cuda:0,cuda:1 or cuda:0*2");
  d.on_cores += *cores;
  return {};
}

expected<demand> parse_demand(const std::string& text, const machine& m) {
  demand d{.on_gpu = std::vector<unsigned>(m.gpus.size())};
  std::string_view rest = text;
  for (bool more = true; more;) {
    const auto comma = rest.find(',');
    const auto part = rest.substr(0, comma);
    more = comma != std::string_view::npos;
    rest.remove_prefix(more ? comma + 1 : rest.size());
    if (auto added = add_part(d, part, text, m); !added)
      return tl::unexpected(added.error());
    if (d.total() > most_slots)
      return refuse(text, fmt::format("more than {} slots", most_slots));
  }
  return d;
}

expected<demand> automatic(const machine& m) {
  if (!m.gpu_trouble.empty())
    return fail(error_kind::io,
                fmt::format("slots \"auto\": {}; slots \"cpu:N\" do without GPUs",
                            m.gpu_trouble));
  demand d{.on_gpu = std::vector<unsigned>(m.gpus.size(), 1)};
  if (m.gpus.empty())
    d.on_cores = cpu_slots(m);
  return d;
}

// oneDNN keeps the code that it makes for each convolution, of its last 1024, and with it
// scratch memory: several hundred MB of networks that are gone. One network has a hundred
// or so.
std::vector<std::string> environment(const std::string& visible) {
  return {"OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1", "ONEDNN_PRIMITIVE_CACHE_CAPACITY=200",
          "CUDA_VISIBLE_DEVICES=" + visible};
}

/// "GPU-8932f937" of a UUID; of a MIG device all, since the beginning is its GPU's.
std::string short_uuid(const std::string& uuid) {
  return uuid.starts_with("GPU-") ? uuid.substr(0, 12) : uuid;
}

void divide_cores(std::vector<slot>& slots, const std::vector<unsigned>& cores) {
  const auto count = slots.size();
  if (count > cores.size())
    return;
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = [&](std::size_t n) {
      return cores.begin() + static_cast<std::ptrdiff_t>(n * cores.size() / count);
    };
    slots[i].cores.assign(at(i), at(i + 1));
  }
}

std::vector<slot> lay_out(const demand& d, const machine& m) {
  std::vector<slot> slots;
  for (std::size_t g = 0; g < d.on_gpu.size(); ++g)
    for (unsigned i = 0; i < d.on_gpu[g]; ++i)
      slots.push_back(
          {.name =
               fmt::format("cuda:{}{}", g, d.on_gpu[g] > 1 ? fmt::format("/{}", i) : ""),
           .device = "cuda:0",
           .environment = environment(m.gpus[g].uuid),
           .memory_bytes = m.gpus[g].free_bytes / d.on_gpu[g],
           .label = fmt::format("{} {}", m.gpus[g].name, short_uuid(m.gpus[g].uuid))});
  for (unsigned i = 0; i < d.on_cores; ++i)
    slots.push_back({.name = fmt::format("cpu:{}", i),
                     .device = "cpu",
                     .environment = environment(""),
                     .memory_bytes = m.memory_free / d.on_cores});
  divide_cores(slots, m.cores);
  return slots;
}

} // namespace

expected<std::vector<slot>> parse_slots(const std::string& text, const machine& m) {
  if (text == "none")
    return std::vector<slot>{};
  const auto d = text == "auto" ? automatic(m) : parse_demand(text, m);
  if (!d)
    return tl::unexpected(d.error());
  return lay_out(*d, m);
}

expected<std::vector<slot>> parse_slots(const std::string& text) {
  const bool gpus = text == "auto" || text.find("cuda") != std::string::npos;
  return look_at_machine({.gpus = gpus}).and_then([&](const machine& m) {
    return parse_slots(text, m);
  });
}

expected<std::string> crowding(const std::vector<slot>& slots, const machine& m) {
  constexpr std::size_t most_a_core = 4;
  const auto on_cores = static_cast<std::size_t>(
      std::ranges::count_if(slots, [](const slot& s) { return s.device == "cpu"; }));
  const std::size_t cores = cpu_slots(m);
  if (on_cores <= cores)
    return "";
  const auto crowd =
      fmt::format("{} on {}", counted(on_cores, "CPU slot"), counted(cores, "core"));
  if (on_cores > most_a_core * cores)
    return fail(error_kind::invalid_input,
                fmt::format("{}: none of the trainings would get on; write at most {}, "
                            "such as --slots {}, which is fastest",
                            crowd, most_a_core * cores, cores));
  return fmt::format(
      "{}: each training is slowed down, and the search gains nothing by more than {}",
      crowd, cores);
}

std::uint64_t drawn_worker() {
  std::random_device random;
  return (std::uint64_t{random()} << 32) | random();
}

process_params node_process(const node_command& command, const slot& s) {
  process_params params{
      .command = {command.program.string(), "node", "--connect", command.connect,
                  "--keys", command.keys.string(), "--slot",
                  (command.name.empty() ? "" : command.name + "/") + s.name, "--device",
                  s.device, "--memory", std::to_string(s.memory_bytes), "--worker",
                  std::to_string(command.worker), "--grace",
                  std::to_string(command.grace.count()), "--give-up",
                  std::to_string(command.give_up.count())},
      .environment = s.environment,
      .cores = s.cores,
      .log = {}};
  if (!s.label.empty())
    params.command.insert(params.command.end(), {"--label", s.label});
  if (!command.logs.empty())
    params.command.insert(params.command.end(), {"--logs", command.logs.string()});
  return params;
}

void enter_environment(const slot& s) {
  for (const std::string& variable : s.environment) {
    const auto is = variable.find('=');
    ::setenv(variable.substr(0, is).c_str(), variable.c_str() + is + 1, 1);
  }
}

std::filesystem::path torch_export_path() {
  return own_program().parent_path() / "libclade_torch_export.so";
}

} // namespace clade
