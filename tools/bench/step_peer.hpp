#pragma once

#include "genome/base/error.hpp"
#include "genome/base/unique_fd.hpp"

#include <sys/types.h>

#include <string>
#include <vector>

namespace clade {

/// tools/bench/torch_step.py at work: a process that trains one epoch whenever it is told
/// to. It ends with this object.
class step_peer {
public:
  /// Starts it and waits until it is warm. An error says how it ended instead.
  [[nodiscard]] static expected<step_peer> start(const std::vector<std::string>& command);

  step_peer(step_peer&& other) noexcept;
  step_peer& operator=(step_peer&&) = delete;
  ~step_peer();

  /// Trains an epoch and returns its seconds.
  [[nodiscard]] expected<double> epoch();

  [[nodiscard]] std::uint64_t parameters() const { return parameters_; }

private:
  step_peer() = default;

  [[nodiscard]] expected<std::string> read_line();

  pid_t process_ = -1;
  unique_fd to_, from_;
  std::string unread_;
  std::uint64_t parameters_ = 0;
};

} // namespace clade
