#include "engine/data/texts/text_scores.hpp"
#include "genome/base/random.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace clade;

namespace {

/// Sentences of two classes, one text each, that are to be encoded.
examples sentences(const std::vector<std::string>& texts,
                   const std::vector<std::uint32_t>& labels) {
  examples e;
  e.count = texts.size();
  e.columns = {{.name = "text", .kind = encoding_kind::text}};
  text_column column{.column = 0, .feature = 0, .name = "text"};
  for (const std::string& text : texts) {
    const auto at = std::ranges::find(column.values, text);
    e.features.push_back(static_cast<double>(at - column.values.begin()));
    if (at == column.values.end())
      column.values.push_back(text);
  }
  e.texts = {column};
  e.labels = labels;
  e.classes = {"no", "yes"};
  return e;
}

std::vector<std::uint32_t> first(std::size_t count) {
  std::vector<std::uint32_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

learnt_scores learn(const examples& e, std::uint64_t seed = 1, bool by_group = false) {
  return learn_text_scores(e, list_texts(e, e.texts.front(), first(e.count)), seed,
                           by_group);
}

/// Every other sentence praises; each has words that say nothing, and one of its own.
examples praise(std::size_t count) {
  std::vector<std::string> texts;
  std::vector<std::uint32_t> labels;
  for (std::size_t i = 0; i < count; ++i) {
    labels.push_back(i % 2);
    texts.push_back(std::string(i % 2 == 0 ? "dull" : "splendid") + " film of kind "
                    + std::to_string(i % 7) + " number " + std::to_string(i));
  }
  return sentences(texts, labels);
}

std::uint32_t by_chance(std::uint64_t i) {
  return derive(5, purpose::sample, 0, i).chance(0.5) ? 1 : 0;
}

/// Classes that no word tells.
examples noise(std::size_t count) {
  std::vector<std::string> texts;
  std::vector<std::uint32_t> labels;
  for (std::size_t i = 0; i < count; ++i) {
    labels.push_back(by_chance(i));
    texts.push_back("w" + std::to_string(i % 11) + " v" + std::to_string(i / 2) + " u"
                    + std::to_string(i % 13));
  }
  return sentences(texts, labels);
}

double share_right(const learnt_scores& learnt, const examples& e) {
  double right = 0;
  for (std::size_t i = 0; i < learnt.examples.size(); ++i)
    right += (learnt.left_out[i] > 0) == (e.labels[learnt.examples[i]] == 1) ? 1 : 0;
  return right / static_cast<double>(learnt.examples.size());
}

} // namespace

TEST_CASE("text scores: texts get what models say that have not seen them") {
  const auto told = praise(100);
  const auto learnt = learn(told);
  CHECK(learnt.scores.count() == 1);
  CHECK(learnt.examples == first(100));
  CHECK(share_right(learnt, told) == 1);
  // Each example has a word and a number of its own, by which a model that has seen it
  // would know it.
  const auto untold = noise(200);
  const auto guessed = learn(untold);
  const double right = share_right(guessed, untold);
  CHECK(right < 0.65);
  CHECK(right > 0.35);
}

TEST_CASE("text scores: equal texts and groups do not tell of each other") {
  // Every sentence is there five times; its class is by chance.
  std::vector<std::string> texts;
  std::vector<std::uint32_t> labels, groups;
  for (std::uint32_t i = 0; i < 300; ++i) {
    const std::uint32_t which = i % 60;
    texts.push_back("word" + std::to_string(which) + " and w"
                    + std::to_string(which % 5));
    labels.push_back(by_chance(which));
    groups.push_back(which);
  }
  auto e = sentences(texts, labels);
  CHECK(share_right(learn(e), e) < 0.7);
  // Now they differ by a number, so that only groups say that they belong together.
  for (std::size_t i = 0; i < texts.size(); ++i)
    texts[i] += " " + std::to_string(i);
  e = sentences(texts, labels);
  CHECK(share_right(learn(e), e) > 0.9);
  e.split_codes = groups;
  for (std::uint32_t i = 0; i < 60; ++i)
    e.split_values.push_back("group " + std::to_string(i));
  CHECK(share_right(learn(e, 1, true), e) < 0.7);
}

TEST_CASE("text scores: they depend on the seed and on nothing else") {
  const auto e = praise(60);
  const auto once = learn(e, 7), again = learn(e, 7), other = learn(e, 8);
  CHECK(once.scores == again.scores);
  CHECK(once.left_out == again.left_out);
  CHECK(once.scores.terms == other.scores.terms);
  CHECK(once.left_out != other.left_out);
}

TEST_CASE("text scores: examples that are not for training decide nothing") {
  auto e = praise(80);
  const auto train = first(50);
  const auto learnt =
      learn_text_scores(e, list_texts(e, e.texts.front(), train), 1, false);
  for (std::size_t i = 50; i < 80; ++i)
    e.labels[i] = 1 - e.labels[i];
  const auto again =
      learn_text_scores(e, list_texts(e, e.texts.front(), train), 1, false);
  CHECK(learnt.scores == again.scores);
  CHECK(learnt.left_out == again.left_out);
  CHECK(learnt.of(3).size() == 1);
  CHECK(learnt.of(70).empty());
}

TEST_CASE("text scores: blanks, one class, few and equal texts have scores or none") {
  auto e = praise(20);
  e.features.set(4, std::nan(""));
  const auto with_blank = learn(e);
  CHECK(with_blank.examples.size() == 19);
  CHECK(with_blank.of(4).empty());
  CHECK(learn(sentences({"one text"}, {1})).scores.count() == 0);
  CHECK(learn(sentences({"a text", "a text", "a text"}, {1, 0, 1})).scores.count() == 0);
  CHECK(learn(sentences({"", "", ""}, {1, 0, 1})).scores.count() == 0);
  for (const std::size_t count : {3, 4, 6, 11}) {
    const auto few = learn(praise(count));
    for (const double score : few.left_out)
      CHECK(std::isfinite(score));
  }
  auto one_class = praise(20);
  std::ranges::fill(one_class.labels, 0U);
  one_class.classes = {"no"};
  for (const double score : learn(one_class).left_out)
    CHECK(score < 0);
}

TEST_CASE("text scores: a class that one fold alone has gets scores all the same") {
  auto e = praise(50);
  e.classes = {"no", "yes", "seldom"};
  e.labels[10] = 2;
  const auto learnt = learn(e);
  CHECK(learnt.scores.count() == 3);
  CHECK(learnt.of(10).size() == 3);
  CHECK(learnt.of(10)[2] < 0);
}
