#include "engine/report/text/json.hpp"
#include "engine/report/text/text.hpp"
#include "tools/cli/base/command.hpp"

#include <iostream>
#include <memory>

namespace clade {

namespace {

/// Prints the runs that can be read, then what is wrong with the others.
int list(bool json) {
  const auto folder = runs_folder();
  const auto folders = list_run_folders(folder);
  if (!folders)
    return report(folders.error());
  std::vector<run_view> runs;
  std::vector<error> unreadable;
  for (const auto& f : *folders) {
    auto run = store::open_to_read(f.store_file()).and_then([&](const store& s) {
      return view_run(s, f.store_file());
    });
    if (run)
      runs.push_back(std::move(*run));
    else
      unreadable.push_back(std::move(run.error()));
  }
  if (json)
    for (const auto& r : runs)
      std::cout << to_json(r) << "\n";
  else if (!runs.empty())
    std::cout << to_text(runs);
  else if (unreadable.empty())
    std::cout << "no runs in " << folder.string() << "/; clade run FILE makes one\n";
  int status = 0;
  for (const auto& e : unreadable)
    status = std::max(status, report(e));
  return status;
}

} // namespace

void add_list(CLI::App& app, command& chosen) {
  auto json = std::make_shared<bool>(false);
  auto* sub = app.add_subcommand("list", "List the runs, the latest first");
  sub->add_flag("--json", *json, "One JSON object a line, for programs");
  sub->footer(
      "Runs are looked for in ./runs, or where the environment variable CLADE_RUNS "
      "says.\n"
      "A run is running, finished, or stopped, and then `clade resume` goes on with it.");
  sub->callback([&chosen, json] { chosen = [json] { return list(*json); }; });
}

} // namespace clade
