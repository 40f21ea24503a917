#include "engine/evaluation/jobs/jobs.hpp"

#include "engine/evaluation/process/program.hpp"
#include "engine/evaluation/process/program_group.hpp"
#include "genome/base/child_process.hpp"
#include "genome/base/utf8.hpp"
#include "genome/base/wall_clock.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace clade {

namespace {

namespace fs = std::filesystem;

// The most values that a choice may have (search_spaces).
constexpr std::size_t most_jobs = 1000;
constexpr std::size_t longest_name = 200, longest_line = 300;
constexpr std::uint32_t most_retries = 100;
// For a training to save what it has when it is told to end.
constexpr auto grace = std::chrono::seconds(5);

/// "5 s", "1.5 s".
std::string seconds_text(std::chrono::microseconds time) {
  std::ostringstream out;
  out << std::chrono::duration<double>(time).count() << " s";
  return out.str();
}

/// ": ValueError: no such file", the last line that a program wrote.
std::string last_words(const program_result& done) {
  for (std::string_view text :
       {std::string_view(done.errors), std::string_view(done.output)}) {
    const auto end = text.find_last_not_of(" \t\r\n");
    if (end == std::string_view::npos)
      continue;
    text = text.substr(0, end + 1);
    const auto begin = text.find_last_of("\r\n");
    text = text.substr(begin == std::string_view::npos ? 0 : begin + 1);
    return ": " + plain_text(text.substr(0, longest_line));
  }
  return "";
}

/// Says in the evaluation how the last try ended.
void read_end(const program_result& done, const jobs_params& params, const budget& b,
              evaluation& e) {
  e.outcome = outcome::succeeded;
  e.reason.clear();
  switch (done.end) {
  case program_end::timed_out:
    return fail_with(e, outcome::timed_out,
                     "took longer than " + seconds_text(params.timeout));
  case program_end::out_of_memory:
    return fail_with(e, outcome::out_of_memory,
                     fmt::format("took more than {} MiB", b.memory_bytes >> 20));
  case program_end::unwanted:
    return fail_with(e, outcome::dropped, "stopped, as nobody waits for it any more");
  case program_end::by_itself:
    break;
  }
  if (WIFSIGNALED(done.status))
    fail_with(e, outcome::crashed,
              fmt::format("was killed ({}){}", ::strsignal(WTERMSIG(done.status)),
                          last_words(done)));
  else if (WEXITSTATUS(done.status) != 0)
    fail_with(e, outcome::crashed,
              fmt::format("ended with status {}{}", WEXITSTATUS(done.status),
                          last_words(done)));
  else if (!done.log_trouble.empty())
    e.reason = "its log is not whole: " + done.log_trouble;
}

class jobs_fitness final : public fitness_function {
public:
  explicit jobs_fitness(jobs_setup setup) : setup_(std::move(setup)) {}

  expected<std::uint64_t> warm_up() override {
    groups_ = groups_of(setup_.host);
    return 0;
  }

  evaluated_job evaluate(const job& j, progress& p) override {
    evaluated_job result;
    auto& e = result.evaluation;
    e.id = j.id;
    const auto name = job_of(j.genome);
    const auto command = setup_.params.commands.find(name);
    if (command == setup_.params.commands.end()) {
      fail_with(e, outcome::invalid, fmt::format("there is no job \"{}\"", name));
      return result;
    }
    run(*command, j, p, e);
    if (const auto decoded = decode(setup_.space, j.genome, setup_.problem))
      e.parameters = decoded->cost().parameters;
    if (e.outcome == outcome::succeeded)
      e.metrics = e.curve.back().metrics;
    else if (e.curve.size() > 1)
      e.reason += fmt::format(" (after {} tries)", e.curve.size());
    if (!e.reason.empty())
      e.reason.insert(0, name + ": ");
    return result;
  }

  /// A job has no test data.
  expected<examination> examine(const job& j, const bytes&) override {
    examination e;
    e.id = j.id;
    return e;
  }

private:
  using named_command = std::pair<const std::string, std::vector<std::string>>;

