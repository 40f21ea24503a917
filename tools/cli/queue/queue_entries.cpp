// The questions that people ask a queue's server about its entries: get, describe, logs,
// cancel, wait, top.
#include "engine/report/base/format.hpp"
#include "genome/base/text.hpp"
#include "tools/cli/base/log_printer.hpp"
#include "tools/cli/queue/cluster_entries.hpp"
#include "tools/cli/queue/entry_text.hpp"
#include "tools/cli/queue/queue_option.hpp"
#include "tools/machine/standard_streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>

namespace clade {

namespace {

struct entry_options {
  std::filesystem::path queue;
  cluster_choice cluster{};
  std::vector<std::string> names{}; ///< The names of entries, as they were typed.
  std::vector<std::uint64_t> ids{}; ///< The same of a queue.
  bool watch = false, all = false, json = false, web = false;
  int rank = -1; ///< The rank whose lines of a log are wanted; -1: all.
};

std::string query_of(const entry_options& options) {
  if (!options.ids.empty())
    return "ids=" + joined(options.ids, ",");
  // Whoever watches wants to see how what is there ends.
  return options.all || options.watch ? "state=all" : "";
}

bool all_over(const ordered_json& entries) {
  return std::ranges::all_of(entries, [](const ordered_json& e) { return is_over(e); });
}

/// Checks that the server knows all of the ids, and fails with those that it does not.
expected<void> check_known(const entry_options& options, const ordered_json& entries) {
  for (const auto id : options.ids)
    if (std::ranges::none_of(entries,
                             [&](const ordered_json& e) { return e.at("id") == id; }))
      return fail(error_kind::not_found, fmt::format("there is no #{}", id));
  return {};
}

expected<void> get(const entry_options& options) {
  auto client = open_queue(options.queue);
  if (!client)
    return tl::unexpected(client.error());
  std::map<std::string, std::string> known;
  expected<void> found;
  bool first = true;
  const auto followed =
      follow_entries(*client, query_of(options), [&](const ordered_json& entries) {
        found = check_known(options, entries);
        if (!found)
          return false;
        if (std::exchange(first, false) && !options.json)
          std::cout << entry_table_head;
        print_entry_changes(entries, options.json, known);
        return options.watch && (options.ids.empty() || !all_over(entries))
               && flush_output().has_value();
      });
  return followed ? found : followed;
}

expected<void> describe_entries(const entry_options& options) {
  auto client = open_queue(options.queue);
  if (!client)
    return tl::unexpected(client.error());
  for (const auto id : options.ids) {
    const auto e = client->get(fmt::format("/v1/entries/{}", id), entry_answer);
    if (!e)
      return tl::unexpected(e.error());
    if (options.json) {
      std::cout << text_of(*e) << "\n";
      continue;
    }
    print_entry(*e);
  }
  return {};
}

/// Prints what is there of a log from `offset` on, and moves it; returns whether anything
/// was.
expected<bool> print_log(queue_client& client, std::uint64_t id, std::uint64_t& offset,
                         log_printer& printer) {
  const auto piece = client.read_log(id, offset);
  if (!piece)
    return tl::unexpected(piece.error());
  if (piece->offset > offset)
    printer.leave_out(piece->offset - offset);
  offset = piece->offset + piece->text.size();
  if (const auto written = printer.print(piece->text); !written)
    return tl::unexpected(written.error());
  return !piece->text.empty();
}

expected<void> check_has_ranks(const entry_options& options, const ordered_json& entry) {
  const auto ranks = number_of_key(entry, "ranks");
  if (options.rank < 0 || options.rank < ranks)
    return {};
  const auto id = fmt::format("--rank: #{}", options.ids.front());
  return fail(error_kind::invalid_input,
              ranks == 0 ? id + " was not submitted with --ranks: it has one log"
                         : fmt::format("{} has ranks 0 to {}", id, ranks - 1));
}

expected<void> logs(const entry_options& options) {
  auto client = open_queue(options.queue);
  if (!client)
    return tl::unexpected(client.error());
  const auto id = options.ids.front();
  client->be_patient(options.watch ? restart_time : std::chrono::seconds(0));
  log_printer printer(options.rank);
  std::uint64_t offset = 0;
  // A log grows without an event: it is looked at again after this time.
  std::string wait;
  while (true) {
    // Whether it is over is asked before the last look at its log.
    const auto found =
        client->get(fmt::format("/v1/entries?ids={}{}", id, wait), entries_answer);
    if (!found)
      return tl::unexpected(found.error());
    const auto& entries = found->at("entries");
    if (auto ok = check_known(options, entries).and_then([&] {
          return check_has_ranks(options, entries.at(0));
        });
        !ok)
      return ok;
    expected<bool> more = true;
    while (more && *more)
      more = print_log(*client, id, offset, printer);
    if (!more)
      return tl::unexpected(more.error());
    if (!options.watch || all_over(entries))
      return printer.finish();
    wait = fmt::format("&wait=200&seen={}", found->at("change").get<std::uint64_t>());
  }
}

/// Its processes, and where they are.
expected<void> pods(const entry_options& options) {
  auto client = open_queue(options.queue);
  if (!client)
    return tl::unexpected(client.error());
  if (!options.json)
    std::cout << "ENTRY   MACHINE     PID      PARENT   CPU         MEMORY      COMMAND\n"
              << std::left;
  for (const auto id : options.ids) {
    const auto seen =
        client->get(fmt::format("/v1/entries/{}/processes", id), processes_answer);
    if (!seen)
      return tl::unexpected(seen.error());
    if (options.json) {
      std::cout << text_of({{"id", id},
                            {"machine", seen->value("machine", ordered_json())},
                            {"processes", seen->at("processes")}})
                << "\n";
      continue;
    }
    for (const auto& p : seen->at("processes"))
      std::cout << std::setw(8) << id << std::setw(12)
                << text_of_key(*seen, "machine", "the server's") << std::setw(9)
                << number_of_key(p, "pid") << std::setw(9) << number_of_key(p, "parent")
                << std::setw(12) << duration_text(p["cpu_seconds"].get<double>())
                << std::setw(12) << size_text(p["resident_bytes"].get<std::uint64_t>())
                << text_of_key(p, "command") << "\n";
  }
  return {};
}

expected<void> cancel(const entry_options& options) {
  auto client = open_queue(options.queue);
  if (!client)
    return tl::unexpected(client.error());
  for (const auto id : options.ids)
    if (const auto done = client->remove(fmt::format("/v1/entries/{}", id)); !done)
      return tl::unexpected(done.error());
  return {};
}

/// Returns whether all have succeeded.
expected<bool> wait_for(const entry_options& options) {
  auto client = open_queue(options.queue);
  if (!client)
    return tl::unexpected(client.error());
  client->await_server([](const std::string& why) {
    std::cerr << "clade wait: " << why << "; it is asked again for a minute" << std::endl;
  });
  std::map<std::string, std::string> ended;
  expected<void> found;
  bool good = true;
  const auto followed =
      follow_entries(*client, query_of(options), [&](const ordered_json& entries) {
        found = check_known(options, entries);
        if (!found)
          return false;
        auto over = ordered_json::array();
        good = true;
        for (const auto& e : entries) {
          good = good && e.at("state") == to_text(entry_state::succeeded);
          if (is_over(e))
            over.push_back(e);
        }
        print_entry_changes(over, options.json, ended);
        return over.size() < entries.size();
      });
  if (!followed || !found)
    return tl::unexpected((followed ? found : followed).error());
  return good;
}

expected<void> top(const entry_options& options) {
  auto client = open_queue(options.queue);
  if (!client)
    return tl::unexpected(client.error());
  if (options.web) {
    return client->page_address().map(
        [](const std::string& address) { std::cout << address << "\n"; });
  }
  const auto machine = client->get("/v1/machine", machine_answer);
  if (!machine)
    return tl::unexpected(machine.error());
  if (options.json) {
    std::cout << text_of(*machine) << "\n";
    return {};
  }
  if (const auto trouble = text_of_key(*machine, "trouble", ""); !trouble.empty())
    std::cout << trouble << "\n\n";
  std::cout << "SLOT        USER        ENTRY\n" << std::left;
  for (const auto& s : machine->at("slots")) {
    std::cout << std::setw(12) << text_of_key(s, "slot") << std::setw(12)
              << text_of_key(s, "user", "-");
    if (const auto entry = s.find("entry"); entry != s.end() && !entry->is_null())
      std::cout << entry->get<std::uint64_t>();
    std::cout << "\n";
  }
  std::cout << "\nUSER        SLOTS  QUOTA  RUNNING  WAITING\n";
  for (const auto& u : machine->at("users")) {
    const auto quota = number_of_key(u, "quota");
    std::cout << std::setw(12) << text_of_key(u, "user") << std::setw(7)
              << number_of_key(u, "slots") << std::setw(7)
              << (quota == 0 ? "-" : std::to_string(quota)) << std::setw(9)
              << number_of_key(u, "running") << number_of_key(u, "waiting") << "\n";
  }
  const auto machines = machine->find("machines");
  if (machines == machine->end() || machines->empty())
    return {};
  std::cout << "\nMACHINE     STATE    SLOTS  HEARD       VERSION\n";
  for (const auto& m : *machines)
    std::cout << std::setw(12) << text_of_key(m, "machine") << std::setw(9)
              << text_of_key(m, "state") << std::setw(7) << number_of_key(m, "slots")
              << std::setw(12)
              << duration_text(static_cast<double>(number_of_key(m, "heard_ms")) / 1000)
                     + " ago"
              << text_of_key(m, "version") << "\n";
  return {};
}

int status_of(const expected<void>& done) {
  return done ? 0 : report(done.error());
}

/// Whether all have succeeded.
int status_of(const expected<bool>& good) {
  return good ? (*good ? 0 : 1) : report(good.error());
}

template<auto Ask, class Question>
int status_after(const Question& q) {
  return status_of(Ask(q));
}

expected<std::vector<std::uint64_t>> read_ids(const std::vector<std::string>& names) {
  std::vector<std::uint64_t> ids;
  for (const auto& name : names) {
    const auto id = parse_number<std::uint64_t>(name);
    if (!id)
      return fail(error_kind::invalid_input,
                  fmt::format("\"{}\" is no entry of a queue: those are numbers", name));
    ids.push_back(*id);
  }
  return ids;
}

struct entry_command_row {
  const char* name;
  const char* what;
  bool needs_ids;
  int (*run)(const entry_options&);
  /// The function for the cluster that --to names.
  int (*of_cluster)(const cluster_question&);
};

int run_entry_command(entry_options& options, const entry_command_row& row) {
  if (!options.cluster.to.empty())
    return row.of_cluster({.cluster = options.cluster,
                           .ids = options.names,
                           .watch = options.watch,
                           .all = options.all,
                           .json = options.json,
                           .rank = options.rank});
  auto ids = read_ids(options.names);
  if (!ids)
    return report(ids.error());
  options.ids = std::move(*ids);
  return row.run(options);
}

/// Adds a sub-command with the options that they share.
CLI::App* add_entry_command(CLI::App& app, command& chosen,
                            const std::shared_ptr<entry_options>& options,
                            const entry_command_row& row) {
  auto* sub = app.add_subcommand(row.name, row.what);
  add_queue_option(*sub, options->queue);
  add_cluster_options(*sub, options->cluster);
  if (row.needs_ids)
    sub->add_option("id", options->names, "Numbers of entries, or a cluster's names")
        ->required();
  sub->callback([&chosen, options, row] {
    chosen = [options, row] { return run_entry_command(*options, row); };
  });
  return sub;
}

} // namespace

void add_get(CLI::App& app, command& chosen) {
  auto options = std::make_shared<entry_options>();
  auto* sub = add_entry_command(app, chosen, options,
                                {"get", "List what is in a queue", false,
                                 status_after<get>, status_after<get_of_cluster>});
  sub->add_option("id", options->names, "These entries; none: all that are not over");
  sub->add_flag("-w,--watch", options->watch,
                "Go on with a line for each change, until all named ones are over");
  sub->add_flag("--all", options->all, "Those that are over too");
  sub->add_flag("--json", options->json, "One JSON object a line, for programs");
}

void add_describe(CLI::App& app, command& chosen) {
  auto options = std::make_shared<entry_options>();
  add_entry_command(app, chosen, options,
                    {"describe", "Say all about an entry of a queue", true,
                     status_after<describe_entries>, status_after<describe_of_cluster>})
      ->add_flag("--json", options->json, "One JSON object a line, for programs");
}

void add_logs(CLI::App& app, command& chosen) {
  auto options = std::make_shared<entry_options>();
  auto* sub = add_entry_command(app, chosen, options,
                                {"logs", "Print what an entry of a queue has written",
                                 true, status_after<logs>, status_after<log_of_cluster>});
  sub->get_option("id")->expected(1);
  sub->add_flag("-f,--follow", options->watch, "Until the entry is over");
  sub->add_option("--rank", options->rank,
                  "Of an entry with --ranks: what this one wrote, from 0")
      ->check(CLI::NonNegativeNumber);
}

void add_pods(CLI::App& app, command& chosen) {
  auto options = std::make_shared<entry_options>();
  add_entry_command(app, chosen, options,
                    {"pods", "Say which processes an entry of a queue has, and where",
                     true, status_after<pods>, status_after<pods_of_cluster>})
      ->add_flag("--json", options->json, "One JSON object a line, for programs");
}

void add_cancel(CLI::App& app, command& chosen) {
  add_entry_command(app, chosen, std::make_shared<entry_options>(),
                    {"cancel", "Cancel entries of a queue, or end what runs of them",
                     true, status_after<cancel>, status_after<cancel_of_cluster>});
}

void add_wait(CLI::App& app, command& chosen) {
  auto options = std::make_shared<entry_options>();
  auto* sub = add_entry_command(app, chosen, options,
                                {"wait", "Wait until entries of a queue are over", true,
                                 status_after<wait_for>, status_after<wait_of_cluster>});
  sub->add_flag("--json", options->json, "One JSON object a line, for programs");
  sub->footer(
      "Exit status: 0 if all have succeeded, 1 if one has not. Where no server of\n"
      "the queue is there, it is waited for for a minute.");
}

void add_top(CLI::App& app, command& chosen) {
  auto options = std::make_shared<entry_options>();
  auto* sub = add_entry_command(app, chosen, options,
                                {"top", "Say who has which slots of a queue", false,
                                 status_after<top>, status_after<top_of_cluster>});
  sub->add_flag("--json", options->json, "One JSON object, for programs");
  sub->add_flag("--web", options->web,
                "Print the address of the queue's page, with your token in it");
}

} // namespace clade
