#include "engine/store/run_folder.hpp"
#include "engine/telemetry/json.hpp"
#include "engine/telemetry/live_feed.hpp"
#include "tools/command.hpp"
#include "tools/metrics_server.hpp"
#include "tools/tensorboard.hpp"
#include "tools/terminal_view.hpp"
#include "tools/web_server.hpp"

#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>

namespace clade {

namespace {

using namespace std::chrono_literals;

// How long a view that nobody wants any more takes to notice it.
constexpr auto interval = 200ms;

struct attach_options {
  std::string run;
  bool json = false;
  std::optional<std::uint16_t> metrics;
  std::filesystem::path tensorboard;
  bool web = false;
  std::uint16_t port = 0;
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

expected<void> show_metrics(feed& f, std::uint16_t port) {
  return serve_metrics(f, {.port = port, .ready = [](const std::string& address) {
                             std::cout << "metrics for Prometheus at " << address
                                       << ", until Ctrl+C" << std::endl;
                           }});
}

/// Until it is interrupted.
expected<void> show_as_page(feed& f, std::uint16_t port) {
  return serve_web(f, {.port = port, .ready = [](const std::string& address) {
                         std::cout << address << std::endl;
                       }});
}

int status_of(const expected<void>& shown) {
  return shown ? 0 : report(shown.error());
}

int attach(const attach_options& options) {
  const auto file = find_store(options.run);
  if (!file)
    return report(file.error());
  auto opened = open_feed(*file);
  if (!opened)
    return report(opened.error());
  auto& f = **opened;
  if (options.web)
    return status_of(show_as_page(f, options.port));
  if (options.metrics)
    return status_of(show_metrics(f, *options.metrics));
  if (!options.tensorboard.empty())
    return status_of(write_tensorboard(f, options.tensorboard));
  if (options.json)
    return status_of(show_as_lines(f));
  return show_in_terminal(f);
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
  auto* json =
      sub->add_flag("--json", options->json,
                    "One JSON object a line: a picture of the run, then each record");
  auto* metrics = sub->add_option("--metrics", options->metrics,
                                  "Numbers for Prometheus, at /metrics of this port of\n"
                                  "127.0.0.1; 0 takes any that is free")
                      ->option_text("PORT")
                      ->excludes(json);
  auto* tensorboard =
      sub->add_option(
             "--tensorboard", options->tensorboard,
             "Writes the run into this folder as TensorBoard reads it, until it ends")
          ->option_text("DIR")
          ->excludes(json)
          ->excludes(metrics);
  auto* web = sub->add_option(
      "--web", options->port,
      "A page for the browsers of this machine, whose address it prints; on PORT, else\n"
      "on any that is free");
  web->expected(0, 1)->check(CLI::Range(1, 65535))->option_text("[PORT]");
  web->excludes(json)->excludes(metrics)->excludes(tensorboard);
  sub->footer(
      "The search does not notice who watches it. Examples:\n"
      "  clade attach digits                       in the terminal; q quits\n"
      "  clade attach digits --web                 in a browser\n"
      "  clade attach digits --tensorboard /tmp/tb\n"
      "  clade attach digits --json | jq 'select(.event == \"generation\")'\n"
      "engine/telemetry/json.hpp says what the objects hold, engine/telemetry/wire.hpp\n"
      "how to follow a run from other languages.");
  sub->callback([&chosen, options, web] {
    options->web = web->count() > 0;
    chosen = [options] { return attach(*options); };
  });
}

} // namespace clade
