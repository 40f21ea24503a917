#include "tools/bench/bench_experiment.hpp"

#include "actors/node/process_status.hpp"
#include "tools/cli/interrupts.hpp"

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

expected<std::filesystem::path> write_experiment(const std::filesystem::path& runs,
                                                 const std::string& name,
                                                 const std::filesystem::path& space,
                                                 const std::string& rest) {
  std::error_code failure; // Then the file cannot be written either.
  std::filesystem::create_directories(runs, failure);
  const auto file = runs / (name + ".toml");
  if (!(std::ofstream(file) << "[experiment]\nname = \"" << name
                            << "\"\nseed = 1\nfitness = \"synthetic\"\n"
                               "[search_space]\nfile = \""
                            << std::filesystem::absolute(space).string() << "\"\n"
                            << rest << std::flush))
    return fail(error_kind::io, "cannot write " + file.string());
  return file;
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
