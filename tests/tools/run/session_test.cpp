// Runs as a library: the head and its actors are in this process, the worker is the
// program that was built, or a script in its place.

#include "engine/store/sqlite/run_folder.hpp"
#include "tests/support/scratch.hpp"
#include "tools/run/forked_run.hpp"
#include "tools/run/new_run.hpp"
#include "tools/run/resumed_run.hpp"
#include "tools/run/session.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <map>
#include <numeric>
#include <optional>

using namespace clade;

namespace {

namespace fs = std::filesystem;

const fs::path program = CLADE_PROGRAM;

constexpr std::size_t population = 6, generations = 3;

/// A search that takes no time, in a folder of its own.
class made_run {
public:
  explicit made_run(std::vector<std::string> overrides = {})
      : made_run("[experiment]\nname = \"toy\"\nseed = 7\nfitness = \"synthetic\"\n"
                 "[data]\nshape = [1, 8, 8]\nclasses = 10\n[search_space]\nfile = "
                 "\"" CLADE_SOURCE "/tests/integration/small_space.toml\"\n"
                 "[evolution]\nstrategy = \"generational\"\npopulation = "
                     + std::to_string(population)
                     + "\ngenerations = " + std::to_string(generations)
                     + "\n[synthetic]\nepochs = 2\n[slots]\nlocal = \"cpu:1\"\n",
                 std::move(overrides)) {}

  made_run(const std::string& experiment, std::vector<std::string> overrides) {
    write_text(scratch_.path() / "toy.toml", experiment);
    fresh_ = make_run({.file = scratch_.path() / "toy.toml",
                       .overrides = std::move(overrides),
                       .runs = scratch_.path() / "runs"})
                 .value();
    folder_ = fresh_->folder;
  }

  [[nodiscard]] const fs::path& folder() const { return folder_; }

  /// A script in the place of the program.
  [[nodiscard]] fs::path script(const std::string& text) const {
    const auto file = scratch_.path() / "script";
    write_text(file, "#!/bin/sh\n" + text + "\n");
    fs::permissions(file, fs::perms::owner_all);
    return file;
  }

  expected<session_result> run(session_observer& observer, const fs::path& worker,
                               std::function<bool()> interrupted = {}) {
    return run_session({.experiment = fresh_->experiment,
                        .problem = fresh_->problem,
                        .folder = folder_,
                        .program = worker,
                        .interrupted = std::move(interrupted)},
                       observer, std::move(fresh_->file), std::move(fresh_->state));
  }

private:
  scratch_folder scratch_;
  std::optional<new_run> fresh_;
  fs::path folder_;
};

/// Keeps what it is told.
struct witness : session_observer {
  void listens(const std::string& address, const fs::path& keys) override {
    heard_of = address;
    let_in_by = keys;
  }
  void progressed(const run_progress& progress, const slots_view& /*slots*/) override {
    for (const auto& g : progress.generations)
      ++told[g.generation];
    evaluated = progress.evaluated;
  }

  std::string heard_of;
  fs::path let_in_by;
  std::map<std::uint64_t, int> told; ///< How often of each generation.
  std::uint64_t evaluated = 0;
};

folded_run fold(const fs::path& folder) {
  const auto file = store::open_to_read(folder / store_file_name);
  return fold_run(file.value(), folder.string()).value();
}

expected<session_result> go_on(const fs::path& folder, session_observer& observer) {
  auto run = open_to_resume({.folder = folder, .slots = "", .listen = ""});
  REQUIRE(run);
  REQUIRE(record_resumed(*run));
  return run_session({.experiment = run->checked.experiment,
                      .problem = run->checked.problem,
                      .folder = folder,
                      .program = program},
                     observer, std::move(run->file), std::move(run->state));
}

} // namespace

