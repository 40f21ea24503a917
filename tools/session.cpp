#include "tools/session.hpp"

#include "actors/head.hpp"
#include "actors/keys.hpp"
#include "tools/command.hpp"
#include "tools/live_view.hpp"
#include "tools/slots.hpp"
#include "tools/supervisor.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <optional>

// The worker is a process of its own even on one machine: the same command that another
// machine would start, so that a local search and a distributed one are the same code. It
// dies with this process, and is started again if it dies alone.

namespace clade {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr auto view_interval = 100ms;
constexpr auto worker_pause = 1s;

volatile std::sig_atomic_t interrupts = 0;

// The first interrupt is noticed by the loop below; the second ends the process here and
// now. The store needs no goodbye: whatever it acknowledged is on the disk.
extern "C" void on_interrupt(int) {
  interrupts = interrupts + 1;
  if (interrupts > 1) {
    constexpr char words[] =
        "\nstopped at once; clade resume goes on from the last record\n";
    [[maybe_unused]] const auto ignored =
        ::write(STDERR_FILENO, words, sizeof(words) - 1);
    ::_exit(130);
  }
}

void watch_interrupts() {
  interrupts = 0;
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  for (int s : {SIGINT, SIGTERM})
    sigaction(s, &action, nullptr);
}

/// The module with LibTorch lies beside the program.
std::filesystem::path module_path() {
  return own_program().parent_path() / "libclade_training.so";
}

/// The worker process of this machine.
class local_worker {
public:
  local_worker(const std::filesystem::path& folder, std::uint16_t port,
               const std::string& slots)
      : wanted_(slots != "none"),
        params_{.command = {own_program().string(), "worker", "--connect",
                            "127.0.0.1:" + std::to_string(port), "--keys",
                            (folder / "keys").string(), "--slots", slots},
                .environment = {},
                .log = folder / "worker.log"} {}

  ~local_worker() {
    if (process_ == 0)
      return;
    ::kill(process_, SIGTERM);
    ::kill(process_, SIGCONT); // If it is stopped, it hears the other only now.
    ::waitpid(process_, nullptr, 0);
  }

  /// Starts it if it does not run; an error if it cannot be, or will not.
  expected<void> keep_alive() {
    if (!wanted_)
      return {};
    int status = 0;
    if (process_ != 0 && ::waitpid(process_, &status, WNOHANG) == process_) {
      process_ = 0;
      if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
        return fail(error_kind::internal, "the worker process " + describe_exit(status)
                                              + "; " + params_.log.string()
                                              + " says why");
    }
    if (process_ != 0 || (started_ && clock::now() - *started_ < worker_pause))
      return {};
    started_ = clock::now();
    return start_process(params_).map([this](pid_t p) { process_ = p; });
  }

private:
  bool wanted_; ///< A run may leave all work to other machines.
  process_params params_;
  pid_t process_ = 0;
  std::optional<clock::time_point> started_;
};

struct ending {
  int status = 0;
  std::optional<error> failure;
};

run_progress show(const session_params& params, head& h, live_view& view) {
  auto progress = h.progress(view.shown());
  if (!params.quiet)
    view.update(progress, h.slots());
  if (params.observe)
    params.observe(progress);
  return progress;
}

ending drive(const session_params& params, head& h, local_worker& worker,
             live_view& view) {
  const auto wall_time = params.experiment.limits.wall_time;
  const auto start = clock::now();
  bool stopping = false;
  ending result;
  while (!h.wait(view_interval)) {
    show(params, h, view);
    if (auto alive = worker.keep_alive(); !alive) {
      result.failure = alive.error();
      return result;
    }
    if (stopping)
      continue;
    if (interrupts > 0) {
      result.status = 130;
      stopping = true;
      h.stop("interrupted");
    } else if (wall_time.count() > 0 && clock::now() - start >= wall_time) {
      stopping = true;
      h.stop("wall time used");
    }
  }
  const auto last = show(params, h, view);
  view.clear();
  result.failure = last.failure;
  if (last.finished)
    result.status = 0;
  return result;
}

session_result failed(const error& e) {
  return {.status = report(e), .failed = true};
}

expected<std::unique_ptr<head>> start_head(const session_params& params, store file,
                                           run_state run, std::size_t slots) {
  const auto keys = params.folder / "keys";
  if (auto made = make_run_keys(keys); !made)
    return tl::unexpected(made.error());
  return head::start({.experiment = params.experiment,
                      .problem = params.problem,
                      .build = CLADE_VERSION,
                      .keys = keys,
                      .module = module_path(),
                      .generators = std::max<std::size_t>(2, slots / 8)},
                     std::move(file), std::move(run));
}

} // namespace

run_rules rules_of(const experiment& e) {
  return {.evolution = e.evolution, .objective = e.objective, .seed = e.seed};
}

session_result run_session(const session_params& params, store file, run_state run) {
  const auto start = clock::now();
  session_result result;
  const auto& e = params.experiment;
  auto slots = parse_slots(e.slots.local);
  if (!slots) {
    return failed(slots.error());
  }
  result.slots = slots->size();
  const auto evaluated_before = run.evaluated;
  const auto seconds_before = run.training_seconds;
  auto head = start_head(params, std::move(file), std::move(run), slots->size());
  if (!head) {
    return failed(head.error());
  }
  watch_interrupts();
  live_view view({.candidates = e.evolution.generations * e.evolution.population,
                  .json = params.json,
                  .terminal = !params.quiet && ::isatty(STDOUT_FILENO) == 1});
  ending end;
  {
    local_worker worker(params.folder, (*head)->port(), e.slots.local);
    if (auto started = worker.keep_alive(); !started)
      end.failure = started.error();
    else
      end = drive(params, **head, worker, view);
    const auto last = (*head)->progress(view.shown());
    result.evaluated = last.evaluated - evaluated_before;
    result.training_seconds = last.training_seconds - seconds_before;
    (*head)->close();
  }
  result.seconds = std::chrono::duration<double>(clock::now() - start).count();
  result.failed = end.failure.has_value();
  result.status = end.failure ? report(*end.failure) : end.status;
  return result;
}

} // namespace clade
