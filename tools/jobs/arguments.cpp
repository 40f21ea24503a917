#include "tools/jobs/arguments.hpp"

#include "engine/evaluation/process/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <utility>

namespace clade {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_help = 256 << 10, most_script = 1 << 20;
constexpr auto longest_answer = 20s;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_of_option(char c) {
  return is_letter(c) || c == '-' || c == '_' || c == '.';
}

struct argument_spellings {
  const char* option; ///< The option of clade jobs.
  std::vector<std::string_view> names;
};

const std::array<argument_spellings, 3>& spellings() {
  static const std::array<argument_spellings, 3> all{
      {{"--epochs",
        {"--epochs", "--num-epochs", "--num_epochs", "--n-epochs", "--n_epochs",
         "--max-epochs", "--max_epochs", "--num-train-epochs", "--num_train_epochs"}},
       {"--folds",
        {"--folds", "--n-folds", "--n_folds", "--num-folds", "--num_folds", "--k-folds",
         "--k_folds", "--kfolds", "--n-splits", "--n_splits"}},
       {"--batch",
        {"--batch-size", "--batch_size", "--batchsize", "--batch", "--train-batch-size",
         "--train_batch_size", "--bs"}}}};
  return all;
}

} // namespace

// An option begins where no word goes on: "[--epochs EPOCHS]", "-e, --epochs=N".
option_names options_in(std::string_view help) {
  help = help.substr(0, most_help);
  option_names names;
  for (std::size_t at = help.find("--"); at != std::string_view::npos;
       at = help.find("--", at)) {
    const bool begins = at == 0 || !is_of_option(help[at - 1]);
    auto end = at + 2;
    while (end < help.size() && is_of_option(help[end]))
      ++end;
    auto last = end;
    while (last > at && !is_letter(help[last - 1])) // "--epochs." ends a sentence.
      --last;
    if (begins && last > at + 2 && is_letter(help[at + 2]))
      names.emplace(help.substr(at, last - at));
    at = end;
  }
  return names;
}

bool reads_arguments(std::string_view text) {
  constexpr std::array<std::string_view, 19> words{"argparse",    "ArgumentParser",
                                                   "ArgParser",   "optparse",
                                                   "click",       "typer",
                                                   "import fire", "absl",
                                                   "docopt",      "simple_parsing",
                                                   "tyro",        "hydra",
                                                   "getopt",      "argv",
                                                   "--help",      "$1",
                                                   "$@",          "$*",
                                                   "commandArgs"};
  return std::ranges::any_of(words, [&](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

answered_options ask_for_options(const std::vector<std::string>& command,
                                 const std::filesystem::path& script,
                                 const std::filesystem::path& directory) {
  std::ifstream in(script, std::ios::binary);
  std::string text(most_script, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (!reads_arguments(text))
    return {.trouble = "reads no arguments"};
  auto asked = command;
  asked.emplace_back("--help");
  const auto answer = run_program(
      {.command = std::move(asked), .directory = directory, .time = longest_answer});
  if (!answer)
    return {.trouble = answer.error().message};
  if (answer->end != program_end::by_itself)
    return {.trouble =
                fmt::format("did not answer --help within {} s", longest_answer.count())};
  auto names = options_in(fmt::format("{}\n{}", answer->output, answer->errors));
  if (names.empty())
    return {.trouble = "names no options when asked by --help"};
  return {.names = std::move(names)};
}

given_arguments arguments_for(const option_names& taken, const wanted_arguments& wanted) {
  given_arguments given;
  const std::array values{wanted.epochs, wanted.folds, wanted.batch};
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i])
      continue;
    const auto& [option, names] = spellings()[i];
    const auto name =
        std::ranges::find_if(names, [&](auto n) { return taken.contains(n); });
    if (name == names.end())
      given.not_taken.emplace_back(option);
    else
      given.words.insert(given.words.end(),
                         {std::string(*name), std::to_string(*values[i])});
  }
  given.words.insert(given.words.end(), wanted.extra.begin(), wanted.extra.end());
  return given;
}

} // namespace clade
