// The sections of an experiment: each is read by its keys (keys.hpp), refuses others, and
// has the part's own `validate` judge the values. Here is what goes beyond that.

#include "engine/config/sections.hpp"

#include "engine/config/keys.hpp"
#include "engine/config/table_file.hpp"
#include "engine/search/strategies/automatic.hpp"
#include "engine/search/strategies/validation.hpp"
#include "engine/training/metrics.hpp"
#include "search_spaces/parameter_reader.hpp"
#include "search_spaces/spelling.hpp"

#include <algorithm>
#include <map>
#include <span>

namespace clade {
namespace {

// Visits the keys of a section (keys.hpp).
class key_reader {
public:
  explicit key_reader(table_reader& table, std::filesystem::path folder = {})
      : table_(table),
        folder_(std::move(folder)) {}

  void key(std::string_view name, auto& out) { table_.read(name, out); }
  void flag(std::string_view name, bool& out) { table_.read(name, out); }
  void set(std::string_view name, std::string& out) { table_.read(name, out); }
  void set(std::string_view name, std::optional<std::uint64_t>& out) {
    // Asked for in any case, so that it is a known key.
    std::uint64_t there = 0;
    table_.read(name, there);
    if (table_.has(name))
      out = there;
  }
  void unusual(std::string_view name, auto& out, const auto&) { key(name, out); }
  void unusual_list(std::string_view name, auto& out, const auto&) { list(name, out); }
  void strategy(std::string_view name, std::string& out) {
    key(name, out);
    out = american(out);
  }
  void unusual_strategies(std::string_view name, std::vector<std::string>& out,
                          const auto&) {
    list(name, out);
    for (auto& one : out)
      one = american(one);
  }
  void path(std::string_view name, std::filesystem::path& out) {
    table_.read_path(name, out, folder_);
  }
  void size(std::string_view name, std::uint64_t& out) { table_.read_size(name, out); }
  void column(std::string_view name, std::string& out) {
    table_.read_name_or_number(name, out);
  }
  void list(std::string_view name, std::vector<std::string>& out) {
    table_.read_list(name, out);
  }
  void numbers(std::string_view name, std::vector<std::uint32_t>& out) {
    table_.read(name, out);
  }
  void devices(std::string_view name, std::string& out) {
    std::vector<std::string> several;
    table_.read_list(name, several);
    if (!table_.has(name))
      return;
    out.clear();
    for (const std::string& d : several)
      out += (out.empty() ? "" : ",") + d;
  }
  template<class Enum, std::size_t count>
  void choice(std::string_view name, Enum& out, const words<Enum, count>& known) {
    table_.read_choice(name, out, std::span(known));
  }
  void weights(std::string_view name, class_weights& out) {
    if (!table_.holds_table(name)) {
      constexpr words<bool, 2> known{{{"none", false}, {"balanced", true}}};
      table_.read_choice(name, out.balanced, std::span(known));
      return;
    }
    auto inner = table_.table(name);
    for (const auto& label : inner.names())
      inner.read(label, out.by_class.emplace_back(label, 1.0).second);
    inner.finish();
  }
  template<class Enum, std::size_t count>
  void unusual_choice(std::string_view name, Enum& out, Enum,
                      const words<Enum, count>& known) {
    choice(name, out, known);
  }
  void split(std::string_view name, data_params& p) {
    auto inner = table_.table(name);
    if (!inner.present())
      return;
    // By time or group alone, the shares may stay as they are.
    if (inner.has("train") || inner.has("validation") || inner.has("test"))
      p.train = p.validation = p.test = 0;
    inner.read("train", p.train);
    inner.read("validation", p.validation);
    inner.read("test", p.test);
    constexpr words<split_rule, 3> rules{{{"random", split_rule::random},
                                          {"time", split_rule::time},
                                          {"group", split_rule::group}}};
    inner.read_choice("by", p.split_by, std::span(rules));
    inner.read_name_or_number("column", p.split_column);
    inner.finish();
  }
  void columns(std::string_view name, std::vector<column_choice>& out) {
    auto inner = table_.table(name);
    if (!inner.present())
      return;
    out.clear();
    for (const std::string& column : inner.names()) {
      std::string kind;
      inner.read(column, kind);
      if (const auto known = parse_encoding_kind(kind))
        out.push_back({column, *known});
      else
        inner.fail(column,
                   "data.columns: " + column + " is \"" + kind
                       + "\"; a column is a \"number\", \"category\", \"yes_no\" or "
                         "\"date\", or \"ignore\"");
    }
    inner.finish();
  }

private:
  table_reader& table_;
  std::filesystem::path folder_;
};

void read_keys(table_reader& t, auto& params) {
  key_reader visitor(t);
  keys(visitor, params);
}

// Of a part that judges its own values.
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
  // Where the files are, for those who keep them elsewhere; they have absolute paths
  // then.
  t.read_path("folder", folder, std::filesystem::path(folder));
  key_reader visitor(t, std::move(folder));
  keys(visitor, p);
  t.finish();
  t.check(validate(p));
  if (who == written_by::people)
    t.check(check_shares(p));
}

void read_synthetic_problem(table_reader t, bool image, problem& p) {
  p.input.sizes =
      image ? std::vector<std::int64_t>{1, 8, 8} : std::vector<std::int64_t>{16};
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
                         .budget = p.population * p.generations};
  auto choice = choose_strategy(p, space, task);
  p = std::move(choice.params);
  p.chosen = std::move(choice.why);
}

