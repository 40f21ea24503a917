// The file reads like one that a person wrote: sections in the order of the manual, a
// comment behind what was chosen. Columns stand in a table of their own, a line each; of
// more than 60 columns, plain numbers are left out, since that is what a column is of
// which nothing is said.

#include "engine/config/experiment/new_experiment.hpp"

#include "engine/config/experiment/toml_writer.hpp"
#include "engine/config/file/units.hpp"
#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/profile/profile_words.hpp"
#include "engine/training/metrics/metrics.hpp"
#include "genome/base/text.hpp"
#include "genome/base/utf8.hpp"
#include "search_spaces/operators/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

namespace clade {
namespace {

constexpr std::size_t most_listed = 60;
/// From this share of one class, accuracy says little of a network.
constexpr double unbalanced_share = 0.8;

/// Lines of "key = value   # comment", comments below each other.
class section_text {
public:
  void line(std::string content, std::string comment = {}) {
    lines_.emplace_back(std::move(content), std::move(comment));
  }

  [[nodiscard]] std::string text() const {
    constexpr std::size_t widest = 40;
    std::size_t width = 0;
    for (const auto& [content, comment] : lines_)
      if (!comment.empty() && content.size() <= widest)
        width = std::max(width, content.size());
    std::string out;
    for (const auto& [content, comment] : lines_) {
      out += content;
      if (!comment.empty())
        out += fmt::format(
            "{}  # {}",
            std::string(content.size() < width ? width - content.size() : 0, ' '),
            comment);
      out += "\n";
    }
    return out;
  }

private:
  std::vector<std::pair<std::string, std::string>> lines_;
};

std::string key_literal(const std::string& name) {
  const bool bare = !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
  return bare ? name : toml_writer::quoted(name);
}

/// A path as it is to stand in the file.
std::string path_literal(const std::filesystem::path& file,
                         const std::filesystem::path& folder) {
  std::error_code failed;
  const auto absolute = std::filesystem::weakly_canonical(file, failed);
  const auto base = std::filesystem::weakly_canonical(folder, failed);
  const auto relative = absolute.lexically_relative(base);
  const bool near =
      !failed && !relative.empty() && !relative.string().starts_with("../..");
  return toml_writer::quoted((near ? relative : absolute).string());
}

std::string split_line(const data_profile& d) {
  const auto shares = d.shares();
  std::string line = fmt::format("split = {{train = {}, validation = {}",
                                 toml_writer::number(shares.train),
                                 toml_writer::number(shares.validation));
  if (shares.test > 0)
    line += ", test = " + toml_writer::number(shares.test);
  if (d.split == split_kind::by_time || d.split == split_kind::by_group)
    line += fmt::format(", by = {}, column = {}",
                        d.split == split_kind::by_time ? "\"time\"" : "\"group\"",
                        toml_writer::quoted(d.split_column));
  return line + "}";
}

std::string list(const std::vector<std::string>& names) {
  return "[" + joined(names, ", ", [](const auto& n) { return toml_writer::quoted(n); })
         + "]";
}

void write_forecast(section_text& out, const forecast_params& p) {
  if (p.horizon == 0 && p.series.empty())
    return;
  if (p.horizon > 0)
    out.line(fmt::format("horizon = {}", p.horizon), "so many steps are forecast");
  if (!p.time.empty())
    out.line("time = " + toml_writer::quoted(p.time));
  if (!p.series.empty())
    out.line("series = " + list(p.series),
             p.horizon > 0 ? "these columns tell series apart"
                           : "rows of the same value are the steps of "
                             "one series, which is an example");
  if (p.horizon == 0)
    return;
  out.line(fmt::format("season = {}", p.season), "steps");
  if (!p.known.empty())
    out.line("known = " + list(p.known), "for steps that are to be forecast, too");
}

std::string task_comment(const data_profile& d) {
  if (d.task.has_classes())
    return fmt::format("{} classes", d.classes.size());
  if (d.task.has_labels())
    return d.outputs > 1       ? "1 of each label that an example has, else 0"
           : d.targets.empty() ? "each row has a list of labels"
                               : "each column says whether a row has that label";
  if (d.task.has_quantiles())
    return "how a number is spread";
  return d.several() ? "the targets are numbers" : "the target is a number";
}

void write_data(section_text& out, const data_profile& d,
                const std::filesystem::path& folder) {
  const bool table = !d.table.columns.empty() && d.format == "CSV";
  out.line("[data]");
  out.line("file = " + path_literal(d.file, folder),
           fmt::format("{}, {}{}", d.format, d.rows,
                       d.forecast.of_examples() ? " series"
                       : table                  ? " rows"
                                                : " examples"));
  if (!d.target_file.empty())
    out.line("target_file = " + path_literal(d.target_file, folder));
  if (!d.array.empty())
    out.line("array = " + toml_writer::quoted(d.array));
  if (!d.target_array.empty())
    out.line("target_array = " + toml_writer::quoted(d.target_array));
  if (!d.test_file.empty())
    out.line("test_file = " + path_literal(d.test_file, folder));
  if (!d.test_array.empty())
    out.line("test_array = " + toml_writer::quoted(d.test_array));
  if (!d.test_target_array.empty())
    out.line("test_target_array = " + toml_writer::quoted(d.test_target_array));
  if (!d.test_target_file.empty())
    out.line("test_target_file = " + path_literal(d.test_target_file, folder));
  if (!d.targets.empty())
    out.line("targets = " + list(d.target_labels()));
  else if (d.target_column)
    out.line("target = "
                 + toml_writer::quoted(!d.table.columns.empty()
                                           ? d.label(*d.target_column)
                                           : std::to_string(*d.target_column + 1)),
             target_text(d.target_found));
  if (d.weights)
    out.line("weights = " + toml_writer::quoted(d.label(*d.weights)),
             "how much each row counts in training");
  out.line("task = " + toml_writer::quoted(std::string(d.task.name)), task_comment(d));
  if (!d.quantiles.empty())
    out.line(
        fmt::format("quantiles = [{}]", joined(d.quantiles, ", ", toml_writer::number)));
  if (table)
    out.line("header = "
                 + toml_writer::quoted(
                     d.names_line > 0 ? fmt::format("line {}", d.names_line) : d.header),
             d.names_line > 0       ? "the names of the columns stand there"
             : d.header == "names"  ? "the first line names the columns"
             : d.header == "counts" ? "the first line counts rows and names classes"
                                    : "the first line is a row");
  if (table && d.delimiter != ",")
    out.line("delimiter = " + toml_writer::quoted(d.delimiter));
  if (table && d.decimal != '.')
    out.line("decimal = \",\"");
  if (table && d.encoding != "utf-8")
    out.line("encoding = " + toml_writer::quoted(d.encoding));
  write_forecast(out, d.forecast);
  if (!d.images.empty())
    out.line("images = " + toml_writer::quoted(d.images), "the column of their files");
  if (!d.image_folder.empty())
    out.line("image_folder = " + path_literal(d.image_folder, folder));
  if (!d.image_sizes.empty())
    out.line("shape = " + to_text(d.shape),
             "channels, height, width: images are scaled to it; theirs: "
                 + d.image_sizes);
  if (d.steps.count > 0)
    out.line(
        "shape = " + to_text(d.shape),
        "each row is a series: steps, channels; without this line columns are columns");
  if (!d.layout.empty())
    out.line("layout = " + toml_writer::quoted(d.layout),
             d.layout == "channels_last" ? "[n, height, width, channels]"
                                         : "[n, channels, height, width]");
  if (table && !d.forecast.of_examples())
    out.line("blanks = \"impute\"",
             "numbers: the mean, and a further input that says so; "
             "categories: one of their own");
  out.line(split_line(d), split_text(d));
}

/// Series are of numbers.
column_use use_in_series(const data_profile& d, std::size_t column) {
  return d.is_channel(column) ? column_use{.as = column_kind::number}
                              : column_use{.ignored = ignore_reason::not_of_series};
}

/// The table of columns, or nothing where there is nothing to say.
std::string columns_text(const data_profile& d) {
  const auto& columns = d.table.columns;
  if (columns.empty() || d.format != "CSV" || !d.images.empty())
    return {};
  section_text out;
  std::size_t plain_ones = 0, listed = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (d.is_apart(i) || (d.forecast.of_examples() && d.names_steps(i)))
      continue;
    const auto use = d.forecast.of_examples() ? use_in_series(d, i)
                     : d.steps.has(i)         ? column_use{.as = column_kind::number}
                                              : use_of(columns[i]);
    const bool used = use.ignored == ignore_reason::none;
    const bool plain = used && use.as == column_kind::number;
    plain_ones += plain ? 1 : 0;
    if (plain && columns.size() > most_listed)
      continue;
    ++listed;
    const std::string kind = used ? std::string(to_text(use.as)) : "ignore";
    const auto blanks = columns[i].blanks;
    out.line(fmt::format("{} = {}", key_literal(d.label(i)), toml_writer::quoted(kind)),
             (used ? values_text(columns[i]) : reason_text(columns[i], use.ignored))
                 + (blanks > 0 ? fmt::format("; {} blank", with_commas(blanks)) : ""));
  }
  if (listed == 0)
    return {};
  std::string head = "[data.columns]";
  if (columns.size() > most_listed)
    head += fmt::format("   # the other {} are numbers", with_commas(plain_ones));
  return fmt::format("\n{}\n{}", head, out.text());
}

std::string objective_text(const data_profile& d) {
  if (d.forecast.horizon > 0)
    return "minimize = [\"validation.mae\"]   # a MASE: 1 is what the value one season "
           "before was off by lately\n";
  if (d.task.has_labels())
    return "minimize = [\"validation.loss\"]   # the mean over the labels; f1_micro is "
           "coarser\n";
  if (d.task.has_quantiles())
    return "minimize = [\"validation.pinball\"]   # the mean over the quantiles, in the "
           "target's own unit\n";
  if (d.several())
    return "maximize = [\"validation.r2\"]   # the mean over the targets, each in shares "
           "of its spread\n";
  if (!d.task.has_classes()) {
    const auto usual = part_metrics(d.task).front();
    return fmt::format("{} = [\"validation.{}\"]   # in the target's own unit\n",
                       usual.maximize ? "maximize" : "minimize", usual.name);
  }
  const double share = d.classes.empty() ? 0
                                         : static_cast<double>(d.classes.front().count)
                                               / static_cast<double>(d.target.values());
  if (share < unbalanced_share)
    return "maximize = [\"validation.accuracy\"]\n";
  return fmt::format("# The mean of the accuracy of each class: always to say {}\n# "
                     "would be right in {} % of the rows, and good for "
                     "nothing.\nmaximize = [\"validation.balanced_accuracy\"]\n",
                     in_quotes(d.classes.front().value), std::lround(100 * share));
}

std::string head_text(const data_profile& d, const new_experiment_params& p) {
  std::string out = fmt::format("# Written by `clade new` from {}. Change what you like; "
                                "then:\n#\n#   clade run {}.toml\n",
                                plain_line(d.file.filename().string()), p.name);
  if (!d.suspicions.empty())
    out += "#\n# Look at:\n";
  for (const std::string& line : suspicion_lines(d))
    out += fmt::format("#   * {}\n", line);
  return out + "\n";
}

// Folds are for few examples, whose validation part is small and costs training examples.
std::string final_text(const data_profile& d) {
  constexpr std::uint64_t few = 5000;
  section_text out;
  out.line("model = \"ensemble\"",
           "the best are trained to the end, and several together are the model");
  const bool ordered = d.split == split_kind::by_time || d.split == split_kind::by_group
                       || d.split == split_kind::by_steps;
  if (d.rows < few && !d.image() && !ordered)
    out.line("folds = 5",
             "of each so many models, each without another fifth of the validation part");
  return out.text();
}

} // namespace

