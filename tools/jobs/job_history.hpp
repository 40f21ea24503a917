#pragma once

#include "genome/base/error.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace clade {

/// How long jobs took in earlier runs.
class job_history {
public:
  /// Reads the latest runs of jobs below that folder; of runs that cannot be read nothing
  /// is known.
  [[nodiscard]] static job_history read(const std::filesystem::path& runs);

  /// Returns what this command took when it was run last; else what its script took with
  /// other arguments.
  [[nodiscard]] std::optional<double> seconds(const std::vector<std::string>& command,
                                              const std::filesystem::path& script) const;

  void add(std::vector<std::string> command, double seconds) {
    past_.push_back({std::move(command), seconds});
  }

private:
  struct past_job {
    std::vector<std::string> command;
    double seconds = 0;
  };
  std::vector<past_job> past_; ///< The latest first.
};

} // namespace clade
