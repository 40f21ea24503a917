#include "tools/run/resumed_run.hpp"

#include "engine/config/experiment/fitness_source.hpp"
#include "engine/store/sqlite/run_folder.hpp"
#include "tools/run/run_files.hpp"
#include "tools/run/stored_run.hpp"

#include <fmt/format.h>

#include <utility>

namespace clade {

expected<resumed_run> open_to_resume(const resume_params& params) {
  if (auto own = check_own_files(params.folder); !own)
    return tl::unexpected(std::move(own).error());
  auto file = store::open(params.folder / store_file_name);
  if (!file)
    return tl::unexpected(std::move(file).error());
  if (file->size() == 0)
    return tl::unexpected(nothing_recorded(params.folder / store_file_name));
  auto past = fold_run(*file, params.folder.string());
  if (!past)
    return tl::unexpected(std::move(past).error());
  if (!params.slots.empty())
    past->experiment.slots.local = params.slots;
  if (!params.listen.empty())
    past->experiment.slots.listen = params.listen;
  auto checked = check_experiment(std::move(past->experiment));
  if (!checked)
    return tl::unexpected(std::move(checked).error());
  if (search_hash(checked->experiment, checked->data) != past->search)
    return fail(error_kind::conflict,
                fmt::format("the data is not what this run started with ({}): put the "
                            "former file back, or start a new run",
                            fitness_file(checked->experiment).string()));
  return resumed_run{.checked = std::move(*checked),
                     .file = std::move(*file),
                     .state = std::move(past->state)};
}

expected<void> record_resumed(resumed_run& run) {
  const entry resumed{run_resumed{.version = CLADE_VERSION}, {}};
  return run.file.append({&resumed, 1}).and_then([&](store::place) {
    return apply(run.state, resumed.record);
  });
}

} // namespace clade
