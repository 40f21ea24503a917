#include "engine/store/run_folder.hpp"
#include "engine/telemetry/json.hpp"
#include "engine/telemetry/live_feed.hpp"
#include "tools/command.hpp"

#include <cstdio>
#include <iostream>
#include <memory>

namespace clade {

namespace {

using namespace std::chrono_literals;

// How long a view that nobody wants any more takes to notice it.
constexpr auto interval = 200ms;

struct attach_options {
  std::string run;
  bool json = false;
};

bool print(const std::string& line) {
  return std::puts(line.c_str()) >= 0 && std::fflush(stdout) == 0;
}

/// The picture, then what happens, until the run's head ends.
expected<void> show_as_lines(feed& f) {
  if (!print(to_json(f.picture(), f.name(), f.showing())))
    return {};
  while (f.showing() == "live") {
    const auto came = f.wait(interval);
    if (!came)
      return tl::unexpected(came.error());
    for (const auto& n : *came) {
      if (!print(to_json(n, f.picture())))
        return {};
      if (std::holds_alternative<restarted>(n)
          && !print(to_json(f.picture(), f.name(), f.showing())))
        return {};
    }
  }
  return {};
}

int attach(const attach_options& options) {
  const auto file = find_store(options.run);
  if (!file)
    return report(file.error());
  auto opened = open_feed(*file);
  if (!opened)
    return report(opened.error());
  const auto shown = show_as_lines(**opened);
  return shown ? 0 : report(shown.error());
}

} // namespace

void add_attach(CLI::App& app, command& chosen) {
  auto options = std::make_shared<attach_options>();
  auto* sub =
      app.add_subcommand("attach", "Watch a run while it goes on, or look at it after");
  sub->add_option(
         "run", options->run,
         "The run: its folder, its name (for the latest of it) or the beginning of\n"
         "that, or a store's file")
      ->required()
      ->option_text("RUN");
  sub->add_flag("--json", options->json,
                "One JSON object a line: a picture of the run, then each record");
  sub->footer(
      "The search does not notice who watches it. Examples:\n"
      "  clade attach digits\n"
      "  clade attach digits --json | jq 'select(.event == \"generation\")'\n"
      "engine/telemetry/json.hpp says what the objects hold, engine/telemetry/wire.hpp\n"
      "how to follow a run from other languages.");
  sub->callback([&chosen, options] { chosen = [options] { return attach(*options); }; });
}

} // namespace clade
