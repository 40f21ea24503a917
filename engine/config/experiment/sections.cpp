// The sections of an experiment: each is read by its keys (keys.hpp), refuses others, and
// has the part's own `validate` judge the values. Here is what goes beyond that.

#include "engine/config/experiment/sections.hpp"

#include "engine/config/experiment/key_reader.hpp"
#include "engine/config/experiment/misplaced_key.hpp"
#include "engine/config/experiment/table_file.hpp"
#include "engine/data/columns/examples.hpp"
#include "engine/evaluation/table/table_fitness.hpp"
#include "engine/search/core/known_points.hpp"
#include "engine/search/strategies/registry/automatic.hpp"
#include "engine/search/strategies/registry/validation.hpp"
#include "engine/training/metrics/metrics.hpp"
#include "search_spaces/files/points.hpp"
#include "search_spaces/operators/own_operator.hpp"
#include "search_spaces/toml/parameter_reader.hpp"
#include "search_spaces/toml/spelling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

namespace clade {
namespace {

void read_keys(table_reader& t, auto& params) {
  key_reader visitor(t);
  keys(visitor, params);
}

// Reads a part that judges its own values.
void read_part(table_reader t, auto& params) {
  read_keys(t, params);
  t.finish();
  t.check(validate(params));
}

void read_head(table_reader t, written_by who, experiment& e) {
  read_keys(t, e);
  t.finish();
  if (!t.has("name"))
    t.fail("name",
           "experiment.name is missing: it names the run's folder, name = \"digits\"");
  // It becomes part of a folder's name.
  const bool plain = std::all_of(e.name.begin(), e.name.end(), is_name_character);
  if (e.name.empty() || e.name.size() > 64 || !plain || e.name.front() == '.')
    t.fail("name",
           "experiment.name must be 1 to 64 letters, digits, '-', '_' and '.', and not "
           "begin with '.'");
  // A command would take it for an option. Runs of earlier versions may be called so.
  if (who == written_by::people && e.name.starts_with('-'))
    t.fail("name", "experiment.name must not begin with '-'");
}

void read_data(table_reader t, std::filesystem::path folder, written_by who,
               data_params& p) {
  if (who == written_by::clade)
    p = params_of_first_runs();
  // The folder of the files, for those who keep them elsewhere; they have absolute paths
  // then.
  t.read_path("folder", folder, std::filesystem::path(folder));
  key_reader visitor(t, std::move(folder));
  keys(visitor, p);
  t.finish();
  t.check(validate(p));
  if (who != written_by::people)
    return;
  // The usual shares are those of data that has to give a test part, too.
  if (!t.has("split") && test_files(p))
    p.train = 0.8, p.test = 0;
  t.check(check_shares(p));
}

void read_synthetic_problem(table_reader t, layout input, problem& p) {
  p.input.sizes = input == layout::image      ? std::vector<std::int64_t>{1, 8, 8}
                  : input == layout::sequence ? std::vector<std::int64_t>{32, 2}
                                              : std::vector<std::int64_t>{16};
  read_keys(t, p);
  t.finish();
  data_params shaped;
  shaped.file = "none";
  shaped.shape = p.input;
  t.check(validate(shaped));
  if (p.outputs < 1 || p.outputs > 1'000'000)
    t.fail("classes", "data.classes must be from 1 to 1000000");
}

// "auto" gives way to what it chooses, with the reason. Somebody's own choice has none.
void resolve_strategy(const search_space& space, const objective& goal,
                      evolution_params& p) {
  if (p.strategy != automatic_strategy)
    return;
  const search_task task{.objectives = aims_of(goal).size(),
                         .fidelities = !p.rungs.empty(),
                         .budget = p.population * p.generations,
                         .seeds = !space.seeds.empty() || !points_of(p).empty()};
  auto choice = choose_strategy(p, space, task);
  p = std::move(choice.params);
  p.chosen = std::move(choice.why);
}

// The lengths that a training can have: up to `epochs`, or those that a table has.
struct lengths {
  /// The epochs of a full training; 0: a resolved experiment says.
  std::uint32_t epochs = 0;
  std::vector<std::uint32_t> fidelities{};
};

// The section that bears the evaluator's name.
shared_evaluator_spec read_own(table_reader& t, const std::filesystem::path& folder,
                               const evaluator_spec& kind) {
  auto own = kind.clone();
  key_reader visitor(t, folder);
  own_section<key_reader> keys(visitor);
  own->visit(keys);
  t.finish();
  t.check(own->validate());
  return own;
}

// The description gives the space and the objective. A resolved experiment has both
// itself, so that it can be read where the table is not.
lengths read_described(table_reader& t, table_reader& space, table_reader& goal,
                       document& d, experiment& e) {
  const auto& table = *params_of<table_params>(*e.evaluator);
  if (d.root["search_space"]["limits"].is_table()) {
    e.space = read_own_space(space, d);
    read_objective(goal, nullptr, e.objective);
    return {};
  }
  if (space.present())
    space.fail("", "[search_space] says nothing to an experiment on a table, whose "
                   "description gives the space; remove it");
  std::error_code ignored;
  if (!d.wrong && !std::filesystem::exists(table.file, ignored))
    t.fail("file", fmt::format("table.file: {} is not there", table.file.string()));
  if (d.wrong)
    return {};
  const auto described = load_table_description(table.file);
  if (!described) {
    d.wrong = described.error();
    return {};
  }
  e.space = described->space;
  read_objective(goal, &*described, e.objective);
  if (table.epochs != 0 && table.epochs < described->fidelities.front())
    t.fail("epochs",
           fmt::format("table.epochs is {}, but the table has nothing below {} epochs",
                       table.epochs, described->fidelities.front()));
  auto within = described->fidelities;
  std::erase_if(within, [&](std::uint32_t f) { return f > budget_epochs(table); });
  return {within.empty() ? 1 : within.back(), std::move(within)};
}

// The section of another kind of evaluator.
void refuse_section(table_reader& root, const std::string& kind, const experiment& e) {
  if (root.has(kind))
    root.fail(
        kind,
        fmt::format(
            "[{}] says nothing to {}; add fitness = \"{}\" to [experiment], or remove it",
            kind, e.traits().experiment, kind));
}

// Asked for before a section is missed that stands under a misspelt name.
std::map<std::string, table_reader> own_sections(table_reader& root) {
  std::map<std::string, table_reader> all;
  for (const auto& kind : evaluator_kinds())
    if (const auto& traits = kind->traits(); !traits.title.empty())
      all.emplace(traits.name, root.table(traits.name));
  return all;
}

// How many evaluations there are, people look for where it is not.
void refuse_evaluations(table_reader& t, const evolution_params& p) {
  for (const char* key : {"evaluations", "max_evaluations", "trials", "n_trials"})
    if (t.has(key))
      return t.fail(
          key,
          fmt::format(
              "{} is no key: a search makes evolution.population times "
              "evolution.generations evaluations, here {} x {} = {}; write these two",
              key, p.population, p.generations, p.population * p.generations));
}

// Defaults that nobody wrote give way to a population that is smaller than they are.
evolution_params fitted_defaults(const table_reader& t, evolution_params p) {
  for (const auto& [key, number] : {std::pair{"tournament", &p.tournament},
                                    {"in_flight", &p.in_flight},
                                    {"elites", &p.elites}})
    if (!t.has(key))
      *number = std::min(*number, p.population);
  return p;
}

// The file gives way to what stands in it, so that a resolved experiment needs no file.
void read_points(const search_space& space, evolution_params& p, document& d) {
  auto& known = p.own.of<known_points>();
  if (known.file.empty() || d.wrong)
    return;
  const auto points = load_points(known.file, space);
  if (!points) {
    d.wrong = points.error();
    return;
  }
  for (const auto& point : *points)
    known.points.push_back(to_toml(point));
  known.file.clear();
}

void read_evolution(table_reader t, const std::filesystem::path& folder,
                    const search_space& space, const objective& goal, lengths training,
                    evolution_params& p, document& d) {
  if (!t.has("strategy"))
    p.strategy = automatic_strategy;
  key_reader visitor(t, folder);
  keys(visitor, p);
  read_points(space, p, d);
  read_part(t.table("mutation"), p.mutation);
  refuse_evaluations(t, p);
  t.finish();
  resolve_strategy(space, goal, p);
  if (training.epochs == 0)
    training.epochs = p.rungs.empty() ? 1 : p.rungs.back();
  const auto complete = [&](evolution_params& of) {
    return complete_rungs(of, training.epochs, training.fidelities).and_then([&] {
      return check_strategy(of, space, goal);
    });
  };
  auto fitted = fitted_defaults(t, p);
  const auto checked = complete(p);
  // A space that is right as it stands is left as it is, since hashes are taken of all of
  // it.
  if (!checked && complete(fitted))
    p = std::move(fitted);
  else
    t.check(checked);
}

// Checks the settings that depend on the task that the training is for.
void check_measured(table_reader& t, const learning_task& task,
                    const training_params& p) {
  if (!task.has_classes() && !p.class_weights.none())
    t.fail("class_weights",
           fmt::format(
               "training.class_weights is for classes, and the task is {}; remove it",
               task.name));
  if (auto known = check_metric_names(task, p.metrics); !known)
    t.fail("metrics", "training." + known.error().message);
}

// A space of convolutions needs to be told how a row of numbers is an image.
void check_shape(table_reader& data, table_reader& space, const experiment& e) {
  if (e.space.input == layout::vector)
    return;
  const std::string wants =
      fmt::format("{} wants {}s", e.space.name, to_text(e.space.input));
  const std::string sizes(sizes_text(e.space.input));
  if (e.traits().data == data_role::none)
    return space.fail(
        "file",
        fmt::format("search_space.file: {}, of which {} has none; choose another space",
                    wants, e.traits().experiment));
  if (e.traits().data == data_role::optional_shape && !e.shaped)
    return space.fail("file",
                      fmt::format("search_space.file: {}: say of which size, [data] with "
                                  "shape = {} and classes = 10, or choose another space",
                                  wants, sizes));
  const tensor_shape& shape =
      e.traits().data == data_role::examples ? e.data.shape : e.synthetic_problem.input;
  const std::string file = e.data.file.filename().string();
  if (shape.layout() == e.space.input)
    return;
  // The table itself says the shape of its series.
  if (e.data.forecast.of_examples() && e.space.input == layout::sequence)
    return;
  if (!shape.sizes.empty())
    data.fail("shape", fmt::format("data.shape is {}, but the search space {}: write "
                                   "shape = {}, or choose another space",
                                   to_text(shape), wants, sizes));
  else if (file.ends_with(".csv") || file.ends_with(".csv.gz"))
    data.fail(
        "shape",
        fmt::format(
            "data.shape is missing: the search space {}, and this is a table: write file "
            "= \"tabular\" in [search_space], or, where each row is one, shape = {}",
            wants, sizes));
}

/// The sections that say what is searched.
struct search_sections {
  table_reader data, space, goal;
  std::map<std::string, table_reader> own; ///< By the name of their evaluator.
};

// The evaluator's own section first: a benchmark table gives space and objective.
lengths read_search(search_sections& t, const std::filesystem::path& folder,
                    const space_loader& load_space, written_by who, document& d,
                    experiment& e) {
  const auto& traits = e.traits();
  const auto own = t.own.find(std::string(traits.name));
  if (own != t.own.end())
    e.evaluator = read_own(own->second, folder, *e.evaluator);
  e.shaped = traits.data == data_role::optional_shape && t.data.present();
  if (traits.data == data_role::none && t.data.present())
    t.data.fail("",
                fmt::format("[data] says nothing to {}; remove it", traits.experiment));
  if (traits.data == data_role::none
      || (traits.data == data_role::optional_shape && !e.shaped))
    e.synthetic_problem = table_problem();
  if (traits.described) {
    e.space_place = own->second.place("file");
    return read_described(own->second, t.space, t.goal, d, e);
  }
  e.space_place = t.space.place("file");
  if (traits.data == data_role::examples)
    read_data(t.data, folder, who, e.data);
  e.space = load_space(t.space, e);
  if (traits.data == data_role::shape || e.shaped)
    read_synthetic_problem(t.data, e.space.input, e.synthetic_problem);
  if (e.shaped && !(t.data.has("shape") && t.data.has("classes")))
    t.data.fail("", "[data] must have shape and classes: what enters a network, and how "
                    "many outputs it has");
  // A value that an earlier version wrote was no placeholder to it.
  if (own != t.own.end() && who == written_by::people && !d.wrong)
    own->second.check(
        e.evaluator->validate_for(e.space, e.shaped ? &e.synthetic_problem : nullptr));
  read_objective(t.goal, e, e.objective);
  return {};
}

// In the sections whose keys have two spellings.
void use_american_sections(document& d) {
  for (const std::string section : {"training", "objective"}) {
    if (auto* table = d.root[section].as_table())
      clade::use_american_keys(*table);
    for (const auto& [key, place] : std::map(d.overridden))
      if (key.starts_with(section + "."))
        d.overridden.emplace(
            fmt::format("{}.{}", section, american(key.substr(section.size() + 1))),
            place);
  }
}

// Rows that are dealt at random into folds would tell of rows that come later, or belong
// to the same group.
void check_folds(table_reader& t, const data_params& data, final_params& p) {
  if (data.split_by == split_rule::random && data.forecast.horizon == 0)
    return;
  if (p.folds > 1)
    t.fail("folds", "final.folds must be 1 where data.split is by time or by groups, or "
                    "series are forecast: folds are dealt at random");
  p.folds = 1;
}

// The memory that a slot may take is the memory that a candidate may take.
void fit_devices(table_reader& training, experiment& e) {
  auto& fit = e.training.distribution.fit_bytes;
  if (!fit)
    return;
  fit = e.limits.evaluation_memory;
  if (*fit == 0)
    training.fail("devices",
                  "training.devices = \"fit\" needs limits.evaluation_memory, the "
                  "memory that a training may take on one slot");
}

// The devices of such a distribution have layers of their own, and their weights with them.
void check_sharing(table_reader& training, const experiment& e) {
  const auto& how = e.training.distribution;
  const auto shares = std::ranges::find_if(
      e.space.composites, [](const auto& one) { return one->shares_weights(); });
  if (how.divided() && how.row().divides_state && shares != e.space.composites.end())
    training.fail("distribution",
                  fmt::format("training.distribution = \"{}\" divides a network over "
                              "devices, and layers of {} in {} share weights; take "
                              "\"mirrored\", or leave out share = true",
                              how.name, (*shares)->description().name, e.space.name));
}

} // namespace

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
         || c == '_' || c == '-' || c == '.';
}

