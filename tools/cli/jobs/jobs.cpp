#include "engine/report/base/format.hpp"
#include "engine/report/base/json_parts.hpp"
#include "genome/base/text.hpp"
#include "tools/cli/jobs/jobs_session.hpp"
#include "tools/jobs/advice.hpp"
#include "tools/jobs/job_plan.hpp"
#include "tools/jobs/jobs_options.hpp"
#include "tools/launch/shell_word.hpp"
#include "tools/machine/slots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>

namespace clade {

namespace {

namespace fs = std::filesystem;

struct run_jobs_options {
  jobs_options jobs;
  sharing_options sharing;
  fs::path runs = "runs";
  bool dry_run = false, json = false;
};

/// All that is decided before anything runs.
struct prepared_jobs {
  std::vector<planned_job> jobs; ///< In the order in which they are handed out.
  job_limits limits;
  fs::path directory, output;
  std::string slots;
  std::size_t workers = 0; ///< Slots of this machine.
};

expected<void> complete(jobs_options& options) {
  const auto is_file = [](const std::string& place) {
    return fs::path(place).extension() == ".toml";
  };
  const auto file = std::ranges::find_if(options.folders, is_file);
  if (file != options.folders.end()) {
    if (options.folders.size() > 1)
      return fail(error_kind::invalid_input,
                  *file + ": a jobs.toml names the folders itself; give it alone");
    const fs::path named = *file;
    options.folders.clear();
    return read_jobs_file(named, options);
  }
  if (options.folders.empty())
    options.folders.emplace_back(".");
  return {};
}

/// Absolute; this folder where nothing is said.
fs::path folder_of(const std::string& said) {
  std::error_code unknown;
  return said.empty() ? fs::current_path(unknown)
                      : fs::absolute(said, unknown).lexically_normal();
}

/// Returns what `[slots] local` says for so many jobs.
expected<std::string> choose_slots(const jobs_options& o, const machine& m,
                                   std::uint64_t memory_bytes, std::size_t jobs) {
  if (!o.slots.empty())
    return o.slots;
  return choose_workers(advise_workers(m, memory_bytes),
                        {.most = o.max_workers,
                         .sequential = o.sequential,
                         .oversubscribe = o.oversubscribe},
                        jobs)
      .map([&](std::size_t workers) { return slots_for(workers, m); });
}

expected<prepared_jobs> prepare(run_jobs_options& options) {
  auto& o = options.jobs;
  if (auto read = complete(o); !read)
    return tl::unexpected(std::move(read).error());
  prepared_jobs p;
  p.directory = folder_of(o.directory);
  p.output = folder_of(o.output);
  if (std::error_code unknown; !fs::is_directory(p.directory, unknown))
    return fail(error_kind::not_found,
                p.directory.string()
                    + " is no folder here; --directory says where the scripts run");
  const auto limits = limits_of(o);
  if (!limits)
    return tl::unexpected(limits.error());
  p.limits = *limits;
  script_search search{.places = {o.folders.begin(), o.folders.end()},
                       .only = o.only,
                       .exclude = o.exclude};
  if (!o.include_pattern.empty())
    search.patterns = o.include_pattern;
  auto scripts = find_scripts(search);
  auto m = look_at_machine({.gpus = o.slots.empty()});
  if (!scripts || !m)
    return tl::unexpected(scripts ? m.error() : scripts.error());
  auto slots_text = choose_slots(o, *m, p.limits.memory_bytes, scripts->size());
  if (!slots_text)
    return tl::unexpected(std::move(slots_text).error());
  p.slots = std::move(*slots_text);
  const auto slots = parse_slots(p.slots);
  if (!slots)
    return tl::unexpected(slots.error());
  p.workers = slots->size();
  auto jobs = plan_jobs({.scripts = std::move(*scripts),
                         .arguments = {.epochs = o.epochs,
                                       .folds = o.folds,
                                       .batch = o.batch,
                                       .extra = o.extra_arg},
                         .directory = p.directory,
                         .at_once = cpu_slots(*m)},
                        job_history::read(options.runs));
  if (!jobs)
    return tl::unexpected(std::move(jobs).error());
  p.jobs = std::move(*jobs);
  return p;
}

std::string command_text(const std::vector<std::string>& command) {
  return joined(command, " ", shell_word);
}

/// Says which of the arguments that were asked for a job does not get; empty: none.
std::string left_out(const planned_job& j) {
  return j.not_taken.empty() ? ""
                             : fmt::format("without {}{}", joined(j.not_taken),
                                           j.trouble.empty() ? ", which it does not take"
                                                             : ": it " + j.trouble);
}

std::string times_text(const prepared_jobs& p) {
  const auto times = times_of(p.jobs, std::max<std::size_t>(1, p.workers));
  if (times.known == 0)
    return "no earlier run says how long they take";
  auto text = fmt::format("about {}, one after another {}", duration_text(times.at_once),
                          duration_text(times.one_by_one));
  if (times.known < p.jobs.size())
    text += fmt::format(" (of {} jobs that ran before)", times.known);
  return text;
}

void say_plan(const prepared_jobs& p) {
  using enum table::align;
  table rows({left, right, left});
  for (const auto& j : p.jobs) {
    rows.add(
        {j.of.name, j.seconds ? duration_text(*j.seconds) : "", command_text(j.command)});
    if (const auto without = left_out(j); !without.empty())
      rows.add({"", "", "  " + without});
  }
  std::cout << rows.to_text() << "\n"
            << p.jobs.size() << (p.jobs.size() == 1 ? " job" : " jobs") << " on "
            << p.workers << (p.workers == 1 ? " slot" : " slots") << " (" << p.slots
            << "): " << times_text(p) << "\nin " << p.directory.string() << ", logs in "
            << (p.output / "logs" / "JOB" / "run_TIME.log").string() << std::endl;
}

void say_plan_json(const prepared_jobs& p) {
  const auto times = times_of(p.jobs, std::max<std::size_t>(1, p.workers));
  for (const auto& j : p.jobs)
    std::cout << text_of({{"event", "job"},
                          {"job", j.of.name},
                          {"command", j.command},
                          {"not_taken", j.not_taken},
                          {"trouble", some(j.trouble)},
                          {"seconds", some(j.seconds)}})
              << "\n";
  ordered_json plan{{"event", "plan"},
                    {"jobs", p.jobs.size()},
                    {"slots", p.slots},
                    {"workers", p.workers},
                    {"directory", p.directory.string()},
                    {"logs", (p.output / "logs").string()},
                    {"known", times.known}};
  if (times.known > 0) {
    plan["seconds"] = times.at_once;
    plan["sequential_seconds"] = times.one_by_one;
  }
  std::cout << text_of(plan) << std::endl;
}

int run_jobs(run_jobs_options options) {
  auto p = prepare(options);
  if (!p)
    return report(p.error());
  if (options.dry_run || !options.json)
    options.json ? say_plan_json(*p) : say_plan(*p);
  if (options.dry_run)
    return 0;
  job_run_params params{.jobs = {.directory = p->directory,
                                 .logs = p->output / "logs",
                                 .timeout = p->limits.timeout,
                                 .retries = options.jobs.retries.value_or(0)},
                        .memory_bytes = p->limits.memory_bytes,
                        .slots = p->slots};
  jobs_session_params shown{.sharing = options.sharing, .json = options.json};
  for (auto& j : p->jobs) {
    params.order.push_back(j.of.name);
    params.jobs.commands.emplace(j.of.name, std::move(j.command));
    if (j.seconds)
      shown.seconds.emplace(j.of.name, *j.seconds);
  }
  return start_jobs(std::move(params), options.runs, shown);
}

int advise(const std::string& memory) {
  const auto limits = limits_of({.memory = memory});
  const auto m = look_at_machine();
  if (!limits || !m)
    return report(limits ? m.error() : limits.error());
  std::cout << to_text(advise_workers(*m, limits->memory_bytes));
  return 0;
}

void add_choice(CLI::App& sub, jobs_options& o) {
  sub.add_option(
         "folders", o.folders,
         "Folders with scripts, or scripts; or a jobs.toml that says all of this. "
         "Left out: this folder")
      ->option_text("FOLDER ...");
  sub.add_option("--include-pattern", o.include_pattern,
                 "What scripts are named: 'train*.py' and 'train*.sh' if none is given")
      ->take_all();
  sub.add_option("--only", o.only, "The names of those to run")->take_all();
  sub.add_option("--exclude", o.exclude, "The names of those to leave out")->take_all();
}

void add_arguments(CLI::App& sub, jobs_options& o) {
  const auto number = whole_number(1, 1'000'000);
  sub.add_option("--epochs", o.epochs, "Given to each script that takes it")
      ->check(number);
  sub.add_option("--folds", o.folds, "The same")->check(number);
  sub.add_option("--batch", o.batch, "The same, as --batch-size or however it is spelt")
      ->check(number);
  sub.add_option(
         "--extra-arg", o.extra_arg,
         "One more word for every script, which may begin with dashes; repeatable")
      ->allow_extra_args(false);
}

void add_running(CLI::App& sub, run_jobs_options& options) {
  auto& o = options.jobs;
  auto* sequential = sub.add_flag("--sequential", o.sequential, "One job after another");
  sub.add_flag("--parallel", o.parallel,
               "As many at once as the machine allows, which is the default")
      ->excludes(sequential);
  sub.add_option("--max-workers", o.max_workers, "At most so many jobs at once")
      ->check(whole_number(1, 1024))
      ->excludes(sequential);
  sub.add_flag("--oversubscribe", o.oversubscribe,
               "Take --max-workers even where the machine is too small for it");
  sub.add_option("--slots", o.slots,
                 "Slots as for clade run, in the place of --max-workers: none, cpu:4, "
                 "cuda:0*2")
      ->excludes(sequential);
  sub.add_option("--retries", o.retries, "How often a job that fails is tried again")
      ->check(whole_number(0, 100));
  sub.add_option("--timeout", o.timeout, "A job that takes longer is ended: 90s, 2h");
  sub.add_option("--memory", o.memory, "A job that takes more is killed: 2GiB");
  sub.add_option("--directory", o.directory, "Where the scripts run. Left out: here");
  sub.add_option("--output", o.output,
                 "The folder of logs/ and summaries/. Left out: this one");
}

void add_run_jobs(CLI::App& jobs, command& chosen) {
  auto options = std::make_shared<run_jobs_options>();
  auto* sub = jobs.add_subcommand("run", "Run all training scripts of some folders");
  add_choice(*sub, options->jobs);
  add_arguments(*sub, options->jobs);
  add_running(*sub, *options);
  add_sharing(*sub, options->sharing);
  sub->add_option("--runs", options->runs, "Where the run's folder is made")
      ->envname("CLADE_RUNS")
      ->capture_default_str();
  sub->add_flag("--dry-run", options->dry_run,
                "Show every command and about how long all take; run nothing but, where "
                "--epochs, --folds or --batch is given, each script with --help");
  sub->add_flag("--json", options->json, "One JSON object a line, for programs");
  sub->footer(
      "A job succeeds if its script ends with status 0. What it writes goes to\n"
      "logs/JOB/run_TIME.log; the end is told in summaries/training_summary_TIME.json.\n"
      "Ctrl+C lets the running jobs finish, a second one ends them. Exit status: 0 if "
      "all\n"
      "succeeded, 1 if any failed, 130 after Ctrl+C. `clade help scripts` has more.");
  sub->callback(
      [&chosen, options] { chosen = [options] { return run_jobs(*options); }; });
}

} // namespace

void add_jobs(CLI::App& app, command& chosen) {
  auto* jobs = app.add_subcommand("jobs", "Run scripts as jobs on the same slots");
  jobs->require_subcommand(1);
  add_run_jobs(*jobs, chosen);
  auto memory = std::make_shared<std::string>();
  auto* advice =
      jobs->add_subcommand("advise", "Say how many jobs this machine can run at once");
  advice->add_option("--memory", *memory, "What one job takes: 2GiB");
  advice->callback([&chosen, memory] { chosen = [memory] { return advise(*memory); }; });
  add_resume_jobs(*jobs, chosen);
  jobs->footer("  clade jobs run scripts/ --dry-run\n"
               "  clade jobs run scripts/ --timeout 2h --retries 1\n"
               "`clade help scripts` has more.");
}

} // namespace clade
