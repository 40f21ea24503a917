// Two processes are started, both of one new process group:
//
//   the guard     the group's leader. It waits for the end of a pipe that this process
//                 alone holds open, and kills the group then: however this process ends,
//                 the program and what it has started end too.
//   the program   reads its input from a file in memory; its output and errors are read
//                 here, of which only the end is kept, so that it is never held up.
//
// The group keeps its number until the guard is waited for, which is the last that
// happens.

#include "engine/evaluation/command/program.hpp"

#include "genome/child_process.hpp"
#include "genome/unique_fd.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

namespace clade {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr std::size_t most_output = 1 << 20, most_errors = 64 << 10;
// How long a look at the program waits for what it writes; shorter once it has closed
// both, since it is about to end then.
constexpr auto look_interval = 20ms, last_look_interval = 1ms;
constexpr auto memory_interval = 100ms;
// Before those that do not end when they are told are killed.
constexpr auto grace = 500ms;

tl::unexpected<error> failed(const std::string& what, int reason) {
  return fail(error_kind::io, what + ": " + std::strerror(reason));
}

struct pipe_ends {
  unique_fd read, write;
};

std::optional<pipe_ends> open_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return std::nullopt;
  return pipe_ends{unique_fd(ends[0]), unique_fd(ends[1])};
}

/// Keeps the end of what is read from a pipe.
class kept_end {
public:
  kept_end(unique_fd from, std::size_t most) : from_(std::move(from)), most_(most) {
    ::fcntl(from_.get(), F_SETFL, O_NONBLOCK);
  }

  [[nodiscard]] int get() const { return from_.get(); }

  /// Takes what is there; closes a pipe that has ended.
  void read() {
    std::array<char, 64 << 10> block;
    while (from_) {
      const auto count = ::read(from_.get(), block.data(), block.size());
      if (count < 0)
        return;
      if (count == 0)
        from_.reset();
      text_.append(block.data(), static_cast<std::size_t>(count));
      if (text_.size() > 2 * most_)
        text_.erase(0, text_.size() - most_);
    }
  }

  [[nodiscard]] std::string take() {
    if (text_.size() > most_)
      text_.erase(0, text_.size() - most_);
    return std::move(text_);
  }

private:
  unique_fd from_;
  std::size_t most_;
  std::string text_;
};

[[noreturn]] void guard(int lifeline) {
  ::setpgid(0, 0);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int s : {SIGINT, SIGHUP})
    ::signal(s, SIG_DFL);
  ::signal(SIGTERM, SIG_IGN); // It stays the group's leader until all have ended.
  ::prctl(PR_SET_NAME, "clade guard");
  if (lifeline > 0)
    ::close_range(0, static_cast<unsigned>(lifeline) - 1, 0);
  ::close_range(static_cast<unsigned>(lifeline) + 1, UINT_MAX, 0);
  char nothing = 0;
  while (::read(lifeline, &nothing, 1) < 0 && errno == EINTR) {
  }
  ::kill(0, SIGKILL);
  ::_exit(0);
}

/// The bytes that are resident in the processes of a group but its leader.
std::uint64_t resident_bytes(pid_t group) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::uint64_t sum = 0;
  std::error_code ended;
  for (std::filesystem::directory_iterator at("/proc", ended), end; at != end && !ended;
       at.increment(ended)) {
    const auto name = at->path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos
        || name == std::to_string(group))
      continue;
    std::ifstream file(at->path() / "stat");
    std::string line;
    std::getline(file, line);
    // "pid (name) state parent group ... resident ...", where the name may hold anything.
    const auto name_end = line.rfind(')');
    if (name_end == std::string::npos)
      continue;
    std::istringstream fields(line.substr(name_end + 1));
    std::string skipped;
    pid_t of = 0;
    fields >> skipped >> skipped >> of;
    for (int i = 0; i < 18; ++i)
      fields >> skipped;
    std::uint64_t pages = 0;
    if (of == group && fields >> pages)
      sum += pages * page;
  }
  return sum;
}

/// A program and its guard; both have ended when it is destroyed.
class running_program {
public:
  running_program(const program_params& params, unique_fd lifeline, unique_fd output,
                  unique_fd errors)
      : params_(params),
        lifeline_(std::move(lifeline)),
        output_(std::move(output), most_output),
        errors_(std::move(errors), most_errors) {}
  running_program(const running_program&) = delete;
  running_program& operator=(const running_program&) = delete;
  ~running_program() { end_all(); }

