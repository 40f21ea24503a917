#include "tools/launch/launch_run.hpp"

#include "actors/transport/link/network_address.hpp"
#include "engine/store/sqlite/run_folder.hpp"
#include "engine/store/sqlite/run_lock.hpp"
#include "genome/base/unique_fd.hpp"
#include "tools/launch/outside_command.hpp"
#include "tools/machine/slots.hpp"
#include "tools/run/run_files.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>

// A new run is made here, so that what is wrong with its experiment is said here, and
// then gone on with by `clade resume` in a session of its own. That listens on the
// address in the run's experiment, always the same one, so that workers find it again
// when it was stopped and resumed; hence a port is chosen before.

namespace clade {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr auto patience = 60s;
constexpr int look_again_ms = 20;

/// The end of a process that is ours, as something to wait for.
class process_end {
public:
  // Not glibc's pidfd_open: its header in Debian 12 cannot be used from C++.
  explicit process_end(pid_t process)
      : process_(process),
        end_(static_cast<int>(::syscall(SYS_pidfd_open, process, 0))) {}

  /// Whether it ended by itself within that time.
  [[nodiscard]] bool came(int milliseconds) const {
    pollfd ended{.fd = end_.get(), .events = POLLIN, .revents = 0};
    ::poll(&ended, 1, milliseconds);
    return ::waitpid(process_, nullptr, WNOHANG) == process_;
  }

private:
  pid_t process_;
  unique_fd end_;
};

std::string last_line(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line, last;
  while (std::getline(in, line))
    if (!line.empty())
      last = line;
  return last;
}

expected<std::string> await_head(const launched_run& run) {
  const process_end end(run.started);
  for (const auto deadline = clock::now() + patience; clock::now() < deadline;) {
    if (auto address = listening_address(run.folder); !address.empty())
      return address;
    if (end.came(look_again_ms))
      return fail(error_kind::io, "the run did not start: " + last_line(run.log()));
  }
  return fail(error_kind::io,
              fmt::format("the run does not listen after a minute; {} says what it does",
                          run.log().string()));
}

expected<launched_run> find_running(const std::string& text) {
  auto folder = find_run(text);
  if (!folder)
    return tl::unexpected(folder.error());
  launched_run run{.folder = std::filesystem::absolute(*folder).lexically_normal()};
  if (!writer_of(run.folder / store_file_name))
    return fail(
        error_kind::conflict,
        fmt::format(
            "{} does not run on this machine; go on with it first: clade resume {}",
            run.name(), run.name()));
  run.connect = listening_address(run.folder);
  if (run.connect.empty())
    return fail(error_kind::conflict,
                run.name()
                    + " takes no workers from elsewhere; that is said at its start: "
                      "clade run FILE --listen 0.0.0.0:7411");
  return run;
}

expected<launched_run> start_fresh(new_run_params fresh, const std::string& listen) {
  auto address = with_free_port(listen);
  if (!address)
    return fail_in("--listen", address.error());
  fresh.overrides.push_back("slots.local=\"none\"");
  fresh.overrides.push_back(fmt::format("slots.listen=\"{}\"", *address));
  launched_run run;
  {
    auto made = make_run(fresh);
    if (!made)
      return tl::unexpected(made.error());
    run.folder = made->folder.lexically_normal();
  } // Its store is closed here, for the head to open.
  auto process =
      start_detached({own_program().string(), "resume", run.folder.string()}, run.log());
  if (process)
    run.started = *process;
  auto listens = process.and_then([&](pid_t) { return await_head(run); });
  if (!listens) {
    discard(run);
    return tl::unexpected(listens.error());
  }
  run.connect = *listens;
  return run;
}

} // namespace

expected<launched_run> launch_run(const launch_run_params& params) {
  auto run = params.fresh.file.empty() ? find_running(params.running)
                                       : start_fresh(params.fresh, params.listen);
  if (!run)
    return run;
  auto connect = reachable_address(run->connect, params.host);
  if (!connect)
    return tl::unexpected(connect.error());
  run->connect = *connect;
  return run;
}

expected<launched_run> imagine_run(const launch_run_params& params) {
  if (params.fresh.file.empty())
    return launch_run(params);
  auto loaded = load_experiment(params.fresh.file, params.fresh.overrides);
  if (!loaded)
    return tl::unexpected(loaded.error());
  auto listen = with_free_port(params.listen);
  if (!listen)
    return fail_in("--listen", listen.error());
  const auto folder =
      std::filesystem::absolute(params.fresh.runs) / (loaded->name + "-TIME");
  return reachable_address(*listen, params.host).map([&](const std::string& address) {
    return launched_run{.folder = folder.lexically_normal(), .connect = address};
  });
}

void discard(const launched_run& run) {
  if (run.started != 0) {
    const process_end end(run.started);
    // The second one ends it at once: it has nothing to finish.
    for (const int signal : {SIGTERM, SIGTERM, SIGKILL}) {
      ::kill(run.started, signal);
      if (end.came(2'000))
        break;
    }
  }
  std::error_code left_behind; // Then "clade list" shows a run that was stopped.
  std::filesystem::remove_all(run.folder, left_behind);
}

} // namespace clade
