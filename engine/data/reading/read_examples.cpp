#include "engine/data/columns/examples.hpp"
#include "engine/data/converted/data_file.hpp"
#include "engine/data/converted/text_folder.hpp"
#include "engine/data/folders/class_folder.hpp"
#include "engine/data/forecast/history.hpp"
#include "engine/data/forecast/long_table.hpp"
#include "engine/data/forecast/window_table.hpp"
#include "engine/data/formats/cifar.hpp"
#include "engine/data/formats/data_format.hpp"
#include "engine/data/formats/series_set.hpp"
#include "engine/data/images/image_folder.hpp"
#include "engine/data/reading/array_examples.hpp"
#include "engine/data/reading/image_examples.hpp"
#include "engine/data/reading/preprocessing.hpp"
#include "engine/data/reading/series_examples.hpp"
#include "engine/data/tables/csv.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace clade {
namespace {

using format = data_format;

tl::unexpected<error> wrong(std::string_view place, std::string message) {
  return fail_in(place, {error_kind::invalid_input, std::move(message)});
}

constexpr std::string_view no_image_list =
    "`images` names a column of a CSV that has the targets, too";
constexpr std::string_view no_table_params =
    "is no table; columns, categories, ignore and blanks are for CSV files";

bool has_table_params(const data_params& params) {
  return !params.categories.empty() || !params.columns.empty() || !params.ignore.empty()
         || params.blanks == blank_rule::mean || params.blanks == blank_rule::drop;
}

} // namespace

std::string byte_place(std::string_view origin, std::uint64_t byte) {
  return fmt::format("{}: byte {}", origin, byte);
}

std::string examples::place(std::size_t example) const {
  if (!names.empty())
    return (std::filesystem::path(origin) / names[example]).string();
  return by_line ? fmt::format("{}:{}{}", origin, by_row ? " row " : "", places[example])
                 : byte_place(origin, places[example]);
}

namespace {

/// Numbers the rows of a table that was in no CSV as its file has them.
void number_rows(std::vector<std::uint64_t>& lines, const table_facts& facts) {
  for (std::uint64_t& line : lines)
    line -= facts.named ? 1 : 0;
}

/// Returns the files that these rows are, if they are any.
std::vector<std::string> files_of(const std::vector<std::uint64_t>& rows,
                                  const table_facts& facts) {
  std::vector<std::string> out;
  for (const std::uint64_t row : rows)
    if (row > 0 && row <= facts.files.size())
      out.push_back(facts.files[row - 1]);
  return out;
}

/// Reads the windows that a CSV's series are learnt from. Each has the line of its value.
expected<examples> read_windows(std::string_view text, const std::string& origin,
                                const data_params& params) {
  return read_history(text, origin, params).and_then([&](const history& from) {
    return training_windows(from, params).and_then([&](const window_table& windows) {
      return parse_csv(windows.text, origin, params_of(windows))
          .map([&](examples&& parsed) {
            parsed.places = windows.lines;
            for (const auto part : windows.parts)
              parsed.parts.push_back(static_cast<std::uint8_t>(part));
            parsed.target = from.target;
            parsed.steps = windows.steps;
            return std::move(parsed);
          });
    });
  });
}

/// Reads the series of a CSV with a row for each step. Each has the line of its first row.
expected<examples> read_series_rows(std::string_view text, const std::string& origin,
                                    const data_params& params) {
  return read_long_table(text, origin, params).and_then([&](const long_table& table) {
    return series_examples(table, origin, params);
  });
}

/// Reads a CSV, or what has become one.
expected<examples> read_table(data_file read, const std::string& origin,
                              const data_params& params, const csv_targets* targets) {
  const data_params written = params_of(read, params);
  auto parsed = text_of_file(std::move(read.bytes), origin, written.encoding)
                    .and_then([&](const csv_text& text) {
                      if (params.forecast.of_examples())
                        return read_series_rows(text.text, origin, written);
                      return params.forecast.horizon > 0
                                 ? read_windows(text.text, origin, written)
                                 : parse_csv(text.text, origin, written, targets);
                    });
  if (read.table && !parsed)
    return tl::unexpected(read.table->in_rows(std::move(parsed).error(), origin));
  if (read.table) {
    number_rows(parsed->places, *read.table);
    parsed->names = files_of(parsed->places, *read.table);
  }
  if (parsed) {
    parsed->by_row = read.table.has_value();
    parsed->checksum =
        targets != nullptr ? both(read.checksum, targets->checksum) : read.checksum;
  }
  return parsed;
}

/// Refuses what section [data] says of tables alone, where the examples are none.
expected<void> check_no_table(const std::string& origin, const data_params& params) {
  if (!params.images.empty())
    return wrong(origin, std::string(no_image_list));
  if (params.forecast != forecast_params())
    return wrong(origin,
                 "is no table; horizon and series are for tables of series with a "
                 "row for each step");
  if (has_table_params(params))
    return wrong(origin, std::string(no_table_params));
  return {};
}

/// Refuses what does not go with an array that is a file of its own.
expected<void> check_array(const example_files& from, const data_params& params) {
  for (const array_source* one : {&from.examples, &from.targets})
    if (one->file == from.examples.file)
      if (auto fine = no_archive(*one); !fine)
        return fine;
  return check_no_table(from.examples.file.string(), params);
}

} // namespace

