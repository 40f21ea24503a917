#include "tools/cli/run/fresh_session.hpp"
#include "tools/run/one_training.hpp"
#include "tools/serve/genome_json.hpp"

#include <nlohmann/json.hpp>

#include <fstream>
#include <memory>

namespace clade {

namespace {

struct train_options {
  one_training_params training;
  fresh_session_options session;
};

expected<nlohmann::ordered_json> read_json(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in)
    return fail(error_kind::not_found, file.string() + ": cannot be read");
  auto j = nlohmann::ordered_json::parse(in, nullptr, /*allow_exceptions=*/false);
  if (j.is_discarded())
    return fail(error_kind::invalid_input, file.string() + ": it is not JSON");
  return j;
}

expected<new_run> make(one_training_params training) {
  if (training.experiment.empty())
    return make_one_training(training);
  return read_json(training.from).and_then([&](const nlohmann::ordered_json& network) {
    training.read = [&network](const search_space& space, const problem& p) {
      return genome_from_json(network, space, p);
    };
    return make_one_training(training);
  });
}

int train(train_options options) {
  override_by(options.session, options.training.overrides);
  return show_fresh_session(
      options.session, options.training.from, [&] { return make(options.training); },
      [](const new_run&) {});
}

} // namespace

void add_train(CLI::App& app, command& chosen) {
  auto options = std::make_shared<train_options>();
  auto& training = options->training;
  auto* sub =
      app.add_subcommand("train", "Train one network to its end, on several slots");
  sub->add_option("from", training.from,
                  "A run, or with --experiment a file with a network as JSON: what is "
                  "behind\n\"genome\" in clade show RUN --genome ID --json")
      ->required()
      ->option_text("RUN");
  auto* candidate =
      sub->add_option("candidate", training.id, "Its number; the best, if none is given")
          ->check(whole_number(1, largest_candidate));
  sub->add_option("--experiment", training.experiment,
                  "Trains the network of a file by this experiment")
      ->excludes(candidate);
  sub->add_option("--epochs", training.epochs,
                  "Instead of training.epochs: for how long it trains")
      ->check(whole_number(1, 1'000'000));
  sub->add_option("--seed", options->session.seed, "Instead of experiment.seed")
      ->check(whole_number(0, largest_seed));
  sub->add_option("--slots", options->session.slots,
                  "Instead of slots.local, as for run");
  add_sharing(*sub, options->session.sharing);
  sub->add_option("--set", training.overrides,
                  "key=value instead of the experiment's, such as "
                  "training.distribution=mirrored; repeatable")
      ->take_all();
  sub->add_option("--runs", training.runs, "Where the run's folder is made")
      ->envname("CLADE_RUNS")
      ->capture_default_str();
  sub->add_flag("--json", options->session.json, "One JSON object a line, for programs");
  sub->footer(
      "It begins from new weights, is a run like any other (resume, attach, export), "
      "and\n"
      "ends with the test of the network. Several slots share the training where\n"
      "training.distribution says how; `clade help distributions`. SIGTERM keeps where\n"
      "it stands and ends it within 20 s; `clade resume RUN` goes on from there. Ctrl+C\n"
      "lets it finish; a second one stops at once. Examples:\n"
      "  clade train digits --epochs 200 --set training.distribution=mirrored \\\n"
      "      --set training.devices=2\n"
      "  clade train network.json --experiment experiments/mnist.toml");
  sub->callback([&chosen, options] { chosen = [options] { return train(*options); }; });
}

} // namespace clade
