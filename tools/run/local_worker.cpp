#include "tools/run/local_worker.hpp"

#include "genome/base/child_process.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <iterator>

namespace clade {

namespace {

using namespace std::chrono_literals;

constexpr auto pause = 1s;
constexpr int refused_status = 2;

} // namespace

local_worker::local_worker(process_params process) : params_(std::move(process)) {}

local_worker::~local_worker() {
  if (process_ == 0)
    return;
  ::kill(process_, SIGINT);
  ::kill(process_, SIGCONT); // If it is stopped, it hears the other only now.
  await_end();
}

void local_worker::await_end() {
  if (process_ == 0)
    return;
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR)
    ;
  process_ = 0;
}

// SIGTERM would end it at once where it was told by somebody else before.
void local_worker::leave() {
  leaves_ = true;
  if (process_ == 0)
    return;
  ::kill(process_, SIGUSR1);
  ::kill(process_, SIGCONT);
}

std::string& local_worker::slots() {
  return *std::next(std::ranges::find(params_.command, "--slots"));
}

expected<void> local_worker::keep_alive(clock::time_point now) {
  int status = 0;
  if (process_ != 0 && ::waitpid(process_, &status, WNOHANG) == process_) {
    process_ = 0;
    if (wanted() && WIFEXITED(status) && WEXITSTATUS(status) == refused_status)
      return fail(error_kind::internal,
                  fmt::format("the worker process {}; {} says why", describe_exit(status),
                              params_.log.string()));
  }
  if (!wanted() || leaves_ || process_ != 0 || (started_ && now - *started_ < pause))
    return {};
  started_ = now;
  return start_process(params_).map([this](pid_t p) { process_ = p; });
}

void local_worker::end_now() {
  if (process_ != 0)
    ::kill(process_, SIGKILL);
}

void local_worker::change_slots(const std::string& changed) {
  slots() = changed;
  started_.reset();
  if (process_ != 0)
    ::kill(process_, SIGTERM);
}

} // namespace clade
