#include "engine/config/fitness_source.hpp"
#include "engine/store/run_folder.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/summary.hpp"
#include "tools/machine/process_limits.hpp"
#include "tools/run/new_run.hpp"
#include "tools/run/run_files.hpp"
#include "tools/run/session.hpp"
#include "tools/run/stored_run.hpp"

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

/// The resolved experiment, that of the latest fork, and the fold of all records.
struct folded {
  clade::experiment experiment;
  genome_hash search;
  run_state state;
};

expected<folded> fold(const store& file, const std::string& origin) {
  folded result;
  auto folded_all =
      file.for_each([&](std::uint64_t, std::int64_t, const record& r) -> expected<void> {
        if (const auto* started = std::get_if<run_started>(&r)) {
          auto resolved = parse_resolved(started->experiment, origin);
          if (!resolved)
            return tl::unexpected(resolved.error());
          auto state = make_run_state(rules_of(*resolved));
          if (!state)
            return tl::unexpected(state.error());
          result = {.experiment = std::move(*resolved),
                    .search = started->search,
                    .state = std::move(*state)};
        }
        auto applied = apply(result.state, r);
        if (const auto* forked = std::get_if<run_forked>(&r); forked && applied) {
          auto resolved = parse_resolved(forked->experiment, origin);
          if (!resolved)
            return tl::unexpected(resolved.error());
          result.experiment = std::move(*resolved);
          result.search = forked->search;
        }
        return applied;
      });
  if (!folded_all)
    return tl::unexpected(folded_all.error());
  return result;
}

expected<int> go_on(const std::filesystem::path& folder, const resume_options& options) {
  if (auto own = check_process_limits().and_then([&] { return check_own_files(folder); });
      !own)
    return tl::unexpected(own.error());
  auto file = store::open(folder / "run.db");
  if (!file)
    return tl::unexpected(file.error());
  if (file->size() == 0)
    return tl::unexpected(nothing_recorded(folder / store_file_name));
  auto past = fold(*file, folder.string());
  if (!past)
    return tl::unexpected(past.error());
  if (!options.slots.empty())
    past->experiment.slots.local = options.slots;
  if (!options.sharing.listen.empty())
    past->experiment.slots.listen = options.sharing.listen;
  const auto lease = lease_of(options.sharing);
  if (!lease)
    return tl::unexpected(lease.error());
  const auto publish = publishing_at(options.sharing);
  if (!publish)
    return tl::unexpected(publish.error());
  auto checked = check_experiment(std::move(past->experiment));
  if (!checked)
    return tl::unexpected(checked.error());
  if (search_hash(checked->experiment, checked->data) != past->search)
    return fail(error_kind::conflict,
                "the data is not what this run started with ("
                    + fitness_file(checked->experiment).string()
                    + "): put the former file back, or start a new run");
  const session_params session{.experiment = std::move(checked->experiment),
                               .problem = std::move(checked->problem),
                               .folder = folder,
                               .authority = options.sharing.keys,
                               .publish = *publish,
                               .lease = *lease,
                               .note = std::move(checked->note),
                               .json = options.json};
  if (past->state.finished) {
    say_run(session);
    return summarise(session, {});
  }
  const entry resumed{run_resumed{.version = CLADE_VERSION}, {}};
  auto noted = file->append({&resumed, 1}).and_then([&](store::place) {
    return apply(past->state, resumed.record);
  });
  if (!noted)
    return tl::unexpected(noted.error());
  if (!options.json)
    std::cout << "resumes " << folder.string() << std::endl;
  say_run(session);
  return summarise(session,
                   run_session(session, std::move(*file), std::move(past->state)));
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
