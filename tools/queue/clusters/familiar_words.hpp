#pragma once

#include "genome/base/error.hpp"

#include <string>
#include <vector>

namespace clade {

struct our_words {
  std::vector<std::string> words{};
  /// The words among them that have no equal here and are not heeded; else empty.
  std::string note{};
};

/// Returns a command line without its program, where it begins with a word of kubectl or
/// SLURM for what a queue does, as ours; any other as it is: "squeue" is "get", "describe
/// job/3" is "describe 3", "sbatch -c 2 train.sh" is "submit --slots=2 -- train.sh", with the
/// #SBATCH lines of the script. `invalid_input`: what must not be passed over has no equal.
[[nodiscard]] expected<our_words> in_our_words(std::vector<std::string> words);

} // namespace clade
