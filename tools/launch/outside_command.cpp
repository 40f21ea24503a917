#include "tools/launch/outside_command.hpp"

#include "genome/base/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace clade {

namespace {

tl::unexpected<error> failed(const std::string& what, int reason) {
  return fail(error_kind::io, fmt::format("{}: {}", what, std::strerror(reason)));
}

/// Returns the status as a shell has it.
expected<int> await_status(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0)
    if (errno != EINTR)
      return failed("waiting for a program", errno);
  return exit_code(status);
}

/// Fills in the program's path.
expected<pid_t> start_found(child_params params) {
  return find_program(params.command.front()).and_then([&](const auto& program) {
    params.command.front() = program.string();
    params.is_foreign = true;
    return start_child(params);
  });
}

} // namespace

expected<outside_command> outside_command::start(const outside_command_params& params) {
  const auto input = memory_file(params.input);
  auto output = memory_file();
  if (!input || !output)
    return failed("cannot start " + params.command.front(), errno);
  return start_found({.command = params.command,
                      .input = input.get(),
                      .output = output.get(),
                      .errors = params.keep_errors ? output.get() : -1})
      .map([&](pid_t process) { return outside_command(process, std::move(output)); });
}

outside_command::~outside_command() {
  if (process_ != 0) {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
}

expected<outside_command::ending> outside_command::finish() {
  const auto status = await_status(process_);
  if (!status)
    return tl::unexpected(status.error());
  process_ = 0;
  ending result{.status = *status};
  char block[4096];
  // It shares the place in the file with us, so that we are at its end.
  for (off_t place = 0;;) {
    const auto count = ::pread(output_.get(), block, sizeof(block), place);
    if (count < 0)
      return failed("reading what a program wrote", errno);
    if (count == 0)
      return result;
    result.output.append(block, static_cast<std::size_t>(count));
    place += count;
  }
}

expected<outside_command::ending> run_outside(const outside_command_params& params) {
  return outside_command::start(params).and_then(
      [](outside_command started) { return started.finish(); });
}

expected<int> run_attached(const std::vector<std::string>& command) {
  return start_found({.command = command}).and_then(await_status);
}

expected<pid_t> start_detached(const std::vector<std::string>& command,
                               const std::filesystem::path& log) {
  const unique_fd output(
      ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!output)
    return failed(log.string(), errno);
  const unique_fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  return start_found({.command = command,
                      .input = nothing.get(),
                      .output = output.get(),
                      .errors = output.get(),
                      .own_session = true});
}

} // namespace clade
