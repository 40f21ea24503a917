#pragma once

#include "genome/base/child_process.hpp"
#include "genome/base/error.hpp"
#include "genome/base/unique_fd.hpp"

#include <sys/types.h>

#include <functional>
#include <optional>

namespace clade {

/// Two sockets that are each other's other end.
struct socket_pair {
  unique_fd ours, its;

  /// `type`: SOCK_STREAM or SOCK_SEQPACKET. Both are closed on exec.
  [[nodiscard]] static expected<socket_pair> make(int type);
};

/// A program that somebody is to hear the end of.
class followed_process {
public:
  followed_process() = default;
  followed_process(const followed_process&) = delete;
  followed_process& operator=(const followed_process&) = delete;
  virtual ~followed_process() = default;

  /// Readable once it has ended.
  [[nodiscard]] virtual int descriptor() const = 0;
  /// Its wait status, once it has ended.
  [[nodiscard]] virtual std::optional<int> take_end() = 0;
  /// Sends SIGTERM to its group.
  virtual void tell_to_end() = 0;
  /// Kills it and all that it has started; `take_end` says so.
  virtual void kill() = 0;
  /// Kills what is left of it, and waits until nothing is.
  virtual void end_rest() = 0;
  /// The bytes that are resident in its processes.
  [[nodiscard]] virtual std::uint64_t resident_bytes() const = 0;
};

/// A program in a process group of its own, and its guard (guard.hpp): whatever it starts,
/// in whatever group or session, ends with it, and it ends with this process however that
/// ends. Destroying it kills what is left.
class guarded_process final : public followed_process {
public:
  /// `program`: without `group` and `first`. `enter` is called in the new process before it
  /// becomes the program, where it must not allocate; false, with errno: it does not.
  [[nodiscard]] static expected<std::unique_ptr<guarded_process>>
  start(child_params program, const std::function<bool()>& enter = {});

  ~guarded_process() override { end_rest(); }

  [[nodiscard]] int descriptor() const override { return line_.get(); }
  [[nodiscard]] std::optional<int> take_end() override;
  void tell_to_end() override;
  void kill() override;
  void end_rest() override;
  [[nodiscard]] std::uint64_t resident_bytes() const override;

  /// All its processes are below that.
  [[nodiscard]] pid_t guard() const { return guard_; }
  /// Kills what processes that it has started and waited for have left behind, and not
  /// itself. Blocks until none is left.
  void end_what_is_left();

private:
  guarded_process(unique_fd line, pid_t guard) : line_(std::move(line)), guard_(guard) {}

  unique_fd line_; ///< To the guard.
  pid_t guard_ = -1;
  std::optional<int> ended_; ///< Heard while something else was waited for.
};

} // namespace clade
