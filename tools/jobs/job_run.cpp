#include "tools/jobs/job_run.hpp"

#include "engine/config/experiment/toml_writer.hpp"
#include "engine/evaluation/table/table_fitness.hpp"
#include "search_spaces/files/load_search_space.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

namespace {

/// "003 train_a": seeds are taken in the order of their names.
std::string seed_name(std::size_t at, const std::string& job) {
  const auto number = std::to_string(at + 1);
  return fmt::format("{}{} {}",
                     std::string(4 - std::min<std::size_t>(4, number.size()), '0'),
                     number, job);
}

expected<search_space> space_of(const std::vector<std::string>& order) {
  const std::string job(job_hyperparameter);
  toml_writer choice;
  choice.list(job, order);
  std::string text = "[limits]\nmax_nodes = 0\n[hyperparameters]\n" + choice.take();
  for (std::size_t i = 0; i < order.size(); ++i)
    text += fmt::format("[seeds.{}]\nlayers = []\nhyperparameters = {{{} = {}}}\n",
                        toml_writer::quoted(seed_name(i, order[i])), job,
                        toml_writer::quoted(order[i]));
  return parse_search_space(text, "jobs");
}

} // namespace

expected<experiment> experiment_of(const job_run_params& params) {
  auto spec = make_jobs_spec()->clone();
  dynamic_cast<evaluator_spec_of<jobs_params>&>(*spec).params = params.jobs;
  if (auto sound = spec->validate(); !sound)
    return tl::unexpected(std::move(sound).error());
  auto space = space_of(params.order);
  if (!space)
    return tl::unexpected(std::move(space).error());
  experiment e{.name = params.name, .evaluator = std::move(spec)};
  e.synthetic_problem = table_problem();
  e.space = std::move(*space);
  e.space_place = "jobs";
  e.objective = {.metric = std::string(seconds_metric), .maximize = false};
  e.evolution.strategy = "random";
  e.evolution.population = params.order.size();
  e.evolution.generations = 1;
  for (auto* number :
       {&e.evolution.tournament, &e.evolution.in_flight, &e.evolution.elites})
    *number = std::min(*number, params.order.size());
  // The jobs have a limit of their own, for each try.
  e.limits.evaluation_time = std::chrono::milliseconds(0);
  e.limits.evaluation_memory = params.memory_bytes;
  e.slots = {.local = params.slots, .listen = params.listen};
  return e;
}

const jobs_params* jobs_of(const experiment& e) {
  return params_of<jobs_params>(*e.evaluator);
}

} // namespace clade
