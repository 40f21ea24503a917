#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// Long options that a program takes: "--epochs".
using option_names = std::set<std::string, std::less<>>;

/// Returns the long options in what a program answers to --help; of a text of more than
/// 256 KiB those in its beginning.
[[nodiscard]] option_names options_in(std::string_view help);

/// Whether the text of a script has a word by which programs read their arguments
/// (argparse, click, argv, "$@"). One without is not asked for its options: it would not
/// answer, but begin to work.
[[nodiscard]] bool reads_arguments(std::string_view text);

/// The options that a script says it has.
struct answered_options {
  option_names names;
  std::string trouble; ///< Why nobody knows them: "did not answer --help within 20 s".
};

/// Starts the script with --help in that folder and reads its answer, unless its text says
/// that it reads no arguments. Blocks for at most 20 s.
[[nodiscard]] answered_options ask_for_options(const std::vector<std::string>& command,
                                               const std::filesystem::path& script,
                                               const std::filesystem::path& directory);

/// The arguments that all scripts are to be given, as far as they take it.
struct wanted_arguments {
  std::optional<std::uint32_t> epochs{}, folds{}, batch{};
  std::vector<std::string> extra{}; ///< Given to every script, as it stands.

  [[nodiscard]] bool asks() const { return epochs || folds || batch; }
};

struct given_arguments {
  std::vector<std::string> words;     ///< "--num-epochs", "5", "--early-stopping".
  std::vector<std::string> not_taken; ///< "--folds"
};

/// Takes the spelling that a script has of each: --epochs, --num-epochs, --n_epochs ...
[[nodiscard]] given_arguments arguments_for(const option_names& taken,
                                            const wanted_arguments& wanted);

} // namespace clade
