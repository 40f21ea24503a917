#pragma once

#include "engine/config/experiment.hpp"

#include <array>
#include <concepts>
#include <type_traits>
#include <utility>

namespace clade {

// The keys of each section, once, in the order in which they are written: what reads an
// experiment (sections.cpp) and what writes a resolved one (resolved.cpp) are visitors.
// A visitor has
//
//   key(name, value)          a value of any type that says by itself what it looks like
//   set(name, text)           a text that is written only where there is one
//   unusual(name, value, usual)   a key that came later: written only where it is not as
//                             usual, so that what was stored before is the same text
//   unusual_list(name, texts, usual)
//   flag(name, bool)          that is written only where it is true
//   path(name, path)          the same of a path
//   size(name, bytes)         "512MiB"
//   column(name, text)        a column's name or number
//   list(name, texts)
//   numbers(name, numbers)    a list that is written only where there is one
//   devices(name, text)       a list, as a text with commas
//   choice(name, value, words)
//   shares(name, keys)        a table of numbers, of which those left out are 0

/// `Params`, or const.
template<class T, class Params>
concept keys_of = std::same_as<std::remove_const_t<T>, Params>;

template<class Enum, std::size_t count>
using words = std::array<std::pair<std::string_view, Enum>, count>;

template<class Visitor>
void keys(Visitor& v, keys_of<experiment> auto& e) {
  v.key("name", e.name);
  v.key("seed", e.seed);
  v.choice("fitness", e.fitness,
           words<fitness_kind, 3>{{{"training", fitness_kind::training},
                                   {"synthetic", fitness_kind::synthetic},
                                   {"table", fitness_kind::table}}});
}

template<class Visitor>
void keys(Visitor& v, keys_of<data_params> auto& p) {
  v.path("file", p.file);
  v.path("target_file", p.target_file);
  v.path("test_file", p.test_file);
  v.path("test_target_file", p.test_target_file);
  v.set("array", p.array);
  v.set("target_array", p.target_array);
  v.set("test_array", p.test_array);
  v.set("test_target_array", p.test_target_array);
  v.column("target", p.target);
  v.key("header", p.header);
  v.choice("task", p.task,
           words<task_kind, 2>{{{"classification", task_kind::classification},
                                {"regression", task_kind::regression}}});
  v.choice("blanks", p.blanks,
           words<blank_rule, 3>{{{"refuse", blank_rule::refuse},
                                 {"mean", blank_rule::mean},
                                 {"drop", blank_rule::drop}}});
  v.list("categories", p.categories);
  v.key("shape", p.shape);
  v.shares("split", std::array{std::pair("train", &p.train),
                               std::pair("validation", &p.validation),
                               std::pair("test", &p.test)});
  v.key("limit", p.limit);
  v.set("test_limit", p.test_limit);
  v.set("seed", p.seed);
}

/// `[data]` of a synthetic experiment.
template<class Visitor>
void keys(Visitor& v, keys_of<problem> auto& p) {
  v.key("shape", p.input);
  v.key("classes", p.outputs);
}

template<class Visitor>
void keys(Visitor& v, keys_of<evolution_params> auto& p) {
  v.key("strategy", p.strategy);
  v.set("chosen", p.chosen);
  v.key("population", p.population);
  v.key("generations", p.generations);
  v.key("selection", p.selection);
  v.key("tournament", p.tournament);
  v.key("truncation", p.truncation);
  v.key("elites", p.elites);
  v.key("crossover", p.crossover);
  v.flag("inherit", p.inherit);
  v.flag("zero_cost", p.zero_cost);
  v.key("tell_order", p.tell_order);
  v.key("in_flight", p.in_flight);
  const evolution_params usual;
  v.unusual("difference_weight", p.difference_weight, usual.difference_weight);
  v.unusual("difference_base", p.difference_base, usual.difference_base);
  v.unusual_list("islands", p.islands, usual.islands);
  v.unusual("topology", p.topology, usual.topology);
  v.unusual("migration", p.migration, usual.migration);
  v.numbers("rungs", p.rungs);
  v.set("reduction", p.reduction);
}

template<class Visitor>
void keys(Visitor& v, keys_of<mutation_params> auto& p) {
  v.key("add_node", p.add_node);
  v.key("add_edge", p.add_edge);
  v.key("remove_node", p.remove_node);
  v.key("remove_edge", p.remove_edge);
  v.key("change_operator", p.change_operator);
  v.key("widen", p.widen);
  v.key("narrow", p.narrow);
  v.key("change_setting", p.change_setting);
  v.key("change_hyperparameter", p.change_hyperparameter);
  v.key("again", p.again);
  v.unusual("adapt", p.adapt, mutation_params{}.adapt);
}

template<class Visitor>
void keys(Visitor& v, keys_of<training_params> auto& p) {
  v.key("epochs", p.epochs);
  v.key("patience", p.patience);
  v.key("optimiser", p.optimiser);
  v.key("schedule", p.schedule);
  v.key("learning_rate", p.learning_rate);
  v.key("momentum", p.momentum);
  v.key("weight_decay", p.weight_decay);
  v.key("batch_size", p.batch_size);
}

template<class Visitor>
void keys(Visitor& v, keys_of<synthetic_params> auto& p) {
  v.key("duration", p.duration);
  v.key("diverge", p.diverge);
  v.key("crash", p.crash);
  v.key("hang", p.hang);
  v.key("hog", p.hog);
  v.key("epochs", p.epochs);
}

template<class Visitor>
void keys(Visitor& v, keys_of<table_params> auto& p) {
  v.path("file", p.file);
  v.key("epochs", p.epochs);
}

template<class Visitor>
void keys(Visitor& v, keys_of<limits_params> auto& p) {
  v.key("evaluation_time", p.evaluation_time);
  v.size("evaluation_memory", p.evaluation_memory);
  v.key("wall_time", p.wall_time);
}

template<class Visitor>
void keys(Visitor& v, keys_of<slots_params> auto& p) {
  v.devices("local", p.local);
  v.set("listen", p.listen);
}

} // namespace clade
