// The steps that features.cpp does to all examples at once, for rows that come later.

#include "engine/data/reading/preprocessing.hpp"

#include "engine/data/bytes/csv_fields.hpp"
#include "engine/data/tables/label_lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <stdexcept>

namespace clade {
namespace {

std::size_t column_of_input(const preprocessing& how, std::size_t input) {
  std::size_t first = 0;
  for (std::size_t c = 0; c < how.columns.size(); ++c) {
    first += how.columns[c].inputs();
    if (input < first)
      return c;
  }
  return input;
}

tl::unexpected<error> blank(const raw_rows& rows, std::size_t row, std::size_t input,
                            const preprocessing& how) {
  const auto column = column_of_input(how, input);
  const auto& name = how.column(column).name;
  const auto place = rows.lines.empty()
                         ? fmt::format("{}: example {}", rows.origin, row + 1)
                         : fmt::format("{}:{}{}", rows.origin, rows.by_row ? " row " : "",
                                       rows.lines[row]);
  return fail_in(
      place,
      {error_kind::invalid_input,
       fmt::format("column {}{} has no value, and the model has none to put there",
                   column + 1, name.empty() ? "" : fmt::format(" (\"{}\")", name))});
}

} // namespace

std::size_t preprocessing::inputs() const {
  if (columns.empty())
    return width;
  std::size_t all = 0;
  for (const auto& c : columns)
    all += c.inputs();
  return all;
}

const column_encoding& preprocessing::column(std::size_t i) const {
  static const column_encoding plain;
  return columns.empty() ? plain : columns[i];
}

bool preprocessing::takes_plain_numbers() const {
  return std::ranges::all_of(columns, [](const column_encoding& c) {
    return c.kind == encoding_kind::number && !c.blank_input;
  });
}

bool preprocessing::takes_text_lines() const {
  return columns.size() == 1 && columns.front().kind == encoding_kind::text
         && columns.front().name.empty();
}

bool preprocessing::takes_files_of_text() const {
  return columns.size() == 1 && columns.front().kind == encoding_kind::text;
}

std::vector<double> preprocessing::fills() const {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> all;
  for (std::size_t i = 0; i < inputs(); ++i)
    all.push_back(!blanks.empty() && !std::isnan(blanks[i]) ? blanks[i]
                  : mean.empty()                            ? none
                                                            : mean[i]);
  return all;
}

expected<std::vector<float>> prepare(const raw_rows& rows, const preprocessing& how) {
  const std::size_t inputs = how.inputs();
  const auto fills = how.fills();
  std::vector<float> out(rows.values.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t input = i % inputs;
    double v = rows.values[i];
    if (std::isnan(v))
      v = fills[input];
    if (std::isnan(v))
      return blank(rows, i / inputs, input, how);
    if (!how.mean.empty()) {
      out[i] = static_cast<float>((v - how.mean[input]) / how.deviation[input]);
      if (!how.limit.empty())
        out[i] = limited(out[i], how.limit[input]);
    } else
      out[i] =
          how.largest > 0 ? static_cast<float>(v) / how.largest : static_cast<float>(v);
  }
  return out;
}

namespace {

constexpr double no_target = std::numeric_limits<double>::quiet_NaN();

/// The value of a field that is not blank; NaN of one that is not known.
double target_of(std::string_view field, const target_reading& reading,
                 const preprocessing& how) {
  if (how.task.has_classes()) {
    const auto at = std::ranges::find(how.classes, field);
    return at == how.classes.end() ? no_target
                                   : static_cast<double>(at - how.classes.begin());
  }
  if (how.task.has_labels()) {
    const auto said = field_yes_no(field);
    return said ? *said : no_target;
  }
  const auto number = reading.number_of(field);
  return number && is_finite_float(*number) ? *number : no_target;
}

} // namespace

void add_targets(new_targets& to, std::span<const std::string_view> fields,
                 const target_reading& reading, const preprocessing& how) {
  const bool list = how.task.has_labels() && fields.size() == 1;
  std::string unknown;
  std::vector<double> values;
  bool blank = false;
  if (list)
    values = known_labels(fields.front(), how.classes, unknown);
  else
    for (const auto field : fields) {
      blank = blank || reading.is_blank(field);
      values.push_back(blank ? no_target : target_of(field, reading, how));
      if (!blank && std::isnan(values.back()))
        unknown = field;
    }
  if (how.task.has_quantiles()) // All are of one number.
    values.assign(how.classes.size(), values.front());
  if (blank || !unknown.empty())
    values.assign(values.size(), no_target);
  if (blank)
    ++to.blanks;
  else if (!unknown.empty() && to.unknown++ == 0)
    to.example = unknown;
  to.values.insert(to.values.end(), values.begin(), values.end());
}

new_targets read_targets(std::span<const std::string> texts,
                         const target_reading& reading, const preprocessing& how,
                         std::size_t each) {
  new_targets out;
  for (std::size_t i = 0; i + each <= texts.size(); i += each) {
    const auto row = texts.subspan(i, each);
    add_targets(out, std::vector<std::string_view>(row.begin(), row.end()), reading, how);
  }
  return out;
}

expected<new_examples> read_new_examples(const std::filesystem::path& file,
                                         const std::string& array,
                                         const data_params& params,
                                         const preprocessing& how) {
  try {
    const auto from = file == "-" ? std::filesystem::path("/dev/stdin") : file;
    auto rows = read_raw_rows({from, array, "--array"}, params, how);
    if (!rows)
      return tl::unexpected(rows.error());
    auto features = prepare(*rows, how);
    if (!features)
      return tl::unexpected(std::move(features).error());
    return new_examples{rows->count,
                        std::move(*features),
                        std::move(rows->notes),
                        std::move(rows->targets),
                        std::move(rows->lines),
                        std::move(rows->names),
                        std::move(rows->forecasts)};
  } catch (const std::bad_alloc&) {
    return fail_in(file.string(),
                   {error_kind::io, "not enough memory to hold the examples"});
  } catch (const std::length_error&) {
    return fail_in(file.string(), {error_kind::io, "too large to be held in memory"});
  }
}

} // namespace clade
