#include "tools/queue/processes/ranks.hpp"

#include "tools/cli/base/command.hpp"

#include <memory>

namespace clade {

namespace {

struct ranks_options {
  std::vector<std::string> shares, words;
};

int start_ranks(const ranks_options& options) {
  std::vector<rank_process> ranks;
  for (const auto& text : options.shares) {
    auto one = read_rank(text);
    if (!one)
      return report(one.error());
    ranks.push_back(std::move(*one));
  }
  const auto code = run_ranks(options.words, ranks);
  return code ? *code : report(code.error());
}

} // namespace

void add_ranks(CLI::App& app, command& chosen) {
  auto options = std::make_shared<ranks_options>();
  auto* sub = app.add_subcommand("ranks", "The processes of an entry with --ranks");
  sub->group(""); // Not listed: a queue starts it.
  sub->add_option("--of", options->shares, "The environment and cores of one, as JSON")
      ->allow_extra_args(false)
      ->required();
  sub->add_option("words", options->words, "Behind --: the program")->required();
  sub->callback(
      [&chosen, options] { chosen = [options] { return start_ranks(*options); }; });
}

} // namespace clade