expected<examples> read_examples(const example_files& from, const data_params& params) {
  const std::string origin = from.examples.file.string();
  if (is_folder(from.examples.file)) {
    if (!from.targets.file.empty())
      return wrong(origin, "holds examples in folders named after their classes; remove "
                           "target_file");
    if (params.forecast != forecast_params() || !params.images.empty())
      return wrong(origin, "is a folder of examples by class, and no table");
  }
  if (is_folder(from.examples.file) && !is_text_folder(from.examples.file)) {
    if (has_table_params(params))
      return wrong(origin, std::string(no_table_params));
    return read_image_folder(from.examples.file, params);
  }
  auto values = array_values::open(from.examples.file);
  if (!values)
    return tl::unexpected(std::move(values).error());
  if (*values)
    return check_array(from, params).and_then([&] {
      return read_array(from, std::move(**values), params);
    });
  auto read = read_data_file(from.examples.file, choice_of(from.examples));
  if (!read)
    return tl::unexpected(read.error());
  const format f = format_of(from.examples.file, read->bytes);
  if (f != format::npz && !read->table)
    for (const array_source* one : {&from.examples, &from.targets})
      if (one->file == from.examples.file)
        if (auto fine = no_archive(*one); !fine)
          return tl::unexpected(std::move(fine).error());
  if (f == format::csv && !params.images.empty()) {
    if (!from.targets.file.empty())
      return wrong(origin, std::string(no_image_list));
    return read_listed_images(std::move(*read), from.examples.file, params);
  }
  if (f == format::csv) {
    std::optional<csv_targets> targets;
    if (!from.targets.file.empty()) {
      auto column = read_csv_targets(from.targets.file);
      if (!column)
        return tl::unexpected(std::move(column).error());
      targets = std::move(*column);
    }
    return read_table(std::move(*read), origin, params, targets ? &*targets : nullptr);
  }
  if (auto fine = check_no_table(origin, params); !fine)
    return tl::unexpected(std::move(fine).error());
  if (f == format::cifar || f == format::series) {
    if (!from.targets.file.empty())
      return wrong(origin, "holds its targets itself; remove target_file");
    auto parsed =
        f == format::cifar
            ? parse_cifar(read->bytes, origin, params)
            : parse_series(read->bytes, origin).and_then([&](const series_set& set) {
                return series_examples(set, origin, params);
              });
    if (parsed)
      parsed->checksum = read->checksum;
    return parsed;
  }
  return read_arrays(from, std::move(*read), params);
}