search_size search_size_for(const data_profile& d) {
  constexpr double steps = 8000, batch = 32;
  const double train = std::max(1.0, 0.6 * static_cast<double>(d.rows));
  // Sets of series are small, and so are the networks for them.
  const double most = d.image() ? 15 : d.series() ? 200 : 40;
  search_size size;
  size.epochs = static_cast<std::uint32_t>(
      std::clamp(std::round(steps * batch / train), 8.0, most));
  if (d.image())
    size.population = 16, size.generations = 6;
  return size;
}

suggested_space space_for(const data_profile& d) {
  constexpr std::int64_t large = 48;
  if (d.image() && std::min(d.shape.sizes[1], d.shape.sizes[2]) >= large)
    return {"photo", "residual networks for larger images"};
  if (d.image())
    return {"residual", "residual networks"};
  if (d.series())
    return {"series", "convolutions over time"};
  return {"tabular", "dense and residual networks, embeddings of numbers"};
}

std::string new_experiment(const data_profile& d, const new_experiment_params& p) {
  section_text head, data, space, evolution, training, limits;
  head.line("[experiment]");
  head.line("name = " + toml_writer::quoted(p.name));
  head.line(fmt::format("seed = {}", p.seed), "the same seed gives the same search");
  write_data(data, d, p.folder);
  space.line("[search_space]");
  const auto suggested = space_for(d);
  space.line("file = " + toml_writer::quoted(std::string(suggested.name)),
             "built in: " + std::string(suggested.content));
  evolution.line("[evolution]");
  evolution.line(fmt::format("population = {}", p.size.population));
  evolution.line(fmt::format("generations = {}", p.size.generations),
                 with_commas(p.size.population * p.size.generations) + " trainings");
  if (p.in_flight != 0)
    evolution.line(fmt::format("in_flight = {}", p.in_flight),
                   "candidates at once; another number is another search");
  training.line("[training]");
  training.line(fmt::format("epochs = {}", p.size.epochs), "at most, of each training");
  if (d.image()) {
    training.line("memory_format = \"channels_last\"", "faster on processors");
    if (d.colored())
      training.line("flip = true", "photographs look the same from either side");
  }
  limits.line("[limits]");
  if (p.wall_time.count() > 0)
    limits.line("wall_time = " + toml_writer::quoted(duration_literal(p.wall_time)),
                "part of it for the search, the rest for what [final] says");
  limits.line("evaluation_time = "
                  + toml_writer::quoted(duration_literal(p.evaluation_time)),
              "of one training; if its epochs do not fit, its rates follow the clock");
  std::string out =
      fmt::format("{}{}\n{}{}\n{}\n[objective]\n{}\n{}\n{}\n{}", head_text(d, p),
                  head.text(), data.text(), columns_text(d), space.text(),
                  objective_text(d), evolution.text(), training.text(), limits.text());
  out += "\n[final]\n" + final_text(d);
  if (p.slots != "auto")
    out += fmt::format("\n[slots]\nlocal = {}\n", toml_writer::quoted(p.slots));
  return out;
}

} // namespace clade
