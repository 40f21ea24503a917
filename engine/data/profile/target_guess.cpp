#include "engine/data/profile/target_guess.hpp"

#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/tables/label_lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace clade {
namespace {

constexpr std::array<std::string_view, 9> target_words{
    "target",   "targets",  "label", "labels",   "outcome",
    "outcomes", "response", "truth", "dependent"};

constexpr std::array<std::string_view, 23> predicted_words{
    "price",  "prices",   "value",    "sales",       "revenue", "rating",
    "score",  "quality",  "survival", "default",     "fraud",   "species",
    "salary", "spam",     "grade",    "approved",    "status",  "demand",
    "yield",  "strength", "mpg",      "progression", "result"};

/// People predict these too: they are what became of a case, and hardly ever known before it.
constexpr std::array<std::string_view, 15> fate_words{
    "survived",   "churn",     "churned",   "defaulted", "fraudulent",
    "readmitted", "attrition", "cancelled", "canceled",  "subscribed",
    "exited",     "purchased", "converted", "diagnosis", "sentiment"};

/// These name targets and other things: the class in which people travel, a coordinate.
constexpr std::array<std::string_view, 5> vague_words{"class", "classes", "y", "output",
                                                      "answer"};

/// These describe a case and are predicted hardly ever.
constexpr std::array<std::string_view, 24> describing_words{
    "age",     "sex",  "gender",   "day",  "month",     "year", "hour",  "week",
    "weekday", "date", "time",     "name", "size",      "city", "state", "country",
    "region",  "zip",  "latitude", "lat",  "longitude", "lon",  "lng",   "address"};

/// The last word of a name, in small letters: "price" of "SalePrice" or "sale_price".
std::string last_word(std::string_view name) {
  std::size_t first = name.size();
  while (first > 0) {
    const auto c = static_cast<unsigned char>(name[first - 1]);
    if (std::isalnum(c) == 0)
      break;
    --first;
    const bool after_small =
        first > 0 && std::islower(static_cast<unsigned char>(name[first - 1])) != 0;
    if (std::isupper(c) != 0 && after_small)
      break;
  }
  std::string word(name.substr(first));
  std::ranges::transform(word, word.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return word;
}

/// Positions of the columns whose last word is one of `words`.
template<std::size_t count>
std::vector<std::size_t> named_by(std::span<const column_profile> columns,
                                  const std::array<std::string_view, count>& words) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (std::ranges::find(words, last_word(columns[i].name)) != words.end())
      found.push_back(i);
  return found;
}

/// Merges two lists of positions, each in order.
std::vector<std::size_t> merged(const std::vector<std::size_t>& a,
                                const std::vector<std::size_t>& b) {
  std::vector<std::size_t> both;
  std::ranges::merge(a, b, std::back_inserter(both));
  return both;
}

bool may_be_target(const column_profile& c) {
  return c.kind == column_kind::number || c.kind == column_kind::category
         || c.kind == column_kind::yes_no;
}

std::string all_named(std::span<const column_profile> columns,
                      const std::vector<std::size_t>& which) {
  std::vector<std::string> names;
  for (const std::size_t i : which)
    names.push_back(columns[i].name.empty() ? std::to_string(i + 1) : columns[i].name);
  return all_in_quotes(names);
}

tl::unexpected<error> ask(std::string why, std::span<const column_profile> columns,
                          std::vector<std::size_t> likely) {
  if (likely.empty())
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (may_be_target(columns[i]))
        likely.push_back(i);
  return fail(
      error_kind::invalid_input,
      fmt::format("{}; say which column is to be predicted, --target COLUMN{}",
                  std::move(why),
                  likely.empty() ? "" : ", such as " + all_named(columns, likely)));
}

bool has_few_values(const column_profile& c) {
  constexpr std::uint64_t most = 20;
  return may_be_target(c)
         && (c.kind != column_kind::number || (c.distinct > 1 && c.distinct <= most));
}

/// Returns the only column of few values where the others that are used are texts.
std::optional<std::size_t> alone_beside_texts(std::span<const column_profile> columns) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto use = use_of(columns[i]);
    if (use.ignored != ignore_reason::none || use.as == column_kind::text)
      continue;
    if (found || !has_few_values(columns[i]))
      return std::nullopt;
    found = i;
  }
  return found;
}

bool is_named(const column_profile& c, char letter) {
  return c.name.size() == 1 && last_word(c.name).front() == letter;
}

