#include "engine/data/profile/profile_words.hpp"

#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/folders/class_folder.hpp"
#include "genome/base/text.hpp"
#include "search_spaces/operators/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>

namespace clade {
namespace {

std::string percent_text(double share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %%", 100 * share);
  return text.data();
}

std::string date_text(double seconds) {
  const auto day = std::chrono::floor<std::chrono::days>(
      std::chrono::sys_seconds(std::chrono::seconds(std::llround(seconds))));
  const std::chrono::year_month_day date(day);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02u", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  return text.data();
}

bool is_digit(char c) {
  return (c >= '0' && c <= '9') || c == '-' || c == '.';
}

/// "class "a"", or "12 classes ("a", "b", ...)".
std::string classes_of(const suspicion& s) {
  return s.count == 1 ? "class " + in_quotes(s.names.front())
                      : fmt::format("{} classes ({}{})", with_commas(s.count),
                                    all_in_quotes(s.names),
                                    s.count > s.names.size() ? ", ..." : "");
}

std::string alike_text(const suspicion& s) {
  return " differ by case or blanks alone: write them in one way if they are one"
         + (s.count == 1
                ? std::string()
                : fmt::format(" (and so in {})", counted(s.count - 1, "other case")));
}

/// Returns a hint for classes that are numbers.
std::string number_hint(const data_profile& d) {
  return d.target.numbers + d.target.infinite > d.target.values() / 2
             ? "; if the target is a number, say --task regression"
             : "";
}

std::string are(std::uint64_t n) {
  return n == 1 ? "is" : "are";
}

} // namespace

std::string short_number(double v) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", v);
  return text.data();
}

std::string range_text(double least, double most) {
  const auto from = short_number(least), to = short_number(most);
  return from != to || least == most ? fmt::format("{} to {}", from, to)
                                     : fmt::format("{:.17g} to {:.17g}", least, most);
}

std::string reason_text(const column_profile& c, ignore_reason why) {
  const std::string values = counted(c.distinct, "value");
  const bool of_values =
      why == ignore_reason::identifier || why == ignore_reason::too_many_values;
  if (of_values && !c.frequent.empty()
      && std::ranges::all_of(c.frequent, has_image_ending, &value_count::value))
    return "it names files of images, which are not read by their names";
  switch (why) {
  case ignore_reason::none:
    return {};
  case ignore_reason::blank:
    return "it has no value in any row";
  case ignore_reason::constant:
    return "it is the same in every row";
  case ignore_reason::index:
    return "it numbers the rows";
  case ignore_reason::identifier:
    return "almost every row has a value of its own";
  case ignore_reason::groups:
    return fmt::format("it has {} that name what rows belong to", values);
  case ignore_reason::too_many_values:
    return fmt::format("it has {}, too many for categories", values);
  case ignore_reason::not_of_series:
    return "series are of numbers";
  }
  return {};
}

std::string values_text(const column_profile& c) {
  if (c.kind == column_kind::date && c.minimum)
    return fmt::format("{} to {}", date_text(*c.minimum), date_text(*c.maximum));
  if (c.kind == column_kind::number && c.minimum)
    return range_text(*c.minimum, *c.maximum)
           + (c.unit.empty() ? "" : ", in " + printable(c.unit));
  if (c.kind == column_kind::text && c.spaced)
    return fmt::format("{}, of {:.0f} letters in the mean, {} at most",
                       counted(c.distinct, "text"), c.mean_length,
                       with_commas(c.longest));
  const bool with_counts =
      c.kind == column_kind::category || c.kind == column_kind::yes_no;
  constexpr std::size_t most = 3;
  std::string list;
  for (std::size_t i = 0; i < std::min(c.frequent.size(), most); ++i)
    list += (i == 0 ? "" : ", ") + printable(c.frequent[i].value)
            + (with_counts ? " " + with_commas(c.frequent[i].count) : "");
  return list + (c.frequent.size() > most ? ", ..." : "");
}