namespace {

new_targets held_targets(std::vector<double> values) {
  new_targets out{.values = std::move(values)};
  out.blanks = static_cast<std::uint64_t>(
      std::ranges::count_if(out.values, [](double v) { return std::isnan(v); }));
  return out;
}

/// Reads the windows of the steps that follow a CSV's series.
expected<raw_rows> read_new_windows(std::string_view text, const std::string& origin,
                                    const data_params& params, const preprocessing& how) {
  std::vector<std::string> learnt;
  for (const auto& c : how.columns)
    learnt.push_back(c.name);
  return read_history(text, origin, params).and_then([&](const history& from) {
    return new_windows(from, params, learnt).and_then([&](window_table&& windows) {
      const auto written = params_of(windows);
      return parse_new_csv(windows.text, origin, written.header, how, written)
          .map([&](raw_rows&& rows) {
            rows.lines = std::move(windows.lines);
            rows.forecasts = {std::move(windows.names), std::move(windows.rows)};
            if (params.forecast.hold_back)
              rows.targets = held_targets(std::move(windows.held));
            if (windows.too_short > 0)
              rows.notes.push_back(
                  fmt::format("{}: {} too short to be forecast", origin,
                              counted(windows.too_short, "series is", "series are")));
            return std::move(rows);
          });
    });
  });
}

/// A new file may have other delimiters and marks than the training data, and no titles.
data_params as_written_anew(data_params params) {
  params.delimiter = params.decimal = "auto";
  if (line_of_names(params.header))
    params.header = "names";
  return params;
}

/// Reads the series of a CSV.
expected<raw_rows> read_new_series(std::string_view text, const std::string& origin,
                                   data_params params, const preprocessing& how) {
  params.task = how.task;
  return read_long_table(text, origin, params, long_rows::to_predict)
      .and_then([&](const long_table& table) { return new_series(table, origin, how); });
}

expected<raw_rows> read_new_table(data_file read, const std::filesystem::path& file,
                                  const data_params& params, const preprocessing& how) {
  const std::string origin = file.string();
  const data_params written = params_of(read, {});
  auto rows =
      text_of_file(std::move(read.bytes), origin, written.encoding)
          .and_then([&](const csv_text& text) {
            if (params.forecast.of_examples())
              return read_new_series(text.text, origin,
                                     params_of(read, as_written_anew(params)), how);
            if (params.forecast.horizon > 0)
              return read_new_windows(text.text, origin, params_of(read, params), how);
            if (!params.images.empty())
              return read_raw_listed_images(text.text, file, params_of(read, params),
                                            how);
            return parse_new_csv(text.text, origin,
                                 read.table && read.table->named ? written.header
                                                                 : params.header,
                                 how, written);
          });
  if (!read.table)
    return rows;
  if (!rows)
    return tl::unexpected(read.table->in_rows(std::move(rows).error(), origin));
  number_rows(rows->lines, *read.table);
  rows->by_row = true;
  return rows;
}

/// Whether a file is one text, and not a table of texts: its name ends like a text's, the
/// training data was a folder of such, and its first line does not name the column.
bool is_one_text(const std::filesystem::path& file, const data_params& params,
                 const preprocessing& how) {
  std::error_code unknown;
  if (!how.takes_files_of_text() || how.target != class_column_name
      || how.columns.front().name != text_column_name
      || !has_text_ending(file.filename().string())
      || (!is_folder(params.file) && params.file.has_extension())
      || !std::filesystem::is_regular_file(file, unknown))
    return false;
  const auto front = read_front(file, telling_bytes);
  const std::string name = text_column_name;
  const auto line = front ? front->substr(0, front->find_first_of("\r\n")) : "";
  return line != name && !line.starts_with(name + ",") && !line.ends_with("," + name);
}

expected<raw_rows> read_raw_texts(const std::filesystem::path& path,
                                  const preprocessing& how) {
  const std::string origin = path.string();
  if (!how.takes_files_of_text())
    return wrong(origin, is_folder(path)
                             ? "is a folder, where the training data is a table; name a "
                               "file of rows with its columns"
                             : "is a text, where the training data is none");
  auto read = read_new_texts(path, {how.columns.front().name, how.target});
  if (!read)
    return tl::unexpected(std::move(read).error());
  const auto facts = std::move(*read->table);
  auto written = params_of(data_file{{}, facts}, {});
  return parse_new_csv(read->bytes, origin, facts.named ? written.header : "none", how,
                       written)
      .map([&](raw_rows&& rows) {
        number_rows(rows.lines, facts);
        rows.names = files_of(rows.lines, facts);
        rows.by_row = true;
        for (const std::string& note : facts.notes)
          rows.notes.push_back(fmt::format("{}: {}", origin, note));
        return std::move(rows);
      });
}

/// Takes what was read of an array.
expected<raw_rows> rows_of_array(expected<examples> e, const std::string& origin,
                                 const preprocessing& how) {
  if (!how.takes_plain_numbers())
    return wrong(origin, "is an array, but the training data has columns of texts");
  if (!e)
    return tl::unexpected(std::move(e).error());
  if (e->features.size() != e->count * how.width)
    return wrong(
        origin,
        fmt::format("an example has {} values, where those of the training data have {}",
                    e->features.size() / e->count, how.width));
  return raw_rows{.origin = origin, .count = e->count, .values = std::move(e->features)};
}

} // namespace

expected<raw_rows> read_raw_rows(const array_source& from, const data_params& params,
                                 const preprocessing& how) {
  const bool images = how.shape.layout() == layout::image;
  if (has_image_ending(from.file.filename().string()) || (is_folder(from.file) && images))
    return read_raw_images(from.file, how);
  if (is_folder(from.file) || is_one_text(from.file, params, how))
    return read_raw_texts(from.file, how);
  auto values = array_values::open(from.file);
  if (!values)
    return tl::unexpected(std::move(values).error());
  if (*values)
    return no_archive(from).and_then([&] {
      return rows_of_array(read_new_array(from.file.string(), std::move(**values), how),
                           from.file.string(), how);
    });
  auto which = choice_of(from);
  which.least_features = how.columns.size();
  which.sentences = how.takes_text_lines() || how.takes_files_of_text();
  auto read = read_data_file(from.file, which, data_limits(/*streams=*/true));
  if (!read)
    return tl::unexpected(read.error());
  const std::string origin = from.file.string();
  const format f = format_of(from.file, read->bytes);
  if (f == format::csv)
    return read_new_table(std::move(*read), from.file, params, how);
  if (f == format::series)
    return parse_series(read->bytes, origin).and_then([&](const series_set& set) {
      return new_series(set, origin, how);
    });
  if (f == format::cifar)
    return rows_of_array(parse_cifar(read->bytes, origin, params), origin, how);
  return rows_of_array(read_new_array(from, *read, params, how), origin, how);
}

} // namespace clade
