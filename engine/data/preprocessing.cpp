// What features.cpp does to all examples at once, for rows that come later.

#include "engine/data/preprocessing.hpp"

#include <cmath>
#include <new>
#include <stdexcept>

namespace clade {
namespace {

tl::unexpected<error> blank(const raw_rows& rows, std::size_t row, std::size_t column,
                            const preprocessing& how) {
  const auto name = "column " + std::to_string(column + 1)
                    + (how.names.empty() ? "" : " (\"" + how.names[column] + "\")");
  const auto place = rows.lines.empty()
                         ? rows.origin + ": example " + std::to_string(row + 1)
                         : rows.origin + ":" + std::to_string(rows.lines[row]);
  return fail_in(place, {error_kind::invalid_input,
                         name
                             + " has no value, and there is none to put there: the run "
                               "was not made with data.blanks = \"mean\""});
}

} // namespace

std::size_t preprocessing::expanded_width() const {
  std::size_t all = width;
  for (const auto& c : categories)
    all += c.values.size() - 1;
  return all;
}

expected<std::vector<float>> prepare(const raw_rows& rows, const preprocessing& how) {
  const std::size_t expanded = how.expanded_width();
  std::vector<float> out;
  out.reserve(rows.count * expanded);
  for (std::size_t r = 0; r < rows.count; ++r)
    for (std::size_t column = 0, c = 0; column < how.width; ++column) {
      float v = rows.values[r * how.width + column];
      if (c < how.categories.size() && how.categories[c].column == column) {
        const auto code = static_cast<std::size_t>(v);
        for (std::size_t k = 0; k < how.categories[c].values.size(); ++k)
          out.push_back(k == code ? 1.0F : 0.0F);
        ++c;
        continue;
      }
      if (std::isnan(v)) {
        const auto at = out.size() % expanded;
        if (how.blanks.empty() || std::isnan(how.blanks[at]))
          return blank(rows, r, column, how);
        v = how.blanks[at];
      }
      out.push_back(v);
    }
  if (!how.mean.empty())
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = static_cast<float>((out[i] - how.mean[i % expanded])
                                  / how.deviation[i % expanded]);
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
    const auto rows = read_raw_rows({file, array, "--array"}, params, how);
    if (!rows)
      return tl::unexpected(rows.error());
    auto features = prepare(*rows, how);
    if (!features)
      return tl::unexpected(std::move(features).error());
    return new_examples{rows->count, std::move(*features)};
  } catch (const std::bad_alloc&) {
    return fail_in(file.string(),
                   {error_kind::io, "not enough memory to hold the examples"});
  } catch (const std::length_error&) {
    return fail_in(file.string(), {error_kind::io, "too large to be held in memory"});
  }
}

} // namespace clade
