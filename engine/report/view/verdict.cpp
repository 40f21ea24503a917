#include "engine/report/view/verdict.hpp"

#include "engine/report/base/format.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace clade {

namespace {

constexpr const char* linear_subject = "linear model";
constexpr const char* final_subject = "final model";

const compared* find_subject(const end_facts& f, std::string_view subject) {
  const auto found = std::ranges::find(f.comparison, subject, &compared::subject);
  return found == f.comparison.end() ? nullptr : &*found;
}

/// By how much `a` is better than `b`; negative: worse. None where one is not known.
std::optional<double> lead(const std::optional<double>& a, const std::optional<double>& b,
                           bool maximize) {
  if (!a || !b)
    return std::nullopt;
  return maximize ? *a - *b : *b - *a;
}

std::string against(const std::string& metric, const std::optional<double>& a,
                    const std::optional<double>& b) {
  return fmt::format("{} {} against {}", metric, metric_text(a), metric_text(b));
}

std::string linear_words(const end_facts& f, const compared& champion) {
  const auto* linear = find_subject(f, linear_subject);
  if (linear == nullptr)
    return "";
  // The model that people take away is compared.
  const auto* final_model = find_subject(f, final_subject);
  const auto& taken = final_model == nullptr ? champion : *final_model;
  const auto* const name = final_model == nullptr ? "the champion" : "the final model";
  const auto on_test = lead(taken.test, linear->test, f.maximize);
  const auto on_validation = lead(taken.validation, linear->validation, f.maximize);
  const bool loses_test = on_test && *on_test <= 0;
  const bool loses_validation = on_validation && *on_validation <= 0;
  if (!loses_test && !loses_validation)
    return "";
  const bool is_linear = final_model != nullptr && on_test == 0.0 && on_validation == 0.0
                         && taken.parameters == linear->parameters;
  if (is_linear)
    return "The final model is the linear model alone; what was left out, and why, is "
           "listed with it.";
  const double by = loses_test ? *on_test : *on_validation;
  std::string text = "The linear model is ";
  text += by < 0 ? "better than" : "as good as";
  text += fmt::format(" {} on the ", name);
  text += loses_test ? "test data" : "validation data";
  text += " (";
  text += loses_test ? against(f.test_metric, linear->test, taken.test)
                     : against(f.metric, linear->validation, taken.validation);
  text += fmt::format("), with {} parameters instead of {}.",
                      with_commas(linear->parameters), with_commas(taken.parameters));
  if (loses_test)
    return text
           + " Use a linear model (such as scikit-learn's), or give the search more "
             "data, "
             "generations or epochs.";
  return text
         + fmt::format(" Only on the test data {} is better: do not count on it.", name);
}

/// Returns the text on the worth of an error of validation, with the rows that it comes
/// from.
std::string small_validation_words(const end_facts& f, const compared& champion) {
  if (f.standard_error <= 0 || f.as_good == 0 || f.candidates < 2
      || f.validation_examples == 0)
    return "";
  const double luck =
      f.standard_error * std::sqrt(2 * std::log(static_cast<double>(f.candidates)));
  double least = std::numeric_limits<double>::infinity();
  for (const auto& c : f.comparison)
    if (&c != &champion && c.subject != final_subject)
      if (const auto ahead = lead(champion.validation, c.validation, f.maximize))
        least = std::min(least, *ahead);
  if (!std::isfinite(least) || least > luck)
    return "";
  return fmt::format(
      "Validation is too small to tell candidates apart: on {} examples the champion's "
      "{} of {} has a standard error of {}, and {} of the {} other candidates are within "
      "it. The best of so many looks better than it is by up to {}. Trust the test data; "
      "give validation more examples (data.split), or try fewer candidates.",
      with_commas(f.validation_examples), f.metric, metric_text(champion.validation),
      metric_text(f.standard_error), with_commas(f.as_good),
      with_commas(f.candidates - 1), metric_text(luck));
}

std::string clock_words(const end_facts& f) {
  if (!f.by_the_clock && f.shortened == 0)
    return "";
  const auto how =
      f.by_the_clock ? std::string("limits.wall_time")
                     : fmt::format("limits.evaluation_time shortened {} of {} trainings",
                                   with_commas(f.shortened), with_commas(f.candidates));
  return fmt::format("The clock had a say in this run ({}): another run of the same seed "
                     "will differ. clade replay RUN will not: all that was decided by "
                     "time is recorded.",
                     how);
}

std::string limit_words(const end_facts& f) {
  if (f.unmet.empty())
    return "";
  return fmt::format(
      "No candidate keeps the limits of the objective. The champion misses "
      "them by least: {}. Raise them, or offer smaller networks; clade "
      "plan says before a run what is in reach.",
      f.unmet);
}

std::string tie_words(const end_facts& f, const compared& champion) {
  if (!f.smaller || f.smaller->parameters >= champion.parameters)
    return "";
  const auto id = numbered(f.smaller->id);
  return fmt::format(
      "{} has the same {} as the champion with {} parameters instead of {}; #{}{}{}", id,
      f.metric, with_commas(f.smaller->parameters), with_commas(champion.parameters),
      champion.id,
      f.smaller->higher_loss ? " was chosen for its lower validation.loss."
                             : " was chosen as the older one.",
      f.smaller->has_weights ? fmt::format(
          " To take the smaller one: clade export RUN {} --python FOLDER.", f.smaller->id)
                             : "");
}

} // namespace

std::vector<std::string> verdict(const end_facts& facts) {
  const auto* champion = find_subject(facts, "champion");
  if (champion == nullptr)
    return {};
  std::vector<std::string> all{limit_words(facts), linear_words(facts, *champion),
                               small_validation_words(facts, *champion),
                               tie_words(facts, *champion), clock_words(facts)};
  std::erase(all, "");
  return all;
}

} // namespace clade
