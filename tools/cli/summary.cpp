#include "tools/cli/summary.hpp"

#include "engine/report/json.hpp"
#include "engine/report/json_parts.hpp"
#include "engine/report/text.hpp"
#include "engine/store/run_folder.hpp"
#include "tools/cli/command.hpp"
#include "tools/machine/standard_streams.hpp"

#include <iostream>

namespace clade {

namespace {

/// Of a run that is paused, with the champion where the best so far was examined.
std::string text_of_pause(const session_params& session, const run_overview& run) {
  return "paused (" + run.reason + ") after " + std::to_string(run.evaluated)
         + " candidates, all recorded; go on with: clade resume "
         + session.folder.string() + "\n";
}

ordered_json line_of_pause(const session_params& session, const run_overview& run) {
  return {{"event", "paused"},
          {"reason", run.reason},
          {"evaluated", run.evaluated},
          {"resume", "clade resume " + session.folder.string()}};
}

void say_json(const session_params& session, const run_overview& run,
              const std::optional<champion_view>& champion) {
  ordered_json line{{"event", "finished"}};
  if (run.state != "finished")
    line = line_of_pause(session, run);
  if (champion)
    line.update(ordered_json::parse(to_json(*champion)));
  std::cout << text_of(line) << std::endl;
}

expected<void> say(const session_params& session) {
  auto file = store::open_to_read(session.folder / store_file_name);
  if (!file)
    return tl::unexpected(file.error());
  auto run = file->overview();
  if (!run)
    return tl::unexpected(run.error());
  const bool finished = run->state == "finished";
  std::optional<champion_view> champion;
  if (finished || run->champion != 0) {
    auto found = view_champion(*file, &session.experiment.space, &session.problem);
    if (!found)
      return tl::unexpected(found.error());
    champion = std::move(*found);
  }
  if (session.json) {
    say_json(session, *run, champion);
    return {};
  }
  if (champion)
    std::cout << "\n" << to_text(*champion);
  if (!finished)
    std::cout << text_of_pause(session, *run);
  std::cout << std::flush;
  return {};
}

} // namespace

void say_run(const session_params& session) {
  if (!session.json) {
    if (!session.note.empty())
      std::cout << "note: " << session.note << std::endl;
    return;
  }
  const auto& e = session.experiment;
  const auto file = session.file.empty()
                        ? std::string()
                        : std::filesystem::absolute(session.file).string();
  std::cout << text_of(
      {{"event", "run"},
       {"name", e.name},
       {"folder", session.folder.string()},
       {"experiment", some(file)},
       {"seed", e.seed},
       {"strategy", e.evolution.strategy},
       {"evaluations", e.evolution.population * e.evolution.generations}})
            << std::endl;
  if (!session.note.empty())
    std::cout << text_of({{"event", "note"}, {"text", session.note}}) << std::endl;
}

int summarise(const session_params& session, const session_result& result) {
  if (result.failed)
    return result.status; // The error is printed; what is recorded can be resumed.
  if (auto said = say(session); !said)
    return report(said.error());
  // A search does not stop because nobody can be told of it.
  const auto written = flush_output();
  if (written)
    return result.status;
  const int status =
      report({written.error().kind, written.error().message
                                        + "; the run is recorded: clade show "
                                        + session.folder.string()});
  return result.status == 0 ? status : result.status;
}

} // namespace clade