// The lengths that a training can have: up to `epochs`, or those that a table has.
struct lengths {
  std::uint32_t epochs = 0; ///< Of a full training; 0: a resolved experiment says.
  std::vector<std::uint32_t> fidelities{};
};

// The description gives the space and the objective. A resolved experiment has both
// itself, so that it can be read where the table is not.
lengths read_table(table_reader t, table_reader space, table_reader goal,
                   const std::filesystem::path& folder, document& d, experiment& e) {
  key_reader visitor(t, folder);
  keys(visitor, e.table);
  t.finish();
  t.check(validate(e.table));
  if (d.root["search_space"]["limits"].is_table()) {
    e.space = read_own_space(space, d);
    read_objective(goal, nullptr, e.objective);
    return {};
  }
  if (space.present())
    space.fail("", "[search_space] says nothing to an experiment on a table, whose "
                   "description gives the space; remove it");
  std::error_code ignored;
  if (!d.wrong && !std::filesystem::exists(e.table.file, ignored))
    t.fail("file", "table.file: " + e.table.file.string() + " is not there");
  if (d.wrong)
    return {};
  const auto described = load_table_description(e.table.file);
  if (!described) {
    d.wrong = described.error();
    return {};
  }
  e.space = described->space;
  read_objective(goal, &*described, e.objective);
  if (e.table.epochs != 0 && e.table.epochs < described->fidelities.front())
    t.fail("epochs", "table.epochs is " + std::to_string(e.table.epochs)
                         + ", but the table has nothing below "
                         + std::to_string(described->fidelities.front()) + " epochs");
  auto within = described->fidelities;
  std::erase_if(within, [&](std::uint32_t f) { return f > budget_epochs(e.table); });
  return {within.empty() ? 1 : within.back(), std::move(within)};
}

// Of a table they are known already.
lengths training_of(const experiment& e, lengths of_table) {
  if (e.fitness == fitness_kind::table)
    return of_table;
  return {e.fitness == fitness_kind::synthetic ? e.synthetic.epochs : e.training.epochs};
}

// The section of another kind of fitness, which bears that kind's name.
void refuse_section(table_reader& root, const std::string& kind, fitness_kind own) {
  if (root.has(kind))
    root.fail(kind, "[" + kind + "] says nothing to "
                        + (own == fitness_kind::training    ? "an experiment that trains"
                           : own == fitness_kind::synthetic ? "a synthetic experiment"
                                                            : "an experiment on a table")
                        + "; add fitness = \"" + kind
                        + "\" to [experiment], or remove it");
}

