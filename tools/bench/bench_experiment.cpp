#include "tools/bench/bench_experiment.hpp"

#include "actors/node/process_status.hpp"
#include "tools/cli/base/interrupts.hpp"

#include <fstream>
#include <utility>

namespace clade {

namespace {

class progress_observer final : public session_observer {
public:
  explicit progress_observer(std::function<void(const run_progress&)> observe)
      : observe_(std::move(observe)) {}

  void progressed(const run_progress& progress, const slots_view& /*slots*/) override {
    if (observe_)
      observe_(progress);
  }

private:
  std::function<void(const run_progress&)> observe_;
};

} // namespace

expected<new_run> make_synthetic_run(const synthetic_run_params& params) {
  std::error_code failure; // Then the file cannot be written either.
  std::filesystem::create_directories(params.runs, failure);
  const auto file = params.runs / (params.name + ".toml");
  if (!(std::ofstream(file) << "[experiment]\nname = \"" << params.name
                            << "\"\nseed = 1\nfitness = \"" << params.fitness
                            << "\"\n[search_space]\nfile = \""
                            << std::filesystem::absolute(params.space).string() << "\"\n"
                            << params.rest << std::flush))
    return fail(error_kind::io, "cannot write " + file.string());
  auto made =
      make_run({.file = file, .overrides = params.overrides, .runs = params.runs});
  std::filesystem::remove(file, failure);
  return made;
}

expected<session_result> run_to_end(new_run fresh,
                                    std::function<void(const run_progress&)> observe) {
  progress_observer observer(std::move(observe));
  auto ended = run_session({.experiment = std::move(fresh.experiment),
                            .problem = std::move(fresh.problem),
                            .folder = std::move(fresh.folder),
                            .interrupted = watch_interrupts()},
                           observer, std::move(fresh.file), std::move(fresh.state));
  if (ended && ended->interrupted)
    return fail(error_kind::conflict, "interrupted before the run's end");
  return ended;
}

double resident_megabytes() {
  return static_cast<double>(status_bytes("VmRSS")) / (1 << 20);
}

} // namespace clade