  void run(const named_command& command, const job& j, progress& p, evaluation& e) const;
  [[nodiscard]] expected<program_result> run_once(const named_command& command,
                                                  std::uint32_t attempt,
                                                  std::chrono::seconds started,
                                                  const job& j, const progress& p) const;

  jobs_setup setup_;
  fs::path groups_; ///< Since it was warmed up, where there are some.
  std::size_t cores_ = available_cores();
};

void jobs_fitness::run(const named_command& command, const job& j, progress& p,
                       evaluation& e) const {
  using clock = std::chrono::steady_clock;
  using namespace std::chrono;
  const auto started = floor<seconds>(milliseconds(unix_ms()));
  const auto begin = clock::now();
  for (std::uint32_t attempt = 1; attempt <= setup_.params.retries + 1; ++attempt) {
    const auto from = clock::now();
    const auto done = run_once(command, attempt, started, j, p);
    const auto now = clock::now();
    e.seconds = duration<double>(now - begin).count();
    if (!done)
      return fail_with(e, outcome::invalid, done.error().message);
    read_end(*done, setup_.params, j.budget, e);
    const auto began = started + duration_cast<seconds>(from - begin);
    e.curve.push_back(
        {attempt,
         {{std::string(exit_status_metric), static_cast<double>(exit_code(done->status))},
          {std::string(seconds_metric), e.seconds},
          {std::string(started_metric), static_cast<double>(began.count())},
          {std::string(tries_metric), static_cast<double>(attempt)}},
         duration<double>(now - from).count()});
    if (e.outcome != outcome::crashed || attempt > setup_.params.retries
        || !p.report(e.curve.back()))
      return;
  }
}

expected<program_result> jobs_fitness::run_once(const named_command& command,
                                                std::uint32_t attempt,
                                                std::chrono::seconds started,
                                                const job& j, const progress& p) const {
  const auto& [name, words] = command;
  const auto threads = std::to_string(cores_);
  program_params program{
      .command = words,
      .directory = setup_.params.directory,
      .environment = {"OMP_NUM_THREADS=" + threads, "MKL_NUM_THREADS=" + threads,
                      "PYTHONUNBUFFERED=1", "CLADE_JOB=" + name,
                      fmt::format("CLADE_TRY={}", attempt)},
      .time = std::chrono::ceil<std::chrono::milliseconds>(setup_.params.timeout),
      .grace = grace,
      .memory_bytes = j.budget.memory_bytes,
      .groups = groups_,
      .wanted = [&p] { return p.wanted(); }};
  if (!setup_.params.logs.empty()) {
    program.log = job_log(setup_.params.logs, name, started, attempt);
    std::error_code failed;
    fs::create_directories(program.log.parent_path(), failed);
    if (failed || !std::ofstream(program.log, std::ios::app))
      return fail(error_kind::io,
                  fmt::format("its log {} cannot be written: {}", program.log.string(),
                              std::strerror(errno)));
  }
  return run_program(program);
}

constexpr evaluator_traits jobs_traits{
    .name = "jobs",
    .does = "runs the programs of `clade jobs run`, each once",
    .title = "Programs that are run to their end, with fitness = \"jobs\": what `clade "
             "jobs run` makes of a folder of scripts. The search space has one "
             "hyperparameter, job, the names of all.",
    .experiment = "an experiment that runs jobs",
    .run = "a run of jobs",
    .repeatable = false,
    .alone = true,
    .named_by = job_hyperparameter,
};

class jobs_spec final : public evaluator_spec_of<jobs_params> {
public:
  [[nodiscard]] const evaluator_traits& traits() const override { return jobs_traits; }
  [[nodiscard]] std::unique_ptr<evaluator_spec> clone() const override {
    return std::make_unique<jobs_spec>(*this);
  }
  void visit(own_keys& v) override {
    v.lists(describe("commands", "The program and its arguments of each job, by its "
                                 "name: {fold1 = [\"python3\", \"train.py\", \"1\"]}; no "
                                 "shell reads them."),
            params.commands);
    v.folder(describe("directory", "Where they run, on every machine. Left out: the "
                                   "experiment file's folder."),
             params.directory);
    v.path(describe("logs", "The folder of their logs, JOB/run_TIME.log, on the machine "
                            "that runs the job. Left out: what they write is dropped."),
           params.logs);
    v.key(describe("timeout", "A try that takes longer is ended, with all processes "
                              "that it has started. \"0s\": it takes as long as it "
                              "does."),
          params.timeout);
    v.key(describe("retries", "How often a job is tried again that ended with another "
                              "status than 0."),
          params.retries);
  }
  [[nodiscard]] expected<void> validate() const override {
    return clade::validate(params);
  }
  void forget_places() override {
    params.directory.clear();
    params.logs.clear();
  }
  [[nodiscard]] std::uint32_t epochs() const override { return params.retries + 1; }
  [[nodiscard]] evaluator_metrics metrics() const override {
    return {.of = "a job",
            .all = {{std::string(seconds_metric), false},
                    {std::string(tries_metric), false}}};
  }
  [[nodiscard]] expected<void> check_machine() const override {
    for (const auto& [name, command] : params.commands)
      if (const auto there = program_file(command, params.directory); !there)
        return fail_in("job " + name, there.error());
    return {};
  }
  [[nodiscard]] expected<std::unique_ptr<fitness_function>>
  make(evaluator_setup setup) const override {
    return make_jobs({.params = params,
                      .space = std::move(setup.space),
                      .problem = std::move(setup.problem),
                      .host = std::move(setup.host)});
  }
};

/// Returns whether a text is the name of a job, which is part of a log's path.
bool is_job_name(const std::string& name) {
  return !name.empty() && name.size() <= longest_name && is_plain_text(name)
         && name.find('\n') == std::string::npos && name.front() != '/'
         && std::ranges::none_of(fs::path(name),
                                 [](const fs::path& part) { return part == ".."; });
}

} // namespace

