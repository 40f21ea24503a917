#include "tools/cli/run/shown_session.hpp"

#include "engine/report/base/json_parts.hpp"
#include "engine/report/text/json.hpp"
#include "engine/report/text/text.hpp"
#include "engine/report/view/front_view.hpp"
#include "engine/store/sqlite/run_folder.hpp"
#include "tools/cli/base/command.hpp"
#include "tools/cli/base/interrupts.hpp"
#include "tools/cli/base/live_view.hpp"
#include "tools/machine/standard_streams.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <utility>

namespace clade {

namespace {

constexpr int interrupted_status = 128 + SIGINT;

/// Returns the text for a run that is paused, with the champion if the best so far was
/// examined.
std::string text_of_pause(const session_params& session, const run_overview& run) {
  return fmt::format(
      "paused ({}) after {} candidates, all recorded; go on with: clade resume {}\n",
      run.reason, run.evaluated, session.folder.string());
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
  if (run.state != stored_state::finished)
    line = line_of_pause(session, run);
  if (champion)
    line.update(ordered_json::parse(to_json(*champion)));
  std::cout << text_of(line) << std::endl;
}

/// Returns what a person has to know of a run in which no candidate succeeded.
error fruitless(const session_params& session, const run_overview& run,
                const failure_ways& ways) {
  const auto folder = session.folder.string();
  return {error_kind::io,
          fmt::format(
              "no candidate succeeded{}{}", ways.all() == 0 ? "" : ": " + ways.text(),
              run.state == stored_state::finished
                  ? fmt::format("; each is told by: clade show {} --generation 0", folder)
                  : "; mend that, then: clade resume " + folder)};
}

/// Says how the run ended; an error where no candidate succeeded of those that were
/// evaluated.
expected<void> say(const session_params& session, bool json) {
  auto file = store::open_to_read(session.folder / store_file_name);
  if (!file)
    return tl::unexpected(file.error());
  auto run = file->overview();
  if (!run)
    return tl::unexpected(run.error());
  const bool finished = run->state == stored_state::finished;
  std::optional<champion_view> champion;
  if (finished || run->champion != 0) {
    auto found = view_champion(*file, &session.experiment, &session.problem);
    if (!found)
      return tl::unexpected(found.error());
    champion = std::move(*found);
  }
  if (json)
    say_json(session, *run, champion);
  else if (champion)
    std::cout << "\n" << to_text(*champion);
  if (champion && !json) {
    const auto front = view_front(*file);
    if (!front)
      return tl::unexpected(front.error());
    if (*front)
      std::cout << "\n" << to_text(**front);
  }
  if (!finished && !json)
    std::cout << text_of_pause(session, *run);
  std::cout << std::flush;
  if (run->best != 0 || run->evaluated == 0)
    return {};
  return failures_of(*file).and_then([&](const failure_ways& ways) -> expected<void> {
    return tl::unexpected(fruitless(session, *run, ways));
  });
}

/// Prints what a session does as it happens.
class session_printer final : public session_observer {
public:
  session_printer(const experiment& e, bool json)
      : json_(json),
        view_({.candidates = e.evolution.generations * e.evolution.population,
               .json = json,
               .terminal = ::isatty(STDOUT_FILENO) == 1,
               .wall_time = e.limits.wall_time}) {}

  void listens(const std::string& address, const std::filesystem::path& keys) override {
    if (json_)
      std::cout << text_of(
          {{"event", "listening"}, {"address", address}, {"keys", keys.string()}})
                << std::endl;
    else
      std::cout << "listens on " << address
                << "; a worker of another machine joins with a copy of its keys:\n"
                << "  clade worker --connect " << address << " --keys " << keys.string()
                << std::endl;
  }

  void publishes(const std::string& address) override {
    if (json_)
      std::cout << text_of({{"event", "publishing"}, {"address", address}}) << std::endl;
    else
      std::cout << "is watched on " << address
                << "; from another machine, with a copy of a viewer's keys:\n"
                << "  clade attach " << address << " --keys BUNDLE" << std::endl;
  }

  void progressed(const run_progress& progress, const slots_view& slots) override {
    view_.update(progress, slots);
  }

  void warns(const std::string& sentence) override {
    std::cerr << "clade: " << sentence << std::endl;
  }

  void clear() { view_.clear(); }

private:
  bool json_;
  live_view view_;
};

} // namespace

void say_run(const session_params& session, const shown_session& shown) {
  if (!shown.json) {
    if (!shown.note.empty())
      std::cout << "note: " << shown.note << std::endl;
    return;
  }
  const auto& e = session.experiment;
  const auto file =
      shown.file.empty() ? std::string() : std::filesystem::absolute(shown.file).string();
  std::cout << text_of(
      {{"event", "run"},
       {"name", e.name},
       {"folder", session.folder.string()},
       {"experiment", some(file)},
       {"seed", e.seed},
       {"strategy", e.evolution.strategy},
       {"evaluations", e.evolution.population * e.evolution.generations}})
            << std::endl;
  if (!shown.note.empty())
    std::cout << text_of({{"event", "note"}, {"text", shown.note}}) << std::endl;
}

int summarise(const session_params& session, const shown_session& shown) {
  if (auto said = say(session, shown.json); !said)
    return report(said.error());
  // A search does not stop because nobody can be told of it.
  const auto written = flush_output();
  if (written)
    return 0;
  return report({written.error().kind,
                 fmt::format("{}; the run is recorded: clade show {}",
                             written.error().message, session.folder.string())});
}

int show_session(session_params session, const shown_session& shown, store file,
                 run_state state) {
  session.interrupted = watch_interrupts();
  session.leaves = was_terminated;
  say_run(session, shown);
  session_printer printer(session.experiment, shown.json);
  const auto ended = run_session(session, printer, std::move(file), std::move(state));
  printer.clear();
  if (!ended)
    return report(ended.error()); // A run that is recorded can be resumed.
  const int said = summarise(session, shown);
  if (ended->too_short && said == 0)
    return report({error_kind::io,
                   "the run ended without a model: its time was used before a candidate "
                   "was trained; give it more, and go on with: clade resume "
                       + session.folder.string()});
  return ended->interrupted ? interrupted_status : said;
}

} // namespace clade
