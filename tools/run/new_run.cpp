#include "tools/run/new_run.hpp"

#include "actors/node/node_work.hpp"
#include "actors/transport/link/endpoint.hpp"
#include "engine/config/experiment/fitness_source.hpp"
#include "engine/data/profile/data_summary.hpp"
#include "engine/search/strategies/registry/validation.hpp"
#include "engine/search/strategies/sampling/grid_search.hpp"
#include "engine/store/sqlite/run_folder.hpp"
#include "engine/training/asked/distribution_advice.hpp"
#include "engine/training/asked/recipe.hpp"
#include "genome/base/text.hpp"
#include "genome/base/wall_clock.hpp"
#include "tools/machine/slots.hpp"
#include "tools/run/session.hpp"
#include "tools/run/start_from.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <variant>

namespace clade {

namespace fs = std::filesystem;

expected<fs::path> make_run_folder(const fs::path& runs, const std::string& name) {
  const auto stamp = "-" + time_stamp(unix_ms());
  std::error_code failure;
  fs::create_directories(runs, failure);
  for (int copy = 1; !failure; ++copy) {
    const auto folder =
        runs / (name + stamp + (copy == 1 ? "" : fmt::format("-{}", copy)));
    if (fs::create_directory(folder, failure)) {
      fs::permissions(folder, fs::perms::owner_all, failure);
      return fs::absolute(folder);
    }
  }
  return fail(error_kind::io, fmt::format("cannot make a folder in {}: {}", runs.string(),
                                          failure.message()));
}

namespace {

/// Fitness that trains nothing leaves cores to others, however many slots ask for it.
expected<std::string> crowding_of(const experiment& e, const std::vector<slot>& slots) {
  if (!e.traits().trains)
    return "";
  return look_at_machine({.gpus = false}).and_then([&](const machine& m) {
    return crowding(slots, m);
  });
}

/// Workers that join may have more slots than this machine.
expected<void> check_devices(const experiment& e, std::size_t slots) {
  const auto devices = slots_of_training(e);
  if (devices <= slots || slots == 0 || !e.slots.listen.empty())
    return {};
  return fail(error_kind::invalid_input,
              fmt::format("{}: training.devices = {}, but slots.local = \"{}\" gives {}; "
                          "take training.devices = {} at most, or more slots: --slots {}",
                          e.devices_place, devices, e.slots.local, slots, slots,
                          devices));
}

/// Returns advice for a person whose search looks rows of a table up again and again.
std::string repeats_of(const experiment& e, std::size_t rows) {
  const auto evaluations = e.evolution.population * e.evolution.generations;
  if (evaluations <= rows)
    return "";
  const auto enough = (rows + e.evolution.population - 1) / e.evolution.population;
  return fmt::format(
      "the table has {} rows, and the search makes {} evaluations, most of them of rows "
      "that it knows already; evolution.generations = {} would be as many as there are",
      rows, evaluations, enough);
}

/// Returns advice for a person whose search is larger than its grid.
std::string copies_of(const experiment& e) {
  if (e.evolution.strategy != "grid")
    return "";
  const auto points = grid_size(e.evolution, e.space);
  const auto room = e.evolution.population * e.evolution.generations;
  const auto enough = (points + e.evolution.population - 1) / e.evolution.population;
  return enough >= e.evolution.generations
             ? ""
             : fmt::format("the grid has {} points, and the search makes {} candidates, "
                           "the rest of which are copies that train nothing; "
                           "evolution.generations = {} would be enough",
                           points, room, enough);
}

void add_note(std::string& all, const std::string& note) {
  if (!note.empty())
    all += (all.empty() ? "" : "; ") + note;
}

/// Returns the size of the largest batches that a network of the search may have.
std::int64_t largest_batch(const experiment& e) {
  const auto& all = e.space.rules.hyperparameters;
  const auto found = std::ranges::find(all, "batch_size", &parameter::name);
  if (found == all.end())
    return e.training.batch_size;
  if (const auto* range = std::get_if<integer_domain>(&found->domain))
    return range->high;
  std::int64_t largest = 1;
  if (const auto* list = std::get_if<choice_domain>(&found->domain))
    for (const auto& v : list->options)
      if (const auto* whole = std::get_if<std::int64_t>(&v))
        largest = std::max(largest, *whole);
  return largest;
}

/// Returns the steps of an epoch: of the network that is trained first, where one is
/// given, else of the largest batches.
std::uint64_t steps_of_epoch(const checked_experiment& checked,
                             const std::vector<record>& given) {
  const auto& e = checked.experiment;
  std::vector<setting> settings{{"batch_size", largest_batch(e)}};
  for (const auto& r : given)
    if (const auto* told = std::get_if<operator_command>(&r);
        told != nullptr && told->order.kind == instruction_kind::begin_with)
      settings = told->order.genome->hyperparameters;
  const auto r = recipe_of(e.training, settings);
  return r ? (checked.train_examples + static_cast<std::uint64_t>(r->batch_size) - 1)
                 / static_cast<std::uint64_t>(r->batch_size)
           : 0;
}

} // namespace

expected<checked_experiment> check_experiment(experiment e) {
  if (!e.slots.listen.empty())
    if (auto free = parse_endpoint(e.slots.listen).and_then(check_listening); !free)
      return tl::unexpected(free.error());
  const auto slots = parse_slots(e.slots.local);
  if (!slots)
    return tl::unexpected(slots.error());
  for (const auto& s : *slots)
    if (auto fits = check_device(e.training, s.device); !fits)
      return tl::unexpected(fits.error());
  if (auto enough = check_devices(e, slots->size()); !enough)
    return tl::unexpected(enough.error());
  choose_in_flight(e);
  auto crowded = crowding_of(e, *slots);
  if (!crowded)
    return tl::unexpected(crowded.error());
  checked_experiment result{.note = std::move(*crowded)};
  const auto source = load_fitness_source(e);
  if (!source)
    return tl::unexpected(source.error());
  result.data = source->checksum;
  if (source->data) {
    e.data.layout = source->data->layout; // The layout that was found is recorded.
    result.examples = source->data->examples;
    result.train_examples = source->data->train.size();
    add_note(result.note, note_on_devices(e.training.distribution, slots->size()));
  }
  if (source->table)
    result.note = repeats_of(e, source->table->rows());
  result.data_lines = fit_seeds(e, source->examples());
  // Seeds that do not fit the data are gone now, on which a grid may rest.
  if (auto able = check_strategy(e.evolution, e.space, e.objective); !able)
    return tl::unexpected(able.error());
  add_note(result.note, copies_of(e));
  if (const auto said = source->data ? scale_note(*source->data) : ""; !said.empty())
    result.data_lines.push_back(said);
  auto wanted = problem_of(e, source->examples());
  if (!wanted)
    return tl::unexpected(wanted.error());
  result.problem = std::move(*wanted);
  result.experiment = std::move(e);
  return result;
}

expected<inferred_data> resolve_data(experiment& e) {
  auto inferred = infer_columns(e.data);
  if (inferred)
    e.data = inferred->params;
  return inferred;
}

expected<checked_experiment> check_fresh(experiment e) {
  if (!e.traits().trains)
    return check_experiment(std::move(e));
  const auto inferred = resolve_data(e);
  if (!inferred)
    return tl::unexpected(inferred.error());
  auto checked = check_experiment(std::move(e));
  if (checked) {
    auto lines = data_summary(*inferred, checked->examples);
    checked->data_lines.insert(checked->data_lines.begin(), lines.begin(), lines.end());
  }
  return checked;
}

namespace {

/// A folder of a run in which nothing could be recorded is removed.
expected<store> begin_store(const fs::path& folder, const objective& goal,
                            std::span<const entry> first) {
  auto made = store::create(folder / store_file_name, goal).and_then([&](store file) {
    return file.append(first).map([&](store::place) { return std::move(file); });
  });
  std::error_code left_behind;
  if (!made)
    fs::remove_all(folder, left_behind);
  return made;
}

} // namespace

expected<new_run> make_run(checked_experiment checked, const fs::path& runs,
                           std::vector<record> given) {
  auto& e = checked.experiment;
  if (auto able = check_machine(e); !able)
    return tl::unexpected(able.error());
  auto state = make_run_state(rules_of(e));
  if (!state)
    return tl::unexpected(state.error());
  auto folder = make_run_folder(runs, e.name);
  if (!folder)
    return tl::unexpected(folder.error());
  add_note(checked.note,
           note_on_averages(e.training.distribution, steps_of_epoch(checked, given)));
  given.insert(given.begin(), run_started{.version = CLADE_VERSION,
                                          .experiment = to_toml(e),
                                          .seed = e.seed,
                                          .search = search_hash(e, checked.data)});
  std::vector<entry> first;
  for (auto& r : given) {
    if (auto applied = clade::apply(*state, r); !applied)
      return tl::unexpected(applied.error());
    first.push_back({std::move(r), {}});
  }
  return begin_store(*folder, e.objective, first).map([&](store file) {
    return new_run{.experiment = std::move(e),
                   .problem = std::move(checked.problem),
                   .data_lines = std::move(checked.data_lines),
                   .folder = std::move(*folder),
                   .file = std::move(file),
                   .state = std::move(*state),
                   .note = std::move(checked.note)};
  });
}

expected<new_run> make_run(const new_run_params& params) {
  return load_experiment(params.file, params.overrides)
      .map([&](experiment e) {
        if (params.budget.count() == 0)
          return e;
        e.limits.wall_time = params.budget;
        if (e.traits().trains && !e.final_stage.wanted())
          e.final_stage.model = "ensemble";
        if (const auto slots = parse_slots(e.slots.local); slots && e.in_flight_open) {
          e.evolution.in_flight = busy_in_flight(e, slots->size());
          e.in_flight_open = false;
        }
        return e;
      })
      .and_then([](experiment e) { return check_fresh(std::move(e)); })
      .and_then([&](checked_experiment c) -> expected<new_run> {
        auto said = start_from(params.start_from, c);
        if (!said)
          return tl::unexpected(said.error());
        return make_run(std::move(c), params.runs).map([&](new_run made) {
          made.started_from = std::move(*said);
          return made;
        });
      });
}

} // namespace clade
