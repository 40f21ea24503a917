// Texts are read twice. First, by hash of each term, how many texts have it is counted;
// where there are too many terms, those of one text go. Then the terms that are left get
// the list of the texts that have them, from which the counts by class, or the sums of the
// targets, follow one term at a time.

#include "engine/data/texts/vocabulary.hpp"

#include "engine/data/bytes/text_terms.hpp"
#include "genome/genes/hash.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <tuple>
#include <unordered_map>

namespace clade {
namespace {

using namespace vocabulary_rules;

constexpr std::size_t most_counted = std::size_t{1} << 22; // Terms at once.
constexpr std::size_t most_weighed = 300'000; // Terms that texts are listed of.
constexpr std::uint32_t least_texts = 2;

/// How many texts have a term, by its hash.
using text_counts = std::unordered_map<std::uint64_t, std::uint32_t>;

std::vector<std::uint64_t> terms_in(std::string_view text) {
  std::vector<std::uint64_t> hashes;
  each_term(text, [&](std::string_view term) { hashes.push_back(hash64(term)); });
  std::ranges::sort(hashes);
  const auto repeated = std::ranges::unique(hashes);
  hashes.erase(repeated.begin(), repeated.end());
  return hashes;
}

text_counts count_texts(const listed_texts& from) {
  text_counts counts;
  for (const std::string* text : from.texts) {
    for (const std::uint64_t hash : terms_in(*text))
      ++counts[hash];
    for (std::uint32_t rare = 1; counts.size() > most_counted; rare *= 2)
      std::erase_if(counts, [rare](const auto& c) { return c.second <= rare; });
  }
  std::erase_if(counts, [](const auto& c) { return c.second < least_texts; });
  return counts;
}

/// Keeps the terms that most texts have, in no more than so many.
void keep_frequent(text_counts& counts) {
  if (counts.size() <= most_weighed)
    return;
  std::vector<std::uint32_t> all;
  for (const auto& [hash, count] : counts)
    all.push_back(count);
  std::ranges::nth_element(all, all.begin() + most_weighed, std::greater());
  const std::uint32_t least = all[most_weighed];
  std::erase_if(counts, [least](const auto& c) { return c.second <= least; });
}

std::vector<listed_term> terms_of(const listed_texts& from, const text_counts& counts) {
  std::unordered_map<std::uint64_t, std::size_t> places;
  std::vector<listed_term> out;
  for (std::uint32_t i = 0; i < from.texts.size(); ++i)
    each_term(*from.texts[i], [&](std::string_view term) {
      const std::uint64_t hash = hash64(term);
      const auto count = counts.find(hash);
      if (count == counts.end())
        return;
      const auto [at, fresh] = places.emplace(hash, out.size());
      if (fresh) {
        out.push_back({.term = std::string(term), .texts = {}});
        out.back().texts.reserve(count->second);
      }
      auto& texts = out[at->second].texts;
      if (texts.empty() || texts.back() != i)
        texts.push_back(i);
    });
  return out;
}

/// The numbers of a target, or 0 and 1 of a label.
class centred_target {
public:
  explicit centred_target(std::vector<double> by_text) : values_(std::move(by_text)) {
    const double mean = std::accumulate(values_.begin(), values_.end(), 0.0)
                        / static_cast<double>(values_.size());
    for (double& v : values_) {
      v -= mean;
      squares_ += v * v;
    }
  }

  /// The chi-squared of one degree of freedom of a term that these texts have.
  [[nodiscard]] double told_by(const std::vector<std::uint32_t>& texts) const {
    const auto n = static_cast<double>(texts.size());
    const auto all = static_cast<double>(values_.size());
    double sum = 0;
    for (const std::uint32_t i : texts)
      sum += values_[i];
    const double spread = n * (1 - n / all) * squares_;
    return spread > 0 ? all * sum * sum / spread : 0;
  }

private:
  std::vector<double> values_; ///< By text, of mean 0.
  double squares_ = 0;         ///< The sum of theirs.
};

/// Measures how much terms tell of the target; of several targets, of the one of which they
/// tell most.
class telling {
public:
  telling(const examples& e, const listed_texts& from) {
    const auto n = static_cast<double>(from.texts.size());
    if (e.labels.empty()) {
      const std::size_t outputs = outputs_of(e);
      for (std::size_t output = 0; output < outputs; ++output) {
        std::vector<double> own;
        for (const std::uint32_t i : from.examples)
          own.push_back(e.targets[i * outputs + output]);
        targets_.emplace_back(std::move(own));
      }
      return;
    }
    shares_.resize(e.classes.size());
    for (const std::uint32_t i : from.examples) {
      labels_.push_back(e.labels[i]);
      shares_[e.labels[i]] += 1 / n;
    }
    counts_.resize(shares_.size());
  }

