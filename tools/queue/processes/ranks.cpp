#include "tools/queue/processes/ranks.hpp"

#include "engine/evaluation/process/program_output.hpp"
#include "engine/report/base/json_parts.hpp"
#include "genome/base/child_process.hpp"
#include "genome/base/json_depth.hpp"
#include "tools/queue/processes/rank_lines.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>

namespace clade {

namespace {

using clock = std::chrono::steady_clock;

constexpr auto grace = std::chrono::seconds(10);
/// How long a look at the processes waits for what they write.
constexpr int look_ms = 20;

/// A port of this machine's loopback that nobody has now; 0: none can be had.
std::uint16_t free_port() {
  const unique_fd s(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof place;
  auto* address = reinterpret_cast<sockaddr*>(&place);
  if (!s || ::bind(s.get(), address, size) != 0
      || ::getsockname(s.get(), address, &size) != 0)
    return 0;
  return ntohs(place.sin_port);
}

class rank_set {
public:
  rank_set() = default;
  rank_set(const rank_set&) = delete;
  rank_set& operator=(const rank_set&) = delete;
  ~rank_set() { tell(SIGKILL); }

  expected<void> start(child_params params, std::size_t rank) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
      return fail(error_kind::io, std::string("no pipe: ") + std::strerror(errno));
    unique_fd read(ends[0]);
    const unique_fd write(ends[1]);
    params.output = params.errors = write.get();
    return start_child(params).map([&](pid_t process) {
      all_.push_back({.process = process,
                      .output = std::make_unique<program_stream>(
                          std::move(read), 0, nowhere_,
                          [this, label = rank_label(rank)](std::string_view line) {
                            text_.append(label).append(line).push_back('\n');
                          })});
    });
  }

  expected<int> finish() {
    while (true) {
      const bool running = look();
      if (const int failed = write_all(STDOUT_FILENO, text_); failed != 0)
        return fail(error_kind::io,
                    std::string("what the ranks write cannot be written: ")
                        + std::strerror(failed));
      text_.clear();
      if (!running)
        return code_;
    }
  }

private:
  struct rank {
    pid_t process = 0; ///< 0: it has ended.
    std::unique_ptr<program_stream> output;
  };

  void tell(int signal) const {
    for (const auto& r : all_)
      if (r.process > 0)
        ::kill(r.process, signal);
  }

  void note_end(rank& r, int status) {
    r.process = 0;
    r.output->read_rest(); // A process that it has left behind may hold its pipe open.
    if (const int code = exit_code(status); code != 0 && !failed_) {
      failed_ = clock::now();
      code_ = code;
      tell(SIGTERM);
    }
  }

  /// Returns whether one still runs.
  bool look() {
    std::vector<pollfd> files;
    for (const auto& r : all_)
      if (r.process > 0)
        files.push_back({.fd = r.output->get(), .events = POLLIN, .revents = 0});
    ::poll(files.data(), files.size(), look_ms);
    bool running = false;
    for (auto& r : all_) {
      if (r.process == 0)
        continue;
      r.output->read();
      int status = 0;
      if (::waitpid(r.process, &status, WNOHANG) == r.process)
        note_end(r, status);
      running = running || r.process > 0;
    }
    if (failed_ && clock::now() >= *failed_ + grace)
      tell(SIGKILL);
    return running;
  }

  program_log nowhere_{{}, 0};
  std::vector<rank> all_;
  std::string text_;                        ///< To be written.
  std::optional<clock::time_point> failed_; ///< When the first did.
  int code_ = 0;
};

} // namespace

expected<int> run_ranks(const std::vector<std::string>& command,
                        const std::vector<rank_process>& ranks) {
  for (const int s : {SIGTERM, SIGINT, SIGHUP})
    std::signal(s, SIG_IGN);
  const auto port = free_port();
  if (port == 0)
    return fail(error_kind::io, "no free port of 127.0.0.1 can be had");
  rank_set all;
  const auto count = std::to_string(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto number = std::to_string(i);
    child_params params{.command = command,
                        .environment = ranks[i].environment,
                        .cores = ranks[i].cores,
                        .is_foreign = true};
    for (const auto& variable :
         {"RANK=" + number, "LOCAL_RANK=" + number, "WORLD_SIZE=" + count,
          "LOCAL_WORLD_SIZE=" + count, std::string("MASTER_ADDR=127.0.0.1"),
          fmt::format("MASTER_PORT={}", port)})
      params.environment.push_back(variable);
    if (auto started = all.start(std::move(params), i); !started)
      return tl::unexpected(started.error());
  }
  return all.finish();
}

std::vector<std::string> ranks_words(const std::string& program,
                                     const std::vector<rank_process>& ranks) {
  std::vector<std::string> words{program, "ranks"};
  for (const auto& r : ranks) {
    words.emplace_back("--of");
    words.push_back(text_of({{"environment", r.environment}, {"cores", r.cores}}));
  }
  words.emplace_back("--");
  return words;
}

expected<rank_process> read_rank(const std::string& text) {
  const auto given = parse_shallow<ordered_json>(text);
  const auto all = [&](const char* key, auto is) {
    return given.is_object() && given.contains(key) && given[key].is_array()
           && std::ranges::all_of(given[key], is);
  };
  if (!all("environment", [](const ordered_json& v) { return v.is_string(); })
      || !all("cores", [](const ordered_json& v) { return v.is_number_unsigned(); }))
    return fail(error_kind::invalid_input,
                fmt::format("--of: \"{}\" is no rank's share", text));
  return rank_process{.environment = given["environment"].get<std::vector<std::string>>(),
                      .cores = given["cores"].get<std::vector<unsigned>>()};
}

} // namespace clade
