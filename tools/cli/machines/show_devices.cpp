#include "engine/report/base/format.hpp"
#include "tools/cli/base/command.hpp"
#include "tools/machine/slots.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <iostream>
#include <memory>

namespace clade {

namespace {

using json = nlohmann::ordered_json;

struct devices_options {
  std::string slots = "auto";
  bool json = false;
};

std::string memory_text(std::uint64_t free, std::uint64_t total) {
  return total == 0 ? "memory not known"
                    : fmt::format("{} free of {}", size_text(free), size_text(total));
}

std::string quota_text(double cores) {
  char text[64];
  std::snprintf(text, sizeof(text), ", time for %.4g by a control group", cores);
  return text;
}

std::string machine_text(const machine& m) {
  table lines({table::align::left, table::align::left});
  lines.add({"cores", fmt::format("{} ({}){}", m.cores.size(), cores_text(m.cores),
                                  m.core_quota ? quota_text(*m.core_quota) : "")});
  lines.add({"memory", memory_text(m.memory_free, m.memory_total)});
  for (const gpu& g : m.gpus)
    lines.add({fmt::format("cuda:{}", g.index),
               fmt::format("{}, {}, {}", g.name, g.uuid,
                           memory_text(g.free_bytes, g.total_bytes))});
  if (m.hidden_gpus > 0)
    lines.add({"hidden", fmt::format("{}{} by CUDA_VISIBLE_DEVICES", m.hidden_gpus,
                                     m.hidden_gpus == 1 ? " GPU" : " GPUs")});
  if (!m.gpu_trouble.empty())
    lines.add({"GPUs", "not known: " + m.gpu_trouble});
  return lines.to_text(2);
}

std::string slots_text(const std::vector<slot>& slots) {
  table lines(
      {table::align::left, table::align::left, table::align::right, table::align::left});
  for (const slot& s : slots)
    lines.add({s.name,
               s.cores.empty()       ? "any core"
               : s.cores.size() == 1 ? "core " + cores_text(s.cores)
                                     : "cores " + cores_text(s.cores),
               s.memory_bytes == 0 ? "" : size_text(s.memory_bytes), s.label});
  return lines.to_text(2);
}

json machine_json(const machine& m) {
  json gpus = json::array();
  for (const gpu& g : m.gpus)
    gpus.push_back({{"index", g.index},
                    {"uuid", g.uuid},
                    {"name", g.name},
                    {"total_bytes", g.total_bytes},
                    {"free_bytes", g.free_bytes}});
  return {{"gpus", gpus},
          {"hidden_gpus", m.hidden_gpus},
          {"gpu_trouble", m.gpu_trouble.empty() ? json(nullptr) : json(m.gpu_trouble)},
          {"cores", m.cores},
          {"core_quota", m.core_quota ? json(*m.core_quota) : json(nullptr)},
          {"memory_total", m.memory_total},
          {"memory_free", m.memory_free}};
}

json slots_json(const std::vector<slot>& slots) {
  json out = json::array();
  for (const slot& s : slots)
    out.push_back({{"name", s.name},
                   {"device", s.device},
                   {"environment", s.environment},
                   {"cores", s.cores},
                   {"memory_bytes", s.memory_bytes},
                   {"label", s.label}});
  return out;
}

int show_devices(const devices_options& options) {
  const auto m = look_at_machine();
  if (!m)
    return report(m.error());
  const auto slots = parse_slots(options.slots, *m);
  if (options.json) {
    json out = machine_json(*m);
    out["slots"] = slots ? slots_json(*slots) : json(nullptr);
    std::cout << out.dump(-1, ' ', false, json::error_handler_t::replace) << "\n";
  } else {
    std::cout << "this machine, for this process\n" << machine_text(*m);
    if (slots)
      std::cout << "slots \"" << options.slots << "\": " << slots->size() << "\n"
                << slots_text(*slots);
  }
  return slots ? 0 : report(slots.error());
}

} // namespace

void add_devices(CLI::App& app, command& chosen) {
  auto options = std::make_shared<devices_options>();
  auto* sub = app.add_subcommand(
      "devices", "Show what this machine has, and the slots that a run would make of it");
  sub->add_option("--slots", options->slots,
                  "auto, a number of CPU slots, or GPUs: cuda, cuda:0,cuda:1, cuda:0*2")
      ->capture_default_str();
  sub->add_flag("--json", options->json, "One JSON object, for programs");
  sub->footer("GPUs are counted as nvidia-smi does, less those that CUDA_VISIBLE_DEVICES "
              "hides; a\nslot keeps its card by UUID. Affinity masks and control groups "
              "take away cores\nand memory.");
  sub->callback(
      [&chosen, options] { chosen = [options] { return show_devices(*options); }; });
}

} // namespace clade
