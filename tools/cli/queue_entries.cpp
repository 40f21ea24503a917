// What people ask a queue's server of its entries: get, describe, logs, cancel, wait, top.
#include "engine/report/format.hpp"
#include "tools/cli/queue_option.hpp"
#include "tools/machine/standard_streams.hpp"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>

namespace clade {

namespace {

struct entry_options {
  std::filesystem::path queue;
  std::vector<std::uint64_t> ids{};
  bool watch = false, all = false, json = false;
};

/// Lists leave out what has no value.
std::string text_of_key(const ordered_json& j, const char* key,
                        const std::string& otherwise = "") {
  const auto found = j.find(key);
  return found != j.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

std::int64_t number_of_key(const ordered_json& j, const char* key) {
  const auto found = j.find(key);
  return found != j.end() && found->is_number() ? found->get<std::int64_t>() : 0;
}

/// "-" for those who may not see it.
std::string command_text(const ordered_json& entry) {
  const auto words = entry.find("command");
  if (words == entry.end() || !words->is_array())
    return "-";
  const auto kind = text_of_key(entry, "kind");
  auto text = kind == "command" ? std::string() : kind + " ";
  for (const auto& word : *words)
    text += word.get<std::string>() + " ";
  text.pop_back();
  // A terminal would obey them.
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 32 || c == 127; }, '?');
  return shortened_middle(text);
}

constexpr const char* table_head =
    "ID      USER        STATE      PRIORITY  SLOTS  NAME              REASON\n";

std::string table_row(const ordered_json& entry) {
  const auto cell = [](const std::string& text, std::size_t width) {
    return text + std::string(text.size() < width ? width - text.size() : 1, ' ');
  };
  const auto number = [&](const char* key) {
    return std::to_string(number_of_key(entry, key));
  };
  const bool stopping = entry.value("stopping", false);
  return cell(number("id"), 8) + cell(text_of_key(entry, "user"), 12)
         + cell(stopping ? "stopping" : text_of_key(entry, "state"), 11)
         + cell(number("priority"), 10) + cell(number("slots"), 7)
         + cell(text_of_key(entry, "name", command_text(entry)), 18)
         + text_of_key(entry, "reason") + "\n";
}

/// The rows that are not as they were.
void print_changes(const ordered_json& entries, bool json,
                   std::map<std::uint64_t, std::string>& known) {
  for (const auto& e : entries) {
    const auto row = json ? text_of(e) + "\n" : table_row(e);
    auto& before = known[e["id"].get<std::uint64_t>()];
    if (before != row)
      std::cout << row;
    before = row;
  }
  std::cout << std::flush;
}

std::string query_of(const entry_options& options) {
  if (!options.ids.empty())
    return "ids=" + joined(options.ids);
  // Whoever watches wants to see how what is there ends.
  return options.all || options.watch ? "state=all" : "";
}

bool all_over(const ordered_json& entries) {
  return std::ranges::all_of(entries, [](const ordered_json& e) { return is_over(e); });
}

/// Those of the ids that the server does not know.
expected<void> check_known(const entry_options& options, const ordered_json& entries) {
  for (const auto id : options.ids)
    if (std::ranges::none_of(entries,
                             [&](const ordered_json& e) { return e["id"] == id; }))
      return fail(error_kind::not_found, "there is no #" + std::to_string(id));
  return {};
}

expected<void> get(const entry_options& options) {
  auto client = open_queue(options.queue);
  if (!client)
    return tl::unexpected(client.error());
  std::map<std::uint64_t, std::string> known;
  expected<void> found;
  bool first = true;
  const auto followed =
      follow_entries(*client, query_of(options), [&](const ordered_json& entries) {
        found = check_known(options, entries);
        if (!found)
          return false;
        if (std::exchange(first, false) && !options.json)
          std::cout << table_head;
        print_changes(entries, options.json, known);
        return options.watch && (options.ids.empty() || !all_over(entries))
               && flush_output().has_value();
      });
  return followed ? found : followed;
}

void print_description(const ordered_json& e) {
  const auto line = [](const char* key, const std::string& text) {
    if (!text.empty() && text != "-")
      std::cout << std::left << std::setw(11) << key << text << "\n";
  };
  line("entry", std::to_string(number_of_key(e, "id")));
  for (const char* key : {"user", "name", "kind", "state", "reason"})
    line(key, text_of_key(e, key));
  line("command", command_text(e));
  line("directory", text_of_key(e, "directory"));
  for (const char* key : {"priority", "slots", "starts", "losses"})
    line(key, std::to_string(number_of_key(e, key)));
  line("device", text_of_key(e, "device"));
  std::string on;
  for (const auto& slot : e["on"])
    on += slot.get<std::string>() + " ";
  line("on", on);
  for (const char* key : {"submitted", "started", "ended"})
    if (e[key].is_number())
      line(key, time_text(e[key].get<std::int64_t>()));
  line("run", text_of_key(e, "run"));
  line("folder", text_of_key(e, "folder"));
}

expected<void> describe(const entry_options& options) {
  auto client = open_queue(options.queue);
  if (!client)
    return tl::unexpected(client.error());
  for (const auto id : options.ids) {
    const auto e = client->get("/v1/entries/" + std::to_string(id));
    if (!e)
      return tl::unexpected(e.error());
    if (options.json) {
      std::cout << text_of(*e) << "\n";
      continue;
    }
    print_description(*e);
  }
  return {};
}

/// Prints what is there of a log from `offset` on, and moves it; returns whether anything
/// was.
expected<bool> print_log(queue_client& client, std::uint64_t id, std::uint64_t& offset) {
  const auto text = client.get_bytes("/v1/entries/" + std::to_string(id)
                                     + "/log?offset=" + std::to_string(offset));
  if (!text)
    return tl::unexpected(text.error());
  std::cout << *text;
  if (const auto written = flush_output(); !written)
    return tl::unexpected(written.error());
  offset += text->size();
  return !text->empty();
}

expected<void> logs(const entry_options& options) {
  auto client = open_queue(options.queue);
  if (!client)
    return tl::unexpected(client.error());
  const auto id = options.ids.front();
  client->be_patient(options.watch ? restart_time : std::chrono::seconds(0));
  std::uint64_t offset = 0;
  // A log grows without an event: it is looked at again after this time.
  std::string wait;
  while (true) {
    // Whether it is over is asked before the last look at its log.
    const auto found = client->get("/v1/entries?ids=" + std::to_string(id) + wait);
    if (!found)
      return tl::unexpected(found.error());
    expected<bool> more = true;
    while (more && *more)
      more = print_log(*client, id, offset);
    if (!more)
      return tl::unexpected(more.error());
    if (!options.watch || all_over((*found)["entries"]))
      return {};
    wait = "&wait=200&seen=" + std::to_string((*found)["change"].get<std::uint64_t>());
  }
}

expected<void> cancel(const entry_options& options) {
  auto client = open_queue(options.queue);
  if (!client)
    return tl::unexpected(client.error());
  for (const auto id : options.ids)
    if (const auto done = client->remove("/v1/entries/" + std::to_string(id)); !done)
      return tl::unexpected(done.error());
  return {};
}

/// Returns whether all have succeeded.
expected<bool> wait_for(const entry_options& options) {
  auto client = open_queue(options.queue);
  if (!client)
    return tl::unexpected(client.error());
  std::map<std::uint64_t, std::string> ended;
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
          good = good && e["state"] == "succeeded";
          if (is_over(e))
            over.push_back(e);
        }
        print_changes(over, options.json, ended);
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
  const auto machine = client->get("/v1/machine");
  if (!machine)
    return tl::unexpected(machine.error());
  if (options.json) {
    std::cout << text_of(*machine) << "\n";
    return {};
  }
  std::cout << "SLOT        USER        ENTRY\n" << std::left;
  for (const auto& s : (*machine)["slots"]) {
    std::cout << std::setw(12) << text_of_key(s, "slot") << std::setw(12)
              << text_of_key(s, "user", "-");
    if (s["entry"].is_number())
      std::cout << s["entry"].get<std::uint64_t>();
    std::cout << "\n";
  }
  std::cout << "\nUSER        SLOTS  QUOTA  RUNNING  WAITING\n";
  for (const auto& u : (*machine)["users"]) {
    const auto quota = number_of_key(u, "quota");
    std::cout << std::setw(12) << text_of_key(u, "user") << std::setw(7)
              << number_of_key(u, "slots") << std::setw(7)
              << (quota == 0 ? "-" : std::to_string(quota)) << std::setw(9)
              << number_of_key(u, "running") << number_of_key(u, "waiting") << "\n";
  }
  return {};
}

