// A fold is fitted to the targets of the others alone. All folds share the terms, and how
// many texts have each, which are found without looking at a target.

#include "engine/data/texts/text_scores.hpp"

#include "genome/base/all_processors.hpp"
#include "genome/genes/hash.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string_view>

namespace clade {
namespace {

using namespace score_rules;

constexpr std::array costs{0.01, 0.03, 0.1, 0.3};

std::size_t classes_of(const examples& e) {
  return e.labels.empty() ? 0 : std::max<std::size_t>(e.classes.size(), 2);
}

score_targets targets_of(const examples& e, std::span<const std::uint32_t> of) {
  score_targets targets{.classes = classes_of(e)};
  if (targets.classes > 0) {
    for (const std::uint32_t i : of)
      targets.labels.push_back(e.labels[i]);
    return targets;
  }
  const auto n = static_cast<double>(of.size());
  const std::size_t values = targets.values = outputs_of(e);
  targets.numbers.resize(of.size() * values);
  for (std::size_t v = 0; v < values; ++v) {
    const auto at = [&](std::uint32_t i) { return e.targets[i * values + v]; };
    double mean = 0, squares = 0;
    for (const std::uint32_t i : of)
      mean += at(i) / n;
    for (const std::uint32_t i : of)
      squares += (at(i) - mean) * (at(i) - mean) / n;
    const double deviation = squares > 0 ? std::sqrt(squares) : 1;
    for (std::size_t k = 0; k < of.size(); ++k)
      targets.numbers[k * values + v] =
          static_cast<float>((at(of[k]) - mean) / deviation);
  }
  return targets;
}

/// The texts that models are fitted to, and the examples that they are of.
struct fitted_texts {
  weighed_texts weighed;
  std::vector<const std::string*> texts;
  std::vector<std::uint32_t> examples;
};

/// Every so many of the texts that fitting them is no more than `most_work`.
fitted_texts weigh(const listed_texts& listed, const term_weigher& weigher,
                   std::size_t outputs) {
  constexpr std::size_t of_reading = 4;
  std::size_t weights = 0;
  for (const listed_term& term : listed.terms)
    weights += term.texts.size();
  const std::size_t every = weights / (most_work / (outputs + of_reading)) + 1;
  fitted_texts out;
  for (std::size_t i = 0; i < listed.texts.size(); i += every) {
    out.weighed.add(weigher.weigh(*listed.texts[i]));
    out.texts.push_back(listed.texts[i]);
    out.examples.push_back(listed.examples[i]);
  }
  return out;
}

/// The fold of each text: those that stay together, in the order of a hash, are dealt out.
std::vector<std::size_t> deal_folds(const examples& e, const fitted_texts& from,
                                    std::uint64_t seed, bool by_group) {
  std::vector<std::uint64_t> keys;
  for (std::size_t i = 0; i < from.texts.size(); ++i) {
    const std::string& together =
        by_group ? e.split_values[e.split_codes[from.examples[i]]] : *from.texts[i];
    keys.push_back(hash64(together, seed));
  }
  auto order = keys;
  std::ranges::sort(order);
  const auto repeated = std::ranges::unique(order);
  order.erase(repeated.begin(), repeated.end());
  std::vector<std::size_t> fold;
  for (const std::uint64_t key : keys)
    fold.push_back(
        static_cast<std::size_t>(std::ranges::lower_bound(order, key) - order.begin())
        % folds);
  return fold;
}

class scoring {
public:
  scoring(const examples& e, const fitted_texts& from, std::size_t terms,
          std::uint64_t seed)
      : texts_(from.weighed),
        targets_(targets_of(e, from.examples)),
        fit_{.terms = terms, .seed = seed} {}

  /// Fits all folds, and all texts together. False: the folds are too few.
  bool run(const std::vector<std::size_t>& fold) {
    for (std::uint32_t i = 0; i < fold.size(); ++i) {
      for (std::size_t f = 0; f < folds; ++f)
        (fold[i] == f ? held_out_ : others_)[f].push_back(i);
      all_.push_back(i);
    }
    if (others_.front().empty() || held_out_.front().empty())
      return false;
    left_out_.resize(fold.size() * targets_.outputs());
    choose_cost();
    on_all_processors(folds, [&](std::size_t f) {
      if (f == 0)
        whole_ = fit_linear_scores(texts_, targets_, all_, fit_);
      else
        put(f, scores_of_fold(f, fit_linear_scores(texts_, targets_, others_[f], fit_)));
    });
    return true;
  }

  linear_scores take_whole() { return std::move(whole_); }
  std::vector<double> take_left_out() { return std::move(left_out_); }

private:
  std::vector<double> scores_of_fold(std::size_t fold, const linear_scores& by) const {
    std::vector<double> scores;
    for (const std::uint32_t i : held_out_[fold])
      by.append(texts_.text(i), scores);
    return scores;
  }

  void put(std::size_t fold, const std::vector<double>& scores) {
    const std::size_t outputs = targets_.outputs();
    for (std::size_t i = 0; i < scores.size(); ++i)
      left_out_[held_out_[fold][i / outputs] * outputs + i % outputs] = scores[i];
  }

  void choose_cost() {
    std::array<std::vector<double>, costs.size()> scores;
    on_all_processors(costs.size(), [&](std::size_t c) {
      auto how = fit_;
      how.cost = costs[c];
      scores[c] =
          scores_of_fold(0, fit_linear_scores(texts_, targets_, others_.front(), how));
    });
    std::array<double, costs.size()> told{};
    std::ranges::transform(scores, told.begin(), [&](const auto& s) {
      return told_by(s, targets_, held_out_.front());
    });
    const auto best =
        static_cast<std::size_t>(std::ranges::max_element(told) - told.begin());
    fit_.cost = costs[best];
    put(0, scores[best]);
  }

  const weighed_texts& texts_;
  score_targets targets_;
  score_fit fit_;
  std::array<std::vector<std::uint32_t>, folds> held_out_, others_;
  std::vector<std::uint32_t> all_;
  linear_scores whole_;
  std::vector<double> left_out_;
};

} // namespace

std::span<const double> learnt_scores::of(std::uint32_t example) const {
  const auto at = std::ranges::lower_bound(examples, example);
  if (at == examples.end() || *at != example)
    return {};
  const auto place = static_cast<std::size_t>(at - examples.begin());
  const std::size_t each = left_out.size() / examples.size();
  return std::span(left_out).subspan(place * each, each);
}

learnt_scores learn_text_scores(const examples& e, const listed_texts& listed,
                                std::uint64_t seed, bool by_group) {
  const std::size_t classes = classes_of(e);
  const std::size_t outputs =
      score_targets{.classes = classes, .values = outputs_of(e)}.outputs();
  if (outputs > most_classes || e.count > most_scores / outputs)
    return {};
  auto known =
      common_vocabulary(listed, std::min(most_terms, most_coefficients / outputs));
  if (known.terms.empty())
    return {};
  learnt_scores out;
  out.scores.terms = std::move(known.terms);
  out.scores.weights = std::move(known.weights);
  auto from = weigh(listed, {out.scores.terms, out.scores.weights}, outputs);
  scoring fits(e, from, out.scores.terms.size(), seed);
  if (!fits.run(deal_folds(e, from, seed, by_group)))
    return {};
  out.scores.fit = fits.take_whole();
  out.left_out = fits.take_left_out();
  out.examples = std::move(from.examples);
  return out;
}

} // namespace clade