std::string classes_text(const data_profile& d, std::size_t most) {
  const auto all = static_cast<double>(std::max<std::uint64_t>(d.target.values(), 1));
  std::string list;
  for (std::size_t i = 0; i < std::min(d.classes.size(), most); ++i)
    list += fmt::format("{}{} {} ({})", i == 0 ? "" : ", ", printable(d.classes[i].value),
                        with_commas(d.classes[i].count),
                        percent_text(static_cast<double>(d.classes[i].count) / all));
  return list
         + (d.classes.size() > most
                ? fmt::format(", and {} more", with_commas(d.classes.size() - most))
                : "");
}

std::string target_text(target_reason reason) {
  switch (reason) {
  case target_reason::asked:
    return {};
  case target_reason::named:
  case target_reason::suggested:
    return "guessed from its name";
  case target_reason::last:
    return "guessed: the last column";
  case target_reason::beside_texts:
    return "guessed: all else is text";
  case target_reason::labels:
    return {};
  }
  return {};
}

std::string split_text(const data_profile& d) {
  switch (d.split) {
  case split_kind::shuffled:
    return "shuffled by the seed";
  case split_kind::stratified:
    return "each part has its share of each class";
  case split_kind::by_time:
    return fmt::format("by {}, which orders the rows: the latest are the test part",
                       in_quotes(d.split_column));
  case split_kind::by_steps:
    return "in order of time: the last steps of each series are the test part";
  case split_kind::by_group:
    return fmt::format("by {}: rows that share its value are in one part",
                       in_quotes(d.split_column));
  }
  return {};
}

std::string repeated_name_text(const repeated_name& repeated) {
  return fmt::format(
      "several columns are named {}; the second is called {} here, as pandas calls it",
      in_quotes(repeated.name), in_quotes(repeated.second));
}

