#include "tools/cli/run/profile_view.hpp"

#include "engine/config/experiment/new_experiment.hpp"
#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/profile/profile_words.hpp"
#include "engine/report/base/format.hpp"
#include "genome/base/text.hpp"
#include "genome/base/utf8.hpp"
#include "search_spaces/operators/network.hpp"
#include "search_spaces/operators/shape.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace clade {
namespace {

constexpr std::size_t widest = 40;
/// A table of more columns shows plain numbers as one line.
constexpr std::size_t most_listed = 40;

bool is_plain(const column_profile& c) {
  return c.kind == column_kind::number && c.blanks == 0;
}

std::string use_text(const column_profile& c) {
  const auto use = use_of(c);
  return use.ignored == ignore_reason::none ? std::string(to_text(use.as))
                                            : "left out: " + reason_text(c, use.ignored);
}

std::string use_text(const data_profile& d, std::size_t i) {
  if (d.is_target(i))
    return "target";
  if (d.weights == i)
    return "weights";
  if (d.forecast.of_examples())
    return d.is_channel(i)                 ? "channel"
           : d.label(i) == d.forecast.time ? "time"
           : d.names_steps(i)
               ? "series"
               : "left out: "
                     + reason_text(d.table.columns[i], ignore_reason::not_of_series);
  if (d.steps.has(i))
    return "step";
  if (d.images.empty())
    return use_text(d.table.columns[i]);
  return d.label(i) == d.images ? "images" : "left out";
}

std::string columns_table(const data_profile& d) {
  const auto& columns = d.table.columns;
  table lines({table::align::left, table::align::left, table::align::right,
               table::align::right, table::align::left, table::align::left});
  lines.add({"column", "kind", "blank", "values", "", "use"});
  std::size_t plain = 0, listed = 0, others = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const column_profile& c = columns[i];
    const bool target = d.is_apart(i);
    if (!target && columns.size() > most_listed && is_plain(c)) {
      ++plain;
      continue;
    }
    if (!target && ++listed > most_listed) {
      ++others;
      continue;
    }
    lines.add({shortened(plain_text(d.label(i)), widest), std::string(to_text(c.kind)),
               c.blanks == 0 ? "-" : with_commas(c.blanks),
               (c.exact ? "" : "~") + with_commas(c.distinct),
               shortened(values_text(c), widest), use_text(d, i)});
  }
  if (plain > 0)
    lines.add_line(with_commas(plain)
                   + " others: numbers without a blank, used as they are");
  if (others > 0)
    lines.add_line(with_commas(others) + " more; --json lists them all");
  return lines.to_text(2);
}

std::string target_line(const data_profile& d) {
  std::string line;
  if (!d.targets.empty())
    return plain_text(joined(d.targets, ", ", [&](std::size_t i) { return d.label(i); }));
  if (d.target_column)
    line = d.table.columns.empty() ? std::to_string(*d.target_column + 1)
                                   : d.label(*d.target_column);
  else
    line = d.target_file.empty()
               ? (d.target_array.empty() ? "the labels" : d.target_array)
               : d.target_file.filename().string();
  line = plain_text(line);
  if (const auto how = target_text(d.target_found); !how.empty())
    line += fmt::format(" ({}; --target COLUMN says another)", how);
  return line;
}

std::string task_line(const data_profile& d) {
  constexpr std::size_t most_classes = 6;
  const auto other = other_task_text(d);
  return fmt::format("{}, {}{}", d.task.name,
                     d.task.has_classes()
                         ? fmt::format("{} classes: {}", with_commas(d.classes.size()),
                                       classes_text(d, most_classes))
                     : d.several() ? counted(std::max(d.targets.size(), d.outputs),
                                             d.task.has_labels() ? "label" : "number")
                     : d.task.has_labels() && !d.target.frequent.empty()
                         ? "lists such as " + in_quotes(d.target.frequent.front().value)
                         : values_text(d.target),
                     other.empty() ? "" : fmt::format(" ({})", other));
}

std::string_view to_text(split_kind split) {
  constexpr std::array<std::string_view, 5> words{"random", "stratified", "time", "steps",
                                                  "group"};
  return words.at(static_cast<std::size_t>(split));
}

std::string_view to_text(ignore_reason why) {
  constexpr std::array<std::string_view, 8> words{
      "none",       "blank",  "constant",        "index",
      "identifier", "groups", "too_many_values", "not_of_series"};
  return words.at(static_cast<std::size_t>(why));
}

