// The values that [data] may have, before any file is looked at.
#include "engine/data/columns/data_params.hpp"

#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/columns/examples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <initializer_list>

namespace clade {
namespace {

tl::unexpected<error> wrong(std::string message) {
  return fail(error_kind::invalid_input, std::move(message));
}

// The test set's keys: targets of their own for both parts or for none.
expected<void> validate_test(const data_params& params) {
  const auto test = test_files(params);
  if (params.test_file.empty() && !params.test_target_file.empty())
    return wrong("test_target_file says nothing without a test_file");
  if (!test && params.test_limit)
    return wrong("test_limit says nothing without a test_file or a test_array: the test "
                 "part is a share of the examples, see split and limit");
  if (!test && !params.test_target_array.empty())
    return wrong("test_target_array says nothing without a test_array or a test_file");
  if (!test || training_files(params).targets.file.empty() == test->targets.file.empty())
    return {};
  if (!params.test_file.empty() && params.target_array.empty()
      && params.test_target_array.empty())
    return wrong("test_target_file and target_file go together: give both or none");
  return wrong("test_target_array and target_array go together: give both or none");
}

bool any_of(const std::string& word, std::initializer_list<std::string_view> known) {
  return std::ranges::find(known, word) != known.end();
}

expected<void> validate_form(const data_params& params) {
  if (!any_of(params.delimiter, {"auto", ",", ";", "|", "\t", " ", "first blank"}))
    return wrong(fmt::format(
        "delimiter must be \"auto\", \",\", \";\", \"|\", \"\\t\", \" \" or \"first "
        "blank\", not \"{}\"",
        params.delimiter));
  if (!any_of(params.decimal, {"auto", ".", ","}))
    return wrong(fmt::format("decimal must be \"auto\", \".\" or \",\", not \"{}\"",
                             params.decimal));
  if (!any_of(params.encoding, {"auto", "utf-8", "utf-16", "latin-1"}))
    return wrong(fmt::format(
        "encoding must be \"auto\", \"utf-8\", \"utf-16\" or \"latin-1\", not \"{}\"",
        params.encoding));
  return {};
}

/// Tables of series that are examples, and tables that are none of series.
expected<void> validate_series(const data_params& params) {
  if (params.forecast.season > 0 || !params.forecast.known.empty()
      || !params.forecast.step.empty())
    return wrong(
        "season, step and known are for forecasts: say with horizon how many steps are "
        "to be forecast");
  if (params.forecast.series.empty())
    return params.forecast.time.empty()
               ? expected<void>()
               : wrong(
                   "time says the order of steps within series: say with series which "
                   "columns tell them apart, or with horizon how many steps are to be "
                   "forecast");
  if (!params.target_file.empty() || !params.images.empty())
    return wrong("with series, the targets are a column of the table; remove target_file "
                 "and images");
  return {};
}

expected<void> validate_quantiles(const data_params& params) {
  constexpr std::size_t most = 100;
  const auto& all = params.quantiles;
  if (!params.task.has_quantiles())
    return all == data_params{}.quantiles
               ? expected<void>()
               : wrong("quantiles are of a number: say task = \"quantiles\"");
  if (all.empty() || all.size() > most)
    return wrong(fmt::format("quantiles must be 1 to {}", most));
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!(all[i] > 0 && all[i] < 1) || (i > 0 && all[i] <= all[i - 1]))
      return wrong(fmt::format("quantiles must be above 0, below 1 and in rising order, "
                               "such as [0.1, 0.5, 0.9]; {} is not",
                               all[i]));
  if (!params.targets.empty())
    return wrong("quantiles are of one number; write target in place of targets");
  if (params.forecast.horizon > 0)
    return wrong("quantiles of forecasts are not learnt: say task = \"regression\", and "
                 "predict --intervals tells how far forecasts are off");
  return {};
}

expected<void> validate_forecast(const data_params& params) {
  constexpr std::uint64_t most_steps = 10'000, most_season = 1'000'000;
  if (params.forecast.horizon == 0)
    return validate_series(params);
  if (params.forecast.horizon > most_steps || params.forecast.season > most_season)
    return wrong(fmt::format("horizon must be at most {} steps, and season {}",
                             most_steps, most_season));
  if (!params.task.has_numbers())
    return wrong("a forecast is of numbers: with horizon, say task = \"regression\"");
  if (test_files(params) || !params.target_file.empty() || !params.images.empty())
    return wrong("with horizon, the series are in one table; remove test_file, "
                 "target_file and images");
  if (params.split_by != split_rule::random)
    return wrong("with horizon, the parts are cut out of each series in order of time; "
                 "remove by and column from split");
  return {};
}

expected<void> validate_targets(const data_params& params) {
  if (params.targets.empty())
    return {};
  if (params.targets.size() == 1)
    return wrong("targets is for several columns; write target = "
                 + in_quotes(params.targets.front()));
  if (params.task.has_classes())
    return wrong("several targets are numbers or labels; say task = \"regression\" or "
                 "task = \"multilabel\"");
  if (!params.target_file.empty())
    return wrong("targets are columns of the table, and target_file is another file; "
                 "remove one of them");
  if (params.forecast.of_examples())
    return wrong("a series has one target; write target in the place of targets");
  return {};
}

expected<void> validate_split(const data_params& params) {
  const auto share = [](double s) { return std::isfinite(s) && s > 0 && s <= 1e6; };
  if (!share(params.train) || !share(params.validation)
      || (!test_files(params) && !share(params.test)))
    return wrong("split must give a share above 0 to train, validation and test, as in "
                 "split = {train = 0.6, validation = 0.2, test = 0.2}");
  const bool by_column = params.split_by != split_rule::random;
  if (by_column && params.split_column.empty())
    return wrong("split by time or group needs the column of the times or the groups, as "
                 "in split = {train = 0.6, validation = 0.2, test = 0.2, by = \"time\", "
                 "column = \"date\"}");
  if (!by_column && !params.split_column.empty())
    return wrong("split has a column, but does not say by what: write by = \"time\" or "
                 "by = \"group\"");
  return {};
}

} // namespace