expected<evolution_params> parse_evolution(std::span<const std::string> settings,
                                           const search_space& space,
                                           const objective& goal,
                                           std::vector<std::uint32_t> fidelities) {
  document d;
  for (const auto& s : settings)
    if (auto applied = apply_override(d, "evolution." + s, ""); !applied)
      return tl::unexpected(std::move(applied).error());
  evolution_params p;
  table_reader root(d);
  const auto epochs = fidelities.empty() ? 0 : fidelities.back();
  read_evolution(root.table("evolution"), {}, space, goal,
                 {epochs, std::move(fidelities)}, p, d);
  if (d.wrong)
    return tl::unexpected(*d.wrong);
  return p;
}

expected<experiment> read_experiment(document& d, const std::filesystem::path& folder,
                                     const space_loader& load_space, written_by who) {
  experiment e;
  use_american_sections(d);
  table_reader root(d);
  auto head = root.table("experiment");
  search_sections search{.data = root.table("data"),
                         .space = root.table("search_space"),
                         .goal = root.table("objective"),
                         .own = {}};
  auto evolution = root.table("evolution");
  auto training = root.table("training");
  search.own = own_sections(root);
  auto limits = root.table("limits");
  auto final_stage = root.table("final");
  auto slots = root.table("slots");
  // Before anything is missed that stands under a misspelt name.
  refuse_misplaced_keys(root);
  root.finish();
  read_head(head, who, e);
  const auto& traits = e.traits();
  for (const auto& [kind, section] : search.own)
    if (kind != traits.name)
      refuse_section(root, kind, e);
  auto length = read_search(search, folder, load_space, who, d, e);
  read_part(training, e.training);
  e.devices_place = training.place("devices");
  if (traits.trains)
    check_measured(training, e.data.task, e.training);
  if (!traits.described)
    length.epochs = full_epochs(e);
  // Only of a whole resolved experiment every key is there; it is never fitted again.
  e.in_flight_open = who == written_by::people && !evolution.has("in_flight");
  read_evolution(evolution, folder, e.space, e.objective, std::move(length), e.evolution,
                 d);
  refuse_evaluations(limits, e.evolution);
  read_part(limits, e.limits);
  fit_devices(training, e);
  check_sharing(training, e);
  read_part(final_stage, e.final_stage);
  if (e.final_stage.wanted() && !traits.trains)
    final_stage.fail(
        "model",
        fmt::format("final.model is for networks that are trained, and {} trains none",
                    traits.experiment));
  check_folds(final_stage, e.data, e.final_stage);
  read_part(slots, e.slots);
  if (e.evolution.zero_cost && !traits.trains)
    evolution.fail("zero_cost",
                   "evolution.zero_cost measures networks that are to be trained; it "
                   "needs fitness = \"training\"");
  check_shape(search.data, search.space, e);
  if (traits.trains)
    check_hyperparameters(d, e);
  if (d.wrong)
    return tl::unexpected(*d.wrong);
  return e;
}

} // namespace clade