TEST_CASE("session: a run goes from an experiment to its champion", "[session]") {
  made_run run({"slots.listen=\"127.0.0.1:0\""});
  witness w;
  const auto ended = run.run(w, program);
  REQUIRE(ended);
  CHECK_FALSE(ended->interrupted);
  CHECK(ended->evaluated == population * generations);
  CHECK(ended->slots == 1);
  CHECK(w.evaluated == population * generations);
  CHECK(w.told == std::map<std::uint64_t, int>{{0, 1}, {1, 1}, {2, 1}});
  CHECK(w.heard_of.starts_with("127.0.0.1:"));
  CHECK(w.let_in_by == run.folder() / "keys" / "worker");
  const auto folded = fold(run.folder());
  CHECK(folded.state.finished);
  CHECK(folded.state.generations.size() == generations);
}

TEST_CASE("session: what is interrupted goes on and ends as if it had not been",
          "[session]") {
  made_run whole, parted;
  witness of_whole, of_parted;
  REQUIRE(whole.run(of_whole, program));
  const auto ended =
      parted.run(of_parted, program, [&] { return of_parted.evaluated > 0; });
  REQUIRE(ended);
  // It may have ended before anybody looked.
  CHECK(ended->interrupted != fold(parted.folder()).state.finished.has_value());
  if (ended->interrupted)
    REQUIRE(go_on(parted.folder(), of_parted));
  CHECK(fold(parted.folder()).state.finished);
  CHECK(fold(parted.folder()).state.digest == fold(whole.folder()).state.digest);
}

TEST_CASE("session: a search without generations is the same on any number of slots",
          "[session]") {
  const std::string steady = "evolution.strategy=\"regularized\"";
  const auto run_of = [](made_run& run) {
    witness w;
    REQUIRE(run.run(w, program));
    return fold(run.folder());
  };
  made_run two({steady, "slots.local=\"cpu:2\""});
  const auto taken = run_of(two);
  CHECK(taken.experiment.evolution.in_flight == usual_in_flight(population));
  made_run one({steady, "slots.local=\"cpu:1\""});
  CHECK(run_of(one).state.digest == taken.state.digest);
  made_run resolved(to_toml(taken.experiment), {"slots.local=\"cpu:1\""});
  CHECK(run_of(resolved).state.digest == taken.state.digest);
  made_run other({steady, "evolution.in_flight=2"});
  CHECK(run_of(other).state.digest != taken.state.digest);
}

TEST_CASE("session: a worker that is refused ends it with a sentence", "[session]") {
  made_run run;
  witness w;
  const auto ended = run.run(w, run.script("echo no such slot; exit 2"));
  REQUIRE_FALSE(ended);
  const auto log = run.folder() / "worker.log";
  CHECK(ended.error().message
        == "the worker process ended with status 2; " + log.string() + " says why");
  CHECK(read_text(log) == "no such slot\n");
  CHECK_FALSE(fold(run.folder()).state.finished);
  witness later;
  REQUIRE(go_on(run.folder(), later));
  CHECK(fold(run.folder()).state.finished);
}

TEST_CASE("session: it ends when its wall time is used", "[session]") {
  made_run run({"slots.local=\"none\"", "limits.wall_time=\"1ms\""});
  witness w;
  const auto ended = run.run(w, run.script("exit 2"));
  REQUIRE(ended);
  CHECK_FALSE(ended->interrupted);
  CHECK(ended->evaluated == 0);
  CHECK_FALSE(fold(run.folder()).state.finished);
}

TEST_CASE("session: a fork goes on from where it was made", "[session]") {
  made_run run;
  witness w;
  REQUIRE(run.run(w, program));
  const opened_run stored{store::open_to_read(run.folder() / store_file_name).value(),
                          run.folder() / store_file_name};
  const auto before = fs::current_path();
  fs::current_path(run.folder().parent_path().parent_path());
  const auto fork = fork_run(
      stored, {.generation = 1, .changes = {"evolution.generations=2"}, .name = "other"});
  fs::current_path(before);
  REQUIRE(fork);
  CHECK(fork->without_weights == 0);
  CHECK(fold(fork->folder).state.generations.size() == 1);
  witness of_fork;
  const auto ended = go_on(fork->folder, of_fork);
  REQUIRE(ended);
  CHECK(ended->evaluated == population);
  CHECK(fold(fork->folder).state.finished);
}
