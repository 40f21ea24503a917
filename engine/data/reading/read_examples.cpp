#include "engine/data/columns/examples.hpp"
#include "engine/data/converted/data_file.hpp"
#include "engine/data/forecast/history.hpp"
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

#include <optional>
#include <utility>

namespace clade {
namespace {

using format = data_format;

tl::unexpected<error> wrong(std::string_view place, std::string message) {
  return fail_in(place, {error_kind::invalid_input, std::move(message)});
}

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
            return std::move(parsed);
          });
    });
  });
}

/// Reads a CSV, or what has become one.
expected<examples> read_table(data_file read, const std::string& origin,
                              const data_params& params, const csv_targets* targets) {
  const data_params written = params_of(read, params);
  auto parsed = text_of_file(std::move(read.bytes), origin, written.encoding)
                    .and_then([&](const csv_text& text) {
                      return params.forecast.horizon > 0
                                 ? read_windows(text.text, origin, written)
                                 : parse_csv(text.text, origin, written, targets);
                    });
  if (read.table && !parsed)
    return tl::unexpected(read.table->in_rows(std::move(parsed).error(), origin));
  if (read.table)
    number_rows(parsed->places, *read.table);
  if (parsed) {
    parsed->by_row = read.table.has_value();
    parsed->checksum =
        targets != nullptr ? both(read.checksum, targets->checksum) : read.checksum;
  }
  return parsed;
}

} // namespace

expected<examples> read_examples(const example_files& from, const data_params& params) {
  const std::string origin = from.examples.file.string();
  if (is_folder(from.examples.file)) {
    if (!from.targets.file.empty())
      return wrong(origin, "holds images in folders named after their classes; remove "
                           "target_file");
    if (has_table_params(params))
      return wrong(origin, std::string(no_table_params));
    return read_image_folder(from.examples.file, params);
  }
  auto read = read_data_file(from.examples.file, choice_of(from.examples));
  if (!read)
    return tl::unexpected(read.error());
  const format f = format_of(from.examples.file, read->bytes);
  if (f != format::npz && !read->table)
    for (const array_source* one : {&from.examples, &from.targets})
      if (one->file == from.examples.file)
        if (auto fine = no_archive(*one); !fine)
          return tl::unexpected(std::move(fine).error());
  if (!params.images.empty()) {
    if (f != format::csv || !from.targets.file.empty())
      return wrong(origin, "`images` names a column of a CSV that has the targets, too");
    return read_listed_images(std::move(*read), from.examples.file, params);
  }
  if (params.forecast.horizon > 0 && f != format::csv)
    return wrong(origin, "is no table; horizon is for tables of series with a row for "
                         "each step");
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
  if (has_table_params(params))
    return wrong(origin, std::string(no_table_params));
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

/// Reads the windows of the steps that follow a CSV's series.
expected<raw_rows> read_new_windows(std::string_view text, const std::string& origin,
                                    const data_params& params, const preprocessing& how) {
  return read_history(text, origin, params).and_then([&](const history& from) {
    return new_windows(from, params).and_then([&](window_table&& windows) {
      const auto written = params_of(windows);
      return parse_new_csv(windows.text, origin, written.header, how, written)
          .map([&](raw_rows&& rows) {
            rows.lines = std::move(windows.lines);
            rows.forecasts = {std::move(windows.names), std::move(windows.rows)};
            if (windows.too_short > 0)
              rows.notes.push_back(
                  fmt::format("{}: {} of one value, which cannot be forecast", origin,
                              counted(windows.too_short, "series has", "series have")));
            return std::move(rows);
          });
    });
  });
}

expected<raw_rows> read_new_table(data_file read, const std::filesystem::path& file,
                                  const data_params& params, const preprocessing& how) {
  const std::string origin = file.string();
  const data_params written = params_of(read, {});
  auto rows =
      text_of_file(std::move(read.bytes), origin, written.encoding)
          .and_then([&](const csv_text& text) {
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

} // namespace

expected<raw_rows> read_raw_rows(const array_source& from, const data_params& params,
                                 const preprocessing& how) {
  if (is_folder(from.file) || has_image_ending(from.file.filename().string()))
    return read_raw_images(from.file, how);
  auto which = choice_of(from);
  which.least_features = how.columns.size();
  which.sentences = how.takes_text_lines();
  auto read = read_data_file(from.file, which, data_limits(/*streams=*/true));
  if (!read)
    return tl::unexpected(read.error());
  raw_rows out{.origin = from.file.string(), .count = 0, .values = {}, .lines = {}};
  const format f = format_of(from.file, read->bytes);
  if (f == format::csv)
    return read_new_table(std::move(*read), from.file, params, how);
  if (f == format::series)
    return parse_series(read->bytes, out.origin).and_then([&](const series_set& set) {
      return new_series(set, out.origin, how);
    });
  if (!how.takes_plain_numbers())
    return wrong(out.origin, "is an array, but the training data has columns of texts");
  auto e = f == format::cifar ? parse_cifar(read->bytes, out.origin, params)
                              : read_new_array(from, read->bytes, params, how);
  if (!e)
    return tl::unexpected(std::move(e).error());
  if (e->features.size() != e->count * how.width)
    return wrong(
        out.origin,
        fmt::format("an example has {} values, where those of the training data have {}",
                    e->features.size() / e->count, how.width));
  if (f != format::cifar && how.layout == array_layout::channels_last)
    move_channels_first(e->features, how.shape);
  out.count = e->count;
  out.values = std::move(e->features);
  return out;
}

} // namespace clade
