#include "tools/cli/look/watched_run.hpp"

#include "actors/transport/link/endpoint.hpp"
#include "engine/store/sqlite/run_folder.hpp"
#include "engine/telemetry/feeds/live_feed.hpp"
#include "engine/telemetry/feeds/remote_feed.hpp"

namespace clade {

namespace {

const std::string remote = "tcp://";

} // namespace

void add_watched_run(CLI::App& sub, watched_run& run) {
  sub.add_option(
         "run", run.run,
         "The run: its folder, its name (for the latest of it) or the beginning of\n"
         "that, or a store's file; or tcp://HOST:PORT where it runs with --publish")
      ->required()
      ->option_text("RUN");
  sub.add_option("--keys", run.keys,
                 "Bundle of clade keys viewer, for a run of another machine");
}

expected<std::unique_ptr<feed>> open_watched(const watched_run& run) {
  if (!run.run.starts_with(remote)) {
    if (!run.keys.empty())
      return fail(error_kind::invalid_input,
                  "--keys is for runs of other machines, tcp://HOST:PORT");
    return find_store(run.run).and_then(open_feed);
  }
  if (run.keys.empty())
    return fail(error_kind::invalid_input,
                run.run + ": --keys is missing, a bundle of clade keys viewer");
  auto at = parse_endpoint(run.run.substr(remote.size()));
  auto keys = read_viewer_bundle(run.keys);
  if (!at || !keys)
    return tl::unexpected(at ? keys.error() : at.error());
  return open_remote_feed({.host = at->host, .port = at->port, .keys = *keys});
}

} // namespace clade
