// The verbs of a queue where --to names a cluster instead. A cluster tells nobody of its
// changes: it is asked again after a pause.
#include "tools/cli/cluster_entries.hpp"

#include "tools/cli/entry_text.hpp"
#include "tools/cli/queue_option.hpp"
#include "tools/launch/outside_command.hpp"
#include "tools/machine/standard_streams.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
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
expected<void> print_from(const std::filesystem::path& file, std::uintmax_t& offset) {
  std::ifstream in(file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(offset));
  for (char piece[1 << 16]; in.read(piece, sizeof piece) || in.gcount() > 0;) {
    std::cout.write(piece, in.gcount());
    offset += static_cast<std::uintmax_t>(in.gcount());
  }
  return flush_output();
}

expected<void> print_file(const cluster& c, const cluster_question& q,
                          const std::filesystem::path& file) {
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
      if (auto printed = print_from(file, offset); !printed)
        return printed;
    if (over && !there)
      return fail(error_kind::not_found, file.string()
                                             + ": there is no such file; the job has "
                                               "not begun, or wrote it elsewhere");
    if (over)
      return {};
    std::this_thread::sleep_for(pause_between_looks);
  }
}

expected<void> run_printer(const std::vector<std::string>& command) {
  return run_attached(command).and_then([&](int status) -> expected<void> {
    if (status != 0)
      return fail(error_kind::refused,
                  command.front() + " ended with status " + std::to_string(status));
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
  return (*c)->log(q.ids.front(), q.watch).and_then([&](const cluster_log& log) {
    return log.command.empty() ? print_file(**c, q, log.file) : run_printer(log.command);
  });
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
