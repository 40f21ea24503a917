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

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
#include <cstdlib>
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

/// Closes the file descriptor that it holds.
class open_file {
public:
  explicit open_file(int number = -1) : number_(number) {}
  open_file(open_file&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  open_file& operator=(open_file&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~open_file() { close(); }

  [[nodiscard]] int number() const { return number_; }
  void close() {
    if (number_ >= 0)
      ::close(std::exchange(number_, -1));
  }

private:
  int number_;
};

struct pipe_ends {
  open_file read, write;
};

std::optional<pipe_ends> open_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return std::nullopt;
  return pipe_ends{open_file(ends[0]), open_file(ends[1])};
}

/// A file in memory that holds the text, to be read from its start.
open_file file_of(std::string_view text) {
  open_file file(::memfd_create("input", MFD_CLOEXEC));
  while (!text.empty() && file.number() >= 0) {
    const auto written = ::write(file.number(), text.data(), text.size());
    if (written < 0 && errno != EINTR)
      return open_file();
    text.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
  }
  if (file.number() >= 0 && ::lseek(file.number(), 0, SEEK_SET) != 0)
    return open_file();
  return file;
}

/// Keeps the end of what is read from a pipe.
class kept_end {
public:
  kept_end(open_file from, std::size_t most) : from_(std::move(from)), most_(most) {
    ::fcntl(from_.number(), F_SETFL, O_NONBLOCK);
  }

  [[nodiscard]] int number() const { return from_.number(); }

  /// Takes what is there; closes a pipe that has ended.
  void read() {
    std::array<char, 64 << 10> block;
    while (from_.number() >= 0) {
      const auto count = ::read(from_.number(), block.data(), block.size());
      if (count < 0)
        return;
      if (count == 0)
        from_.close();
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
  open_file from_;
  std::size_t most_;
  std::string text_;
};

/// What the new processes need, made before there are any: after a fork of one of several
/// threads nothing may allocate.
struct start_plan {
  std::string file, directory;
  std::vector<char*> words; ///< Ends with nullptr.
  int input = -1, output = -1, errors = -1;
  int lifeline = -1; ///< Ends with this process.
  int trouble = -1;  ///< Where a program that cannot be started writes errno.
};

void default_signals() {
  for (const int s : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGXFSZ, SIGCHLD})
    ::signal(s, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void guard(const start_plan& plan) {
  ::setpgid(0, 0);
  default_signals();
  ::signal(SIGTERM, SIG_IGN); // It stays the group's leader until all have ended.
  ::prctl(PR_SET_NAME, "clade guard");
  if (plan.lifeline > 0)
    ::close_range(0, static_cast<unsigned>(plan.lifeline) - 1, 0);
  ::close_range(static_cast<unsigned>(plan.lifeline) + 1, UINT_MAX, 0);
  char nothing = 0;
  while (::read(plan.lifeline, &nothing, 1) < 0 && errno == EINTR) {
  }
  ::kill(0, SIGKILL);
  ::_exit(0);
}

/// This process limits its own private memory, which is not the program's limit.
void lift_own_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_DATA, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_DATA, &limit);
  }
}

[[noreturn]] void become_program(const start_plan& plan, pid_t group, pid_t parent) {
  default_signals();
  lift_own_limit();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() == parent && ::setpgid(0, group) == 0
      && ::dup2(plan.input, STDIN_FILENO) >= 0 && ::dup2(plan.output, STDOUT_FILENO) >= 0
      && ::dup2(plan.errors, STDERR_FILENO) >= 0
      && ::chdir(plan.directory.c_str()) == 0) {
    ::close_range(STDERR_FILENO + 1, UINT_MAX, CLOSE_RANGE_CLOEXEC);
    ::execv(plan.file.c_str(), plan.words.data());
  }
  const int reason = errno;
  const auto written = ::write(plan.trouble, &reason, sizeof(reason));
  ::_exit(written == sizeof(reason) ? 127 : 126);
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
  running_program(const program_params& params, open_file lifeline, open_file output,
                  open_file errors)
      : params_(params),
        lifeline_(std::move(lifeline)),
        output_(std::move(output), most_output),
        errors_(std::move(errors), most_errors) {}
  running_program(const running_program&) = delete;
  running_program& operator=(const running_program&) = delete;
  ~running_program() { end_all(); }

  /// Returns false where a process cannot be made; errno says why.
  bool start(const start_plan& plan) {
    const pid_t parent = ::getpid();
    guard_ = ::fork();
    if (guard_ == 0)
      guard(plan);
    if (guard_ < 0)
      return false;
    ::setpgid(guard_, guard_); // Whoever is first.
    program_ = ::fork();
    if (program_ == 0)
      become_program(plan, guard_, parent);
    return program_ > 0;
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
    std::array<pollfd, 2> files{
        {{output_.number(), POLLIN, 0}, {errors_.number(), POLLIN, 0}}};
    const bool both_closed = output_.number() < 0 && errors_.number() < 0;
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
  open_file lifeline_;
  kept_end output_, errors_;
  pid_t guard_ = -1, program_ = -1;
  clock::time_point start_ = clock::now(), looked_ = start_, told_ = start_;
  program_end why_ = program_end::by_itself;
};

bool is_program(const std::filesystem::path& file) {
  std::error_code unknown;
  return std::filesystem::is_regular_file(file, unknown)
         && ::access(file.c_str(), X_OK) == 0;
}

} // namespace

expected<std::filesystem::path> find_program(const std::vector<std::string>& command,
                                             const std::filesystem::path& directory) {
  std::error_code unknown;
  if (!std::filesystem::is_directory(directory, unknown))
    return fail(error_kind::not_found, directory.string() + " is no folder here");
  const auto& name = command.front();
  if (name.find('/') != std::string::npos) {
    const auto file = directory / name;
    return is_program(file) ? expected<std::filesystem::path>(file)
                            : fail(error_kind::not_found,
                                   file.string() + " is no program that may be run");
  }
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const auto file = directory / folder / name; is_program(file))
      return file;
  return fail(error_kind::not_found, "there is no program " + name + " on this machine");
}

expected<program_result> run_program(const program_params& params) {
  const auto file = find_program(params.command, params.directory);
  if (!file)
    return tl::unexpected(file.error());
  const std::string what = "cannot start " + params.command.front();
  auto input = file_of(params.input);
  auto lifeline = open_pipe(), output = open_pipe(), errors = open_pipe(),
       trouble = open_pipe();
  if (input.number() < 0 || !lifeline || !output || !errors || !trouble)
    return failed(what, errno);
  start_plan plan{.file = file->string(),
                  .directory = params.directory.string(),
                  .words = {},
                  .input = input.number(),
                  .output = output->write.number(),
                  .errors = errors->write.number(),
                  .lifeline = lifeline->read.number(),
                  .trouble = trouble->write.number()};
  auto words = params.command;
  for (auto& word : words)
    plan.words.push_back(word.data());
  plan.words.push_back(nullptr);
  running_program program(params, std::move(lifeline->write), std::move(output->read),
                          std::move(errors->read));
  if (!program.start(plan))
    return failed(what, errno);
  for (auto* end : {&output->write, &errors->write, &lifeline->read, &trouble->write})
    end->close();
  auto result = program.finish();
  int reason = 0;
  if (::read(trouble->read.number(), &reason, sizeof(reason)) == sizeof(reason))
    return failed(what, reason);
  return result;
}

} // namespace clade
