// One evaluation: a folder for the candidate, the program in it, its reports as they come,
// its answer, and what it left to go on from. A status that tells of the machine has all of
// it done again, within the same time.

#include "engine/evaluation/command/command.hpp"

#include "engine/evaluation/command/candidate_files.hpp"
#include "engine/evaluation/command/checkpoint_folder.hpp"
#include "engine/evaluation/command/fork_server.hpp"
#include "engine/evaluation/command/program_answer.hpp"
#include "engine/evaluation/command/tensorboard_events.hpp"
#include "engine/evaluation/epochs_in_time.hpp"
#include "engine/evaluation/process/isolation.hpp"
#include "engine/evaluation/process/program.hpp"
#include "engine/evaluation/process/program_group.hpp"
#include "genome/base/child_process.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <optional>
#include <thread>

namespace clade {

namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

// A curve is for people; who reports more often than that trains for long.
constexpr std::size_t longest_curve = 10'000;
// Between two looks at the files of a program that is running.
constexpr auto look_interval = 100ms;
// Between two looks at whether anybody still waits.
constexpr auto pause_step = 20ms;

bool answers_by_lines(const command_params& params) {
  return params.metrics == "last_line" || params.metrics == "json_lines";
}

/// The surroundings that a program runs in.
struct surroundings {
  const isolation* apart = nullptr;
  fork_server* server = nullptr; ///< Null: a program is started.
  std::filesystem::path groups{};
  /// The rest of the budget's time; 0: unlimited.
  std::chrono::milliseconds time{0};
};

/// One run of the program for a candidate.
class attempt {
public:
  attempt(const command_setup& setup, const job& j, progress& p, evaluated_job& out)
      : setup_(setup),
        job_(j),
        progress_(p),
        out_(out) {}

  /// Returns the exit code of a program that has ended by itself and failed.
  std::optional<std::uint32_t> run(const candidate_files& files, const surroundings& of);

private:
  void hear(const epoch& e);
  void read(std::string_view line);
  void follow(const candidate_files& files);
  void look(bool last);
  void read_end(const program_result& done);
  void read_metrics(const candidate_files& files, const program_result& done);
  bool cut(const program_result& done);
  void keep_checkpoint(const candidate_files& files);

  evaluation& e() { return out_.evaluation; }

