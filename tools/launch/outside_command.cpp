#include "tools/launch/outside_command.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <string_view>

namespace clade {

namespace {

tl::unexpected<error> failed(const std::string& what, int reason) {
  return fail(error_kind::io, what + ": " + std::strerror(reason));
}

/// Closes what it holds.
class descriptor {
public:
  explicit descriptor(int number) : number_(number) {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() {
    if (number_ >= 0)
      ::close(number_);
  }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] int release() { return std::exchange(number_, -1); }

private:
  int number_;
};

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(file, text.data(), text.size());
    if (written < 0 && errno != EINTR)
      return false;
    text.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
  }
  return ::lseek(file, 0, SEEK_SET) == 0;
}

/// What posix_spawnp takes, with signals as a new program expects them: nothing blocked
/// or ignored because of us.
struct spawn_plan {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;

  explicit spawn_plan(short flags) {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
    for (const int s : {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP})
      sigaddset(&signals, s);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    posix_spawnattr_setflags(
        &attributes,
        static_cast<short>(flags | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  }
  spawn_plan(const spawn_plan&) = delete;
  spawn_plan& operator=(const spawn_plan&) = delete;
  ~spawn_plan() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }

  expected<pid_t> start(std::vector<std::string> command) const {
    std::vector<char*> words;
    for (auto& word : command)
      words.push_back(word.data());
    words.push_back(nullptr);
    pid_t process = 0;
    const int reason =
        posix_spawnp(&process, words.front(), &files, &attributes, words.data(), environ);
    if (reason == ENOENT)
      return fail(error_kind::not_found,
                  "there is no program " + command.front() + " on this machine");
    if (reason != 0)
      return failed("cannot start " + command.front(), reason);
    return process;
  }
};

} // namespace

expected<outside_command> outside_command::start(const outside_command_params& params) {
  const descriptor input(::memfd_create("input", MFD_CLOEXEC));
  descriptor output(::memfd_create("output", MFD_CLOEXEC));
  if (input.number() < 0 || output.number() < 0
      || !write_all(input.number(), params.input))
    return failed("cannot start " + params.command.front(), errno);
  spawn_plan plan(0);
  posix_spawn_file_actions_adddup2(&plan.files, input.number(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&plan.files, output.number(), STDOUT_FILENO);
  if (params.keep_errors)
    posix_spawn_file_actions_adddup2(&plan.files, output.number(), STDERR_FILENO);
  return plan.start(params.command).map([&](pid_t process) {
    return outside_command(process, output.release());
  });
}

outside_command::~outside_command() {
  if (process_ != 0) {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  if (output_ >= 0)
    ::close(output_);
}

expected<outside_command::ending> outside_command::finish() {
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0)
    if (errno != EINTR)
      return failed("waiting for a program", errno);
  process_ = 0;
  ending result{.status =
                    WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status)};
  char block[4096];
  // It shares the place in the file with us, so that we are at its end.
  for (off_t place = 0;;) {
    const auto count = ::pread(output_, block, sizeof(block), place);
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

expected<pid_t> start_detached(const std::vector<std::string>& command,
                               const std::filesystem::path& log) {
  const descriptor output(
      ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (output.number() < 0)
    return failed(log.string(), errno);
  spawn_plan plan(POSIX_SPAWN_SETSID);
  posix_spawn_file_actions_addopen(&plan.files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&plan.files, output.number(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&plan.files, output.number(), STDERR_FILENO);
  return plan.start(command);
}

} // namespace clade