expected<void> validate(const jobs_params& params) {
  const auto wrong = [](const std::string& why) {
    return fail(error_kind::invalid_input, why);
  };
  if (params.commands.empty())
    return wrong("commands is missing: the programs to run, commands = {train = "
                 "[\"python3\", \"train.py\"]}");
  if (params.commands.size() > most_jobs)
    return wrong(fmt::format("commands has {} jobs, and a run takes at most {}",
                             params.commands.size(), most_jobs));
  for (const auto& [name, command] : params.commands) {
    if (!is_job_name(name))
      return wrong(
          fmt::format("commands: \"{}\" is no name of a job: it has 1 to 200 plain "
                      "characters, does not begin with \"/\" and has no \"..\"",
                      clipped(plain_text(name))));
    if (command.empty() || command.front().empty())
      return wrong(fmt::format("commands: the job {} has no program", name));
    for (const auto& word : command)
      if (word.find('\0') != std::string::npos)
        return wrong(
            fmt::format("commands: the job {} has a word with a zero character", name));
  }
  if (params.timeout.count() < 0)
    return wrong("timeout must not be negative");
  if (params.retries > most_retries)
    return wrong(fmt::format("retries must be at most {}", most_retries));
  return {};
}

fs::path job_log(const fs::path& logs, const std::string& job,
                 std::chrono::seconds started, std::uint32_t attempt) {
  return logs / job
         / (fmt::format("run_{}{}.log",
                        time_stamp(std::chrono::milliseconds(started).count()),
                        attempt == 1 ? "" : fmt::format("_try{}", attempt)));
}

std::string reason_of(const std::string& job, const std::string& reason) {
  return reason.starts_with(job + ": ") ? reason.substr(job.size() + 2) : reason;
}

std::string job_outcome_text(outcome o) {
  return o == outcome::crashed || o == outcome::invalid ? "failed" : to_text(o);
}

std::string job_of(const genome& g) {
  const auto named =
      std::ranges::find(g.hyperparameters, job_hyperparameter, &setting::name);
  const auto* text = named == g.hyperparameters.end()
                         ? nullptr
                         : std::get_if<std::string>(&named->value);
  return text == nullptr ? std::string() : *text;
}

std::unique_ptr<fitness_function> make_jobs(jobs_setup setup) {
  return std::make_unique<jobs_fitness>(std::move(setup));
}

std::shared_ptr<const evaluator_spec> make_jobs_spec() {
  return std::make_shared<jobs_spec>();
}

} // namespace clade
