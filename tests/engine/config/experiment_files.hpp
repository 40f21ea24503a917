#pragma once

#include "engine/config/experiment/experiment.hpp"
#include "tests/support/scratch.hpp"

#include <string>

namespace clade {

/// A folder with a search space of vectors, one of images, and an experiment that is
/// valid and short; a test changes only what it is about.
class experiment_files {
public:
  experiment_files();

  /// The experiment with `text` put in place of its line that begins with `line`.
  [[nodiscard]] std::string with(const std::string& line, const std::string& text) const;

  /// Writes `text` as the experiment's file and loads it.
  [[nodiscard]] expected<experiment>
  load(const std::string& text, const std::vector<std::string>& overrides = {}) const;
  [[nodiscard]] experiment loaded(const std::string& text,
                                  const std::vector<std::string>& overrides = {}) const;

  /// Returns the fault that `load` names, the folder left out; "no error" if nothing is.
  [[nodiscard]] std::string
  error_of(const std::string& text, const std::vector<std::string>& overrides = {}) const;

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }

  static const std::string valid;

private:
  scratch_folder folder_;
};

} // namespace clade