  const command_setup& setup_;
  const job& job_;
  progress& progress_;
  evaluated_job& out_;
  report_reader reports_{[this](const epoch& heard) { hear(heard); }};
  std::string last_object_; ///< The last object of what came line by line.
  std::optional<followed_file> reported_;
  std::optional<watched_file> file_; ///< The watched file, if `metrics` is one.
  /// The followed events, if it is "tensorboard".
  std::optional<followed_events> events_;
  steady::time_point looked_{};
  bool wanted_ = true;
  bool beyond_ = false; ///< It goes on after the epochs that it was to train for.
};

// A program that does not know how long it is to train is stopped at the end of its rung;
// a full evaluation ends by itself.
void attempt::hear(const epoch& heard) {
  if (heard.number > job_.budget.epochs && job_.budget.epochs < job_.budget.horizon) {
    beyond_ = true;
    return;
  }
  if (e().curve.size() < longest_curve)
    e().curve.push_back(heard);
  wanted_ = progress_.report(heard) && wanted_;
}

void attempt::read(std::string_view line) {
  if (reports_.read(line))
    last_object_ = line;
}

/// Its best epoch is not known here, but its last is what it has come to. The figure that
/// others go on from is compared with those that had as many epochs, so that a part
/// counts for nothing.
bool attempt::cut(const program_result& done) {
  if (done.end != program_end::timed_out || e().curve.empty()
      || job_.keep_checkpoint == checkpointing::whole)
    return false;
  e().metrics = e().curve.back().metrics;
  e().reason = cut_by_time(fmt::format("after epoch {}", e().curve.back().number),
                           job_.budget.epochs);
  return true;
}

/// Reads the meaning of the program's end; its answer is read only if this leaves a
/// success.
void attempt::read_end(const program_result& done) {
  switch (done.end) {
  case program_end::timed_out:
    return fail_with(e(), outcome::timed_out,
                     fmt::format("takes longer than {} ms", job_.budget.time.count()));
  case program_end::out_of_memory:
    return fail_with(
        e(), outcome::out_of_memory,
        fmt::format("the program took more than {} MiB", job_.budget.memory_bytes >> 20));
  case program_end::unwanted:
    if (!beyond_)
      fail_with(e(), outcome::dropped, "stopped, as nobody wants its score");
    return;
  case program_end::by_itself:
    break;
  }
  if (WIFSIGNALED(done.status))
    fail_with(e(), outcome::crashed,
              fmt::format("the program was killed ({}){}",
                          ::strsignal(WTERMSIG(done.status)), last_words(done.errors)));
  else if (WEXITSTATUS(done.status) != 0)
    fail_with(e(), outcome::crashed,
              fmt::format("the program ended with status {}{}", WEXITSTATUS(done.status),
                          last_words(done.errors)));
}

void attempt::read_metrics(const candidate_files& files, const program_result& done) {
  // Beyond its epochs, what it says last is not of them.
  if (beyond_ && !e().curve.empty())
    e().metrics = e().curve.back().metrics;
  else if (!last_object_.empty())
    read_answer(last_object_, e());
  else if (events_)
    events_->answer(e());
  else if (!file_)
    read_answer(last_object(done.output), e());
  else
    read_answer(answer_in_file(files.metrics_file()), e());
  if (e().outcome == outcome::succeeded)
    check_objective(setup_.goal, e());
}

void attempt::keep_checkpoint(const candidate_files& files) {
  if (!setup_.params.checkpoints || job_.keep_checkpoint == checkpointing::none)
    return;
  expected<blob> packed = fail(error_kind::io, "this process has no memory for it");
  try {
    packed = pack_folder(files.checkpoint_folder());
  } catch (const std::bad_alloc&) {
    // The process may take as much as a candidate may, and it is packed in memory.
  }
  if (!packed)
    return fail_with(e(), outcome::invalid,
                     "what the program left in its checkpoint folder cannot be kept: "
                         + packed.error().message);
  std::error_code failed;
  if (std::filesystem::is_empty(files.checkpoint_folder(), failed) || failed)
    return fail_with(e(), outcome::invalid,
                     "the program left nothing in its checkpoint folder, from which "
                     "others are to go on; have it write there, or remove checkpoints = "
                     "true");
  out_.checkpoint = std::move(*packed);
}

/// Reads what the program has written into files since the last time.
void attempt::look(bool last) {
  if (last)
    reported_->look_last();
  else
    reported_->look();
  const auto now = steady::now();
  if (!last && now - looked_ < look_interval)
    return;
  looked_ = now;
  if (file_)
    file_->look();
  if (events_)
    events_->look();
}

void attempt::follow(const candidate_files& files) {
  const auto& metrics = setup_.params.metrics;
  reported_.emplace(files.report_file(), [this](std::string_view line) { read(line); });
  if (metrics == "tensorboard")
    events_.emplace(files.tensorboard_folder(), aims_of(setup_.goal).front().metric,
                    [this, before = files.start_epoch()](std::vector<metric> values) {
                      reports_.read_next(std::move(values), before);
                    });
  else if (!answers_by_lines(setup_.params))
    file_.emplace(files.metrics_file(),
                  [this](std::string_view object) { reports_.read(object); });
}

std::optional<std::uint32_t> attempt::run(const candidate_files& files,
                                          const surroundings& of) {
  follow(files);
  const bool streams = setup_.params.metrics == "json_lines";
  std::filesystem::path log;
  if (!job_.logs.empty()) {
    std::error_code failed; // That the log cannot be written is said then.
    std::filesystem::create_directories(job_.logs, failed);
    log = log_file(job_.logs, job_.id);
  }
  const program_params program{
      .command = files.command(),
      .directory = files.directory(),
      .environment = files.environment(),
      .input = command_input(job_),
      .log = log,
      .time = of.time,
      .grace = std::chrono::ceil<std::chrono::milliseconds>(setup_.params.grace),
      .memory_bytes = job_.budget.memory_bytes,
      .apart = of.apart,
      .groups = of.groups,
      .wanted =
          [&] {
            look(false);
            return wanted_ && !beyond_ && progress_.wanted();
          },
      .on_line =
          streams ? [this](std::string_view line) { read(line); } : line_listener()};
  const auto done = of.server != nullptr ? of.server->run(program) : run_program(program);
  if (!done) {
    fail_with(e(), outcome::invalid, done.error().message);
    return std::nullopt;
  }
  if (!done->log_trouble.empty())
    std::fprintf(stderr, "clade: the log of candidate %llu is not whole: %s\n",
                 static_cast<unsigned long long>(job_.id), done->log_trouble.c_str());
  look(true);
  if (cut(*done)) {
    check_objective(setup_.goal, e());
    return std::nullopt;
  }
  read_end(*done);
  if (e().outcome == outcome::succeeded)
    read_metrics(files, *done);
  if (e().outcome == outcome::succeeded)
    keep_checkpoint(files);
  return done->end == program_end::by_itself && done->status != 0
             ? std::optional(static_cast<std::uint32_t>(exit_code(done->status)))
             : std::nullopt;
}

/// Returns the rest of a time until `deadline`, at least a moment; 0: unlimited, if the
/// deadline is the end of time.
std::chrono::milliseconds left_until(steady::time_point deadline) {
  if (deadline == steady::time_point::max())
    return 0ms;
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(deadline - steady::now()),
                  1ms);
}

