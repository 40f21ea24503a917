#include "engine/report/base/format.hpp"
#include "engine/store/run/store.hpp"
#include "engine/store/sqlite/run_folder.hpp"
#include "engine/store/sqlite/run_lock.hpp"
#include "genome/base/text.hpp"
#include "tools/cli/base/command.hpp"
#include "tools/run/run_files.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <memory>

namespace clade {

namespace {

struct workers_options {
  std::string run;
  bool json = false;
};

std::string seconds_text(std::chrono::milliseconds time) {
  return duration_text(std::chrono::duration<double>(time).count());
}

std::string state_of(const slot_view& s) {
  if (s.quarantined.count() > 0)
    return "quarantined for " + seconds_text(s.quarantined);
  if (s.away)
    return "away";
  if (!s.ready)
    return "prepares";
  if (s.training == 0)
    return "idle";
  return numbered(s.training)
         + (s.epochs > 0 && s.epoch > 0
                ? fmt::format(", epoch {} of {}", s.epoch, s.epochs)
                : "")
         + (s.team.member > 0 ? ", " + to_text(s.team) : "");
}

std::string to_text(const slots_view& view) {
  table lines({table::align::left, table::align::left, table::align::left,
               table::align::right, table::align::right, table::align::left});
  lines.add({"slot", "device", "does", "for", "heard", "failed there"});
  for (const auto& s : view.slots) {
    const auto f = std::ranges::find(view.failures, s.name, &slot_failures::slot);
    lines.add(
        {s.name, s.label.empty() ? "-" : s.label, state_of(s),
         seconds_text(s.training == 0 ? s.joined : s.at_work),
         seconds_text(s.heard) + " ago",
         f == view.failures.end() ? "-" : fmt::format("{}, {}", f->count, f->last)});
  }
  return lines.to_text(2);
}

std::string to_text(const std::vector<node_overview>& nodes) {
  table lines({table::align::left, table::align::left, table::align::left});
  lines.add({"slot", "joined", "left"});
  for (const auto& n : nodes)
    lines.add({n.slot, time_text(n.joined_ms),
               n.left_ms ? fmt::format("{}, {}", time_text(*n.left_ms), n.reason) : "-"});
  return lines.to_text(2);
}

expected<void> list(const workers_options& options) {
  const auto folder = find_run(options.run);
  if (!folder)
    return tl::unexpected(folder.error());
  // A head that was killed leaves what it wrote last.
  if (writer_of(*folder / store_file_name)) {
    const auto slots = read_slots(*folder);
    if (options.json && slots) {
      std::cout << std::ifstream(*folder / "slots.json").rdbuf();
      return {};
    }
    if (slots) {
      std::cout << folder->string() << ": " << slots->slots.size() << " slots, "
                << slots->waiting << " candidates wait\n"
                << to_text(*slots);
      return {};
    }
  }
  if (options.json)
    return fail(error_kind::not_found,
                folder->string() + ": no session is live; clade resume starts one");
  const auto file = store::open_to_read(*folder / store_file_name);
  if (!file)
    return tl::unexpected(file.error());
  const auto nodes = file->nodes();
  if (!nodes)
    return tl::unexpected(nodes.error());
  std::cout << folder->string()
            << ": no session is live; its slots, as they came and went\n"
            << to_text(*nodes);
  return {};
}

int show_workers(const workers_options& options) {
  const auto done = list(options);
  return done ? 0 : report(done.error());
}

} // namespace

void add_workers(CLI::App& app, command& chosen) {
  auto options = std::make_shared<workers_options>();
  auto* sub = app.add_subcommand("workers", "Show what the slots of a live run do");
  sub->add_option("run", options->run,
                  "The run: its folder, or its name for the latest one")
      ->required();
  sub->add_flag("--json", options->json, "One JSON object, for programs");
  sub->footer("Of a run that is not live: its slots, and when and why they left.");
  sub->callback(
      [&chosen, options] { chosen = [options] { return show_workers(*options); }; });
}

} // namespace clade
