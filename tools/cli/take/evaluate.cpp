// A sampler of the user's own asks, line by line; what it may ask and what it is answered
// is in tools/serve/evaluation_server.hpp.
#include "tools/cli/base/command.hpp"
#include "tools/machine/standard_streams.hpp"
#include "tools/run/trained_here.hpp"
#include "tools/serve/evaluation_server.hpp"

#include <iostream>
#include <memory>

namespace clade {

namespace {

/// The next line, at most so long that the desk can say it is too long; the rest of such
/// a line is passed over.
bool read_line(std::istream& in, std::string& line) {
  line.clear();
  for (int c = in.get(); c != std::istream::traits_type::eof(); c = in.get()) {
    if (c == '\n')
      return true;
    if (line.size() <= evaluation_server::max_line_bytes)
      line.push_back(static_cast<char>(c));
  }
  return !line.empty();
}

int serve(const trained_here_params& params) {
  auto here = train_here(params);
  if (!here)
    return report(here.error());
  const auto& e = here->checked.experiment;
  evaluation_server desk({.space = e.space,
                          .problem = here->checked.problem,
                          .goal = e.objective,
                          .epochs = here->work->budget().epochs},
                         here->by);
  for (std::string line; read_line(std::cin, line);) {
    std::cout << desk.answer(line) << "\n";
    if (const auto written = flush_output(); !written)
      return report(written.error());
  }
  return 0;
}

} // namespace

void add_evaluate(CLI::App& app, command& chosen) {
  auto options = std::make_shared<trained_here_params>();
  auto* sub = app.add_subcommand("evaluate",
                                 "Evaluate genomes for your own sampler (JSON lines)");
  sub->add_option("file", options->file,
                  "Experiment file, such as experiments/digits.toml")
      ->required();
  sub->add_option("--slots", options->slots,
                  "Instead of slots.local; only the first slot is used");
  sub->add_option("--set", options->overrides,
                  "key=value instead of the file's, as for clade run; repeatable")
      ->take_all();
  sub->footer(
      "Reads standard input until it ends, and answers each line with one:\n"
      "  {\"describe\": true}       the search space, the objective and the epochs\n"
      "  {\"layers\": [{\"op\": \"conv\", \"settings\": {\"filters\": 16, ...}}, ...],\n"
      "   \"hyperparameters\": {\"learning_rate\": 0.01, ...}, \"epochs\": 5}\n"
      "                           trained and validated: its id, outcome, metrics and\n"
      "                           seconds. Layers follow each other, or name what "
      "enters\n"
      "                           them: \"inputs\": [0, 1], 0 being the input\n"
      "  {\"test\": 7}              evaluation 7 on the test data\n"
      "A line that is wrong, or blank, is answered by {\"error\": \"...\"}. Nothing is "
      "stored, and "
      "what\n"
      "the space or its limits do not allow is not trained. "
      "experiments/peers/optuna_training.py is "
      "an\n"
      "example.");
  sub->callback([&chosen, options] { chosen = [options] { return serve(*options); }; });
}

} // namespace clade
