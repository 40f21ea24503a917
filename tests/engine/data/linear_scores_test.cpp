#include "engine/data/columns/linear_scores.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace clade;

namespace {

using indices = std::vector<std::uint32_t>;

indices all_of(std::size_t count) {
  indices all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<double> scores_of(const linear_scores& by, const weighed_texts& texts,
                              std::size_t text) {
  std::vector<double> scores;
  by.append(texts.text(text), scores);
  return scores;
}

/// Texts of one term each, term i in those of i modulo `terms`.
weighed_texts in_turn(std::size_t count, std::uint32_t terms) {
  weighed_texts texts;
  for (std::uint32_t i = 0; i < count; ++i)
    texts.add(std::vector<term_weight>{{i % terms, 1}});
  return texts;
}

} // namespace

TEST_CASE("linear scores: a text is its terms, also where it has none") {
  weighed_texts texts;
  texts.add(std::vector<term_weight>{{0, 1}, {2, 0.5}});
  texts.add({});
  texts.add(std::vector<term_weight>{{1, 2}});
  CHECK(texts.count() == 3);
  CHECK(texts.text(0).size() == 2);
  CHECK(texts.text(1).empty());
  CHECK(texts.text(2).front() == term_weight{1, 2});
  const linear_scores by{.coefficients = {1, 10, 2, 20, 3, 30}, .intercepts = {0.5, -1}};
  CHECK(scores_of(by, texts, 0) == std::vector<double>{0.5 + 1 + 1.5, -1 + 10 + 15});
  CHECK(scores_of(by, texts, 1) == std::vector<double>{0.5, -1});
  CHECK(scores_of(by, texts, 2) == std::vector<double>{4.5, 39});
}

TEST_CASE("linear scores: two classes have one score, more have one each") {
  CHECK(score_targets{.classes = 2}.outputs() == 1);
  CHECK(score_targets{.classes = 3}.outputs() == 3);
  CHECK(score_targets{.numbers = {1}}.outputs() == 1);
  const auto texts = in_turn(30, 3);
  score_targets targets{.classes = 3};
  for (std::uint32_t i = 0; i < 30; ++i)
    targets.labels.push_back(i % 3);
  const auto by = fit_linear_scores(texts, targets, all_of(30), {.terms = 3, .cost = 1});
  for (std::size_t i = 0; i < 3; ++i) {
    const auto scores = scores_of(by, texts, i);
    for (std::size_t c = 0; c < 3; ++c)
      CHECK((scores[c] > 0) == (c == i));
  }
  for (auto& label : targets.labels)
    label = label == 2 ? 1 : 0;
  targets.classes = 2;
  const auto one = fit_linear_scores(texts, targets, all_of(30), {.terms = 3, .cost = 1});
  CHECK(scores_of(one, texts, 0).front() < 0);
  CHECK(scores_of(one, texts, 1).front() < 0);
  CHECK(scores_of(one, texts, 2).front() > 0);
}

// python3: numpy.linalg.solve(X.T @ X + I / (2 C), X.T @ y), X with a column of ones.
TEST_CASE("linear scores: of numbers they are a ridge regression") {
  weighed_texts texts;
  texts.add(std::vector<term_weight>{{0, 1}});
  texts.add(std::vector<term_weight>{{1, 1}});
  texts.add(std::vector<term_weight>{{0, 0.5}, {1, 0.5}});
  const score_targets targets{.numbers = {40, -60, 20}};
  const auto by = fit_linear_scores(texts, targets, all_of(3), {.terms = 2, .cost = 0.5});
  CHECK(by.coefficients[0] == Approx(25.0000).margin(0.1));
  CHECK(by.coefficients[1] == Approx(-25.0000).margin(0.1));
  CHECK(by.intercepts[0] == Approx(-0.0000).margin(0.1));
}

TEST_CASE("linear scores: nothing to learn from says nothing") {
  weighed_texts texts;
  texts.add(std::vector<term_weight>{{0, 1}});
  const score_targets targets{.classes = 2, .labels = {1}};
  const auto none = fit_linear_scores(texts, targets, {}, {.terms = 2});
  CHECK(none == linear_scores{.coefficients = {0, 0}, .intercepts = {0}});
  // One class alone is what every text is.
  const auto one = fit_linear_scores(texts, targets, all_of(1), {.terms = 2});
  CHECK(one.intercepts.front() > 0);
}

TEST_CASE("linear scores: how well they tell is the squared correlation, on any scale") {
  const score_targets numbers{.numbers = {1, 2, 4}};
  CHECK(told_by(std::vector{10.0, 20.0, 40.0}, numbers, all_of(3)) == Approx(1));
  CHECK(told_by(std::vector{0.1, 0.3, 0.2}, numbers, all_of(3)) == Approx(3.0 / 28));
  CHECK(told_by(std::vector{1.0, 1.0, 1.0}, numbers, all_of(3)) == 0);
  CHECK(told_by({}, numbers, {}) == 0);
  // There are three classes, and the scores of the third say nothing.
  const score_targets classes{.classes = 3, .labels = {0, 1}};
  CHECK(told_by(std::vector{2.0, 1.0, 0.0, 1.0, 3.0, 0.0}, classes, all_of(2))
        == Approx(2.0 / 3));
}

TEST_CASE("linear scores: any texts have finite ones, the same again, near the best") {
  CHECK(rc::check([] {
    const auto count = *rc::gen::inRange<std::size_t>(1, 25);
    const auto classes = *rc::gen::element<std::size_t>(0, 2, 3);
    constexpr std::uint32_t terms = 6;
    weighed_texts texts;
    score_targets targets{.classes = classes};
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<term_weight> text;
      for (std::uint32_t t = 0; t < terms; ++t)
        if (*rc::gen::inRange(0, 3) == 0)
          text.push_back({t, static_cast<float>(*rc::gen::inRange(1, 10)) / 10});
      texts.add(text);
      if (classes > 0)
        targets.labels.push_back(
            static_cast<std::uint32_t>(*rc::gen::inRange<std::size_t>(0, classes)));
      else
        targets.numbers.push_back(static_cast<float>(*rc::gen::inRange(-20, 21)) / 10);
    }
    const score_fit how{
        .terms = terms, .cost = *rc::gen::element(0.01, 0.1, 1.0), .seed = 3};
    const auto by = fit_linear_scores(texts, targets, all_of(count), how);
    RC_ASSERT(by == fit_linear_scores(texts, targets, all_of(count), how));
    std::vector<double> scores;
    for (std::size_t i = 0; i < count; ++i)
      by.append(texts.text(i), scores);
    for (const double s : scores)
      RC_ASSERT(std::isfinite(s));
    // Better than to say nothing, whose loss is the mean square of what is wanted.
    double loss = 0, of_nothing = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const double wanted = targets.wanted(
          static_cast<std::uint32_t>(i / targets.outputs()), i % targets.outputs());
      const double missing =
          classes == 0 ? wanted - scores[i] : std::max(0.0, 1 - wanted * scores[i]);
      loss += missing * missing;
      of_nothing += classes == 0 ? wanted * wanted : 1;
    }
    RC_ASSERT(loss <= of_nothing + 0.05 * static_cast<double>(scores.size()));
  }));
}
