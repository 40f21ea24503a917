#include "tools/queue/processes/entry_command.hpp"

#include "engine/queue/queue_state.hpp"
#include "engine/store/run/store.hpp"
#include "engine/store/sqlite/run_folder.hpp"
#include "genome/base/child_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace clade {

namespace {

/// The device that the process of the slot sees; empty for a core.
std::string visible_device(const slot& s) {
  constexpr std::string_view name = "CUDA_VISIBLE_DEVICES=";
  for (const auto& variable : s.environment)
    if (variable.starts_with(name))
      return variable.substr(name.size());
  return {};
}

/// The devices in the order in which the process counts them, with the slots on each.
std::vector<std::pair<std::string, std::size_t>> devices_of(std::span<const slot> slots) {
  std::vector<std::pair<std::string, std::size_t>> devices;
  for (const auto& s : slots) {
    if (s.device == "cpu")
      continue;
    const auto device = visible_device(s);
    const auto known =
        std::ranges::find(devices, device, [](const auto& d) { return d.first; });
    if (known == devices.end())
      devices.emplace_back(device, 1);
    else
      ++known->second;
  }
  return devices;
}

std::vector<unsigned> cores_of(std::span<const slot> slots) {
  std::vector<unsigned> cores;
  for (const auto& s : slots) {
    if (s.cores.empty())
      return {}; // There are more slots than cores: nobody has any of their own.
    cores.insert(cores.end(), s.cores.begin(), s.cores.end());
  }
  return cores;
}

std::vector<std::string> run_command(const std::filesystem::path& program,
                                     const std::filesystem::path& folder,
                                     const queue_submission& what,
                                     std::span<const slot> slots) {
  if (const auto run = run_of_entry(folder); !run.empty())
    return {program.string(), "resume", run.string(), "--slots", slots_text(slots)};
  std::vector<std::string> words{program.string(), std::string(to_text(what.kind))};
  words.insert(words.end(), what.words.begin(), what.words.end());
  words.insert(words.end(), {"--runs", (folder / entry_runs_name).string(), "--slots",
                             slots_text(slots)});
  return words;
}

} // namespace

std::filesystem::path entry_folder(const std::filesystem::path& queue, entry_id id) {
  return queue / entries_folder_name / std::to_string(id);
}

std::filesystem::path run_of_entry(const std::filesystem::path& folder) {
  const auto runs = list_run_folders(folder / entry_runs_name);
  if (!runs)
    return {};
  for (const auto& one : *runs) {
    // One that was killed before its first record has nothing to go on with.
    const auto file = store::open_to_read(one.store_file());
    if (file && file->size() > 0)
      return one.store_file().parent_path();
  }
  return {};
}

std::string slots_text(std::span<const slot> slots) {
  std::string text;
  std::size_t number = 0;
  for (const auto& [_, count] : devices_of(slots))
    text += fmt::format("{}{}{}", text.empty() ? "cuda:" : ",cuda:", number++,
                        count > 1 ? fmt::format("*{}", count) : "");
  const auto cores = std::ranges::count(slots, "cpu", &slot::device);
  if (cores > 0)
    text += fmt::format("{}{}", text.empty() ? "cpu:" : ",cpu:", cores);
  return text;
}

std::vector<std::string> entry_environment(entry_id id, std::span<const slot> slots) {
  std::map<std::string, std::string> variables;
  for (const auto& s : slots)
    for (const auto& variable : s.environment) {
      const auto is = variable.find('=');
      variables[variable.substr(0, is)] = variable.substr(is + 1);
    }
  std::string names, devices;
  for (const auto& s : slots)
    names += (names.empty() ? "" : " ") + s.name;
  for (const auto& [device, _] : devices_of(slots))
    devices += (devices.empty() ? "" : ",") + device;
  variables["CUDA_VISIBLE_DEVICES"] = devices;
  const auto cores = cores_of(slots).size();
  if (cores > 0)
    for (auto& [name, value] : variables)
      if (name.ends_with("_NUM_THREADS"))
        value = std::to_string(cores);
  variables["CLADE_ENTRY"] = std::to_string(id);
  variables["CLADE_SLOTS"] = names;
  std::vector<std::string> all;
  for (const auto& [name, value] : variables)
    all.push_back(fmt::format("{}={}", name, value));
  return all;
}

std::vector<rank_process> rank_processes(entry_id id, std::uint32_t ranks,
                                         std::span<const slot> slots) {
  std::vector<rank_process> all;
  const auto share = slots.size() / ranks;
  for (std::uint32_t i = 0; i < ranks; ++i) {
    const auto its = slots.subspan(i * share, share);
    all.push_back({.environment = entry_environment(id, its), .cores = cores_of(its)});
    std::erase_if(all.back().environment, [](const std::string& variable) {
      return variable.starts_with("CUDA_VISIBLE_DEVICES=");
    });
  }
  return all;
}

expected<void> check_ranks(const queue_submission& s) {
  if (!s.ranks)
    return {};
  if (s.kind != entry_kind::command)
    return fail(
        error_kind::invalid_input,
        "ranks are for commands; clade train has --set training.distribution=...");
  if (*s.ranks == 0 || s.slots % *s.ranks != 0)
    return fail(error_kind::invalid_input,
                fmt::format("{} cannot be shared out evenly to {} ranks",
                            slots_in_words(s.slots), *s.ranks));
  return {};
}

expected<entry_process_params> entry_command(const std::filesystem::path& program,
                                             const std::filesystem::path& folder,
                                             entry_id id, const queue_submission& what,
                                             std::span<const slot> slots) {
  entry_process_params params{.command = what.words,
                              .environment = entry_environment(id, slots),
                              .directory = what.directory,
                              .log = folder / entry_log_name,
                              .cores = cores_of(slots)};
  if (is_resumable(what.kind)) {
    params.command = run_command(program, folder, what, slots);
    return params;
  }
  if (auto readable = check_shell_script(what.words, what.directory); !readable)
    return tl::unexpected(std::move(readable).error());
  return find_program(what.words.front(), what.directory)
      .map([&](const std::filesystem::path& file) {
        params.command.front() = file.string();
        if (what.ranks) {
          auto words =
              ranks_words(program.string(), rank_processes(id, *what.ranks, slots));
          words.insert(words.end(), params.command.begin(), params.command.end());
          params.command = std::move(words);
        }
        return std::move(params);
      });
}

} // namespace clade
