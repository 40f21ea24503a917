#include "tools/new_run.hpp"

#include "actors/endpoint.hpp"
#include "actors/node_work.hpp"
#include "engine/config/table_file.hpp"
#include "engine/store/run_folder.hpp"
#include "tools/session.hpp"
#include "tools/slots.hpp"

#include <ctime>
#include <optional>

namespace clade {

namespace fs = std::filesystem;

expected<fs::path> make_run_folder(const fs::path& runs, const std::string& name) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char stamp[32];
  std::strftime(stamp, sizeof(stamp), "-%Y%m%d-%H%M%S", &local);
  std::error_code failure;
  fs::create_directories(runs, failure);
  for (int copy = 1; !failure; ++copy) {
    const auto folder =
        runs / (name + stamp + (copy == 1 ? "" : "-" + std::to_string(copy)));
    if (fs::create_directory(folder, failure)) {
      fs::permissions(folder, fs::perms::owner_all, failure);
      return fs::absolute(folder);
    }
  }
  return fail(error_kind::io,
              "cannot make a folder in " + runs.string() + ": " + failure.message());
}

expected<checked_experiment> check_experiment(experiment e) {
  if (!e.slots.listen.empty())
    if (auto free = parse_endpoint(e.slots.listen).and_then(check_listening); !free)
      return tl::unexpected(free.error());
  if (auto slots = parse_slots(e.slots.local); !slots)
    return tl::unexpected(slots.error());
  checked_experiment result;
  std::optional<data_set> data;
  if (e.fitness == fitness_kind::training) {
    auto loaded = load_data(e.data, e.seed);
    if (!loaded)
      return tl::unexpected(loaded.error());
    data = std::move(*loaded);
    result.data = data->checksum;
  }
  if (e.fitness == fitness_kind::table) {
    const auto table = load_table(e);
    if (!table)
      return tl::unexpected(table.error());
    result.data = (*table)->checksum();
  }
  auto wanted = problem_of(e, data ? &*data : nullptr);
  if (!wanted)
    return tl::unexpected(wanted.error());
  result.problem = std::move(*wanted);
  result.experiment = std::move(e);
  return result;
}

expected<new_run> make_run(checked_experiment checked, const fs::path& runs) {
  auto& e = checked.experiment;
  if (e.fitness == fitness_kind::training)
    if (auto found = find_training(training_module()); !found)
      return tl::unexpected(found.error());
  auto state = make_run_state(rules_of(e));
  if (!state)
    return tl::unexpected(state.error());
  auto folder = make_run_folder(runs, e.name);
  if (!folder)
    return tl::unexpected(folder.error());
  auto file = store::create(*folder / store_file_name, e.objective);
  if (!file)
    return tl::unexpected(file.error());
  const entry first{run_started{.version = CLADE_VERSION,
                                .experiment = to_toml(e),
                                .seed = e.seed,
                                .search = search_hash(e, checked.data)},
                    {}};
  return file->append({&first, 1})
      .and_then([&](store::place) { return apply(*state, first.record); })
      .map([&] {
        return new_run{.experiment = std::move(e),
                       .problem = std::move(checked.problem),
                       .folder = std::move(*folder),
                       .file = std::move(*file),
                       .state = std::move(*state)};
      });
}

expected<new_run> make_run(const new_run_params& params) {
  return load_experiment(params.file, params.overrides)
      .and_then([](experiment e) { return check_experiment(std::move(e)); })
      .and_then(
          [&](checked_experiment c) { return make_run(std::move(c), params.runs); });
}

} // namespace clade