nlohmann::ordered_json column_json(const data_profile& d, std::size_t i) {
  const column_profile& c = d.table.columns[i];
  const auto use = use_of(c);
  nlohmann::ordered_json out{{"name", d.label(i)},
                             {"kind", to_text(c.kind)},
                             {"blanks", c.blanks},
                             {"distinct", c.distinct},
                             {"exact", c.exact}};
  if (c.minimum)
    out["minimum"] = *c.minimum, out["maximum"] = *c.maximum;
  out["use"] = d.is_target(i)                       ? "target"
               : d.weights == i                     ? "weights"
               : use.ignored == ignore_reason::none ? std::string(to_text(use.as))
                                                    : "ignore";
  if (!d.is_apart(i) && use.ignored != ignore_reason::none)
    out["reason"] = to_text(use.ignored);
  return out;
}

std::string shares_text(const split_shares& s) {
  std::string out;
  for (const auto& [share, part] :
       {std::pair(s.train, "train"), std::pair(s.validation, "validation"),
        std::pair(s.test, "test")})
    if (share > 0)
      out += fmt::format("{}{} % {}", out.empty() ? "" : ", ", std::lround(100 * share),
                         part);
  return out + "; ";
}

std::string test_text(const data_profile& d) {
  std::string text = d.test_file.filename().string();
  for (const std::string& array : {d.test_array, d.test_target_array})
    if (!array.empty())
      text += (text.empty() ? "" : ", ") + printable(array);
  return text;
}

} // namespace

std::string profile_table(const data_profile& d) {
  std::string head =
      fmt::format("{}: {}, {}", d.file.string(), d.format,
                  with_commas(d.forecast.of_examples() ? d.table.rows : d.rows));
  if (d.table.columns.empty())
    head += fmt::format(" examples of {}{}\n", to_text(d.shape),
                        d.layout == "channels_last" ? ", channels last in the file"
                        : d.series()                ? ", steps and channels"
                        : d.image_sizes.empty()     ? ""
                                                    : ", from files of " + d.image_sizes);
  else
    head += fmt::format(
        " rows, {} columns{}\n", with_commas(d.table.columns.size()),
        d.forecast.of_examples()
            ? fmt::format("; {} of {}, steps and channels",
                          counted(d.rows, "series", "series"), to_text(d.shape))
        : d.steps.count > 0 ? fmt::format(
              "; each row is a series of {}, steps and channels", to_text(d.shape))
        : d.images.empty() ? ""
                           : fmt::format("; images of {}, from files of {}",
                                         to_text(d.shape), d.image_sizes));
  table lines({table::align::left, table::align::left});
  lines.add({"target", target_line(d)});
  lines.add({"task", task_line(d)});
  lines.add({"split", shares_text(d.shares()) + split_text(d)});
  if (!d.test_file.empty() || !d.test_array.empty())
    lines.add({"test set", test_text(d)});
  const auto space = space_for(d);
  lines.add({"space", fmt::format("{} ({})", space.name, space.content)});
  std::string out = head;
  if (!d.table.columns.empty())
    out += columns_table(d);
  out += lines.to_text(2);
  if (!d.suspicions.empty())
    out += "look at:\n";
  for (const std::string& line : suspicion_lines(d))
    out += fmt::format("  * {}\n", line);
  return out;
}

std::string profile_json(const data_profile& d) {
  nlohmann::ordered_json out;
  out["event"] = "profile";
  out["file"] = d.file.string();
  out["format"] = d.format;
  out["rows"] = d.rows;
  out["columns"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < d.table.columns.size(); ++i)
    out["columns"].push_back(column_json(d, i));
  out["shape"] = d.shape.sizes;
  if (!d.layout.empty())
    out["layout"] = d.layout;
  out["target"] = d.target_column && !d.table.columns.empty()
                      ? nlohmann::ordered_json(d.label(*d.target_column))
                      : nlohmann::ordered_json(nullptr);
  if (!d.targets.empty())
    out["targets"] = d.target_labels();
  out["target_file"] = d.target_file.empty()
                           ? nlohmann::ordered_json(nullptr)
                           : nlohmann::ordered_json(d.target_file.string());
  out["target_guessed"] = !target_text(d.target_found).empty();
  out["task"] = d.task.name;
  out["classes"] = nlohmann::ordered_json::object();
  for (const auto& [name, count] : d.classes)
    out["classes"][name] = count;
  out["split"] = {{"by", to_text(d.split)}, {"column", d.split_column}};
  out["search_space"] = space_for(d).name;
  out["suspicions"] = nlohmann::ordered_json::array();
  for (const std::string& line : suspicion_lines(d))
    out["suspicions"].push_back(line);
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace clade