  /// Starts the guard, which reads `lifeline`, and the program in its group.
  expected<void> start(int lifeline, child_params program) {
    guard_ = ::fork();
    if (guard_ == 0)
      guard(lifeline);
    if (guard_ < 0)
      return failed("cannot start a process", errno);
    ::setpgid(guard_, guard_); // Whoever is first.
    program.group = guard_;
    return start_child(program).map([this](pid_t process) { program_ = process; });
  }

  program_result finish() {
    program_result result;
    while (!ended(result.status)) {
      if (const auto why = reason_to_end())
        stop(*why);
      read_some();
    }
    // What the program has left behind may hold its pipes open.
    end_all();
    output_.read();
    errors_.read();
    result.end = why_;
    result.output = output_.take();
    result.errors = errors_.take();
    return result;
  }

private:
  bool ended(int& status) {
    if (::waitpid(program_, &status, WNOHANG) != program_)
      return false;
    program_ = -1;
    return true;
  }

  std::optional<program_end> reason_to_end() {
    const auto now = clock::now();
    if (params_.time.count() > 0 && now - start_ >= params_.time)
      return program_end::timed_out;
    if (params_.memory_bytes == 0 || now - looked_ < memory_interval)
      return std::nullopt;
    looked_ = now;
    return resident_bytes(guard_) > params_.memory_bytes
               ? std::optional(program_end::out_of_memory)
               : std::nullopt;
  }

  void stop(program_end why) {
    const auto now = clock::now();
    if (why_ == program_end::by_itself) {
      why_ = why;
      told_ = now;
      ::kill(-guard_, why == program_end::out_of_memory ? SIGKILL : SIGTERM);
    } else if (now - told_ >= grace) {
      ::kill(-guard_, SIGKILL);
    }
  }

  void read_some() {
    std::array<pollfd, 2> files{{{output_.get(), POLLIN, 0}, {errors_.get(), POLLIN, 0}}};
    const bool both_closed = output_.get() < 0 && errors_.get() < 0;
    const std::chrono::milliseconds most =
        both_closed ? last_look_interval : look_interval;
    ::poll(files.data(), files.size(), static_cast<int>(most.count()));
    output_.read();
    errors_.read();
  }

  void end_all() {
    if (guard_ > 0)
      ::kill(-guard_, SIGKILL);
    for (pid_t* process : {&program_, &guard_})
      if (*process > 0)
        ::waitpid(std::exchange(*process, -1), nullptr, 0);
  }

  const program_params& params_;
  unique_fd lifeline_;
  kept_end output_, errors_;
  pid_t guard_ = -1, program_ = -1;
  clock::time_point start_ = clock::now(), looked_ = start_, told_ = start_;
  program_end why_ = program_end::by_itself;
};

} // namespace

expected<std::filesystem::path> program_file(const std::vector<std::string>& command,
                                             const std::filesystem::path& directory) {
  std::error_code unknown;
  if (!std::filesystem::is_directory(directory, unknown))
    return fail(error_kind::not_found, directory.string() + " is no folder here");
  return find_program(command.front(), directory);
}

expected<program_result> run_program(const program_params& params) {
  const auto file = program_file(params.command, params.directory);
  if (!file)
    return tl::unexpected(file.error());
  const auto input = memory_file(params.input);
  auto lifeline = open_pipe(), output = open_pipe(), errors = open_pipe();
  if (!input || !lifeline || !output || !errors)
    return failed("cannot start " + params.command.front(), errno);
  auto command = params.command;
  command.front() = file->string();
  running_program program(params, std::move(lifeline->write), std::move(output->read),
                          std::move(errors->read));
  const auto started = program.start(lifeline->read.get(), {.command = std::move(command),
                                                            .directory = params.directory,
                                                            .input = input.get(),
                                                            .output = output->write.get(),
                                                            .errors = errors->write.get(),
                                                            .dies_with_us = true,
                                                            .is_foreign = true});
  if (!started)
    return tl::unexpected(started.error());
  for (auto* end : {&output->write, &errors->write, &lifeline->read})
    end->reset();
  return program.finish();
}

} // namespace clade
