#include "engine/report/view/explain.hpp"

#include "engine/evaluation/command/command.hpp"
#include "engine/store/sqlite/run_folder.hpp"
#include "tools/cli/base/command.hpp"
#include "tools/run/stored_run.hpp"

#include <fmt/format.h>

#include <iostream>
#include <memory>

namespace clade {

namespace {

struct explain_options {
  std::string run;
  std::string id;
  bool json = false;
};

/// "231", "#231" or "champion", which is 0.
expected<candidate_id> parse_subject(std::string text) {
  if (text == "champion")
    return candidate_id{0};
  return parse_candidate(std::move(text), "\"",
                         "\" is no candidate: write its number, or champion");
}

/// Returns the file to which the program that scored the candidate has written, if it ran
/// on this machine.
std::string log_text(const std::filesystem::path& store, candidate_id id) {
  const auto file = log_file(store.parent_path() / program_logs_name, id);
  std::error_code unknown;
  return std::filesystem::exists(file, unknown)
             ? fmt::format("\nWhat its program wrote: {}\n", file.string())
             : "";
}

expected<std::string> explain(const explain_options& options) {
  const auto id = parse_subject(options.id);
  if (!id)
    return tl::unexpected(id.error());
  const auto opened = open_stored_run(options.run);
  if (!opened)
    return tl::unexpected(opened.error());
  const auto run = view_run(opened->s, opened->file);
  if (!run)
    return tl::unexpected(run.error());
  return explain(opened->s, *run, *id).map([&](const explanation& e) {
    return options.json ? to_json(e) + "\n"
                        : to_text(e) + log_text(opened->file, e.subject.id);
  });
}

} // namespace

void add_explain(CLI::App& app, command& chosen) {
  auto options = std::make_shared<explain_options>();
  auto* sub =
      app.add_subcommand("explain", "Explain where a network comes from, gene by gene");
  sub->add_option("run", options->run,
                  "The run: its folder, its name (for the latest of it) or the beginning "
                  "of\nthat, or a store's file")
      ->required()
      ->option_text("RUN");
  sub->add_option("id", options->id, "The candidate's number, or champion")
      ->required()
      ->option_text("ID");
  sub->add_flag("--json", options->json, "One JSON object, for programs");
  sub->footer(
      "Its line of ancestors with what each change gained or lost in fitness against "
      "the\n"
      "fitter parent, and for each gene and hyperparameter the parent that it came\n"
      "through, the ancestor that had it first, and the one since which it is as it is.\n"
      "While the run is going on, champion is the best so far. Examples:\n"
      "  clade explain digits champion\n"
      "  clade explain digits 231 --json");
  sub->callback([&chosen, options] {
    chosen = [options] {
      const auto text = explain(*options);
      if (!text)
        return report(text.error());
      std::cout << *text << std::flush;
      return 0;
    };
  });
}

} // namespace clade