// How many evaluations there are, people look for where it is not.
void refuse_evaluations(table_reader& t, const evolution_params& p) {
  for (const char* key : {"evaluations", "max_evaluations", "trials", "n_trials"})
    if (t.has(key))
      return t.fail(key, std::string(key)
                             + " is no key: a search makes evolution.population times "
                               "evolution.generations evaluations, here "
                             + std::to_string(p.population) + " x "
                             + std::to_string(p.generations) + " = "
                             + std::to_string(p.population * p.generations)
                             + "; write these two");
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

void read_evolution(table_reader t, const search_space& space, const objective& goal,
                    lengths training, evolution_params& p) {
  if (!t.has("strategy"))
    p.strategy = automatic_strategy;
  read_keys(t, p);
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
  // What is right as it stands is left as it is, since hashes are taken of all of it.
  if (!checked && complete(fitted))
    p = std::move(fitted);
  else
    t.check(checked);
}

// What depends on the task that the training is for.
void check_measured(table_reader& t, task_kind task, const training_params& p) {
  if (task == task_kind::regression && !p.class_weights.none())
    t.fail(
        "class_weights",
        "training.class_weights is for classes, and the task is regression; remove it");
  if (auto known = check_metric_names(task, p.metrics); !known)
    t.fail("metrics", "training." + known.error().message);
}

// A space of convolutions needs to be told how a row of numbers is an image.
void check_shape(table_reader t, const experiment& e) {
  const bool synthetic = e.fitness == fitness_kind::synthetic;
  const tensor_shape& shape = synthetic ? e.synthetic_problem.input : e.data.shape;
  const std::string wants = e.space.name + " wants images";
  const std::string file = e.data.file.filename().string();
  if (!e.space.image || shape.is_image())
    return;
  if (!shape.sizes.empty())
    t.fail("shape",
           "data.shape is " + to_text(shape) + ", but the search space " + wants
               + ": write shape = [channels, height, width], or choose another space");
  else if (file.ends_with(".csv") || file.ends_with(".csv.gz"))
    t.fail("shape", "data.shape is missing: the search space " + wants
                        + ", write shape = [channels, height, width]");
}

// In the sections whose keys have two spellings.
void use_american_sections(document& d) {
  for (const std::string section : {"training", "objective"}) {
    if (auto* table = d.root[section].as_table())
      clade::use_american_keys(*table);
    for (const auto& [key, place] : std::map(d.overridden))
      if (key.starts_with(section + "."))
        d.overridden.emplace(
            section + "." + std::string(american(key.substr(section.size() + 1))), place);
  }
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
  read_evolution(root.table("evolution"), space, goal, {epochs, std::move(fidelities)},
                 p);
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
  auto data = root.table("data");
  auto space = root.table("search_space");
  auto goal = root.table("objective");
  auto evolution = root.table("evolution");
  auto training = root.table("training");
  auto synthetic = root.table("synthetic");
  auto table = root.table("table");
  auto limits = root.table("limits");
  auto slots = root.table("slots");
  // Before anything is missed that stands under a misspelt name.
  root.finish();
  read_head(head, who, e);
  e.space_place = space.place("file");
  lengths of_table;
  if (e.fitness == fitness_kind::table) {
    e.space_place = table.place("file");
    e.synthetic_problem = table_problem();
    of_table = read_table(table, space, goal, folder, d, e);
    if (data.present())
      root.fail("data", "[data] says nothing to an experiment on a table; remove it");
  } else {
    refuse_section(root, "table", e.fitness);
    if (e.fitness == fitness_kind::training)
      read_data(data, folder, who, e.data);
    e.space = load_space(space, e);
    if (e.fitness == fitness_kind::synthetic)
      read_synthetic_problem(data, e.space.image, e.synthetic_problem);
    read_objective(goal, e.fitness, e.data.task, e.objective);
  }
  read_part(training, e.training);
  if (e.fitness == fitness_kind::training)
    check_measured(training, e.data.task, e.training);
  if (e.fitness == fitness_kind::synthetic)
    read_part(synthetic, e.synthetic);
  else
    refuse_section(root, "synthetic", e.fitness);
  read_evolution(evolution, e.space, e.objective, training_of(e, std::move(of_table)),
                 e.evolution);
  refuse_evaluations(limits, e.evolution);
  read_part(limits, e.limits);
  read_part(slots, e.slots);
  if (e.evolution.zero_cost && e.fitness != fitness_kind::training)
    evolution.fail("zero_cost",
                   "evolution.zero_cost measures networks that are to be trained; it "
                   "needs fitness = \"training\"");
  if (e.fitness != fitness_kind::table)
    check_shape(data, e);
  if (e.fitness == fitness_kind::training)
    check_hyperparameters(d, e);
  if (d.wrong)
    return tl::unexpected(*d.wrong);
  return e;
}

} // namespace clade
