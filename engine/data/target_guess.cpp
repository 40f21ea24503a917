#include "engine/data/target_guess.hpp"

#include "engine/data/in_quotes.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace clade {
namespace {

constexpr std::array<std::string_view, 14> target_words{
    "target",  "targets",  "label",    "labels", "class", "classes", "y",
    "outcome", "outcomes", "response", "output", "truth", "answer",  "dependent"};

constexpr std::array<std::string_view, 31> predicted_words{
    "price",   "prices",    "value",     "sales",      "revenue",     "rating",
    "score",   "quality",   "churn",     "churned",    "survived",    "survival",
    "default", "defaulted", "fraud",     "fraudulent", "diagnosis",   "species",
    "salary",  "spam",      "sentiment", "grade",      "approved",    "status",
    "demand",  "yield",     "strength",  "mpg",        "progression", "converted",
    "result"};

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
  return fail(error_kind::invalid_input,
              std::move(why) + "; say which column is to be predicted, --target COLUMN"
                  + (likely.empty() ? "" : ", such as " + all_named(columns, likely)));
}

} // namespace

expected<target_guess> guess_target(std::span<const column_profile> columns, bool names) {
  if (columns.size() < 2)
    return fail(error_kind::invalid_input,
                "there is one column: a target and one column beside it are the least");
  const std::size_t last = columns.size() - 1;
  if (names) {
    const auto targets = named_by(columns, target_words);
    if (targets.size() == 1)
      return target_guess{targets.front(), target_reason::named};
    if (targets.size() > 1)
      return ask("several columns are named like a target", columns, targets);
    const auto predicted = named_by(columns, predicted_words);
    if (std::ranges::find(predicted, last) != predicted.end())
      return target_guess{last, target_reason::suggested};
    if (predicted.size() == 1 && may_be_target(columns[predicted.front()]))
      return target_guess{predicted.front(), target_reason::suggested};
    if (predicted.size() > 1)
      return ask("several columns could be the target", columns, predicted);
  }
  if (may_be_target(columns[last]))
    return target_guess{last, target_reason::last};
  return ask("no column is named like a target, and the last one, "
                 + (columns[last].name.empty() ? "number " + std::to_string(last + 1)
                                               : in_quotes(columns[last].name))
                 + ", cannot be one (" + std::string(to_text(columns[last].kind)) + ")",
             columns, {});
}

learning_task task_of(const column_profile& target) {
  constexpr std::uint64_t most_classes = 20, least_rows = 5;
  if (target.numbers != target.values() || target.values() == 0)
    return classification;
  if (!target.whole || !target.minimum)
    return regression;
  if (target.distinct <= 2)
    return classification;
  const bool gapless =
      *target.maximum - *target.minimum + 1 == static_cast<double>(target.distinct);
  return gapless && target.distinct <= most_classes
                 && target.values() >= least_rows * target.distinct
             ? classification
             : regression;
}

} // namespace clade
