#include "engine/evaluation/process/guarded_process.hpp"

#include "engine/evaluation/process/guard.hpp"
#include "engine/evaluation/process/process_table.hpp"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <utility>

namespace clade {

expected<socket_pair> socket_pair::make(int type) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return fail(error_kind::io, std::string("no socket pair: ") + std::strerror(errno));
  return socket_pair{.ours = unique_fd(ends[0]), .its = unique_fd(ends[1])};
}

expected<std::unique_ptr<guarded_process>>
guarded_process::start(child_params program, const std::function<bool()>& enter) {
  auto line = socket_pair::make(SOCK_STREAM);
  if (!line)
    return tl::unexpected(std::move(line).error());
  program.group = 0;
  program.is_foreign = true;
  program.first = [&] { return fork_guard(line->its.get(), enter); };
  return start_child(program).map([&](pid_t guard) {
    return std::unique_ptr<guarded_process>(
        new guarded_process(std::move(line->ours), guard));
  });
}

std::optional<int> guarded_process::take_end() {
  if (ended_)
    return ended_;
  int status = 0;
  const auto count = ::recv(line_.get(), &status, sizeof status, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR))
    return std::nullopt;
  // Else somebody has killed the guard, and the program with it.
  ended_ = count == sizeof status ? status : W_EXITCODE(0, SIGKILL);
  return ended_;
}

void guarded_process::tell_to_end() {
  // It fails only where the guard has ended, and the program with it.
  [[maybe_unused]] const auto sent =
      ::send(line_.get(), &end_yourselves, 1, MSG_NOSIGNAL);
}

void guarded_process::kill() {
  // The guard takes the end of what it reads for ours, and kills.
  ::shutdown(line_.get(), SHUT_WR);
}

void guarded_process::end_rest() {
  line_.reset();
  if (guard_ > 0)
    while (::waitpid(guard_, nullptr, 0) < 0 && errno == EINTR) {
    }
  guard_ = -1;
}

void guarded_process::end_what_is_left() {
  if (::send(line_.get(), &clade::end_what_is_left, 1, MSG_NOSIGNAL) != 1)
    return; // The guard has ended, and all of it.
  int heard = 0;
  while (true) {
    const auto count = ::recv(line_.get(), &heard, sizeof heard, MSG_WAITALL);
    if (count < 0 && errno == EINTR)
      continue;
    if (count != sizeof heard || heard == nothing_is_left)
      return;
    ended_ = heard;
  }
}

std::uint64_t guarded_process::resident_bytes() const {
  return resident_bytes_below(guard_);
}

} // namespace clade
