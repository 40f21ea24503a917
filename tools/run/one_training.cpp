#include "tools/run/one_training.hpp"

#include "genome/base/text.hpp"
#include "tools/run/stored_run.hpp"

#include <fmt/format.h>

namespace clade {

namespace fs = std::filesystem;

namespace {

struct named_genome {
  clade::genome genome;
  std::string origin; ///< "#7 of digits-20260101-120000"
};

/// A search of one candidate that is not stopped early.
experiment for_one(experiment e, std::uint32_t epochs) {
  e.name += "-training";
  e.evolution = {.strategy = "generational", .population = 1, .generations = 1};
  e.evolution.tournament = e.evolution.in_flight = e.evolution.elites = 1;
  e.space.seeds.clear();
  e.final_stage = {};
  e.limits.evaluation_time = e.limits.wall_time = std::chrono::milliseconds(0);
  e.training.patience = 0;
  if (epochs != 0)
    e.training.epochs = epochs;
  return e;
}

expected<void> check_trains(const experiment& e, const std::string& origin) {
  if (e.traits().trains)
    return {};
  return fail(error_kind::invalid_input,
              origin
                  + ": its fitness comes from no training, so that there is none to "
                    "make longer");
}

expected<named_genome> genome_of_run(const opened_run& run, const folded_run& folded,
                                     candidate_id id) {
  if (id == 0 && folded.state.best.empty())
    return fail(error_kind::invalid_input,
                run.file.string() + ": no candidate of it succeeded");
  const auto wanted = id != 0 ? id : folded.state.best.front().id;
  return run.s.find_candidate(wanted).map([&](const candidate& c) {
    return named_genome{*c.genome,
                        fmt::format("{} of {}", numbered(wanted),
                                    run.file.parent_path().filename().string())};
  });
}

expected<new_run> start(checked_experiment checked, named_genome g,
                        const fs::path& runs) {
  const auto& space = checked.experiment.space;
  if (auto fits = decode(space, g.genome, checked.problem); !fits)
    return fail(error_kind::invalid_input,
                fmt::format("{}: {}", g.origin, fits.error().message));
  std::vector<record> given{operator_command{
      .order = {.kind = instruction_kind::begin_with,
                .text = g.origin,
                .genome = std::make_shared<const genome>(std::move(g.genome))},
      .who = "clade train"}};
  return make_run(std::move(checked), runs, std::move(given));
}

expected<new_run> train_of_run(const one_training_params& params) {
  auto opened = open_stored_run(params.from);
  if (!opened)
    return tl::unexpected(opened.error());
  const auto folded = fold_run(opened->s, opened->file.string());
  if (!folded)
    return tl::unexpected(folded.error());
  if (auto trains = check_trains(folded->experiment, params.from); !trains)
    return tl::unexpected(trains.error());
  auto g = genome_of_run(*opened, *folded, params.id);
  if (!g)
    return tl::unexpected(g.error());
  const auto e = for_one(folded->experiment, params.epochs);
  return change_resolved(
             e, e.name, params.overrides,
             {.option = "--set ", .of_name = "the new run is named by its origin"})
      .and_then([](experiment changed) { return check_experiment(std::move(changed)); })
      .and_then([&](checked_experiment c) {
        return start(std::move(c), std::move(*g), params.runs);
      });
}

expected<new_run> train_of_file(const one_training_params& params) {
  auto e = load_experiment(params.experiment, params.overrides);
  if (!e)
    return tl::unexpected(std::move(e).error());
  if (auto trains = check_trains(*e, params.experiment.string()); !trains)
    return tl::unexpected(trains.error());
  return check_fresh(for_one(std::move(*e), params.epochs))
      .and_then([&](checked_experiment c) -> expected<new_run> {
        auto g = params.read(c.experiment.space, c.problem);
        if (!g)
          return fail(error_kind::invalid_input,
                      fmt::format("{}: {}", params.from, g.error().message));
        const auto origin = fs::path(params.from).filename().string();
        return start(std::move(c), {std::move(*g), origin}, params.runs);
      });
}

} // namespace

expected<new_run> make_one_training(const one_training_params& params) {
  return params.experiment.empty() ? train_of_run(params) : train_of_file(params);
}

} // namespace clade
