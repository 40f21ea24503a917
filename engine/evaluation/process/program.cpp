// A program's output and errors are read here as they come, so that it is never held up.

#include "engine/evaluation/process/isolation.hpp"
#include "engine/evaluation/process/program_output.hpp"
#include "engine/evaluation/process/program_run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

namespace clade {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr std::size_t most_output = 1 << 20, most_errors = 64 << 10;
// How long a look at the program waits for what it writes.
constexpr auto look_interval = 20ms;
constexpr auto memory_interval = 100ms;

struct pipe_ends {
  unique_fd read, write;
};

std::optional<pipe_ends> open_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return std::nullopt;
  return pipe_ends{unique_fd(ends[0]), unique_fd(ends[1])};
}

/// A program that is there, until its end.
class program_run {
public:
  program_run(const program_params& params, const program_group* group, unique_fd output,
              unique_fd errors)
      : params_(params),
        group_(group),
        log_(params.log, params.log_bytes),
        output_(std::move(output), most_output, log_, params.on_line),
        errors_(std::move(errors), most_errors, log_) {}

  program_result finish(followed_process& program) {
    program_result result;
    std::optional<int> status;
    while (!(status = program.take_end())) {
      if (const auto why = reason_to_end(program))
        stop(program, *why);
      read_some(program);
    }
    // Processes that the program has left behind may hold its pipes open.
    program.end_rest();
    output_.read_rest();
    errors_.read_rest();
    const bool killed =
        why_ == program_end::by_itself && group_ != nullptr && group_->out_of_memory();
    result.end = killed ? program_end::out_of_memory : why_;
    result.status = *status;
    result.output = output_.take();
    result.errors = errors_.take();
    result.log_trouble = log_.trouble();
    return result;
  }

private:
  std::optional<program_end> reason_to_end(const followed_process& program) {
    const auto now = clock::now();
    if (params_.time.count() > 0 && now - start_ >= params_.time)
      return program_end::timed_out;
    if (params_.wanted && !params_.wanted())
      return program_end::unwanted;
    if (params_.memory_bytes == 0 || group_ != nullptr || now - looked_ < memory_interval)
      return std::nullopt;
    looked_ = now;
    return program.resident_bytes() > params_.memory_bytes
               ? std::optional(program_end::out_of_memory)
               : std::nullopt;
  }

  void stop(followed_process& program, program_end why) {
    const auto now = clock::now();
    if (why_ == program_end::by_itself) {
      why_ = why;
      told_ = now;
      if (why != program_end::out_of_memory)
        program.tell_to_end();
    }
    if (why_ == program_end::out_of_memory || now - told_ >= params_.grace)
      program.kill();
  }

  void read_some(const followed_process& program) {
    std::array<pollfd, 3> files{{{program.descriptor(), POLLIN, 0},
                                 {output_.get(), POLLIN, 0},
                                 {errors_.get(), POLLIN, 0}}};
    ::poll(files.data(), files.size(), static_cast<int>(look_interval.count()));
    output_.read();
    errors_.read();
  }

  const program_params& params_;
  const program_group* group_;
  program_log log_;
  program_stream output_, errors_;
  clock::time_point start_ = clock::now(), looked_ = start_, told_ = start_;
  program_end why_ = program_end::by_itself;
};

} // namespace

expected<std::filesystem::path> program_file(const std::vector<std::string>& command,
                                             const std::filesystem::path& directory) {
  std::error_code unknown;
  if (!std::filesystem::is_directory(directory, unknown))
    return fail(error_kind::not_found, directory.string() + " is no folder here");
  if (auto readable = check_shell_script(command, directory); !readable)
    return tl::unexpected(std::move(readable).error());
  return find_program(command.front(), directory);
}

std::optional<program_group> group_for(const program_params& params) {
  if (params.groups.empty() || params.memory_bytes == 0)
    return std::nullopt;
  auto made = program_group::make(params.groups, params.memory_bytes);
  return made ? std::optional(std::move(*made)) : std::nullopt;
}

std::function<bool()> entering(const program_params& params, const program_group* group) {
  return [group, apart = params.apart] {
    return (group == nullptr || group->enter()) && (apart == nullptr || apart->enter());
  };
}

expected<program_result> follow_program(const program_params& params,
                                        const program_group* group,
                                        const program_starter& start) {
  program_ends ends{.input = memory_file(params.input)};
  auto output = open_pipe(), errors = open_pipe();
  if (!ends.input || !output || !errors)
    return fail(error_kind::io, fmt::format("cannot start {}: {}", params.command.front(),
                                            std::strerror(errno)));
  ends.output = std::move(output->write);
  ends.errors = std::move(errors->write);
  program_run run(params, group, std::move(output->read), std::move(errors->read));
  const auto program = start(ends);
  if (!program)
    return tl::unexpected(program.error());
  ends = {};
  return run.finish(**program);
}

expected<program_result> run_program(const program_params& params) {
  const auto file = program_file(params.command, params.directory);
  if (!file)
    return tl::unexpected(file.error());
  auto command = params.command;
  command.front() = file->string();
  const auto group = group_for(params);
  const auto* limited = group ? &*group : nullptr;
  std::unique_ptr<guarded_process> program;
  return follow_program(
      params, limited, [&](const program_ends& ends) -> expected<followed_process*> {
        return guarded_process::start({.command = std::move(command),
                                       .environment = params.environment,
                                       .directory = params.directory,
                                       .input = ends.input.get(),
                                       .output = ends.output.get(),
                                       .errors = ends.errors.get()},
                                      entering(params, limited))
            .map([&](std::unique_ptr<guarded_process> started) -> followed_process* {
              program = std::move(started);
              return program.get();
            });
      });
}

} // namespace clade
