#include "engine/telemetry/json.hpp"
#include "tools/command.hpp"
#include "tools/watched_run.hpp"

#include <cstdio>
#include <iostream>
#include <memory>

namespace clade {

namespace {

using namespace std::chrono_literals;

// How long a view that nobody wants any more takes to notice it.
constexpr auto interval = 200ms;

struct attach_options {
  watched_run run;
  bool json = false;
};

bool print(const std::string& line) {
  return std::puts(line.c_str()) >= 0 && std::fflush(stdout) == 0;
}

bool print_picture(const feed& f) {
  return print(to_json(f.picture(), f.name(), f.showing()));
}

/// Whether more may come.
bool goes_on(const std::string& showing) {
  return showing == "live" || showing == "not connected";
}

/// The picture, then what happens, until the run's head ends; the picture again whenever
/// it was taken anew or `showing` is another.
expected<void> show_as_lines(feed& f) {
  auto shown = f.showing();
  bool printed = print_picture(f);
  while (printed && goes_on(shown)) {
    const auto came = f.wait(interval);
    if (!came)
      return tl::unexpected(came.error());
    for (const auto& n : *came)
      printed = printed && print(to_json(n, f.picture()))
                && (!std::holds_alternative<restarted>(n) || print_picture(f));
    if (shown != f.showing()) {
      shown = f.showing();
      printed = printed && print_picture(f);
    }
  }
  return {};
}

int attach(const attach_options& options) {
  auto opened = open_watched(options.run);
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
  add_watched_run(*sub, options->run);
  sub->add_flag("--json", options->json,
                "One JSON object a line: a picture of the run, then each record");
  sub->footer(
      "The search does not notice who watches it. Examples:\n"
      "  clade attach digits\n"
      "  clade attach digits --json | jq 'select(.event == \"generation\")'\n"
      "  clade attach tcp://10.0.0.7:7420 --keys me\n"
      "engine/telemetry/json.hpp says what the objects hold, engine/telemetry/wire.hpp\n"
      "how to follow a run from other languages.");
  sub->callback([&chosen, options] { chosen = [options] { return attach(*options); }; });
}

} // namespace clade
