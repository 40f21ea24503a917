#pragma once

#include "genome/base/error.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace clade {

/// A program of somebody's that is run as one job.
struct script {
  std::string name;           ///< "train_a", "vision/train_b"; of no other.
  std::filesystem::path path; ///< Absolute.

  friend bool operator==(const script&, const script&) = default;
};

struct script_search {
  /// Folders that are searched with those below them, and files that are scripts.
  std::vector<std::filesystem::path> places{"."};
  /// Patterns as in a shell: of a file's name, or with a "/" of its path below the
  /// folder.
  std::vector<std::string> patterns{"train*.py", "train*.sh"};
  /// Names of scripts, or patterns of names. An empty `only` means all.
  std::vector<std::string> only{}, exclude{};
};

/// Returns the scripts by name. A script is named after its path below its folder, without
/// what comes after the last dot, and with more of the path where two would share a name.
/// Hidden folders, virtual environments, __pycache__ and node_modules are passed over, and
/// links to folders are not followed. An error says which place, or which name of `only`
/// or `exclude`, is not there.
[[nodiscard]] expected<std::vector<script>> find_scripts(const script_search& search);

/// Returns the words that start a script: itself, where it may be executed; else what its
/// first line names (#!/bin/sh), or what its ending says (.py: python3, .sh: sh).
[[nodiscard]] expected<std::vector<std::string>>
words_to_start(const std::filesystem::path& script);

} // namespace clade
