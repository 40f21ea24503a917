#include "engine/data/profile/data_summary.hpp"

#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/profile/profile_words.hpp"
#include "genome/base/text.hpp"
#include "search_spaces/operators/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace clade {
namespace {

std::string name_of(const table_profile& profile, std::size_t i) {
  const std::string& name = profile.columns[i].name;
  return name.empty() ? fmt::format("column {}", i + 1) : printable(name);
}

/// The name of a file, or of a folder ("reviews/").
std::string name_of(const std::filesystem::path& file) {
  return (file.has_filename() ? file : file.parent_path()).filename().string();
}

std::string rows_line(const inferred_data& d, std::uint64_t examples) {
  const auto& columns = d.profile->columns;
  constexpr std::array<std::array<const char*, 2>, 6> words{{{"number", "numbers"},
                                                             {"category", "categories"},
                                                             {"yes or no", "yes or no"},
                                                             {"date", "dates"},
                                                             {"ignored", "ignored"},
                                                             {"text", "texts"}}};
  std::array<std::uint64_t, words.size()> counts{};
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (i != d.target)
      ++counts[static_cast<std::size_t>(d.kinds[i])];
  std::vector<std::string> kinds;
  for (std::size_t k = 0; k < words.size(); ++k)
    if (counts[k] > 0)
      kinds.push_back(counted(counts[k], words[k][0], words[k][1]));
  const auto rows = d.profile->rows;
  const bool dropped = d.params.blanks == blank_rule::drop && examples < rows
                       && d.params.limit == 0 && d.params.test_file.empty();
  return fmt::format("{}: {}{}{}; beside the target {}: {}", name_of(d.params.file),
                     counted(rows, "row", "rows"),
                     dropped ? fmt::format(", of which {} are left out for their blanks",
                                           with_commas(rows - examples))
                             : "",
                     d.without_target > 0 ? fmt::format(
                         ", of which {}{} left out, without a target", d.without_target,
                         d.without_target == 1 ? " is" : " are")
                                          : "",
                     counted(columns.size() - 1, "column", "columns"), joined(kinds));
}

std::string target_line(const inferred_data& d) {
  constexpr std::size_t most = 10;
  const auto& target = d.profile->columns[d.target];
  std::string line = fmt::format("target {}: ", name_of(*d.profile, d.target));
  if (!d.params.task.has_classes())
    return line
           + (target.minimum && target.maximum
                  ? "numbers from " + range_text(*target.minimum, *target.maximum)
                  : "numbers");
  std::vector<std::string> classes;
  for (const value_count& v : target.frequent)
    if (classes.size() < most)
      classes.push_back(fmt::format("{} {}", printable(v.value), with_commas(v.count)));
  return fmt::format("{}{}: {}{}", line, counted(target.distinct, "class", "classes"),
                     joined(classes), target.distinct > classes.size() ? ", ..." : "");
}

std::string blanks_line(const inferred_data& d) {
  constexpr std::size_t most = 8;
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < d.profile->columns.size(); ++i)
    if (const auto blanks = d.profile->columns[i].blanks;
        blanks > 0 && i != d.target && d.kinds[i] != encoding_kind::ignore)
      parts.push_back(fmt::format("{} {}", name_of(*d.profile, i), with_commas(blanks)));
  if (parts.empty())
    return "";
  const auto more = parts.size() > most ? parts.size() - most : 0;
  parts.resize(parts.size() - more);
  std::string line = "blanks: " + joined(parts);
  if (more > 0)
    line += " and in " + counted(more, "further column", "further columns");
  switch (d.params.blanks) {
  case blank_rule::impute:
    return line + " (filled by means, and an input says where; in a category, a value)";
  case blank_rule::mean:
    return line + " (filled by means)";
  case blank_rule::drop:
    return line + " (their rows are left out)";
  case blank_rule::refuse:
    break;
  }
  return line;
}

} // namespace

std::vector<std::string> data_summary(const inferred_data& inferred,
                                      std::uint64_t examples) {
  if (!inferred.profile)
    return inferred.notes;
  std::vector<std::string> lines{rows_line(inferred, examples), target_line(inferred)};
  if (auto blanks = blanks_line(inferred); !blanks.empty())
    lines.push_back(std::move(blanks));
  lines.insert(lines.end(), inferred.notes.begin(), inferred.notes.end());
  return lines;
}

std::string scale_note(const data_set& data) {
  constexpr std::size_t most = 5;
  auto text = joined(std::span(data.robust).first(std::min(most, data.robust.size())));
  if (data.robust.size() > most)
    text += fmt::format(" and {} more", data.robust.size() - most);
  return text.empty() ? ""
                      : "scaled by median and quartiles, as a few outliers make the "
                        "deviation (data.scale): "
                            + text;
}

} // namespace clade
