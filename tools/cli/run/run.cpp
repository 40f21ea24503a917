#include "engine/simulation/planned_work.hpp"
#include "search_spaces/operators/network.hpp"
#include "tools/cli/run/fresh_session.hpp"
#include "tools/cli/run/plan_sample.hpp"
#include "tools/run/new_run.hpp"
#include "tools/run/start_from.hpp"
#include "tools/run/stored_run.hpp"

#include <cmath>
#include <iostream>
#include <memory>
#include <set>

namespace clade {

namespace {

struct run_options {
  new_run_params run;
  std::optional<double> minutes;
  fresh_session_options session;
};

void say_start(const new_run& fresh) {
  for (const auto& line : fresh.started_from)
    std::cout << line << std::endl;
  if (const auto& chosen = fresh.experiment.evolution.chosen; !chosen.empty())
    std::cout << "auto chose " << chosen << std::endl;
  const auto& e = fresh.experiment;
  std::cout << repeatability_text(e) << std::endl;
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

/// Says at the end what the known points, and the results of earlier runs, brought.
void say_points(const std::filesystem::path& folder, const std::set<std::string>& names,
                const experiment& e) {
  if (names.empty())
    return;
  const auto opened = open_stored_run(folder.string());
  if (!opened)
    return; // The session has said what is wrong with the run.
  const auto told = told_of_points(opened->s, names);
  if (!told || told->empty())
    return;
  std::cout << "\nwhat the known points brought\n";
  for (const auto& line : *told)
    std::cout << "  " << line << "\n";
  if (const auto earlier = told_of_earlier(opened->s, e); earlier && !earlier->empty())
    std::cout << "  " << *earlier << "\n";
}

int run(run_options options) {
  override_by(options.session, options.run.overrides);
  if (options.minutes)
    options.run.budget = std::chrono::milliseconds(std::llround(60e3 * *options.minutes));
  std::filesystem::path folder;
  std::set<std::string> names;
  experiment begun;
  const int status = show_fresh_session(
      options.session, options.run.file, [&] { return make_run(options.run); },
      [&](const new_run& fresh) {
        say_start(fresh);
        folder = fresh.folder;
        names = point_names(fresh.experiment);
        begun = fresh.experiment;
      });
  say_points(folder, names, begun);
  return status;
}

} // namespace

void add_run(CLI::App& app, command& chosen) {
  auto options = std::make_shared<run_options>();
  auto* sub = app.add_subcommand("run", "Evolve networks for an experiment file");
  sub->add_option("file", options->run.file,
                  "Experiment file, such as experiments/digits.toml")
      ->required();
  sub->add_option("--seed", options->session.seed, "Instead of experiment.seed")
      ->check(whole_number(0, largest_seed));
  sub->add_option("--minutes", options->minutes,
                  "How long the run may take: its end is planned such that there is a "
                  "final model by then")
      ->check(number_between(0.001, 1e6));
  sub->add_option("--start-from", options->run.start_from,
                  "Earlier runs, also of other data, whose best genomes are the first "
                  "candidates as far as they fit, and of whose results the "
                  "model of strategy surrogate begins; repeatable");
  sub->add_option("--slots", options->session.slots,
                  "Instead of slots.local: auto, none, a number of CPU slots, or GPUs: "
                  "cuda, cuda:0*2");
  add_sharing(*sub, options->session.sharing);
  sub->add_option("--set", options->run.overrides,
                  "key=value instead of the file's, such as "
                  "evolution.population=48; repeatable")
      ->take_all();
  sub->add_option("--runs", options->run.runs, "Where the run's folder is made")
      ->envname("CLADE_RUNS")
      ->capture_default_str();
  sub->add_flag("--json", options->session.json, "One JSON object a line, for programs");
  sub->footer(
      "Everything that happens is recorded in runs/NAME-TIME/run.db. Ctrl+C lets the\n"
      "networks in training finish, saves them and stops; `clade resume RUN` continues.\n"
      "A second Ctrl+C stops at once, and resume trains again what was cut off. SIGHUP\n"
      "does as Ctrl+C. SIGTERM gives what is in training 8 s to finish; then it keeps\n"
      "where it stands, and the run ends within 20 s, from which resume goes on. Lines\n"
      "that cannot be printed do not stop a run; it says so at its end, and exits with "
      "1.\nSo does one in which no candidate succeeded; it pauses early where all fail "
      "alike,\nwith the reason, and resume goes on once that is mended.");
  sub->callback([&chosen, options] { chosen = [options] { return run(*options); }; });
}

} // namespace clade