int status_of(const expected<void>& done) {
  return done ? 0 : report(done.error());
}

int wait_and_report(const entry_options& options) {
  const auto good = wait_for(options);
  return good ? (*good ? 0 : 1) : report(good.error());
}

struct entry_command_row {
  const char* name;
  const char* what;
  bool needs_ids;
  int (*run)(const entry_options&);
};

/// Adds a sub-command with the options that they share.
CLI::App* add_entry_command(CLI::App& app, command& chosen,
                            const std::shared_ptr<entry_options>& options,
                            const entry_command_row& row) {
  auto* sub = app.add_subcommand(row.name, row.what);
  add_queue_option(*sub, options->queue);
  if (row.needs_ids)
    sub->add_option("id", options->ids, "Numbers of entries")->required();
  sub->callback([&chosen, options, run = row.run] {
    chosen = [options, run] { return run(*options); };
  });
  return sub;
}

} // namespace

void add_get(CLI::App& app, command& chosen) {
  auto options = std::make_shared<entry_options>();
  auto* sub =
      add_entry_command(app, chosen, options,
                        {"get", "List what is in a queue", false,
                         [](const entry_options& o) { return status_of(get(o)); }});
  sub->add_option("id", options->ids, "These entries; none: all that are not over");
  sub->add_flag("-w,--watch", options->watch,
                "Go on with a line for each change, until all named ones are over");
  sub->add_flag("--all", options->all, "Those that are over too");
  sub->add_flag("--json", options->json, "One JSON object a line, for programs");
}

