// An experiment is found out in this order: the profile of the data, the size of a search
// that suits its rows, and, measured by `clade plan` in a process of its own, how long that
// takes. With --minutes the size is changed so that the search fits into its part of them;
// limits.wall_time and [final] end it in time. The time for looking and measuring counts
// towards the minutes where the run begins at once.

#include "engine/config/experiment/experiment.hpp"
#include "engine/config/experiment/new_experiment.hpp"
#include "engine/data/folders/class_folder.hpp"
#include "engine/report/base/format.hpp"
#include "engine/report/page/contact_sheet.hpp"
#include "genome/base/text.hpp"
#include "genome/base/utf8.hpp"
#include "tools/cli/base/command.hpp"
#include "tools/cli/run/profile_view.hpp"
#include "tools/launch/outside_command.hpp"
#include "tools/machine/output_file.hpp"
#include "tools/machine/slots.hpp"
#include "tools/machine/standard_streams.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <memory>

namespace clade {

namespace {

struct new_options {
  profile_request request;
  std::string task, layout = "auto";
  std::filesystem::path output, sheet;
  bool force = false;
  bool run = false;
  std::optional<double> minutes;
  std::uint64_t seed = 1;
  std::string slots = "auto";
  bool json = false;
};

/// A run that begins at once takes so many minutes where nobody says how many.
constexpr double usual_minutes = 10;
/// Measuring may take this share of the minutes, and no more than so many seconds.
constexpr double measuring_share = 0.05, longest_measuring = 8;

/// The measurements of `clade plan`.
struct measured {
  double seconds_per_evaluation = 0;
  double seconds = 0;
  std::size_t slots = 1;
};

expected<measured> measure_speed(const std::filesystem::path& file, double within) {
  const auto ended =
      run_outside({.command = {own_program().string(), "plan", file.string(), "--json",
                               "--within", std::to_string(within)},
                   .input = {},
                   .keep_errors = true});
  if (!ended)
    return tl::unexpected(ended.error());
  if (ended->status != 0) {
    std::string said = ended->output.substr(0, ended->output.find('\n'));
    if (said.starts_with("clade: "))
      said.erase(0, 7);
    return fail(error_kind::invalid_input, std::move(said));
  }
  // Warnings of LibTorch may stand before the line of JSON.
  const auto plan = nlohmann::json::parse(
      ended->output.substr(std::min(ended->output.find('{'), ended->output.size())),
      nullptr, false);
  if (!plan.is_object())
    return fail(error_kind::internal, "clade plan did not answer with JSON");
  if (!plan.at("seconds").is_number())
    return fail(error_kind::io, plan.value("not_measured", "the speed was not measured"));
  return measured{.seconds_per_evaluation = plan.at("seconds_per_evaluation"),
                  .seconds = plan.at("seconds"),
                  .slots = std::max<std::size_t>(plan.at("slots").size(), 1)};
}

/// If no epoch ends in the time for measuring, few trainings fit into any run.
expected<measured> too_slow_to_measure(const new_options& options,
                                       const search_size& size) {
  return parse_slots(options.slots).map([&](const std::vector<slot>& slots) {
    const double seconds = 60 * *options.minutes * size.epochs;
    return measured{.seconds_per_evaluation = seconds,
                    .seconds = seconds,
                    .slots = std::max<std::size_t>(1, slots.size())};
  });
}

/// "NAME.toml" in the current folder, or what --output says; fails where it is there.
expected<std::filesystem::path> output_of(const new_options& options) {
  const auto file =
      options.output.empty()
          ? std::filesystem::path(experiment_name(options.request.file) + ".toml")
          : options.output;
  std::error_code ignored;
  if (!options.force && std::filesystem::exists(file, ignored))
    return fail_in(file.string(),
                   {error_kind::conflict, "is there already; --force writes over it, "
                                          "--output FILE.toml writes another"});
  return file;
}

std::string task_names(const std::string& quote) {
  return joined(learning_tasks, " or ",
                [&](const auto& task) { return quote + std::string(task.name) + quote; });
}

expected<profile_request> request_of(const new_options& options) {
  auto request = options.request;
  for (const auto& name : {request.file.string(), request.test_file.string()})
    if (plain_line(name) != name)
      return fail_in(plain_line(name),
                     {error_kind::invalid_input,
                      "the name has line ends, control characters or bytes that are no "
                      "UTF-8, which an experiment file cannot hold; rename it"});
  if (const auto* task = find_learning_task(options.task))
    request.task = *task;
  else if (!options.task.empty())
    return fail(error_kind::invalid_input, fmt::format("--task is \"{}\": it must be {}",
                                                       options.task, task_names("\"")));
  if (!request.quantiles.empty()) {
    if (request.task && !request.task->has_quantiles())
      return fail(error_kind::invalid_input,
                  fmt::format("--quantiles are of a number, and --task is \"{}\"; leave "
                              "out one of them",
                              options.task));
    request.task = quantiles;
  }
  data_params said{.file = request.file, .header = request.header};
  said.decimal = request.decimal;
  if (request.task == quantiles) {
    said.task = quantiles;
    if (!request.quantiles.empty())
      said.quantiles = request.quantiles;
    said.targets = request.targets;
    said.forecast.horizon = request.forecast.horizon;
  }
  if (auto fine = validate(said); !fine)
    return fail(error_kind::invalid_input, "--" + fine.error().message);
  if (options.layout == "channels_first")
    request.layout = array_layout::channels_first;
  else if (options.layout == "channels_last")
    request.layout = array_layout::channels_last;
  else if (options.layout == "table")
    request.rows_are = row_rule::columns;
  else if (options.layout == "series")
    request.rows_are = row_rule::series;
  else if (options.layout != "auto")
    return fail(
        error_kind::invalid_input,
        fmt::format(
            "--layout is \"{}\": it must be \"auto\", \"channels_first\" ([n, channels, "
            "height, width]) or \"channels_last\" ([n, height, width, channels]), or of "
            "a table \"table\" or \"series\" (each row is one)",
            options.layout));
  if (!request.forecast.time.empty() && request.forecast.horizon == 0
      && request.forecast.series.empty())
    return fail(
        error_kind::invalid_input,
        "--time is for tables of series: say with --series which columns tell them "
        "apart, or with --horizon how many steps are to be forecast");
  if (request.forecast.horizon > 0 && !request.test_file.empty())
    return fail(error_kind::invalid_input,
                "--test is not for forecasts, which are tested on the last steps of each "
                "series: put the rows of both files into one, or leave it out");
  if (options.minutes && !(*options.minutes > 0 && *options.minutes <= 1e6))
    return fail(error_kind::invalid_input, "--minutes must be above 0");
  return request;
}

/// Becomes `clade run FILE`; returns only if that fails.
int start_run(const std::filesystem::path& file, bool json) {
  const std::string program = own_program();
  const std::string name = file.string();
  std::vector<const char*> words{program.c_str(), "run", name.c_str()};
  if (json)
    words.push_back("--json");
  words.push_back(nullptr);
  if (const auto written = flush_output(); !written)
    return report(written.error());
  ::execv(program.c_str(), const_cast<char* const*>(words.data()));
  return report({error_kind::io, program + " cannot be started"});
}

/// How long the run may take, of the minutes that were asked for.
double seconds_left(const new_options& options,
                    std::chrono::steady_clock::time_point began) {
  const double all = 60 * *options.minutes;
  if (!options.run)
    return all;
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began;
  return std::max(all - spent.count(), std::min(all, 1.0));
}

/// Writes the experiment, and again once its speed is known and there is a limit.
expected<std::optional<measured>>
write_experiment(const data_profile& data, const new_options& options,
                 const std::filesystem::path& file,
                 std::chrono::steady_clock::time_point began) {
  new_experiment_params params{.name = experiment_name(file),
                               .seed = options.seed,
                               .size = search_size_for(data),
                               .wall_time = {},
                               .slots = options.slots,
                               .folder = file.parent_path()};
  if (params.folder.empty())
    params.folder = ".";
  if (auto written = write_output(file, new_experiment(data, params)); !written)
    return tl::unexpected(written.error());
  if (!options.json)
    std::cout << "measuring how fast three networks train here ..." << std::endl;
  auto speed = measure_speed(
      file, options.minutes
                ? std::min(longest_measuring, 60 * measuring_share * *options.minutes)
                : 0);
  if (!speed && speed.error().kind == error_kind::invalid_input)
    return fail(error_kind::invalid_input,
                fmt::format("wrote {}, which does not run yet: {}", file.string(),
                            speed.error().message));
  if (options.minutes) {
    const double seconds = seconds_left(options, began);
    if (!speed)
      speed = too_slow_to_measure(options, params.size);
    if (speed) {
      const auto fitted =
          fit_search(params.size, speed->seconds_per_evaluation / params.size.epochs,
                     speed->slots, seconds, params.evaluation_time);
      params.size = fitted.size;
      params.evaluation_time = fitted.evaluation_time;
      // The clock ends it, so that no slot needs to wait for the sake of equal searches.
      const auto busy = std::min<std::uint64_t>(speed->slots, params.size.population);
      if (busy > usual_in_flight(params.size.population))
        params.in_flight = busy;
      speed->seconds = seconds * 0.9;
    }
    params.wall_time = std::chrono::seconds(
        std::max<std::int64_t>(1, std::llround(std::floor(seconds))));
    if (auto written = write_output(file, new_experiment(data, params)); !written)
      return tl::unexpected(written.error());
  }
  return speed ? std::optional(*speed) : std::nullopt;
}

/// The images that --sheet draws.
expected<class_folder> images_of(const data_profile& data) {
  if (data.listed_images)
    return *data.listed_images;
  if (data.format != images_format)
    return fail_in(data.file.string(),
                   {error_kind::invalid_input,
                    "is neither a folder of images nor a table that names them, which "
                    "--sheet draws; leave it out"});
  return find_classes(data.file, folder_kind::images);
}

/// Writes the page of images that --sheet asks for.
expected<void> draw_sheet(const data_profile& data, const new_options& options) {
  if (options.sheet.empty())
    return {};
  const auto images = images_of(data);
  if (!images)
    return tl::unexpected(images.error());
  const auto sheet = make_contact_sheet(*images, data.file.filename().string());
  if (auto written = write_output(options.sheet, sheet.html); !written)
    return written;
  if (!options.json)
    std::cout << fmt::format(
        "drew {}: images of each class{}\n", options.sheet.string(),
        sheet.odd > 0 ? fmt::format(", and before them {} unlike the others of {}",
                                    counted(sheet.odd, "that is", "that are"),
                                    sheet.odd == 1 ? "its class" : "their class")
                      : "");
  return {};
}

int make_experiment(new_options options) {
  if (options.run && !options.minutes)
    options.minutes = usual_minutes;
  const auto began = std::chrono::steady_clock::now();
  const auto request = request_of(options);
  if (!request)
    return report(request.error());
  const auto file = output_of(options);
  if (!file)
    return report(file.error());
  const auto data = profile_data(*request);
  if (!data)
    return report(data.error());
  if (options.json)
    std::cout << profile_json(*data) << std::endl;
  else
    std::cout << profile_table(*data) << std::flush;
  if (const auto drawn = draw_sheet(*data, options); !drawn)
    return report(drawn.error());
  const auto speed = write_experiment(*data, options, *file, began);
  if (!speed)
    return report(speed.error());
  if (!options.json) {
    std::cout << "wrote " << file->string();
    if (*speed)
      std::cout << "; a run of it takes about " << duration_text((*speed)->seconds)
                << " here";
    std::cout << "\n";
    if (!options.run)
      std::cout << "  clade run " << file->string() << "\n";
  }
  return options.run ? start_run(*file, options.json) : 0;
}

} // namespace

void add_new(CLI::App& app, command& chosen) {
  auto options = std::make_shared<new_options>();
  auto* sub = app.add_subcommand("new", "Look at data and write an experiment for it");
  sub->add_option(
         "data", options->request.file,
         "A table (CSV, Parquet, Feather, JSON lines, Excel, SQLite, ARFF, LIBSVM), a "
         ".npy or\n.npz array, an IDX file, a batch of CIFAR or time series (.ts, "
         ".arff), "
         "also\nwith .gz, or a folder with a folder of images or texts (.txt) for each "
         "class")
      ->required();
  sub->add_option(
      "--target", options->request.target,
      "The column to predict (its name, its number, or \"last\"), or the file "
      "of the targets");
  sub->add_option("--targets", options->request.targets,
                  "Several columns to predict, with commas between them: numbers, or "
                  "labels that\na row has or has not (1 or 0, yes or no); with --horizon "
                  "each is a series")
      ->delimiter(',')
      ->option_text("COLUMN,...");
  sub->add_option("--quantiles", options->request.quantiles,
                  "Quantiles of a number to predict, such as 0.1,0.5,0.9: nine of ten "
                  "values\nare below the last")
      ->delimiter(',')
      ->option_text("SHARE,...");
  sub->add_option(
         "--weights", options->request.weights,
         "The column that says how much each row counts in training; 2 is as two "
         "rows")
      ->option_text("COLUMN");
  sub->add_option(
         "--layout", options->layout,
         "Of an array of images: channels_first, [n, channels, height, width], or\n"
         "channels_last; auto recognizes it, or says that the sizes do not tell. Of a "
         "table\n"
         "whose columns count up (t0, t1, ...): series, if each row is one, or table; "
         "auto\n"
         "takes them for steps if their values go on from one to the next")
      ->capture_default_str();
  sub->add_option("--test", options->request.test_file,
                  "A file of the same kind that is the test set; otherwise one that lies "
                  "beside\nan array or series, or a fifth of the data");
  sub->add_option("--array", options->request.array,
                  "The table of a database or the sheet of a workbook that is meant");
  sub->add_option("--header", options->request.header,
                  "What the first line of a table is: names, none (a row), counts, or "
                  "\"line 3\" where names stand there (default: found out)");
  sub->add_option(
      "--decimal", options->request.decimal,
      "What stands before the decimals of a table's numbers: . or , (default: "
      "found out)");
  auto* horizon =
      sub->add_option("--horizon", options->request.forecast.horizon,
                      "The table holds series, whose next so many steps are to be "
                      "forecast")
          ->check(whole_number(1, 10'000));
  sub->add_option("--time", options->request.forecast.time,
                  "The column of times of series (default: found out)");
  sub->add_option(
         "--series", options->request.forecast.series,
         "The columns that tell series apart, with commas (default, of forecasts: "
         "found\nout). Without --horizon each series is an example, with a class "
         "or a number in\nthe column of the target")
      ->delimiter(',');
  sub->add_option("--season", options->request.forecast.season,
                  "The steps after which their values are likely to be alike (default: "
                  "found out)")
      ->needs(horizon);
  sub->add_option("--task", options->task, task_names(""));
  sub->add_option("--output", options->output,
                  "The experiment's file; otherwise NAME.toml in the current folder");
  sub->add_option(
         "--sheet", options->sheet,
         "Also draw images of each class (a table's by ranges of their numbers), and "
         "those unlike the others of theirs")
      ->option_text("FILE.html");
  sub->add_flag("--force", options->force, "Write over the experiment's file");
  sub->add_flag("--run", options->run, "Run the experiment at once");
  sub->add_option(
      "--minutes", options->minutes,
      fmt::format("How long a run may take; with --run, all that this command "
                  "does, {} where it is not given",
                  usual_minutes));
  sub->add_option("--seed", options->seed, "The experiment's seed")
      ->check(whole_number(0, largest_seed))
      ->capture_default_str();
  sub->add_option("--slots", options->slots,
                  "slots.local of the experiment: auto, a number of CPU slots, or GPUs: "
                  "cuda, cuda:0*2")
      ->capture_default_str();
  sub->add_flag("--json", options->json, "JSON objects, one a line, for programs");
  sub->footer("Says what each column is, guesses what is to be predicted where --target "
              "does not\nsay it, and points out what looks wrong. The experiment is "
              "complete: read it, change\nit, and run it.");
  sub->callback(
      [&chosen, options] { chosen = [options] { return make_experiment(*options); }; });
}

} // namespace clade
