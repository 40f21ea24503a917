#include "tools/bench/step_peer.hpp"

#include "genome/base/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace clade {

expected<step_peer> step_peer::start(const std::vector<std::string>& command) {
  std::array<int, 2> down{}, up{};
  if (::pipe2(down.data(), O_CLOEXEC) != 0)
    return fail(error_kind::io, std::strerror(errno));
  unique_fd input(down[0]);
  step_peer peer;
  peer.to_.reset(down[1]);
  if (::pipe2(up.data(), O_CLOEXEC) != 0)
    return fail(error_kind::io, std::strerror(errno));
  peer.from_.reset(up[0]);
  unique_fd output(up[1]);
  const auto process = start_child({.command = command,
                                    .environment = {"OMP_NUM_THREADS=1"},
                                    .input = input.get(),
                                    .output = output.get(),
                                    .dies_with_us = true});
  if (!process)
    return tl::unexpected(process.error());
  peer.process_ = *process;
  output.reset();
  const auto ready = peer.read_line();
  if (!ready)
    return tl::unexpected(ready.error());
  if (ready->starts_with("failed "))
    return fail(error_kind::internal, ready->substr(7));
  if (!ready->starts_with("ready "))
    return fail(error_kind::internal, fmt::format("the peer says \"{}\"", *ready));
  peer.parameters_ = std::strtoull(ready->c_str() + 6, nullptr, 10);
  return peer;
}

step_peer::step_peer(step_peer&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      to_(std::move(other.to_)),
      from_(std::move(other.from_)),
      unread_(std::move(other.unread_)),
      parameters_(other.parameters_) {}

step_peer::~step_peer() {
  to_.reset(); // It reads the end of its input and ends.
  if (process_ > 0)
    ::waitpid(process_, nullptr, 0);
}

expected<double> step_peer::epoch() {
  if (const int failed = write_all(to_.get(), "epoch\n"); failed != 0)
    return fail(error_kind::io, std::string("the peer: ") + std::strerror(failed));
  return read_line().map(
      [](const std::string& s) { return std::strtod(s.c_str(), nullptr); });
}

expected<std::string> step_peer::read_line() {
  for (;;) {
    if (const auto end = unread_.find('\n'); end != std::string::npos) {
      auto line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    std::array<char, 256> block{};
    const auto count = ::read(from_.get(), block.data(), block.size());
    if (count <= 0) {
      int status = 0;
      ::waitpid(std::exchange(process_, -1), &status, 0);
      return fail(error_kind::not_found, "the peer " + describe_exit(status));
    }
    unread_.append(block.data(), static_cast<std::size_t>(count));
  }
}

} // namespace clade
