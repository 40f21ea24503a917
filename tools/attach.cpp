#include "engine/store/run_folder.hpp"
#include "engine/telemetry/live_feed.hpp"
#include "tools/command.hpp"
#include "tools/views.hpp"

#include <memory>

namespace clade {

namespace {

struct attach_options {
  std::string run;
  view_options view;
};

int attach(const attach_options& options) {
  const auto file = find_store(options.run);
  if (!file)
    return report(file.error());
  const auto opened = open_feed(*file);
  return opened ? show(**opened, options.view) : report(opened.error());
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
  add_views(*sub, options->view);
  sub->footer(
      "The search does not notice who watches it. Examples:\n"
      "  clade attach digits                       in the terminal; q quits\n"
      "  clade attach digits --web\n"
      "  clade attach digits --tensorboard /tmp/tb\n"
      "  clade attach digits --json | jq 'select(.event == \"generation\")'\n"
      "engine/telemetry/json.hpp says what the objects hold, engine/telemetry/wire.hpp\n"
      "how to follow a run from other languages.");
  sub->callback([&chosen, options] { chosen = [options] { return attach(*options); }; });
}

} // namespace clade
