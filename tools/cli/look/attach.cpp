#include "tools/cli/base/command.hpp"
#include "tools/cli/look/viewed_run.hpp"
#include "tools/cli/look/views.hpp"
#include "tools/cli/look/watched_run.hpp"

#include <memory>

namespace clade {

namespace {

struct attach_options {
  watched_run run;
  view_options view;
};

int attach(const attach_options& options) {
  const auto opened = open_watched(options.run);
  if (!opened)
    return report(opened.error());
  auto view = options.view;
  if (view.web)
    view.hooks = hooks_of(options.run);
  return show(**opened, view);
}

} // namespace

void add_attach(CLI::App& app, command& chosen) {
  auto options = std::make_shared<attach_options>();
  auto* sub = app.add_subcommand(
      "attach", "Watch a run while it goes on, or look at a finished one");
  add_watched_run(*sub, options->run);
  add_views(*sub, options->view);
  sub->footer("The search does not notice who watches it. Examples:\n"
              "  clade attach digits                       in the terminal; q quits\n"
              "  clade attach digits --web\n"
              "  clade attach digits --tensorboard /tmp/tb\n"
              "  clade attach digits --json | jq 'select(.event == \"generation\")'\n"
              "  clade attach tcp://10.0.0.7:7420 --keys me    on another machine\n"
              "engine/telemetry/feeds/json.hpp says what the objects hold, "
              "engine/telemetry/picture/wire.hpp\n"
              "how to follow a run from other languages.");
  sub->callback([&chosen, options] { chosen = [options] { return attach(*options); }; });
}

} // namespace clade
