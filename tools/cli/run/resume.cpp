#include "engine/store/sqlite/run_folder.hpp"
#include "tools/cli/base/command.hpp"
#include "tools/cli/run/shown_session.hpp"
#include "tools/machine/process_limits.hpp"
#include "tools/run/publishing.hpp"
#include "tools/run/resumed_run.hpp"

#include <iostream>
#include <memory>

namespace clade {

namespace {

struct resume_options {
  std::string run;
  std::string slots;
  sharing_options sharing;
  bool json = false;
};

expected<int> go_on(const std::filesystem::path& folder, const resume_options& options) {
  if (auto enough = check_process_limits(); !enough)
    return tl::unexpected(std::move(enough).error());
  const auto lease = lease_of(options.sharing);
  if (!lease)
    return tl::unexpected(lease.error());
  auto run = open_to_resume(
      {.folder = folder, .slots = options.slots, .listen = options.sharing.listen});
  if (!run)
    return tl::unexpected(std::move(run).error());
  const auto publish = publishing_at(options.sharing.publish, options.sharing.keys);
  if (!publish)
    return tl::unexpected(publish.error());
  const session_params session{.experiment = std::move(run->checked.experiment),
                               .problem = std::move(run->checked.problem),
                               .folder = folder,
                               .authority = options.sharing.keys,
                               .publish = *publish,
                               .lease = *lease};
  const shown_session shown{.note = std::move(run->checked.note), .json = options.json};
  if (run->state.finished) {
    say_run(session, shown);
    return summarise(session, shown);
  }
  if (auto recorded = record_resumed(*run); !recorded)
    return tl::unexpected(std::move(recorded).error());
  if (!options.json)
    std::cout << "resumes " << folder.string() << std::endl;
  return show_session(session, shown, std::move(run->file), std::move(run->state));
}

int resume(const resume_options& options) {
  auto found = find_run(options.run);
  if (!found)
    return report(found.error());
  const auto folder = std::filesystem::absolute(*found);
  const auto status = go_on(folder, options);
  return status ? *status : report(status.error());
}

} // namespace

void add_resume(CLI::App& app, command& chosen) {
  auto options = std::make_shared<resume_options>();
  auto* sub = app.add_subcommand("resume", "Continue a run that was stopped or killed");
  sub->add_option("run", options->run,
                  "The run: its folder, or its name for the latest one")
      ->required();
  sub->add_option("--slots", options->slots,
                  "Other slots than it had: auto, none, a number of CPU slots, or GPUs: "
                  "cuda, cuda:0*2");
  add_sharing(*sub, options->sharing);
  sub->add_flag("--json", options->json, "One JSON object a line, for programs");
  sub->footer(
      "A generational search ends with the same records as if it had not been stopped.");
  sub->callback([&chosen, options] { chosen = [options] { return resume(*options); }; });
}

} // namespace clade
