#include "tools/queue/processes/entry_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>
#include <thread>

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

expected<std::unique_ptr<guarded_process>>
start_entry_process(const entry_process_params& params) {
  const unique_fd log(
      ::open(params.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!log)
    return fail(error_kind::io, fmt::format("{}: cannot be written: {}",
                                            params.log.string(), std::strerror(errno)));
  if (::flock(log.get(), LOCK_EX | LOCK_NB) != 0)
    return fail(error_kind::conflict, params.log.string() + still_written);
  const unique_fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  return guarded_process::start({.command = params.command,
                                 .environment = params.environment,
                                 .directory = params.directory,
                                 .cores = params.cores,
                                 .input = nothing.get(),
                                 .output = log.get(),
                                 .errors = log.get()});
}

} // namespace clade
