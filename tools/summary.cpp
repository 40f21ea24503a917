#include "tools/summary.hpp"

#include "engine/report/json.hpp"
#include "engine/report/text.hpp"
#include "engine/store/run_folder.hpp"
#include "tools/command.hpp"

#include <nlohmann/json.hpp>

#include <iostream>

namespace clade {

namespace {

void say_how_to_go_on(const session_params& session, const run_overview& run) {
  const auto command = "clade resume " + session.folder.string();
  if (session.json)
    std::cout << nlohmann::json{{"event", "paused"},
                                {"reason", run.reason},
                                {"evaluated", run.evaluated},
                                {"resume", command}}
                     .dump()
              << std::endl;
  else
    std::cout << "paused (" << run.reason << ") after " << run.evaluated
              << " candidates, all recorded; go on with: " << command << std::endl;
}

expected<void> say(const session_params& session) {
  auto file = store::open_to_read(session.folder / store_file_name);
  if (!file)
    return tl::unexpected(file.error());
  auto run = file->overview();
  if (!run)
    return tl::unexpected(run.error());
  if (run->state != "finished") {
    say_how_to_go_on(session, *run);
    return {};
  }
  return view_champion(*file, &session.experiment.space, &session.problem)
      .map([&](const champion_view& c) {
        std::cout << (session.json ? to_json(c) + "\n" : "\n" + to_text(c)) << std::flush;
      });
}

} // namespace

int summarise(const session_params& session, const session_result& result) {
  if (result.failed)
    return result.status; // The error is printed; what is recorded can be resumed.
  if (auto said = say(session); !said)
    return report(said.error());
  return result.status;
}

} // namespace clade