class command_fitness final : public fitness_function {
public:
  explicit command_fitness(command_setup setup) : setup_(std::move(setup)) {}

  expected<std::uint64_t> warm_up() override {
    return program_file(setup_.params.run, setup_.params.directory)
        .and_then([&](auto&&) { return work_folders::make(); })
        .map([&](work_folders&& made) {
          folders_.emplace(std::move(made));
          if (setup_.params.isolate)
            apart_ = isolation_from(setup_.host.hidden);
          groups_ = groups_of(setup_.host);
          if (!setup_.params.preload.empty())
            server_.emplace(setup_.params.preload);
          return std::uint64_t{0};
        });
  }

  evaluated_job evaluate(const job& j, progress& p) override;

  /// A program has no test data that Clade knows of.
  expected<examination> examine(const job& j, const bytes&) override {
    return decode(setup_.space, j.genome, setup_.problem).map([&](const network& n) {
      examination e;
      e.id = j.id;
      e.parameters = n.cost().parameters;
      return e;
    });
  }

private:
  std::optional<std::uint32_t> try_once(const job& j, std::chrono::milliseconds time,
                                        progress& p, evaluated_job& result);
  bool pause(steady::time_point deadline, const progress& p) const;

  command_setup setup_;
  std::optional<work_folders> folders_; ///< Since the first evaluation.
  std::optional<isolation> apart_;      ///< Likewise, where there can be one.
  std::filesystem::path groups_;        ///< Likewise.
  std::optional<fork_server> server_;   ///< Likewise, where there is to be one.
};

std::optional<std::uint32_t> command_fitness::try_once(const job& j,
                                                       std::chrono::milliseconds time,
                                                       progress& p,
                                                       evaluated_job& result) {
  auto& e = result.evaluation;
  if (!folders_)
    if (const auto ready = warm_up(); !ready) {
      fail_with(e, outcome::invalid, ready.error().message);
      return std::nullopt;
    }
  const auto files = candidate_files::make(*folders_, setup_, j);
  if (!files) {
    fail_with(e, outcome::invalid, files.error().message);
    result.machine_failed = files.error().kind == error_kind::io;
    return std::nullopt;
  }
  return attempt(setup_, j, p, result)
      .run(*files, {.apart = apart_ ? &*apart_ : nullptr,
                    .server = server_ ? &*server_ : nullptr,
                    .groups = groups_,
                    .time = time});
}

/// Returns whether there is time and reason to try again.
bool command_fitness::pause(steady::time_point deadline, const progress& p) const {
  const auto end = steady::now() + setup_.params.retry.pause;
  if (end >= deadline)
    return false;
  while (steady::now() < end && p.wanted())
    std::this_thread::sleep_for(
        std::min<steady::duration>(pause_step, end - steady::now()));
  return p.wanted();
}

evaluated_job command_fitness::evaluate(const job& j, progress& p) {
  const auto start = steady::now();
  const auto deadline =
      j.budget.time.count() > 0 ? start + j.budget.time : steady::time_point::max();
  const auto& retry = setup_.params.retry;
  evaluated_job result;
  auto& e = result.evaluation;
  e.id = j.id;
  const auto decoded = decode(setup_.space, j.genome, setup_.problem);
  if (decoded)
    e.parameters = decoded->cost().parameters;
  else
    fail_with(e, outcome::invalid, decoded.error().message);
  for (std::uint32_t done = 0; decoded; ++done) {
    const auto failed_with = try_once(j, left_until(deadline), p, result);
    if (!failed_with || std::ranges::find(retry.codes, *failed_with) == retry.codes.end())
      break;
    if (done == retry.times || !pause(deadline, p)) {
      e.reason += fmt::format(" (tried {} times)", done + 1);
      break;
    }
    e.outcome = outcome::succeeded;
    e.reason.clear();
    e.curve.clear();
  }
  e.seconds = std::chrono::duration<double>(steady::now() - start).count();
  if (e.outcome != outcome::succeeded)
    return result;
  if (e.curve.empty() || e.curve.back().metrics != e.metrics) {
    const epoch last{
        std::max(j.budget.epochs, e.curve.empty() ? 0 : e.curve.back().number), e.metrics,
        e.seconds};
    if (!e.curve.empty() && e.curve.back().number == last.number)
      e.curve.pop_back();
    e.curve.push_back(last);
    p.report(last);
  }
  return result;
}

} // namespace

std::filesystem::path log_file(const std::filesystem::path& logs, candidate_id id) {
  return logs / (fmt::format("{}.log", id));
}

std::unique_ptr<fitness_function> make_command(command_setup setup) {
  return std::make_unique<command_fitness>(std::move(setup));
}

} // namespace clade