/// Returns the columns that vague names point to. Beside "x" and "z", or beside "x" and a
/// name that is not vague (`clear`), "y" is a coordinate.
std::vector<std::size_t> vaguely_named(std::span<const column_profile> columns,
                                       bool clear) {
  const auto has = [&](char letter) {
    return std::ranges::any_of(
        columns, [&](const column_profile& c) { return is_named(c, letter); });
  };
  auto found = named_by(columns, vague_words);
  if (has('x') && (has('z') || clear))
    std::erase_if(found, [&](std::size_t i) { return is_named(columns[i], 'y'); });
  return found;
}

expected<target_guess> guess_by_name(std::span<const column_profile> columns) {
  const std::size_t last = columns.size() - 1;
  const auto has_last = [&](const std::vector<std::size_t>& among) {
    return std::ranges::find(among, last) != among.end();
  };
  const auto targets = named_by(columns, target_words);
  if (targets.size() == 1)
    return target_guess{targets.front(), target_reason::named};
  if (targets.size() > 1)
    return ask("several columns are named like a target", columns, targets);
  const auto fates = named_by(columns, fate_words);
  const auto predicted = merged(named_by(columns, predicted_words), fates);
  const auto vague = vaguely_named(columns, !predicted.empty());
  if (has_last(predicted))
    return target_guess{last, target_reason::suggested};
  if (has_last(vague) && fates.empty())
    return target_guess{last, target_reason::named};
  if (!has_last(vague) && predicted.size() == 1
      && may_be_target(columns[predicted.front()]))
    return target_guess{predicted.front(), target_reason::suggested};
  if (predicted.empty() && vague.size() == 1)
    return target_guess{vague.front(), target_reason::named};
  if (!predicted.empty() || !vague.empty()) {
    auto likely = predicted.empty() ? vague : predicted;
    if (has_last(vague))
      likely.push_back(last);
    return ask("several columns could be the target", columns, std::move(likely));
  }
  return target_guess{last, target_reason::last};
}

} // namespace

expected<target_guess> guess_target(std::span<const column_profile> columns, bool names) {
  if (columns.size() < 2)
    return fail(error_kind::invalid_input,
                "there is one column: a target and one column beside it are the least");
  const std::size_t last = columns.size() - 1;
  if (names) {
    auto guess = guess_by_name(columns);
    if (!guess || guess->reason != target_reason::last)
      return guess;
  }
  if (const auto alone = alone_beside_texts(columns);
      alone && !may_be_target(columns[last]))
    return target_guess{*alone, target_reason::beside_texts};
  const auto not_named = [&] {
    return "no column is named like a target, and the last one, "
           + (columns[last].name.empty() ? fmt::format("number {}", last + 1)
                                         : in_quotes(columns[last].name));
  };
  if (!may_be_target(columns[last]))
    return ask(
        fmt::format("{}, cannot be one ({})", not_named(), to_text(columns[last].kind)),
        columns, {});
  const auto describing = named_by(columns.last(1), describing_words);
  if (names && !describing.empty())
    return ask(not_named() + ", rather describes a case", columns, {});
  return target_guess{last, target_reason::last};
}

bool are_label_lists(const column_profile& target) {
  constexpr std::size_t least_lists = 5;
  std::vector<std::string> lists;
  for (const value_count& v : target.frequent)
    lists.push_back(v.value);
  const char separator = separator_of(lists);
  if (target.numbers > 0 || separator == ' ' || lists.size() < least_lists)
    return false;
  std::set<std::string_view> labels;
  std::size_t several = 0;
  for (const std::string& list : lists) {
    const auto own = labels_of(list, separator);
    labels.insert(own.begin(), own.end());
    several += own.size() > 1 ? 1 : 0;
  }
  return 5 * several >= lists.size() && labels.size() < lists.size();
}

learning_task task_of(const column_profile& target) {
  constexpr std::uint64_t most_classes = 20, least_rows = 5;
  const auto values = target.values();
  if (values == 0)
    return classification;
  if (are_label_lists(target))
    return multilabel;
  // If almost all are numbers, the others are mistakes.
  if (target.numbers != values)
    return target.distinct > most_classes
                   && 10 * (target.numbers + target.infinite) >= 9 * values
               ? regression
               : classification;
  if (!target.whole || !target.minimum)
    return regression;
  if (target.distinct <= 2)
    return classification;
  const bool gapless =
      *target.maximum - *target.minimum + 1 == static_cast<double>(target.distinct);
  // A class of one row cannot be learnt.
  const bool alone = !target.frequent.empty() && target.frequent.back().count < 2;
  return gapless && target.distinct <= most_classes && !alone
                 && values >= least_rows * target.distinct
             ? classification
             : regression;
}

} // namespace clade
