#include "engine/report/view/explain.hpp"

#include "engine/evaluation/command/command.hpp"
#include "engine/report/base/json_parts.hpp"
#include "engine/report/text/text.hpp"
#include "engine/store/sqlite/run_folder.hpp"
#include "tools/cli/base/command.hpp"
#include "tools/run/stored_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <utility>
#include <vector>

namespace clade {

namespace {

struct explain_options {
  std::string run;
  std::string id;
  bool json = false;
};

constexpr const char* model_subject = "model";

/// "231", "#231" or "champion", which is 0.
expected<candidate_id> parse_subject(std::string text) {
  if (text == "champion")
    return candidate_id{0};
  return parse_candidate(std::move(text), "\"",
                         "\" is no candidate: write its number, champion or model");
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

/// The candidates of a model that was put together, one of each genome, those of the
/// largest shares first.
std::vector<candidate_id> genomes_of(const model_composed& composed) {
  std::vector<std::pair<double, candidate_id>> shares;
  const auto add = [&](const auto& all) {
    for (const auto& m : all)
      if (m.id != 0 && m.share > 0)
        shares.emplace_back(-m.share, m.id);
  };
  if (composed.models) // The folds of a genome are one of these.
    add(*composed.models);
  else
    add(composed.members);
  std::ranges::sort(shares);
  std::vector<candidate_id> ids;
  for (const auto& [share, id] : shares)
    ids.push_back(id);
  return ids;
}

/// Tells of the model that predictions are made by, and where its networks come from.
expected<std::string> explain_model(const opened_run& opened, const run_view& run,
                                    bool as_json) {
  auto composed = opened.s.find_final_model();
  const bool is_final = composed && *composed;
  if (composed && !is_final)
    composed = opened.s.find_interim_model();
  if (!composed)
    return tl::unexpected(composed.error());
  if (!*composed || (*composed)->members.empty())
    return fail(error_kind::not_found,
                fmt::format("{}: no model was put together; say champion, or a "
                            "candidate's number",
                            opened.file.string()));
  auto text =
      fmt::format("{} of {}\n{}", is_final ? "the final model" : "the model so far",
                  run.name, members_text(**composed));
  nlohmann::ordered_json json{{"model", final_model_json(**composed)},
                              {"interim", !is_final},
                              {"candidates", nlohmann::ordered_json::array()}};
  for (const auto id : genomes_of(**composed)) {
    const auto e = explain(opened.s, run, id);
    if (!e)
      return tl::unexpected(e.error());
    text += "\n" + to_text(*e);
    json["candidates"].push_back(nlohmann::ordered_json::parse(to_json(*e)));
  }
  return as_json ? text_of(json) + "\n" : text;
}

expected<std::string> explain(const explain_options& options) {
  const auto id =
      options.id == model_subject ? candidate_id{0} : parse_subject(options.id);
  if (!id)
    return tl::unexpected(id.error());
  const auto opened = open_stored_run(options.run);
  if (!opened)
    return tl::unexpected(opened.error());
  const auto run = view_run(opened->s, opened->file);
  if (!run)
    return tl::unexpected(run.error());
  if (options.id == model_subject)
    return explain_model(*opened, *run, options.json);
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
  sub->add_option("id", options->id, "The candidate's number, champion, or model")
      ->required()
      ->option_text("ID");
  sub->add_flag("--json", options->json, "One JSON object, for programs");
  sub->footer(
      "Its line of ancestors with what each change gained or lost in fitness against "
      "the\n"
      "fitter parent, and for each gene and hyperparameter the parent that it came\n"
      "through, the ancestor that had it first, and the one since which it is as it is.\n"
      "Of the model that predictions are made by: its members with their shares, and\n"
      "that of each of its networks. While the run is going on, champion is the best so\n"
      "far. Examples:\n"
      "  clade explain digits model\n"
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
