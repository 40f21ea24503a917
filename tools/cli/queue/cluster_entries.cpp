// The verbs of a queue where --to names a cluster instead. A cluster tells nobody of its
// changes: it is asked again after a pause.
#include "tools/cli/queue/cluster_entries.hpp"

#include "tools/cli/base/log_printer.hpp"
#include "tools/cli/queue/entry_text.hpp"
#include "tools/cli/queue/queue_option.hpp"
#include "tools/launch/outside_command.hpp"
#include "tools/machine/standard_streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <map>
#include <system_error>
#include <thread>

namespace clade {

namespace {

using namespace std::chrono_literals;

constexpr auto pause_between_questions = 2s; ///< So that a scheduler is not kept busy.
constexpr auto pause_between_looks = 500ms;  ///< At a file.

expected<ordered_json> entries_of(const cluster& c, const cluster_question& q) {
  if (q.ids.empty())
    return c.list(q.all || q.watch);
  auto entries = ordered_json::array();
  for (const auto& id : q.ids) {
    auto e = c.find(id);
    if (!e)
      return tl::unexpected(e.error());
    entries.push_back(std::move(*e));
  }
  return entries;
}

bool all_over(const ordered_json& entries) {
  return std::ranges::all_of(entries, [](const ordered_json& e) { return is_over(e); });
}

/// Prints what the file has from the offset on, and moves it.
expected<void> print_from(const std::filesystem::path& file, std::uintmax_t& offset,
                          log_printer& printer) {
  std::ifstream in(file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(offset));
  for (char piece[1 << 16]; in.read(piece, sizeof piece) || in.gcount() > 0;) {
    const std::string_view text(piece, static_cast<std::size_t>(in.gcount()));
    if (auto printed = printer.print(text); !printed)
      return printed;
    offset += text.size();
  }
  return {};
}

expected<void> print_file(const cluster& c, const cluster_question& q,
                          const std::filesystem::path& file) {
  log_printer printer(q.rank);
  std::uintmax_t offset = 0;
  std::chrono::steady_clock::time_point asked{};
  bool over = !q.watch;
  while (true) {
    // Whether it is over is asked before the last look at its log.
    if (const auto now = std::chrono::steady_clock::now();
        !over && now - asked >= pause_between_questions) {
      const auto e = c.find(q.ids.front());
      if (!e)
        return tl::unexpected(e.error());
      over = is_over(*e);
      asked = now;
    }
    std::error_code none;
    const bool there = std::filesystem::exists(file, none);
    if (there)
      if (auto printed = print_from(file, offset, printer); !printed)
        return printed;
    if (over && !there)
      return fail(error_kind::not_found, file.string()
                                             + ": there is no such file; the job has "
                                               "not begun, or wrote it elsewhere");
    if (over)
      return printer.finish();
    std::this_thread::sleep_for(pause_between_looks);
  }
}

expected<void> run_printer(const std::vector<std::string>& command) {
  return run_attached(command).and_then([&](int status) -> expected<void> {
    if (status != 0)
      return fail(error_kind::refused,
                  fmt::format("{} ended with status {}", command.front(), status));
    return {};
  });
}

} // namespace

void add_cluster_options(CLI::App& sub, cluster_choice& choice) {
  sub.add_option("--to", choice.to,
                 "Instead of a queue, a cluster that is there: slurm or kubernetes");
  sub.add_option("--namespace", choice.name_space,
                 "Of Kubernetes; else that of kubectl's context");
}

expected<void> get_of_cluster(const cluster_question& q) {
  const auto c = open_cluster(q.cluster.to, q.cluster.name_space);
  if (!c)
    return tl::unexpected(c.error());
  std::map<std::string, std::string> known;
  for (bool first = true;; first = false) {
    const auto entries = entries_of(**c, q);
    if (!entries)
      return tl::unexpected(entries.error());
    if (first && !q.json)
      std::cout << entry_table_head;
    print_entry_changes(*entries, q.json, known);
    if (auto printed = flush_output(); !printed)
      return printed;
    if (!q.watch || (!q.ids.empty() && all_over(*entries)))
      return {};
    std::this_thread::sleep_for(pause_between_questions);
  }
}

expected<void> describe_of_cluster(const cluster_question& q) {
  const auto c = open_cluster(q.cluster.to, q.cluster.name_space);
  if (!c)
    return tl::unexpected(c.error());
  const auto entries = entries_of(**c, q);
  if (!entries)
    return tl::unexpected(entries.error());
  for (const auto& e : *entries)
    if (q.json)
      std::cout << text_of(e) << "\n";
    else
      print_entry(e);
  return {};
}

expected<void> log_of_cluster(const cluster_question& q) {
  const auto c = open_cluster(q.cluster.to, q.cluster.name_space);
  if (!c)
    return tl::unexpected(c.error());
  return (*c)
      ->log(q.ids.front(), q.watch)
      .and_then([&](const cluster_log& log) -> expected<void> {
        if (log.command.empty())
          return print_file(**c, q, log.file);
        if (q.rank >= 0)
          return fail(error_kind::invalid_input,
                      "--rank: a Job of Kubernetes that was submitted here has one pod");
        return run_printer(log.command);
      });
}

expected<bool> wait_of_cluster(const cluster_question& q) {
  const auto c = open_cluster(q.cluster.to, q.cluster.name_space);
  if (!c)
    return tl::unexpected(c.error());
  std::map<std::string, std::string> ended;
  while (true) {
    const auto entries = entries_of(**c, q);
    if (!entries)
      return tl::unexpected(entries.error());
    auto over = ordered_json::array();
    std::ranges::copy_if(*entries, std::back_inserter(over),
                         [](const ordered_json& e) { return is_over(e); });
    print_entry_changes(over, q.json, ended);
    if (over.size() == entries->size())
      return std::ranges::all_of(over, [](const ordered_json& e) {
        return e["state"] == to_text(entry_state::succeeded);
      });
    std::this_thread::sleep_for(pause_between_questions);
  }
}

expected<void> pods_of_cluster(const cluster_question& q) {
  const auto c = open_cluster(q.cluster.to, q.cluster.name_space);
  if (!c)
    return tl::unexpected(c.error());
  if (!q.json)
    std::cout
        << "ENTRY                 MACHINE     PROCESS                     STATE       "
           "REASON\n"
        << std::left;
  for (const auto& id : q.ids) {
    const auto found = (*c)->processes(id);
    if (!found)
      return tl::unexpected(found.error());
    if (q.json)
      std::cout << text_of({{"id", id}, {"processes", *found}}) << "\n";
    else
      for (const auto& p : *found)
        std::cout << std::setw(22) << id << std::setw(12)
                  << text_of_key(p, "machine", "-") << std::setw(28)
                  << text_of_key(p, "process", "-") << std::setw(12)
                  << text_of_key(p, "state") << text_of_key(p, "reason") << "\n";
  }
  return {};
}

expected<void> top_of_cluster(const cluster_question& q) {
  const auto c = open_cluster(q.cluster.to, q.cluster.name_space);
  if (!c)
    return tl::unexpected(c.error());
  const auto entries = (*c)->list(false);
  if (!entries)
    return tl::unexpected(entries.error());
  const auto users = users_of_cluster(*entries);
  if (!q.json) {
    std::cout << "USER        SLOTS  RUNNING  WAITING\n" << std::left;
    for (const auto& u : users)
      std::cout << std::setw(12) << text_of_key(u, "user") << std::setw(7)
                << number_of_key(u, "slots") << std::setw(9)
                << number_of_key(u, "running") << number_of_key(u, "waiting") << "\n";
    std::cout << std::flush; // Who may see users may not always see machines.
  }
  const auto machines = (*c)->machines();
  if (!machines)
    return tl::unexpected(machines.error());
  if (q.json) {
    std::cout << text_of({{"users", users}, {"machines", *machines}}) << "\n";
    return {};
  }
  std::cout << "\nMACHINE               STATE        DEVICE  SLOTS  USED\n";
  for (const auto& m : *machines)
    std::cout << std::setw(22) << text_of_key(m, "machine") << std::setw(13)
              << text_of_key(m, "state") << std::setw(8) << text_of_key(m, "device")
              << std::setw(7) << number_of_key(m, "slots")
              << (m["used"].is_null() ? "-" : std::to_string(number_of_key(m, "used")))
              << "\n";
  return {};
}

expected<void> cancel_of_cluster(const cluster_question& q) {
  const auto c = open_cluster(q.cluster.to, q.cluster.name_space);
  if (!c)
    return tl::unexpected(c.error());
  for (const auto& id : q.ids)
    if (auto done = (*c)->cancel(id); !done)
      return done;
  return {};
}

} // namespace clade