std::string suspicion_text(const suspicion& s, const data_profile& d) {
  const std::string column = in_quotes(s.column), value = in_quotes(s.value);
  const std::string target = s.target.empty() ? "" : " " + in_quotes(s.target);
  switch (s.kind) {
  case suspicion_kind::gives_target_away:
    return fmt::format(
        "{} alone predicts the target{} ({}): if it is not known before the "
        "target is, set it to \"ignore\"",
        column, target,
        d.task.has_numbers() ? "R2 " + short_number(s.share)
                             : percent_text(s.share) + " of unseen rows");
  case suspicion_kind::blanks_give_away:
    return fmt::format(
        "whether {} is blank predicts the target{} ({} of unseen rows): if "
        "it is filled in after the target is known, set it to \"ignore\"",
        column, target, percent_text(s.share));
  case suspicion_kind::make_up_target:
    return s.names.size() == 1
               ? fmt::format("{} gives the target{} away (R2 {}): if it is made of the "
                             "target, or the target of it, set it to \"ignore\"",
                             all_in_quotes(s.names), target, short_number(s.share))
               : fmt::format("{} together give the target{} away (by a {}, R2 {}): if "
                             "the target is "
                             "made of them, or one of them of it, set them to \"ignore\"",
                             all_in_quotes(s.names), target, s.value,
                             short_number(s.share));
  case suspicion_kind::repeated_rows:
    return fmt::format("{} {} equal to an earlier one and can lie on both sides of the "
                       "split: remove them unless they are cases of their own",
                       counted(s.count, "row"), are(s.count));
  case suspicion_kind::lone_class:
    return fmt::format("{}{} one row, and two are the least: add rows or remove {}{}",
                       classes_of(s), s.count == 1 ? " has" : " have each",
                       s.count == 1 ? "it" : "them", number_hint(d));
  case suspicion_kind::small_class:
    return fmt::format("{}{} two rows: too few to learn and to test {}", classes_of(s),
                       s.count == 1 ? " has" : " have each",
                       s.count == 1 ? "it" : "them");
  case suspicion_kind::alike_classes:
    return fmt::format("the classes {}{}", all_in_quotes(s.names), alike_text(s));
  case suspicion_kind::alike_values:
    return fmt::format("the values {} of {}{}", all_in_quotes(s.names), column,
                       alike_text(s));
  case suspicion_kind::unbalanced:
    return fmt::format("class {} has {} of the rows: a network that always says it looks "
                       "good by accuracy",
                       value, percent_text(s.share));
  case suspicion_kind::blank_target:
    return fmt::format(
        "{}{} no target{}", counted(s.count, "row"), s.count == 1 ? " has" : " have",
        d.task.has_classes()
            ? ": where it is empty they will be left out; \"NA\" and the like are "
              "taken for a class"
            : " and will be left out");
  case suspicion_kind::mostly_blank:
    return fmt::format("{} is blank in {} of the rows", column, percent_text(s.share));
  case suspicion_kind::mostly_numbers:
    return fmt::format(
        "{} holds numbers but for {}, such as {}: if these are blanks, leave them empty",
        column, counted(s.count, "value"), value);
  case suspicion_kind::infinite:
    return fmt::format("{} holds numbers of which {} {} infinite: leave these empty, and "
                       "it is read as numbers",
                       column, with_commas(s.count), s.count == 1 ? "is" : "are");
  case suspicion_kind::reading:
    return s.value;
  case suspicion_kind::mixed_units:
    return fmt::format("{} holds numbers with different units, or with none ({}): write "
                       "all of them with the same, or without",
                       column, value);
  case suspicion_kind::no_days:
    return fmt::format(
        "{} holds dates but for {}, such as {}, which no calendar has: taken for blanks",
        column, counted(s.count, "value"), value);
  case suspicion_kind::mostly_dates:
    return fmt::format(
        "{} holds dates but for {}, such as {}: if these are blanks, leave them empty",
        column, counted(s.count, "value"), value);
  case suspicion_kind::outlier:
    return fmt::format(
        "{} has {}, far from its other values: it is scaled by its median and quartiles, "
        "and cut off; if that is a mistake or means a blank, leave it empty",
        column, short_number(s.share));
  case suspicion_kind::unclear_dates:
    return fmt::format("the day and the month of {} can be swapped: write dates as "
                       "2024-01-31 to be sure",
                       column);
  case suspicion_kind::few_rows:
    return fmt::format(
        "there {} only {}: what validation and test say will depend on chance",
        are(s.count), counted(s.count, "row"));
  case suspicion_kind::named_twice:
    return repeated_name_text({s.value, s.column});
  case suspicion_kind::many_classes:
    return fmt::format("{} classes in {}: few rows to learn each from{}",
                       with_commas(s.count), counted(d.rows, "row"), number_hint(d));
  case suspicion_kind::no_forecast:
    return column
           + " orders the rows in time, but each row's target is predicted from the same "
             "row alone: this is no forecast; "
           + (d.task.has_classes()
                  ? "columns of earlier values, such as the target of the "
                    "row before, make one"
                  : "--horizon 12 forecasts the next 12 rows");
  case suspicion_kind::unused_arrays:
    return std::string("nothing is made of the ") + (s.count == 1 ? "array " : "arrays ")
           + all_in_quotes(s.names);
  }
  return {};
}

std::vector<std::string> suspicion_lines(const data_profile& d) {
  constexpr std::size_t most = 5;
  std::vector<std::string> lines;
  std::map<suspicion_kind, std::vector<std::string>> others;
  std::map<suspicion_kind, std::size_t> said;
  for (const suspicion& s : d.suspicions)
    if (++said[s.kind] <= most)
      lines.push_back(suspicion_text(s, d));
    else
      others[s.kind].push_back(s.column.empty() ? s.value : s.column);
  for (const auto& [kind, names] : others) {
    const auto first = std::ranges::find(d.suspicions, kind, &suspicion::kind);
    lines.push_back(
        fmt::format("the same as of {} is true of {} more: {}",
                    in_quotes(first->column.empty() ? first->value : first->column),
                    with_commas(names.size()), all_in_quotes(names)));
  }
  return lines;
}

std::string other_task_text(const data_profile& d) {
  const bool whole = d.target.whole && d.target.numbers == d.target.values();
  if (!d.task_guessed || !whole || d.target.distinct <= 2 || d.image())
    return {};
  constexpr std::uint64_t few = 20;
  if (d.task.has_classes())
    return d.classes.empty() || !std::ranges::all_of(d.classes.front().value, is_digit)
               ? std::string() // They have names.
               : "whole numbers: --task regression predicts them as such";
  return d.target.distinct <= few ? "whole numbers: --task classification takes them for "
                                    "classes"
                                  : std::string();
}

} // namespace clade
