#include "engine/data/bytes/in_quotes.hpp"
#include "engine/export/rows/prediction_score.hpp"
#include "engine/export/rows/predictions.hpp"
#include "engine/export/torch/torch_work.hpp"
#include "engine/store/sqlite/run_folder.hpp"
#include "engine/training/asked/training_params.hpp"
#include "tools/cli/base/command.hpp"
#include "tools/cli/take/exported_run.hpp"
#include "tools/machine/output_file.hpp"
#include "tools/machine/slots.hpp"
#include "tools/machine/standard_streams.hpp"

#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <optional>

namespace clade {

namespace {

struct predict_options {
  std::string trained; ///< A model's file, or a run.
  std::string genome, array;
  std::filesystem::path data, output;
  bool probabilities = true;
  std::optional<double> intervals;
  bool score = false, json = false, as_is = false;
};

/// The predictions that are written.
struct predicted {
  std::string rows;
  std::string score; ///< Empty where none was asked for.
};

expected<trained_network> find_network(const predict_options& options) {
  if (names_model(options.trained)) {
    if (!options.genome.empty())
      return fail(error_kind::invalid_input,
                  fmt::format("--genome chooses among the candidates of a run, and {} is "
                              "a file; leave it out",
                              options.trained));
    return read_model(options.trained);
  }
  return find_store(options.trained)
      .and_then([&](const std::filesystem::path& file) {
        return find_trained(file, "--genome", options.genome);
      })
      .map([](trained_candidate&& found) { return std::move(found.trained); });
}

/// Returns the format of what is to be written, as far as the network can give it.
expected<prediction_format> format_of(const predict_options& options,
                                      const trained_network& trained) {
  prediction_format format{.probabilities = options.probabilities,
                           .as_is = options.as_is};
  if (!options.intervals)
    return format;
  if (trained.how.task.has_classes())
    return fail(error_kind::invalid_input,
                "--intervals is for numbers, and this network tells classes, whose "
                "probabilities are written");
  if (trained.how.task.has_quantiles())
    return fail(
        error_kind::invalid_input,
        "--intervals is for a number, and this network tells its quantiles; leave "
        "it out");
  if (trained.how.task.has_labels())
    return fail(error_kind::invalid_input,
                "--intervals is for numbers, and this network tells labels, whose "
                "probabilities are written");
  if (!trained.errors.known())
    return fail(error_kind::invalid_input,
                options.trained
                    + ": it is not known how far this network is off, which --intervals "
                      "takes; it is recorded of the champion, and of the best random "
                      "candidate, when a run ends");
  return intervals_of(trained.errors, *options.intervals)
      .map([&](interval_rule&& intervals) {
        format.intervals = std::move(intervals);
        return format;
      });
}

/// How good the predictions are, in the words or the JSON that were asked for.
expected<std::string> score_of(const predict_options& options,
                               const new_examples& examples,
                               const trained_network& trained,
                               const std::vector<float>& outputs,
                               const prediction_format& format) {
  const auto score = score_predictions(outputs, examples, trained.how, format.intervals);
  if (!score)
    return fail_in(options.data.string(), score.error());
  if (const auto left_out = left_out_text(*examples.targets); !left_out.empty())
    std::cerr << "note: " << options.data.string() << ": " << left_out
              << "; not scored\n";
  return options.json ? score_json(*score, options.intervals)
                      : score_text(*score, options.intervals);
}

expected<void> check_target(const predict_options& options, const new_examples& examples,
                            const preprocessing& how) {
  if (!options.score || examples.targets)
    return {};
  if (how.shape.layout() == layout::sequence)
    return fail_in(options.data.string(),
                   {error_kind::invalid_input,
                    "its series have no classes or numbers, with which --score compares; "
                    "add them, or leave out --score"});
  if (how.columns.empty() && !how.target_column)
    return fail(error_kind::invalid_input,
                "--score compares with the target's column of a CSV, and the training "
                "data was no such table");
  if (how.target.empty() && !how.classes.empty() && !how.columns.empty())
    return fail_in(options.data.string(),
                   {error_kind::invalid_input,
                    fmt::format("the columns of the targets ({}) are not all there, with "
                                "which --score compares; add them, or leave out --score",
                                all_in_quotes(how.classes))});
  return fail_in(options.data.string(),
                 {error_kind::invalid_input,
                  (how.target.empty()
                       ? "the target's column"
                       : fmt::format("the column {}, the target,", in_quotes(how.target)))
                      + " is missing, with which --score compares; add it, or leave out "
                        "--score"});
}

expected<predicted> predict(const predict_options& options) {
  const auto module = torch_export_path();
  if (auto found = find_training(module); !found)
    return tl::unexpected(found.error());
  const auto trained = find_network(options);
  if (!trained)
    return tl::unexpected(trained.error());
  const auto format = format_of(options, *trained);
  if (!format)
    return tl::unexpected(format.error());
  auto reading = trained->reading;
  reading.forecast.hold_back = reading.forecast.horizon > 0 && options.score;
  const auto examples =
      read_new_examples(options.data, options.array, reading, trained->how);
  if (!examples)
    return tl::unexpected(examples.error());
  if (auto there = check_target(options, *examples, trained->how); !there)
    return tl::unexpected(there.error());
  for (const std::string& note : examples->notes)
    std::cerr << "note: " << note << "\n";
  auto outputs =
      load_torch_work(module).and_then([&](const std::unique_ptr<torch_work>& work) {
        return work->outputs(trained->network, trained->weights, examples->features);
      });
  if (!outputs)
    return tl::unexpected(outputs.error());
  order_quantiles(*outputs, trained->how);
  if (auto finite =
          check_finite(*outputs, trained->how, *examples, options.data.string());
      !finite)
    return tl::unexpected(std::move(finite).error());
  predicted out{.rows = predictions_csv(*outputs, trained->how, *format, *examples)};
  if (options.score) {
    auto score = score_of(options, *examples, *trained, *outputs, *format);
    if (!score)
      return tl::unexpected(score.error());
    out.score = std::move(*score);
  }
  return out;
}

/// The rows go to a file, or to standard output where nobody asks for a score; the score
/// to standard output.
int run_predict(const predict_options& options) {
  const auto done = predict(options);
  if (!done)
    return report(done.error());
  if (!options.output.empty())
    if (const auto written = write_output(options.output, done->rows); !written)
      return report(written.error());
  if (options.score)
    std::cout << done->score << std::flush;
  else if (options.output.empty())
    print_data(done->rows);
  return 0;
}

} // namespace

void add_predict(CLI::App& app, command& chosen) {
  auto options = std::make_shared<predict_options>();
  auto* sub = app.add_subcommand("predict", "Use the model of a run on new data");
  sub->add_option("model", options->trained,
                  "A file that clade export RUN --safetensors FILE wrote, which stands "
                  "alone; or\na run: its folder, its name (for the latest of it), or its "
                  "store")
      ->required()
      ->option_text("MODEL|RUN");
  sub->add_option(
         "data", options->data,
         "Examples like those of the training data, with or without the target: a "
         "table\n(CSV, Parquet, Feather, JSON lines, Excel, SQLite, ARFF, LIBSVM), .npy, "
         ".npz, IDX,\nCIFAR or series (.ts, .arff), as they are or gzip, an image or a "
         "text (.txt) or\na folder of them; - reads standard input")
      ->required()
      ->option_text("DATA");
  sub->add_option(
         "--genome", options->genome,
         "This candidate of the run, if its weights were kept, in the\nchampion's "
         "place")
      ->option_text("ID");
  sub->add_option("--array", options->array, "The array of a .npz; else data.array")
      ->option_text("NAME");
  sub->add_flag("--probabilities,!--no-probabilities", options->probabilities,
                "Behind a class, the probability of each; so unless it says no");
  sub->add_option(
         "--intervals", options->intervals,
         "Behind a number, the ends of an interval that holds the true value with\n"
         "this probability, such as 0.9")
      ->check(number_between(0.001, 0.999))
      ->option_text("LEVEL");
  sub->add_flag("--as-is", options->as_is,
                "Names of classes as they are, for programs. Else one that a spreadsheet "
                "would\ntake for a formula, such as =A1, has an apostrophe before it");
  sub->add_option("--output", options->output, "Instead of standard output")
      ->option_text("FILE.csv");
  auto* score = sub->add_flag("--score", options->score,
                              "Say how good the predictions are, where the CSV has the "
                              "target's column: metrics,\n"
                              "and the share of targets in their interval with "
                              "--intervals; rows only to --output");
  sub->add_flag("--json", options->json, "The score as one object")->needs(score);
  sub->footer(
      "A line for each example, in their order: its class and the probability of each "
      "class,\nor its value in the target's own unit, or a column for each of several "
      "targets,\nlabels or quantiles. Columns that have names in both "
      "files may come\nin another order.\n"
      "A MODEL has the network, its weights and all that examples are scaled by: neither "
      "the\nrun nor its data need be there. For a RUN the scales are fitted again, on "
      "the "
      "training\ndata, which must still be where it was, unchanged; the numbers are the "
      "same. Examples:\n"
      "  clade export digits --safetensors digits.safetensors\n"
      "  clade predict digits.safetensors new.csv --output predicted.csv\n"
      "  clade predict digits new.csv --genome 231\n"
      "  clade predict houses.safetensors new.csv --intervals 0.9\n"
      "  clade predict houses.safetensors sold.csv --score --intervals 0.9\n"
      "Intervals are as wide as the errors on the validation data say (split conformal\n"
      "prediction): the same for each example, and of forecasts as wide as those that\n"
      "looked as many steps ahead were off.\n"
      "Of a model of forecasts, --score holds the last steps of each series back, "
      "forecasts "
      "them\nfrom what was before, and compares.");
  sub->callback(
      [&chosen, options] { chosen = [options] { return run_predict(*options); }; });
}

} // namespace clade
