// Two processes are started, each the leader of a process group:
//
//   the guard     It is the program's parent and a subreaper (guard.hpp). It waits for
//                 the end of a socket that this process alone holds open, and then kills
//                 all that is below it: however this process ends, the program and what
//                 it has started end too.
//   the program   reads its input from a file in memory; its output and errors are read
//                 here as they come, so that it is never held up.

#include "engine/evaluation/command/program.hpp"

#include "engine/evaluation/command/guard.hpp"
#include "engine/evaluation/command/isolation.hpp"
#include "engine/evaluation/command/program_group.hpp"
#include "engine/evaluation/command/program_output.hpp"
#include "genome/child_process.hpp"
#include "genome/unique_fd.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

namespace clade {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr std::size_t most_output = 1 << 20, most_errors = 64 << 10;
// How long a look at the program waits for what it writes.
constexpr auto look_interval = 20ms;
constexpr auto memory_interval = 100ms;

tl::unexpected<error> failed(const std::string& what, int reason) {
  return fail(error_kind::io, what + ": " + std::strerror(reason));
}

/// The two ends of a pair of sockets.
std::optional<std::array<unique_fd, 2>> open_line() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return std::nullopt;
  return std::array{unique_fd(ends[0]), unique_fd(ends[1])};
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

struct seen_process {
  pid_t id = 0;
  std::uint64_t resident_bytes = 0;
};

/// Nothing where it has ended.
std::optional<std::pair<pid_t, seen_process>>
parent_and_process(const std::filesystem::path& folder) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::ifstream file(folder / "stat");
  std::string line;
  std::getline(file, line);
  // "pid (name) state parent ... resident ...", where the name may hold anything.
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos)
    return std::nullopt;
  std::istringstream fields(line.substr(name_end + 1));
  std::string skipped;
  pid_t parent = 0;
  fields >> skipped >> parent;
  for (int i = 0; i < 19; ++i)
    fields >> skipped;
  std::uint64_t pages = 0;
  if (!(fields >> pages))
    return std::nullopt;
  return std::pair(parent, seen_process{std::stoi(folder.filename()), pages * page});
}

/// The bytes that are resident in all processes below this one.
std::uint64_t resident_bytes_below(pid_t ancestor) {
  std::multimap<pid_t, seen_process> children;
  std::error_code ended;
  for (std::filesystem::directory_iterator at("/proc", ended), end; at != end && !ended;
       at.increment(ended))
    if (at->path().filename().string().find_first_not_of("0123456789")
        == std::string::npos)
      if (const auto seen = parent_and_process(at->path()))
        children.insert(*seen);
  std::uint64_t sum = 0;
  std::vector<pid_t> parents{ancestor};
  while (!parents.empty()) {
    const auto [first, last] = children.equal_range(parents.back());
    parents.pop_back();
    for (auto child = first; child != last; ++child) {
      sum += child->second.resident_bytes;
      parents.push_back(child->second.id);
    }
  }
  return sum;
}

/// Nothing where none is to be had: then it is watched instead.
std::optional<program_group> group_for(const program_params& params) {
  if (params.groups.empty() || params.memory_bytes == 0)
    return std::nullopt;
  auto made = program_group::make(params.groups, params.memory_bytes);
  return made ? std::optional(std::move(*made)) : std::nullopt;
}

/// A program and its guard; both have ended when it is destroyed.
class running_program {
public:
  /// `line`: to the guard.
  running_program(const program_params& params, const std::optional<program_group>& group,
                  unique_fd line, unique_fd output, unique_fd errors)
      : params_(params),
        group_(group),
        line_(std::move(line)),
        log_(params.log, params.log_bytes),
        output_(std::move(output), most_output, log_, params.on_line),
        errors_(std::move(errors), most_errors, log_) {}
  running_program(const running_program&) = delete;
  running_program& operator=(const running_program&) = delete;
  ~running_program() { end_all(); }

  /// `program`: what becomes its guard first.
  expected<void> start(const child_params& program) {
    return start_child(program).map([this](pid_t process) { guard_ = process; });
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
    output_.read_rest();
    errors_.read_rest();
    const bool killed =
        why_ == program_end::by_itself && group_ && group_->out_of_memory();
    result.end = killed ? program_end::out_of_memory : why_;
    result.output = output_.take();
    result.errors = errors_.take();
    result.log_trouble = log_.trouble();
    return result;
  }

private:
  bool ended(int& status) {
    const auto count = ::recv(line_.get(), &status, sizeof status, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
      return false;
    if (count != sizeof status) // Somebody has killed the guard, and the program with it.
      status = W_EXITCODE(0, SIGKILL);
    return true;
  }

  std::optional<program_end> reason_to_end() {
    const auto now = clock::now();
    if (params_.time.count() > 0 && now - start_ >= params_.time)
      return program_end::timed_out;
    if (params_.wanted && !params_.wanted())
      return program_end::unwanted;
    if (params_.memory_bytes == 0 || group_ || now - looked_ < memory_interval)
      return std::nullopt;
    looked_ = now;
    return resident_bytes_below(guard_) > params_.memory_bytes
               ? std::optional(program_end::out_of_memory)
               : std::nullopt;
  }

  void stop(program_end why) {
    const auto now = clock::now();
    if (why_ == program_end::by_itself) {
      why_ = why;
      told_ = now;
      if (why != program_end::out_of_memory)
        ::send(line_.get(), &end_yourselves, 1, MSG_NOSIGNAL);
    }
    if (why_ == program_end::out_of_memory || now - told_ >= params_.grace)
      line_.reset();
  }

  void read_some() {
    std::array<pollfd, 3> files{{{line_.get(), POLLIN, 0},
                                 {output_.get(), POLLIN, 0},
                                 {errors_.get(), POLLIN, 0}}};
    ::poll(files.data(), files.size(), static_cast<int>(look_interval.count()));
    output_.read();
    errors_.read();
  }

  void end_all() {
    line_.reset();
    if (guard_ > 0)
      while (::waitpid(guard_, nullptr, 0) < 0 && errno == EINTR) {
      }
    guard_ = -1;
  }

  const program_params& params_;
  const std::optional<program_group>& group_;
  unique_fd line_;
  program_log log_;
  program_stream output_, errors_;
  pid_t guard_ = -1;
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
  auto line = open_line();
  auto output = open_pipe(), errors = open_pipe();
  if (!input || !line || !output || !errors)
    return failed("cannot start " + params.command.front(), errno);
  auto command = params.command;
  command.front() = file->string();
  auto& [ours, its] = *line;
  const auto group = group_for(params);
  running_program program(params, group, std::move(ours), std::move(output->read),
                          std::move(errors->read));
  const std::function<bool()> enter = [&] {
    return (!group || group->enter())
           && (params.apart == nullptr || params.apart->enter());
  };
  const auto started =
      program.start({.command = std::move(command),
                     .environment = params.environment,
                     .directory = params.directory,
                     .input = input.get(),
                     .output = output->write.get(),
                     .errors = errors->write.get(),
                     .group = 0,
                     .is_foreign = true,
                     .first = [&] { return fork_guard(its.get(), enter); }});
  if (!started)
    return tl::unexpected(started.error());
  for (auto* end : {&output->write, &errors->write, &its})
    end->reset();
  return program.finish();
}

} // namespace clade
