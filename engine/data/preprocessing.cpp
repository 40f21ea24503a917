// What features.cpp does to all examples at once, for rows that come later.

#include "engine/data/preprocessing.hpp"

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
                         ? rows.origin + ": example " + std::to_string(row + 1)
                         : rows.origin + ":" + std::to_string(rows.lines[row]);
  return fail_in(place, {error_kind::invalid_input,
                         "column " + std::to_string(column + 1)
                             + (name.empty() ? "" : " (\"" + name + "\")")
                             + " has no value, and the model has none to put there"});
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

std::vector<float> preprocessing::fills() const {
  constexpr float none = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> all;
  for (std::size_t i = 0; i < inputs(); ++i)
    all.push_back(!blanks.empty() && !std::isnan(blanks[i]) ? blanks[i]
                  : mean.empty()                            ? none
                                 : static_cast<float>(mean[i]));
  return all;
}

expected<std::vector<float>> prepare(const raw_rows& rows, const preprocessing& how) {
  const std::size_t inputs = how.inputs();
  const auto fills = how.fills();
  std::vector<float> out = rows.values;
  for (std::size_t i = 0; i < out.size(); ++i)
    if (std::isnan(out[i])) {
      out[i] = fills[i % inputs];
      if (std::isnan(out[i]))
        return blank(rows, i / inputs, i % inputs, how);
    }
  if (!how.mean.empty())
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] =
          static_cast<float>((out[i] - how.mean[i % inputs]) / how.deviation[i % inputs]);
  else if (how.largest > 0)
    for (float& v : out)
      v /= how.largest;
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
    return new_examples{rows->count, std::move(*features), std::move(rows->notes),
                        std::move(rows->targets), std::move(rows->lines)};
  } catch (const std::bad_alloc&) {
    return fail_in(file.string(),
                   {error_kind::io, "not enough memory to hold the examples"});
  } catch (const std::length_error&) {
    return fail_in(file.string(), {error_kind::io, "too large to be held in memory"});
  }
}

} // namespace clade