void add_describe(CLI::App& app, command& chosen) {
  auto options = std::make_shared<entry_options>();
  add_entry_command(app, chosen, options,
                    {"describe", "Say all about an entry of a queue", true,
                     [](const entry_options& o) { return status_of(describe(o)); }})
      ->add_flag("--json", options->json, "One JSON object a line, for programs");
}

void add_logs(CLI::App& app, command& chosen) {
  auto options = std::make_shared<entry_options>();
  auto* sub =
      add_entry_command(app, chosen, options,
                        {"logs", "Print what an entry of a queue has written", true,
                         [](const entry_options& o) { return status_of(logs(o)); }});
  sub->get_option("id")->expected(1);
  sub->add_flag("-f,--follow", options->watch, "Until the entry is over");
}

void add_cancel(CLI::App& app, command& chosen) {
  add_entry_command(app, chosen, std::make_shared<entry_options>(),
                    {"cancel", "Cancel entries of a queue, or end what runs of them",
                     true, [](const entry_options& o) { return status_of(cancel(o)); }});
}

void add_wait(CLI::App& app, command& chosen) {
  auto options = std::make_shared<entry_options>();
  auto* sub = add_entry_command(
      app, chosen, options,
      {"wait", "Wait until entries of a queue are over", true, wait_and_report});
  sub->add_flag("--json", options->json, "One JSON object a line, for programs");
  sub->footer("Exit status: 0 if all have succeeded, 1 if one has not.");
}

void add_top(CLI::App& app, command& chosen) {
  auto options = std::make_shared<entry_options>();
  add_entry_command(app, chosen, options,
                    {"top", "Say who has which slots of a queue", false,
                     [](const entry_options& o) { return status_of(top(o)); }})
      ->add_flag("--json", options->json, "One JSON object, for programs");
}

} // namespace clade
