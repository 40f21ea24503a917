#include "tools/cli/command.hpp"
#include "tools/cli/shown_session.hpp"
#include "tools/machine/process_limits.hpp"
#include "tools/run/one_training.hpp"
#include "tools/run/publishing.hpp"
#include "tools/serve/genome_json.hpp"

#include <nlohmann/json.hpp>

#include <fstream>
#include <iostream>
#include <memory>

namespace clade {

namespace {

struct train_options {
  one_training_params training;
  std::optional<std::uint64_t> seed;
  std::string slots;
  sharing_options sharing;
  bool json = false;
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

int train(train_options options) {
  auto& overrides = options.training.overrides;
  if (options.seed)
    overrides.push_back("experiment.seed=" + std::to_string(*options.seed));
  if (!options.slots.empty())
    overrides.push_back("slots.local=\"" + options.slots + "\"");
  if (!options.sharing.listen.empty())
    overrides.push_back("slots.listen=\"" + options.sharing.listen + "\"");
  const auto lease = lease_of(options.sharing);
  if (!lease)
    return report(lease.error());
  const auto publish = publishing_at(options.sharing.publish, options.sharing.keys);
  if (!publish)
    return report(publish.error());
  if (const auto enough = check_process_limits(); !enough)
    return report(enough.error());
  if (!options.training.experiment.empty()) {
    const auto j = read_json(options.training.from);
    if (!j)
      return report(j.error());
    options.training.read = [network = *j](const search_space& space, const problem& p) {
      return genome_from_json(network, space, p);
    };
  }
  auto fresh = make_one_training(options.training);
  if (!fresh)
    return report(fresh.error());
  for (const std::string& line : fresh->data_lines)
    std::cerr << "data: " << line << "\n";
  if (!options.json)
    std::cout << fresh->experiment.name << ": " << fresh->folder.string() << std::endl;
  return show_session({.experiment = std::move(fresh->experiment),
                       .problem = std::move(fresh->problem),
                       .folder = fresh->folder,
                       .authority = options.sharing.keys,
                       .publish = *publish,
                       .lease = *lease},
                      {.file = options.training.from,
                       .note = std::move(fresh->note),
                       .json = options.json},
                      std::move(fresh->file), std::move(fresh->state));
}

} // namespace

void add_train(CLI::App& app, command& chosen) {
  auto options = std::make_shared<train_options>();
  auto& training = options->training;
  auto* sub =
      app.add_subcommand("train", "Train one network to its end, on several slots");
  sub->add_option("from", training.from,
                  "A run, or with --experiment a file with a network as JSON")
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
      ->check(CLI::Range(1, 1'000'000));
  sub->add_option("--seed", options->seed, "Instead of experiment.seed")
      ->check(whole_number(0, largest_seed));
  sub->add_option("--slots", options->slots, "Instead of slots.local, as for run");
  add_sharing(*sub, options->sharing);
  sub->add_option("--set", training.overrides,
                  "key=value instead of the experiment's, such as "
                  "training.distribution=mirrored; repeatable")
      ->take_all();
  sub->add_option("--runs", training.runs, "Where the run's folder is made")
      ->envname("CLADE_RUNS")
      ->capture_default_str();
  sub->add_flag("--json", options->json, "One JSON object a line, for programs");
  sub->footer(
      "It begins from new weights, is a run like any other (resume, attach, export), "
      "and\n"
      "ends with the test of the network. Several slots share the training where\n"
      "training.distribution says how; `clade help distributions`. Examples:\n"
      "  clade train digits --epochs 200 --set training.distribution=mirrored \\\n"
      "      --set training.devices=2\n"
      "  clade train network.json --experiment experiments/mnist.toml");
  sub->callback([&chosen, options] { chosen = [options] { return train(*options); }; });
}

} // namespace clade
