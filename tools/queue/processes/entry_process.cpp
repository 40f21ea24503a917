#include "tools/queue/processes/entry_process.hpp"

#include "engine/evaluation/command/guard.hpp"
#include "genome/base/child_process.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

// The log is locked by the open file that a process and all that it starts have as their
// output: the lock is there until the last of them has ended.

namespace clade {

namespace {

constexpr const char* still_written =
    ": a process that the entry started before still runs; end it";

}

expected<void> await_former(const std::filesystem::path& log,
                            std::chrono::steady_clock::time_point until) {
  // To be written, as NFS wants it of who locks for himself alone.
  const unique_fd file(::open(log.c_str(), O_RDWR | O_CLOEXEC));
  if (!file)
    return {}; // It never began.
  while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (std::chrono::steady_clock::now() >= until)
      return fail(error_kind::conflict, log.string() + still_written);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return {};
}

expected<entry_process> entry_process::start(const entry_process_params& params) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return fail(error_kind::io, std::string("no socket pair: ") + std::strerror(errno));
  unique_fd ours(ends[0]);
  const unique_fd its(ends[1]);
  const unique_fd log(
      ::open(params.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!log)
    return fail(error_kind::io,
                params.log.string() + ": cannot be written: " + std::strerror(errno));
  if (::flock(log.get(), LOCK_EX | LOCK_NB) != 0)
    return fail(error_kind::conflict, params.log.string() + still_written);
  const unique_fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  return start_child({.command = params.command,
                      .environment = params.environment,
                      .directory = params.directory,
                      .cores = params.cores,
                      .input = nothing.get(),
                      .output = log.get(),
                      .errors = log.get(),
                      .group = 0,
                      .is_foreign = true,
                      .first = [&] { return fork_guard(its.get()); }})
      .map([&](pid_t guard) { return entry_process(std::move(ours), guard); });
}

entry_process::entry_process(entry_process&& other) noexcept
    : line_(std::move(other.line_)),
      guard_(std::exchange(other.guard_, -1)) {}

entry_process& entry_process::operator=(entry_process&& other) noexcept {
  std::swap(line_, other.line_);
  std::swap(guard_, other.guard_);
  return *this;
}

entry_process::~entry_process() {
  end_guard();
}

std::optional<int> entry_process::take_end() {
  int status = 0;
  const auto count = ::recv(line_.get(), &status, sizeof status, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR))
    return std::nullopt;
  if (count != sizeof status) // Its guard was killed, and all of it with the guard.
    status = W_EXITCODE(0, SIGKILL);
  end_guard();
  return status;
}

void entry_process::tell_to_end() const {
  // It fails only where the guard has ended, and the process with it.
  [[maybe_unused]] const auto sent =
      ::send(line_.get(), &end_yourselves, 1, MSG_NOSIGNAL);
}

void entry_process::kill() {
  // The guard takes the end of what it reads for ours, and kills.
  ::shutdown(line_.get(), SHUT_WR);
}

void entry_process::end_guard() {
  if (guard_ < 0)
    return;
  line_.reset();
  while (::waitpid(guard_, nullptr, 0) < 0 && errno == EINTR) {
  }
  guard_ = -1;
}

} // namespace clade