  /// The chi-squared of a term, which exceeds `by_chance` in one case of twenty for a term
  /// that says nothing.
  [[nodiscard]] double of(const std::vector<std::uint32_t>& texts) {
    const auto n = static_cast<double>(texts.size());
    if (labels_.empty()) {
      double most = 0;
      for (const centred_target& target : targets_)
        most = std::max(most, target.told_by(texts));
      return most;
    }
    std::ranges::fill(counts_, 0);
    for (const std::uint32_t i : texts)
      ++counts_[labels_[i]];
    double sum = 0;
    for (std::size_t c = 0; c < shares_.size(); ++c)
      if (const double usual = n * shares_[c]; usual > 0)
        sum += (counts_[c] - usual) * (counts_[c] - usual) / usual;
    return sum;
  }

  /// By Wilson and Hilferty (1931).
  [[nodiscard]] double by_chance() const {
    const auto seen = std::ranges::count_if(shares_, [](double s) { return s > 0; });
    const auto freedom = static_cast<double>(std::max<std::ptrdiff_t>(seen - 1, 1));
    const double part = 2 / (9 * freedom);
    return freedom * std::pow(1 - part + 1.645 * std::sqrt(part), 3);
  }

private:
  std::vector<std::uint32_t> labels_;   ///< By text.
  std::vector<double> shares_, counts_; ///< By class.
  std::vector<centred_target> targets_;
};

struct told_term {
  const listed_term* term;
  double told;
};

/// The most telling ones first.
bool before(const told_term& a, const told_term& b) {
  return std::forward_as_tuple(-a.told, b.term->texts.size(), a.term->term)
         < std::forward_as_tuple(-b.told, a.term->texts.size(), b.term->term);
}

/// Puts the first `most` in order and leaves out the others.
void keep_first(std::vector<told_term>& terms, std::size_t most) {
  const auto kept = std::min(most, terms.size());
  std::ranges::partial_sort(terms, terms.begin() + static_cast<std::ptrdiff_t>(kept),
                            before);
  terms.resize(kept);
}

/// The terms in order, with their weights by so many texts.
vocabulary weighed(std::vector<const listed_term*> terms, std::size_t texts) {
  std::ranges::sort(terms, {}, &listed_term::term);
  const auto n = static_cast<double>(texts);
  vocabulary out;
  for (const listed_term* t : terms) {
    out.terms.push_back(t->term);
    out.weights.push_back(
        1 + std::log((1 + n) / (1 + static_cast<double>(t->texts.size()))));
  }
  return out;
}

} // namespace

listed_texts list_texts(const examples& e, const text_column& column,
                        std::span<const std::uint32_t> train) {
  const std::size_t width = e.features.size() / e.count;
  listed_texts all;
  std::size_t bytes = 0;
  for (const std::uint32_t i : train) {
    const double code = e.features[i * width + column.feature];
    if (std::isnan(code))
      continue;
    all.texts.push_back(&column.values[static_cast<std::size_t>(code)]);
    all.examples.push_back(i);
    bytes += all.texts.back()->size();
  }
  const std::size_t every = bytes / most_bytes + 1;
  for (std::size_t i = 0; i * every < all.texts.size(); ++i) {
    all.texts[i] = all.texts[i * every];
    all.examples[i] = all.examples[i * every];
  }
  all.texts.resize((all.texts.size() + every - 1) / every);
  all.examples.resize(all.texts.size());
  auto counts = count_texts(all);
  keep_frequent(counts);
  all.terms = terms_of(all, counts);
  return all;
}

std::size_t terms_of_each(std::size_t most, std::size_t columns, std::size_t examples) {
  const auto fits = most_weights / std::max<std::size_t>(examples, 1);
  return std::min(most, fits) / std::max<std::size_t>(columns, 1);
}

vocabulary telling_vocabulary(const examples& e, const listed_texts& from,
                              std::size_t most) {
  telling told(e, from);
  const double least = told.by_chance();
  std::vector<told_term> words, pieces;
  for (const listed_term& term : from.terms)
    if (const double said = told.of(term.texts); said > least)
      (term.term.front() == '#' ? pieces : words).push_back({&term, said});
  // One kind has the room that the other does not need.
  keep_first(words, std::max(most / 3, most - std::min(most, pieces.size())));
  keep_first(pieces, most - words.size());
  words.insert(words.end(), pieces.begin(), pieces.end());
  std::vector<const listed_term*> kept;
  for (const told_term& t : words)
    kept.push_back(t.term);
  return weighed(std::move(kept), from.texts.size());
}

vocabulary common_vocabulary(const listed_texts& from, std::size_t most) {
  std::vector<const listed_term*> kept;
  for (const listed_term& term : from.terms)
    if (term.texts.size() < from.texts.size())
      kept.push_back(&term);
  if (kept.size() > most) {
    std::ranges::stable_sort(kept, std::greater(),
                             [](const listed_term* t) { return t->texts.size(); });
    kept.resize(most);
  }
  return weighed(std::move(kept), from.texts.size());
}

} // namespace clade
