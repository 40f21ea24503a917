#include "tools/cli/look/views.hpp"

#include "engine/telemetry/feeds/json.hpp"
#include "tools/cli/base/command.hpp"
#include "tools/views/metrics/metrics_server.hpp"
#include "tools/views/tensorboard/tensorboard.hpp"
#include "tools/views/terminal/terminal_view.hpp"
#include "tools/views/web/web_server.hpp"

#include <fmt/format.h>

#include <iostream>
#include <stop_token>

namespace clade {

namespace {

using namespace std::chrono_literals;

// How long a view that nobody wants any more takes to notice it.
constexpr auto interval = 200ms;

bool print(const std::string& line) {
  return static_cast<bool>(std::cout << line << std::endl);
}

bool print_picture(const feed& f) {
  return print(to_json(f.picture(), f.name(), f.showing()));
}

/// Whether more may come.
bool goes_on(feed_state showing) {
  return showing == feed_state::live || showing == feed_state::replay
         || showing == feed_state::not_connected;
}

/// The picture, then what happens, until nothing more can; the picture again whenever it
/// was taken anew or `showing` is another.
expected<void> show_as_lines(feed& f, bool steps) {
  auto shown = f.showing();
  bool printed = print_picture(f);
  while (printed && goes_on(shown)) {
    const auto came = f.wait(interval);
    if (!came)
      return tl::unexpected(came.error());
    for (const auto& n : *came) {
      printed = printed && print(to_json(n, f.picture()))
                && (!std::holds_alternative<restarted>(n) || print_picture(f));
      const auto* h = std::get_if<record_event>(&n);
      if (!steps || h == nullptr || !std::holds_alternative<generation_closed>(h->record))
        continue;
      if (std::string line; !std::getline(std::cin, line))
        return {};
      f.step();
    }
    if (shown != f.showing()) {
      shown = f.showing();
      printed = printed && print_picture(f);
    }
  }
  return {};
}

expected<void> show_as_page(feed& f, const view_options& options) {
  std::stop_source unknown; // Nobody can open a page whose address is not told.
  return serve_web(f, {.port = *options.web,
                       .ready =
                           [&unknown](const std::string& address) {
                             if (!print(address))
                               unknown.request_stop();
                           },
                       .stop = unknown.get_token(),
                       .hooks = options.hooks});
}

expected<void> show_metrics(feed& f, std::uint16_t port) {
  std::stop_source unknown;
  return serve_metrics(
      f, {.port = port,
          .ready =
              [&unknown](const std::string& address) {
                if (!print(fmt::format("metrics for Prometheus at {}, until Ctrl+C",
                                       address)))
                  unknown.request_stop();
              },
          .stop = unknown.get_token()});
}

} // namespace

void add_views(CLI::App& sub, view_options& options) {
  auto* json =
      sub.add_flag("--json", options.json,
                   "One JSON object a line: a picture of the run, then each record");
  auto* web = sub.add_option_function<std::uint16_t>(
                     "--web", [&options](std::uint16_t port) { options.web = port; },
                     "A page for a browser of this machine, whose address it prints;\n"
                     "on PORT, or on a free one. Whoever has the address may give\n"
                     "the run orders there, as clade control does")
                  ->expected(0, 1)
                  ->default_str("0")
                  ->option_text("[PORT]")
                  ->excludes(json);
  auto* metrics = sub.add_option("--metrics", options.metrics,
                                 "Metrics for Prometheus, at /metrics of this port of\n"
                                 "127.0.0.1; 0 takes a free one")
                      ->option_text("PORT")
                      ->excludes(json)
                      ->excludes(web);
  sub.add_option("--tensorboard", options.tensorboard,
                 "Writes the run into this folder as TensorBoard reads it, until it ends")
      ->option_text("DIR")
      ->excludes(json)
      ->excludes(web)
      ->excludes(metrics);
}

int show(feed& f, const view_options& options) {
  if (!options.json && !options.web && !options.metrics && options.tensorboard.empty()) {
    const auto status = show_in_terminal(f);
    return status ? *status : report(status.error());
  }
  const auto shown = options.json      ? show_as_lines(f, options.steps)
                     : options.web     ? show_as_page(f, options)
                     : options.metrics ? show_metrics(f, *options.metrics)
                                       : write_tensorboard(f, options.tensorboard);
  return shown ? 0 : report(shown.error());
}

} // namespace clade
