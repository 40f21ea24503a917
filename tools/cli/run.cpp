#include "engine/simulation/planned_work.hpp"
#include "search_spaces/network.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/plan_sample.hpp"
#include "tools/cli/shown_session.hpp"
#include "tools/machine/process_limits.hpp"
#include "tools/run/new_run.hpp"
#include "tools/run/publishing.hpp"

#include <cmath>
#include <iostream>
#include <memory>

namespace clade {

namespace {

struct run_options {
  new_run_params run;
  bool json = false;
  std::optional<double> minutes;
  std::optional<std::uint64_t> seed;
  std::string slots;
  sharing_options sharing;
};

void say_start(const new_run& fresh) {
  std::cout << fresh.experiment.name << ": " << fresh.folder.string() << std::endl;
  if (const auto& chosen = fresh.experiment.evolution.chosen; !chosen.empty())
    std::cout << "auto chose " << chosen << std::endl;
  const auto& e = fresh.experiment;
  const auto slots = parse_slots(e.slots.local);
  if (!slots)
    return; // The session will say so, and end.
  const auto at_once = trainings_at_once(e, slots->size());
  const auto open = open_at_once(rules_of(e), fresh.problem, at_once);
  if (!open)
    return;
  if (const auto idle = idle_slots_line(e, *open, slots->size()); !idle.empty())
    std::cout << "note: " << idle << std::endl;
}

int run(run_options options) {
  if (options.seed)
    options.run.overrides.push_back("experiment.seed=" + std::to_string(*options.seed));
  if (options.minutes)
    options.run.budget = std::chrono::milliseconds(std::llround(60e3 * *options.minutes));
  if (!options.slots.empty())
    options.run.overrides.push_back("slots.local=\"" + options.slots + "\"");
  if (!options.sharing.listen.empty())
    options.run.overrides.push_back("slots.listen=\"" + options.sharing.listen + "\"");
  const auto lease = lease_of(options.sharing);
  if (!lease)
    return report(lease.error());
  const auto publish = publishing_at(options.sharing.publish, options.sharing.keys);
  if (!publish)
    return report(publish.error());
  if (const auto enough = check_process_limits(); !enough)
    return report(enough.error());
  auto fresh = make_run(options.run);
  if (!fresh)
    return report(fresh.error());
  for (const std::string& line : fresh->data_lines)
    std::cerr << "data: " << line << "\n";
  if (!options.json)
    say_start(*fresh);
  return show_session(
      {.experiment = std::move(fresh->experiment),
       .problem = std::move(fresh->problem),
       .folder = fresh->folder,
       .authority = options.sharing.keys,
       .publish = *publish,
       .lease = *lease},
      {.file = options.run.file, .note = std::move(fresh->note), .json = options.json},
      std::move(fresh->file), std::move(fresh->state));
}

} // namespace

void add_run(CLI::App& app, command& chosen) {
  auto options = std::make_shared<run_options>();
  auto* sub = app.add_subcommand("run", "Evolve networks for an experiment file");
  sub->add_option("file", options->run.file,
                  "Experiment file, such as experiments/digits.toml")
      ->required();
  sub->add_option("--seed", options->seed, "Instead of experiment.seed")
      ->check(whole_number(0, largest_seed));
  sub->add_option("--minutes", options->minutes,
                  "How long the run may take: its end is planned such that there is a "
                  "final model by then")
      ->check(CLI::Range(0.001, 1e6));
  sub->add_option("--start-from", options->run.start_from,
                  "An earlier run, whose best genomes are among the first candidates");
  sub->add_option("--slots", options->slots,
                  "Instead of slots.local: auto, none, a number of CPU slots, or GPUs: "
                  "cuda, cuda:0*2");
  add_sharing(*sub, options->sharing);
  sub->add_option("--set", options->run.overrides,
                  "key=value instead of the file's, such as "
                  "evolution.population=48; repeatable")
      ->take_all();
  sub->add_option("--runs", options->run.runs, "Where the run's folder is made")
      ->envname("CLADE_RUNS")
      ->capture_default_str();
  sub->add_flag("--json", options->json, "One JSON object a line, for programs");
  sub->footer(
      "Everything that happens is recorded in runs/NAME-TIME/run.db. Ctrl+C lets the\n"
      "networks in training finish, saves them and stops; `clade resume RUN` continues.\n"
      "A second Ctrl+C stops at once, and resume trains again what was cut off. SIGTERM\n"
      "and SIGHUP do as Ctrl+C. Lines that cannot be printed do not stop a run; it says\n"
      "so at its end, and exits with 1.");
  sub->callback([&chosen, options] { chosen = [options] { return run(*options); }; });
}

} // namespace clade
