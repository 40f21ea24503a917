// One function for each section of an experiment, in the order of DESIGN section 3. Each
// reads the keys of its `*_params`, refuses the others, and has the part's own `validate`
// judge the values.

#include "engine/config/sections.hpp"

#include <algorithm>

namespace clade {
namespace {

void read_head(table_reader t, experiment& e) {
  t.read("name", e.name);
  t.read("seed", e.seed);
  t.read_choice(
      "fitness", e.fitness,
      {{"training", fitness_kind::training}, {"synthetic", fitness_kind::synthetic}});
  t.finish();
  if (!t.has("name"))
    t.fail("name",
           "experiment.name is missing: it names the run's folder, name = \"digits\"");
  // It becomes part of a folder's name.
  const bool plain = std::all_of(e.name.begin(), e.name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
           || c == '_' || c == '-' || c == '.';
  });
  if (e.name.empty() || e.name.size() > 64 || !plain || e.name.front() == '.')
    t.fail("name",
           "experiment.name must be 1 to 64 letters, digits, '-', '_' and '.', and not "
           "begin with '.'");
}

void read_split(table_reader t, data_params& p) {
  if (!t.present())
    return;
  p.train = p.validation = p.test = 0;
  t.read("train", p.train);
  t.read("validation", p.validation);
  t.read("test", p.test);
  t.finish();
}

void read_data(table_reader t, std::filesystem::path folder, data_params& p) {
  // Where the files are, for those who keep them elsewhere; they have absolute paths
  // then.
  t.read_path("folder", folder, std::filesystem::path(folder));
  t.read_path("file", p.file, folder);
  t.read_path("target_file", p.target_file, folder);
  t.read_path("test_file", p.test_file, folder);
  t.read_path("test_target_file", p.test_target_file, folder);
  t.read("array", p.array);
  t.read("target_array", p.target_array);
  t.read("test_array", p.test_array);
  t.read("test_target_array", p.test_target_array);
  t.read_name_or_number("target", p.target);
  t.read("header", p.header);
  t.read_choice("task", p.task,
                {{"classification", task_kind::classification},
                 {"regression", task_kind::regression}});
  t.read_choice("blanks", p.blanks,
                {{"refuse", blank_rule::refuse},
                 {"mean", blank_rule::mean},
                 {"drop", blank_rule::drop}});
  t.read_list("categories", p.categories);
  t.read("shape", p.shape);
  read_split(t.table("split"), p);
  t.read("limit", p.limit);
  t.finish();
  t.check(validate(p));
}

void read_synthetic_problem(table_reader t, bool image, problem& p) {
  p.input.sizes =
      image ? std::vector<std::int64_t>{1, 8, 8} : std::vector<std::int64_t>{16};
  t.read("shape", p.input);
  t.read("classes", p.outputs);
  t.finish();
  data_params shaped;
  shaped.file = "none";
  shaped.shape = p.input;
  t.check(validate(shaped));
  if (p.outputs < 1 || p.outputs > 1'000'000)
    t.fail("classes", "data.classes must be from 1 to 1000000");
}

void read_mutation(table_reader t, mutation_params& p) {
  t.read("add_node", p.add_node);
  t.read("add_edge", p.add_edge);
  t.read("remove_node", p.remove_node);
  t.read("remove_edge", p.remove_edge);
  t.read("change_operator", p.change_operator);
  t.read("widen", p.widen);
  t.read("narrow", p.narrow);
  t.read("change_setting", p.change_setting);
  t.read("change_hyperparameter", p.change_hyperparameter);
  t.read("again", p.again);
  t.finish();
  t.check(validate(p));
}

void read_evolution(table_reader t, evolution_params& p) {
  t.read("strategy", p.strategy);
  t.read("population", p.population);
  t.read("generations", p.generations);
  t.read("selection", p.selection);
  t.read("tournament", p.tournament);
  t.read("truncation", p.truncation);
  t.read("elites", p.elites);
  t.read("crossover", p.crossover);
  t.read("tell_order", p.tell_order);
  t.read("in_flight", p.in_flight);
  read_mutation(t.table("mutation"), p.mutation);
  t.finish();
  t.check(validate(p));
}

void read_training(table_reader t, training_params& p) {
  t.read("epochs", p.epochs);
  t.read("patience", p.patience);
  t.read("optimiser", p.optimiser);
  t.read("schedule", p.schedule);
  t.read("learning_rate", p.learning_rate);
  t.read("momentum", p.momentum);
  t.read("weight_decay", p.weight_decay);
  t.read("batch_size", p.batch_size);
  t.finish();
  t.check(validate(p));
}

void read_synthetic(table_reader t, synthetic_params& p) {
  t.read("duration", p.duration);
  t.read("diverge", p.diverge);
  t.read("crash", p.crash);
  t.read("hang", p.hang);
  t.read("hog", p.hog);
  t.read("epochs", p.epochs);
  t.finish();
  t.check(validate(p));
}

void read_limits(table_reader t, limits_params& p) {
  t.read("evaluation_time", p.evaluation_time);
  t.read_size("evaluation_memory", p.evaluation_memory);
  t.read("wall_time", p.wall_time);
  t.finish();
  t.check(validate(p));
}

void read_slots(table_reader t, slots_params& p) {
  std::vector<std::string> devices;
  t.read_list("local", devices);
  t.finish();
  if (t.has("local")) {
    p.local.clear();
    for (const std::string& d : devices)
      p.local += (p.local.empty() ? "" : ",") + d;
  }
  t.check(validate(p));
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

} // namespace

expected<experiment> read_experiment(document& d, const std::filesystem::path& folder,
                                     const space_loader& load_space) {
  experiment e;
  table_reader root(d);
  auto head = root.table("experiment");
  auto data = root.table("data");
  auto space = root.table("search_space");
  auto goal = root.table("objective");
  auto evolution = root.table("evolution");
  auto training = root.table("training");
  auto synthetic = root.table("synthetic");
  auto limits = root.table("limits");
  auto slots = root.table("slots");
  // Before anything is missed that stands under a misspelt name.
  root.finish();
  read_head(head, e);
  e.space = load_space(space);
  if (e.fitness == fitness_kind::synthetic)
    read_synthetic_problem(data, e.space.image, e.synthetic_problem);
  else
    read_data(data, folder, e.data);
  read_objective(goal, e.fitness, e.data.task, e.objective);
  read_evolution(evolution, e.evolution);
  read_training(training, e.training);
  if (e.fitness == fitness_kind::synthetic)
    read_synthetic(synthetic, e.synthetic);
  else if (synthetic.present())
    root.fail("synthetic",
              "[synthetic] says nothing to an experiment that trains; add fitness = "
              "\"synthetic\" to [experiment], or remove it");
  read_limits(limits, e.limits);
  read_slots(slots, e.slots);
  check_shape(data, e);
  if (e.fitness == fitness_kind::training)
    check_hyperparameters(d, e);
  if (d.wrong)
    return tl::unexpected(*d.wrong);
  return e;
}

} // namespace clade
