#include "tools/replay.hpp"

#include "engine/store/run_folder.hpp"
#include "tools/command.hpp"

#include <memory>

namespace clade {

namespace {

struct replay_options {
  std::string run;
  bool verify = false;
  retrain_options retrain;
  bool json = false;
};

expected<replayed> open(const std::string& run) {
  return find_store(run).and_then([](const std::filesystem::path& path) {
    return store::open_to_read(path).map([&](store s) {
      return replayed{std::move(s), path};
    });
  });
}

int replay(replay_options options) {
  auto run = open(options.run);
  if (!run)
    return report(run.error());
  if (options.verify)
    return verify_run(*run, options.json);
  if (!options.retrain.which.empty()) {
    options.retrain.json = options.json;
    return retrain_run(*run, options.retrain);
  }
  return report({error_kind::invalid_input, "clade replay: say what is to be done: "
                                            "--verify or --retrain"});
}

} // namespace

void add_replay(CLI::App& app, command& chosen) {
  auto options = std::make_shared<replay_options>();
  auto* sub = app.add_subcommand("replay", "Make a run's decisions again from its store");
  sub->add_option(
         "run", options->run,
         "The run: its folder, its name (for the latest of it), or a store's file")
      ->required()
      ->option_text("RUN");
  sub->add_flag("--verify", options->verify,
                "Make every decision again from seed and records, and compare");
  sub->add_option("--retrain", options->retrain.which,
                  "Train this candidate again, the champion, or all, and compare every\n"
                  "epoch and the weights bit for bit")
      ->option_text("ID|champion|all");
  sub->add_option("--slots", options->retrain.slots,
                  "Where to train: cpu:1 or cuda:0; otherwise on the kind of device on\n"
                  "which it was done");
  sub->add_flag("--json", options->json, "JSON, one object a line, for programs");
  sub->footer(
      "Also while the run is going on, and on one that was stopped. Exit status 0: every\n"
      "decision, or training, is equal; 1: one differs, and both sides are printed; 2: "
      "the\n"
      "store cannot be read.");
  sub->callback([&chosen, options] { chosen = [options] { return replay(*options); }; });
}

} // namespace clade
