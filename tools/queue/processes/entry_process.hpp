#pragma once

#include "genome/base/error.hpp"
#include "genome/base/unique_fd.hpp"

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace clade {

struct entry_process_params {
  std::vector<std::string> command; ///< The program's path and its arguments.
  std::vector<std::string> environment{};
  std::filesystem::path directory{};
  std::filesystem::path log{};   ///< Its output and errors are appended.
  std::vector<unsigned> cores{}; ///< Empty: those of this process.
};

/// The process of an entry, in a process group of its own, and its guard
/// (engine/evaluation/command/guard.hpp): whatever it starts ends with it, and it ends with
/// this process however that ends. Destroying it kills what is left.
class entry_process {
public:
  [[nodiscard]] static expected<entry_process> start(const entry_process_params& params);

  entry_process(entry_process&& other) noexcept;
  entry_process& operator=(entry_process&& other) noexcept;
  ~entry_process();

  /// Its guard, which all its processes are below.
  [[nodiscard]] pid_t root() const { return guard_; }
  /// Readable once it has ended.
  [[nodiscard]] int descriptor() const { return line_.get(); }
  /// Its wait status, once it has ended; what it left behind is killed then.
  [[nodiscard]] std::optional<int> take_end();
  /// Sends SIGTERM to its group.
  void tell_to_end() const;
  /// Kills it and all that it has started; `take_end` says so.
  void kill();

private:
  entry_process(unique_fd line, pid_t guard) : line_(std::move(line)), guard_(guard) {}
  void end_guard();

  unique_fd line_; ///< To the guard.
  pid_t guard_ = -1;
};

/// Waits until what writes this log has ended: when a server is killed, the guards of its
/// entries end them a moment later. `conflict`: something is still there after that time.
[[nodiscard]] expected<void> await_former(const std::filesystem::path& log,
                                          std::chrono::steady_clock::time_point until);

} // namespace clade
