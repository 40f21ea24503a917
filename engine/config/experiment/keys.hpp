#pragma once

#include "engine/config/experiment/experiment.hpp"
#include "engine/config/file/own_section.hpp"
#include "engine/search/strategies/registry/registry.hpp"
#include "genome/base/described_key.hpp"

#include <array>
#include <concepts>
#include <type_traits>
#include <utility>

namespace clade {

// The keys of each section, once, in the order in which they are written, each with the
// sentence that the reference has of it. The reader of an experiment (sections.cpp), the
// writer of a resolved one (toml_writer.hpp) and the writer of the reference
// (reference.cpp) are visitors. Keys that one strategy alone reads stand beside it
// (strategies/registry.hpp), and the keys of an evaluator's own section in its folder
// (own_section.hpp). To add a key, add its line here, `describe("name", "Sentence.")`
// first, and have `clade help experiment > experiments/README.md` bring the reference up
// to date. A visitor has
//
//   key(name, value)          a value of any type that says by itself what it looks like
//   set(name, text)           a text that is written only where there is one
//   unusual(name, value, usual)   a key that came later: written only where it is not as
//                             usual, so that what was stored before is the same text
//   unusual_list(name, texts, usual)
//   strategy(name, text)      a strategy's name, in whatever spelling
//   unusual_strategies(name, texts, usual)   a list of such
//   flag(name, bool)          that is written only where it is true
//   kind(name, evaluator)     the word for its kind
//   path(name, path)          a path that is written only where there is one
//   folder(name, path)        the same; left out, it is the experiment file's folder
//   size(name, bytes)         "512MiB"
//   column(name, text)        a column's name or number
//   list(name, texts)
//   numbers(name, numbers)    a list that is written only where there is one
//   lists(name, table)       a table of lists of texts by any word
//   texts(name, pairs)        a table of texts by any word, written only where there is one
//   table(name, written, inner)   a table with the keys that `inner` shows to a visitor
//   devices(name, text)       a list, as a text with commas
//   choice(name, value, words)
//   split(name, params)       a table of shares, of which those left out are 0
//   columns(name, choices)    a table of kinds by column, written only where there is one
//   weights(name, weights)    "none", "balanced", or a table of classes and numbers;
//                             written only where it is not "none"
//   unusual_choice(name, value, usual, words)
//   slots_of_training(name, params)   a number, or a table of servers and workers; written
//                             only where it is not 1
//   collectives(name, params) a table of backend and network, written only where the
//                             backend is not the usual one

/// `Params`, or const.
template<class T, class Params>
concept keys_of = std::same_as<std::remove_const_t<T>, Params>;

template<class Enum, std::size_t count>
using words = std::array<std::pair<std::string_view, Enum>, count>;

template<class Visitor>
void keys(Visitor& v, keys_of<experiment> auto& e) {
  v.key(describe("name", "Names the run, whose folder is runs/NAME-TIME. Left out: the "
                         "name of the experiment file."),
        e.name);
  v.key(describe("seed",
                 "The same seed and file give the same search on any number of slots and "
                 "machines, unless a clock ends it. Take another to see how much of a "
                 "result is luck."),
        e.seed);
  v.kind("fitness", e.evaluator);
}

constexpr auto task_words() {
  words<learning_task, learning_tasks.size()> all;
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = {learning_tasks[i].name, learning_tasks[i]};
  return all;
}

template<class Visitor>
void keys(Visitor& v, keys_of<data_params> auto& p) {
  v.path(
      describe("file",
               "A table (CSV, Parquet, Feather, JSON lines, Excel, SQLite, ARFF, "
               "LIBSVM), .npy, .npz, IDX, CIFAR (.bin) or time series with a class "
               "or a number each (.ts, .arff), each also as .gz, or a folder with a "
               "folder of images (JPEG, PNG, WebP, GIF, BMP) or of texts (.txt, .md, or "
               "no ending) for each class. A relative path starts at the experiment "
               "file's folder."),
      p.file);
  v.path(
      describe("target_file", "The file of the targets, where they are not in `file`."),
      p.target_file);
  v.path(describe("test_file", "A test set of its own; without one, the share `test` of "
                               "`split` is kept back."),
         p.test_file);
  v.path(describe("test_target_file", "The targets of `test_file`."), p.test_target_file);
  v.set(describe("array", "The array of a .npz, the table of a database or the sheet "
                          "of a workbook that holds the examples; needed only if there "
                          "are several."),
        p.array);
  v.set(describe("target_array", "The array of a .npz that holds the targets."),
        p.target_array);
  v.set(describe("test_array", "The array, table or sheet that holds the test examples."),
        p.test_array);
  v.set(describe("test_target_array", "The array of a .npz that holds the test targets."),
        p.test_target_array);
  v.column(describe("target",
                    "The column to predict: its name, its number from 1, or \"last\"."),
           p.target);
  v.unusual_list(
      describe(
          "targets",
          "The columns of several targets, in the place of `target`: numbers, or for "
          "task = \"multilabel\" whether a row has each label (1 or 0, yes or no). "
          "Labels may also be a list in one column, such as \"red|round\"; that is "
          "`target`. In a forecast each column is a series of its own."),
      p.targets, std::vector<std::string>{});
  v.unusual(describe("weights",
                     "The column that says how much each row counts in training: "
                     "a number from 0 on. Metrics count each row once."),
            p.weights, std::string());
  v.key(describe(
            "header",
            "What the first line of a CSV is: \"names\" of columns, \"none\" (an example "
            "already), \"counts\" (scikit-learn's \"150,4,setosa,...\"), or \"auto\". "
            "\"line 3\" means that the names stand there, and no table before it."),
        p.header);
  v.choice(
      describe("task",
               "Whether the target is a class, a number (or several), any of several "
               "labels, or a number whose `quantiles` are to be predicted."),
      p.task, task_words());
  v.unusual(describe("quantiles",
                     "The quantiles that task = \"quantiles\" predicts of the "
                     "target, a number each."),
            p.quantiles, data_params{}.quantiles);
  v.choice(
      describe("blanks",
               "What to do with a missing value: \"impute\" puts the mean in its "
               "place and adds an input that says so (a category gets a value for "
               "it), \"mean\" puts the column's mean in its place, \"drop\" leaves "
               "out the row, \"refuse\" the file. A row without a target is left out by "
               "\"impute\" and \"drop\", and refused by the others."),
      p.blanks,
      words<blank_rule, 4>{{{"impute", blank_rule::impute},
                            {"refuse", blank_rule::refuse},
                            {"mean", blank_rule::mean},
                            {"drop", blank_rule::drop}}});
  v.columns(describe("columns",
                     "What columns of a CSV are, such as {age = \"number\", plan = "
                     "\"category\", active = \"yes_no\", since = \"date\", review = "
                     "\"text\", id = \"ignore\"}. A column of texts of which nothing is "
                     "said is looked "
                     "at; one of numbers is a number."),
            p.columns);
  v.list(describe("categories", "The columns that hold categories; each becomes one "
                                "input for each of its values."),
         p.categories);
  v.unusual_list(describe("ignore", "The columns that networks are not given."), p.ignore,
                 std::vector<std::string>{});
  const auto first = params_of_first_runs();
  v.unusual(
      describe("delimiter",
               "What stands between the fields of a CSV: \",\", \";\", "
               "\"|\", \"\\t\", or \"auto\"; \"first blank\": a line is a label and a "
               "text behind it."),
      p.delimiter, first.delimiter);
  v.unusual(describe("decimal", "What stands before the decimals of a CSV's numbers: "
                                "\".\", \",\", or \"auto\"."),
            p.decimal, first.decimal);
  v.unusual(describe("encoding", "How a CSV writes its letters: \"utf-8\", \"utf-16\", "
                                 "\"latin-1\", or \"auto\"."),
            p.encoding, first.encoding);
  v.unusual_choice(
      describe("scale",
               "What a column of numbers is scaled by: \"deviation\" is its mean and "
               "standard deviation; \"auto\" the same, but its median and quartiles "
               "where a few gross outliers alone make the deviation."),
      p.scale, first.scale,
      words<scale_rule, 2>{
          {{"auto", scale_rule::automatic}, {"deviation", scale_rule::deviation}}});
  v.unusual_choice(
      describe("texts",
               "What networks are given of a column of texts: \"scores\" are those of a "
               "linear model of all words, pairs of words and pieces of words, fitted to "
               "the training part, and the terms that tell most of the target; "
               "\"terms\" is more of these terms alone."),
      p.texts, first.texts,
      words<text_rule, 2>{{{"scores", text_rule::scores}, {"terms", text_rule::terms}}});
  v.key(describe("shape", "The shape of one example, [channels, height, width] for an "
                          "image, [steps, channels] for a series. Left out: a row of "
                          "numbers, what the array has, the longest series, or what fits "
                          "the images of a folder, which are scaled to it."),
        p.shape);
  v.unusual_choice(
      describe("layout",
               "The order of sizes in an array of images: \"channels_first\" is "
               "[n, channels, height, width], \"channels_last\" [n, height, "
               "width, channels]; \"auto\" asks where the sizes do not tell."),
      p.layout, first.layout,
      words<array_layout, 3>{{{"auto", array_layout::automatic},
                              {"channels_first", array_layout::channels_first},
                              {"channels_last", array_layout::channels_last}}});
  v.unusual(describe("images",
                     "The column of a CSV that names files of images. They are the "
                     "examples then, and `target` is their column of targets."),
            p.images, first.images);
  v.path(describe("image_folder",
                  "Where the paths of `images` begin; left out, the folder "
                  "of `file`."),
         p.image_folder);
  v.unusual(describe("unreadable",
                     "The share of images that may be left out because they are damaged, "
                     "or of a kind that is not read."),
            p.unreadable, first.unreadable);
  v.unusual(
      describe("horizon",
               "The table holds series, a row for each step, and the next so many "
               "steps are to be forecast. The parts are then cut out of each series "
               "in order of time; mae is a mean absolute scaled error (MASE): 1 is "
               "what the value one season before was off by lately."),
      p.forecast.horizon, first.forecast.horizon);
  v.unusual(describe("time", "The column of the times of series, dates or numbers; "
                             "left out, rows are in order of time."),
            p.forecast.time, first.forecast.time);
  v.unusual_list(describe("series", "The columns that tell the series of a table "
                                    "apart, which has a row for each step. Without "
                                    "`horizon` each series is an example and has one "
                                    "target; in a forecast, left out, there is one "
                                    "series."),
                 p.forecast.series, first.forecast.series);
  v.unusual(describe("season", "The steps after which values are likely to be alike; 0: "
                               "what is usual for such steps, 24 of hours, 7 of days, 12 "
                               "of months."),
            p.forecast.season, first.forecast.season);
  v.unusual(describe("step",
                     "The length of a step that series must have, such as \"1 day\"; "
                     "left out, it is found out, and so noted in what a run "
                     "stores."),
            p.forecast.step, first.forecast.step);
  v.unusual_list(describe("known", "The columns that are known of the steps to be "
                                   "forecast: prices, holidays. Rows without a target at "
                                   "the end of a series hold them."),
                 p.forecast.known, first.forecast.known);
  v.split(
      describe("split",
               "Shares for training, for validation (which the search sees) and for "
               "the test (used once, at the end), which sum up to 1. With by = "
               "\"time\" and column = \"date\", the earliest rows are trained on and "
               "the latest tested; with by = \"group\", rows that have the same value "
               "of the column stay together."),
      p);
  v.key(describe("limit", "Use at most this many examples, drawn by the seed; 0 for all. "
                          "Good for a first try."),
        p.limit);
  v.set(describe("test_limit", "The same for `test_file` alone."), p.test_limit);
  v.set(describe("seed", "Decides the split instead of experiment.seed, so that searches "
                         "with other seeds share one split."),
        p.seed);
}

/// `[data]` of a synthetic experiment.
template<class Visitor>
void keys(Visitor& v, keys_of<problem> auto& p) {
  v.key(describe("shape", "The shape of an example that networks are made for."),
        p.input);
  v.key(describe("classes", "How many outputs networks have."), p.outputs);
}

template<class Visitor>
void keys(Visitor& v, keys_of<evolution_params> auto& p) {
  v.strategy(
      describe("strategy",
               "The search algorithm; `clade help strategies` says when to take which."),
      p.strategy);
  v.set(describe("chosen", "Written by Clade into a resolved experiment: why \"auto\" "
                           "took this strategy."),
        p.chosen);
  v.key(describe("population", "Candidates in a generation. A search evaluates "
                               "population x generations candidates."),
        p.population);
  v.key(describe("generations",
                 "How many generations; to search longer, raise this first."),
        p.generations);
  v.key(
      describe("selection",
               "How parents are chosen: \"tournament\", \"truncation\" (the best share) "
               "or \"lexicase\" (one metric after the other). Strategy generational."),
      p.selection);
  v.key(describe("tournament", "How many compete to be a parent; more press harder "
                               "towards the best. At most the population."),
        p.tournament);
  v.key(describe("truncation",
                 "The best share that may breed, with selection = \"truncation\"."),
        p.truncation);
  v.key(describe("elites", "How many of the best stay on as parents (generational); how "
                           "many parents there are (mu_plus_lambda)."),
        p.elites);
  v.key(describe("crossover", "The chance that a child has two parents."), p.crossover);
  v.flag(describe("inherit",
                  "Children start with the weights of the layers that they share "
                  "with their parent: good results after fewer epochs each."),
         p.inherit);
  v.flag(describe("zero_cost",
                  "Adds scores of untrained networks (synflow, Jacobian covariance, "
                  "gradient norm) to the model of strategy surrogate."),
         p.zero_cost);
  v.key(describe("tell_order",
                 "\"asked\": the same search for any number of slots; \"arrived\": "
                 "results count as they come, so no slot waits for a slow one, and each "
                 "run differs."),
        p.tell_order);
  v.key(
      describe("in_flight",
               "How many candidates are open at once in a strategy without "
               "generations, at most the population: another number is another search. "
               "Where the file does not say, a third of the population, but at least 4, "
               "whatever slots there are; with --minutes as many as keep all slots "
               "busy."),
      p.in_flight);
  auto own = p.own;
  own_section all_own(v);
  visit_own_keys(all_own, own);
  if constexpr (!std::is_const_v<std::remove_reference_t<decltype(p)>>)
    p.own = std::move(own);
  v.numbers(describe("rungs",
                     "Epochs after which a training may be stopped, rising to the "
                     "full number, such as [1, 3, 9]. For asha and its kin."),
            p.rungs);
  v.set(describe("reduction", "One of this many candidates goes on from a rung to the "
                              "next. For asha and its kin."),
        p.reduction);
}

template<class Visitor>
void keys(Visitor& v, keys_of<mutation_params> auto& p) {
  v.key(
      describe("add_node", "How often a layer is added, relative to the other changes."),
      p.add_node);
  v.key(describe("add_edge", "How often a skip connection is added."), p.add_edge);
  v.key(describe("remove_node", "How often a layer is taken out."), p.remove_node);
  v.key(describe("remove_edge", "How often a skip connection is taken out."),
        p.remove_edge);
  v.key(describe("change_operator", "How often a layer becomes one of another kind."),
        p.change_operator);
  v.key(describe("widen", "How often a layer gets one step more filters or units."),
        p.widen);
  v.key(describe("narrow", "How often a layer gets one step fewer filters or units."),
        p.narrow);
  v.key(describe("change_setting",
                 "How often another setting of a layer changes, such as its activation."),
        p.change_setting);
  v.key(describe("change_hyperparameter",
                 "How often a hyperparameter changes, such as the learning rate."),
        p.change_hyperparameter);
  v.unusual(describe("add_recurrent_edge",
                     "How often a recurrent edge is added, in a space that has some."),
            p.add_recurrent_edge, mutation_params{}.add_recurrent_edge);
  v.unusual(describe("remove_recurrent_edge", "How often one is taken out."),
            p.remove_recurrent_edge, mutation_params{}.remove_recurrent_edge);
  v.key(describe(
            "again",
            "The chance that another change follows; 0.3 gives 1.4 changes on average."),
        p.again);
  v.unusual(describe("adapt", "Rates follow what paid off lately; worth it from about a "
                              "thousand candidates on."),
            p.adapt, mutation_params{}.adapt);
}

template<class Visitor>
void keys(Visitor& v, keys_of<training_params> auto& p) {
  v.key(describe("epochs", "The most epochs that a candidate trains."), p.epochs);
  v.key(describe("patience", "Stop when the validation loss has not improved for this "
                             "many epochs; 0 for never."),
        p.patience);
  v.weights(describe("class_weights",
                     "What an error in an example of a class weighs in the loss: "
                     "\"none\" for 1 each, \"balanced\" for more the rarer the class is, "
                     "or a table such as {yes = 5}. Metrics do not weigh."),
            p.class_weights);
  v.unusual_list(describe("metrics", "Metrics that every epoch records beside the usual "
                                     "ones and the objective's: \"auc\", \"f1.yes\", "
                                     "\"train.accuracy\"."),
                 p.metrics, training_params{}.metrics);
  v.key(
      describe("optimizer",
               "\"sgd\", \"adam\", \"adamw\" or \"muon\". A search space that names a "
               "hyperparameter decides it instead: this and the keys below are then not "
               "read."),
      p.optimiser);
  v.key(describe("schedule",
                 "How the learning rate goes: \"constant\", \"cosine\", \"step\" or "
                 "\"one_cycle\" (cosine after a warm-up of 0.3)."),
        p.schedule);
  v.key(
      describe("learning_rate", "The learning rate at the start, or after the warm-up."),
      p.learning_rate);
  v.key(describe("momentum",
                 "SGD's and Muon's momentum, and the first beta of Adam and AdamW."),
        p.momentum);
  v.key(describe("weight_decay", "Weight decay."), p.weight_decay);
  v.key(describe("batch_size", "Examples in a batch."), p.batch_size);
  const training_params usual;
  v.unusual(describe("warmup", "The share of the steps in which the learning rate rises "
                               "to its height, before the schedule; at most 0.5."),
            p.warmup, usual.warmup);
  v.unusual(describe("ema", "Decay of an exponential average of the weights, such as "
                            "0.99: the average is what is validated and kept; 0 for "
                            "none."),
            p.ema, usual.ema);
  v.unusual(describe("mixup", "Each example is mixed with another one, and so are their "
                              "losses, by a share drawn from Beta(mixup, mixup) for each "
                              "batch, such as 0.2; 0 for never."),
            p.mixup, usual.mixup);
  v.unusual(describe("cutout",
                     "The side, in pixels, of a square that each image loses at "
                     "a place of chance; 0 for none."),
            p.cutout, usual.cutout);
  v.unusual(describe("flip",
                     "Whether images are mirrored left to right by an even chance, and "
                     "the final model says the mean of what it says of both sides."),
            p.flip, usual.flip);
  v.unusual(describe("gradient_clip",
                     "The largest norm of all gradients together; longer "
                     "ones are scaled down to it; 0 for no limit."),
            p.gradient_clip, usual.gradient_clip);
  v.unusual_choice(
      describe("memory_format",
               "The order in which the values of images lie in memory: \"contiguous\" or "
               "\"channels_last\", with which convolutions are faster on processors and "
               "round differently."),
      p.memory_format, usual.memory_format,
      words<memory_format, 2>{{{"contiguous", memory_format::contiguous},
                               {"channels_last", memory_format::channels_last}}});
  v.unusual_choice(
      describe(
          "precision",
          "What the forward pass of a training computes with: \"float32\", "
          "\"bfloat16\", or \"float16\" (on CUDA alone, with loss scaling). Weights, "
          "steps and evaluation stay float32; results differ between precisions."),
      p.precision, usual.precision,
      words<float_format, 3>{{{"float32", float_format::float32},
                              {"bfloat16", float_format::bfloat16},
                              {"float16", float_format::float16}}});
  v.unusual_choice(
      describe(
          "arithmetic",
          "The instructions that trainings compute with: \"native\", the processor's "
          "newest, or \"portable\", AVX2 on every machine, with which workers of "
          "different x86-64 processors give the same bits."),
      p.arithmetic, usual.arithmetic,
      words<arithmetic, 2>{
          {{"native", arithmetic::native}, {"portable", arithmetic::portable}}});
  v.unusual(describe("distribution",
                     "How a training is divided over several slots: \"one_device\", "
                     "\"mirrored\", \"multi_worker_mirrored\" and others; `clade help "
                     "distributions` says when to take which."),
            p.distribution.name, usual.distribution.name);
  v.slots_of_training(
      describe(
          "devices",
          "The slots that one training takes; each has a batch of batch_size. Of a "
          "pipeline, all have one batch. Of "
          "parameter_server also {servers = 1, workers = 3}: slots that serve, and "
          "slots that have batches; with a number each slot does both. Of sharded and "
          "a pipeline also \"fit\": as few as a network needs so that its forecast "
          "leaves each slot with limits.evaluation_memory at most."),
      p.distribution);
  v.collectives(
      describe(
          "collectives",
          "What carries what the slots of one training send each other, where each "
          "has a process of its own. \"tls\": connections with the run's keys. "
          "{backend = \"gloo\", network = \"10.1.0.0/16\"}: Gloo's, without keys and "
          "encryption, between addresses of a network that you know as private. Each "
          "machine must have one; nothing listens outside it. Results are the same."),
      p.distribution.collectives);
  v.unusual(describe("scale_learning_rate",
                     "Whether the learning rate grows with the batch that all devices "
                     "make together, and has a warm-up. Not of local_sgd, nor "
                     "of a pipeline."),
            p.distribution.scale_learning_rate, usual.distribution.scale_learning_rate);
  v.unusual(
      describe("checkpoint_every",
               "How often a training keeps where it stands on the disk of its "
               "machine. It goes on from there, with the same result, if its "
               "processes are lost. Told to leave (SIGTERM), it keeps that at once; "
               "sharded, pipeline, parameter_server and peer_to_peer then go on from "
               "the last position that all had together."),
      p.checkpoint_every, usual.checkpoint_every);
  v.unusual(describe("average_every", "Steps of local_sgd between two averages."),
            p.distribution.average_every, usual.distribution.average_every);
  v.unusual(describe("micro_batches",
                     "Parts of a batch that follow each other through the stages of a "
                     "pipeline, each of at least two examples; the more there are, the "
                     "less a stage idles. Batch norms see one at a time."),
            p.distribution.micro_batches, usual.distribution.micro_batches);
  v.unusual(describe("stage_schedule",
                     "The order of micro-batches in a pipeline: \"1f1b\" keeps "
                     "activations of as many as there are stages at most, \"gpipe\" of "
                     "all. Both give the same weights."),
            p.distribution.stage_schedule, usual.distribution.stage_schedule);
  v.unusual_choice(
      describe(
          "updates",
          "When gradients count, of parameter_server and peer_to_peer: "
          "\"synchronous\", steps of all workers' gradients; \"asynchronous\", each "
          "gradient as it comes; \"bounded\", the same with `staleness`; "
          "\"backup\", steps of the first gradients, without `backup_workers`. "
          "\"auto\": synchronous with servers, asynchronous among peers. What timing "
          "decided is in the log of the training, by which it is made again."),
      p.distribution.updates, usual.distribution.updates,
      words<update_rule, 5>{{{"auto", update_rule::automatic},
                             {"synchronous", update_rule::synchronous},
                             {"asynchronous", update_rule::asynchronous},
                             {"bounded", update_rule::bounded},
                             {"backup", update_rule::backup}}});
  v.unusual(describe("staleness", "How many steps a worker may be ahead of the slowest, "
                                  "with updates = \"bounded\"; at least 1."),
            p.distribution.staleness, usual.distribution.staleness);
  v.unusual(describe("backup_workers",
                     "How many workers' gradients a step does without, those of the "
                     "slowest, with updates = \"backup\"."),
            p.distribution.backup_workers, usual.distribution.backup_workers);
}

template<class Visitor>
void keys(Visitor& v, keys_of<limits_params> auto& p) {
  v.key(
      describe(
          "evaluation_time",
          "A training whose epochs do not fit into this time has as many steps as there "
          "is room for, and its rates follow the clock. Where several slots share a "
          "training or others go on from it, it is cut, and the best of its epochs "
          "counts; where rungs compare equal trainings, and of all else, a candidate "
          "that takes longer has failed (timed_out). \"0s\" for no limit."),
      p.evaluation_time);
  v.size(describe("evaluation_memory", "A candidate that takes more memory has failed "
                                       "(out_of_memory); \"0B\" for no limit."),
         p.evaluation_memory);
  v.key(describe(
            "wall_time",
            "The run pauses after this time and can be resumed; with [final] its end is "
            "planned so that it is finished by then. \"0s\" for no limit."),
        p.wall_time);
}

template<class Visitor>
void keys(Visitor& v, keys_of<final_params> auto& p) {
  v.key(describe(
            "model",
            "\"none\": the champion, as the search trained it. \"best\": the best "
            "genomes are trained to the end. \"ensemble\": of all models that there are "
            "then, an ensemble is chosen and calibrated, by examples that they were not "
            "trained with. `clade run --minutes` takes \"ensemble\" for \"none\"."),
        p.model);
  v.key(describe("members", "Genomes that are trained to the end; 0: chosen, by the time "
                            "that is left."),
        p.members);
  v.key(describe("epochs", "Epochs of such a training; 0: chosen, four times "
                           "training.epochs and at least 60 where there is time for "
                           "them, and more where time is left."),
        p.epochs);
  v.key(describe("folds", "So many models of each genome, each trained with the training "
                          "part and all but one fold of the validation part, or with "
                          "fewer than 5,000 examples all but one fold of both; 1: the "
                          "parts as they are; 0: chosen, by the time that is left, and "
                          "1 where rows are split by time or by groups."),
        p.folds);
  v.key(describe("share", "The share of limits.wall_time that is kept for this; 0: "
                          "chosen, from 0.5 to 0.88, by how long an epoch takes."),
        p.share);
}

template<class Visitor>
void keys(Visitor& v, keys_of<slots_params> auto& p) {
  v.devices(
      describe("local",
               "What this machine trains on: \"auto\" (its GPUs, else its cores), "
               "\"none\", a number of CPU slots, \"cpu:N\", \"cuda\", or a list "
               "such as [\"cuda:0*2\", \"cpu:2\"] (two slots on one GPU). Small networks "
               "leave a GPU idle: several slots on it search several times as fast."),
      p.local);
  v.set(describe("listen", "Where workers of other machines join, such as "
                           "\"10.0.0.1:4700\"; empty for nowhere."),
        p.listen);
}

} // namespace clade
