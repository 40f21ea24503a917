#include "tools/cli/look/replay.hpp"

#include "engine/store/sqlite/run_folder.hpp"
#include "engine/telemetry/feeds/replay_feed.hpp"
#include "tools/cli/base/command.hpp"
#include "tools/cli/look/views.hpp"

#include <fmt/format.h>

#include <limits>
#include <memory>
#include <optional>

namespace clade {

namespace {

struct replay_options {
  std::string run;
  bool verify = false;
  retrain_options retrain;
  std::optional<std::uint64_t> from;
  std::optional<std::uint64_t> to;
  double speed = 1;
  fork_options fork;
  view_options view;
};

expected<opened_run> open(const std::string& run) {
  return find_store(run).and_then([](const std::filesystem::path& path) {
    return store::open_to_read(path).map([&](store s) {
      return opened_run{std::move(s), path};
    });
  });
}

int replay(replay_options options) {
  auto run = open(options.run);
  if (!run)
    return report(run.error());
  if (options.verify)
    return verify_run(*run, options.view.json);
  if (!options.retrain.which.empty()) {
    options.retrain.json = options.view.json;
    return retrain_run(*run, options.retrain);
  }
  if (!options.fork.fork.name.empty()) {
    if (!options.from)
      return report(
          {error_kind::invalid_input,
           fmt::format("--as {}: --from says at the start of which generation to fork",
                       options.fork.fork.name)});
    options.fork.fork.generation = *options.from;
    options.fork.json = options.view.json;
    return fork_run(*run, options.fork);
  }
  const auto f = open_replay_feed(
      run->file, {.from = options.from.value_or(0),
                  .to = options.to.value_or(std::numeric_limits<std::uint64_t>::max()),
                  .speed = options.view.steps ? std::numeric_limits<double>::infinity()
                                              : options.speed,
                  .steps = options.view.steps});
  return f ? show(**f, options.view) : report(f.error());
}

} // namespace

void add_replay(CLI::App& app, command& chosen) {
  auto options = std::make_shared<replay_options>();
  auto* sub =
      app.add_subcommand("replay", "Play a stored run again, or check its decisions");
  sub->add_option(
         "run", options->run,
         "The run: its folder, its name (for the latest of it), or a store's file")
      ->required()
      ->option_text("RUN");
  auto* verify =
      sub->add_flag("--verify", options->verify,
                    "Make every decision again from seed and records, and compare");
  auto* retrain =
      sub->add_option("--retrain", options->retrain.which,
                      "Train this candidate again, the champion, or all, and compare\n"
                      "every epoch and the weights bit for bit")
          ->option_text("ID|champion|all")
          ->excludes(verify);
  sub->add_option("--slots", options->retrain.slots,
                  "Where to train: cpu:1 or cuda:0; otherwise on the kind of device on\n"
                  "which it was done")
      ->needs(retrain);
  sub->add_option("--from", options->from,
                  "Begin with this generation; with --as: make a new run of what is\n"
                  "stored up to its start")
      ->option_text("G");
  sub->add_option("--to", options->to, "End with this generation")
      ->option_text("G")
      ->excludes(verify)
      ->excludes(retrain);
  auto* step = sub->add_flag("--step", options->view.steps,
                             "Stop after each generation until Enter is pressed (in the\n"
                             "terminal's view: n)");
  sub->add_option("--speed", options->speed,
                  "This many times as fast as it was; inf: without pauses")
      ->check([](const std::string& text) {
        double speed = 0;
        const bool is = CLI::detail::lexical_cast(text, speed) && speed > 0;
        return is ? std::string()
                  : fmt::format("\"{}\" is no speed: above 0, or inf", text);
      })
      ->option_text("X")
      ->excludes(step);
  auto* as = sub->add_option("--as", options->fork.fork.name, "The new run's name")
                 ->option_text("NAME")
                 ->excludes(verify)
                 ->excludes(retrain);
  sub->add_option("--change", options->fork.fork.changes,
                  "With --as: key=value, such as evolution.population=48 or\n"
                  "experiment.seed=7; repeatable")
      ->take_all()
      ->needs(as);
  add_views(*sub, options->view);
  sub->footer(
      "Also while the run is going on, and on one that was stopped. Exit status 0: all\n"
      "is equal; 1: something differs, and both sides are printed; 2: the store cannot\n"
      "be read. Examples:\n"
      "  clade replay digits --speed 10\n"
      "  clade replay digits --from 2 --to 4 --step --json\n"
      "  clade replay digits --verify\n"
      "  clade replay digits --retrain champion\n"
      "  clade replay digits --from 3 --change experiment.seed=7 --as digits7\n"
      "A fork's champion that was taken over, and whose weights the origin does not "
      "keep\n"
      "any more, is trained again by the fork's settings before it meets the test data.");
  sub->callback([&chosen, options] { chosen = [options] { return replay(*options); }; });
}

} // namespace clade