data_params params_of_first_runs() {
  data_params params;
  params.blanks = blank_rule::refuse;
  params.delimiter = ",";
  params.decimal = ".";
  params.encoding = "utf-8";
  params.scale = scale_rule::deviation;
  params.texts = text_rule::terms;
  params.layout = array_layout::channels_first;
  return params;
}

std::optional<std::uint64_t> line_of_names(std::string_view header) {
  constexpr std::string_view word = "line ";
  constexpr std::uint64_t last = 1000;
  std::uint64_t line = 0;
  const auto* end = header.data() + header.size();
  if (!header.starts_with(word)
      || std::from_chars(header.data() + word.size(), end, line).ptr != end || line < 1
      || line > last)
    return std::nullopt;
  return line;
}

expected<void> check_shares(const data_params& params) {
  std::vector<double> shares{params.train, params.validation};
  if (!test_files(params))
    shares.push_back(params.test);
  double sum = 0;
  for (const double s : shares)
    sum += s;
  const bool parts =
      std::ranges::all_of(shares, [](double s) { return s >= 1 && s == std::floor(s); });
  if (parts || std::abs(sum - 1) < 1e-6)
    return {};
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), "%.6g", sum);
  return wrong(fmt::format("split has shares that sum up to {}, not to 1, as in split = "
                           "{{train = 0.6, validation = 0.2, test = 0.2}}",
                           digits.data()));
}

expected<void> validate(const data_params& params) {
  constexpr std::int64_t most_values = std::int64_t{1} << 31;
  if (params.file.empty())
    return wrong("file is missing: it names the examples, file = \"data/digits.csv.gz\"");
  if (auto valid = validate_test(params); !valid)
    return valid;
  for (const std::string& category : params.categories)
    if (category.empty())
      return wrong("categories must be names of columns, or their numbers from 1");
  for (const std::string& ignored : params.ignore)
    if (ignored.empty())
      return wrong("ignore must be names of columns, or their numbers from 1");
  for (const column_choice& c : params.columns)
    if (c.column.empty())
      return wrong("columns must be named, or have their numbers from 1");
  if (!(params.unreadable >= 0 && params.unreadable <= 1))
    return wrong("unreadable must be a share from 0 to 1, such as 0.01");
  if (params.target.empty())
    return wrong("target must be the name of a column, its number from 1, or \"last\"");
  if (params.header != "auto" && params.header != "none" && params.header != "names"
      && params.header != "counts" && !line_of_names(params.header))
    return wrong(fmt::format("header must be \"auto\", \"none\", \"names\", \"counts\" "
                             "or a line with the names such as \"line 3\", not \"{}\"",
                             params.header));
  std::int64_t values = 1;
  for (const std::int64_t size : params.shape.sizes) {
    if (size < 1 || size > most_values / values)
      return wrong(
          "shape must hold sizes of at least 1 that multiply to less than 2^31, not "
          + to_text(params.shape));
    values *= size;
  }
  if (params.shape.sizes.size() > 3)
    return wrong("shape has at most three sizes, [channels, height, width], not "
                 + to_text(params.shape));
  if (auto valid = validate_form(params); !valid)
    return valid;
  if (auto valid = validate_quantiles(params); !valid)
    return valid;
  if (auto valid = validate_forecast(params); !valid)
    return valid;
  if (auto valid = validate_targets(params); !valid)
    return valid;
  if (!params.weights.empty()
      && (params.forecast.horizon > 0 || params.forecast.of_examples()
          || !params.images.empty()))
    return wrong("weights are of the rows of a table that are examples; remove weights");
  return validate_split(params);
}

} // namespace clade
