// Dual coordinate descent (Hsieh et al., "A Dual Coordinate Descent Method for Large-scale
// Linear SVM", 2008; of regression: Ho and Lin, 2012), of all outputs at once, since they
// share the texts. It minimises, with C the cost,
//
//     |w|^2 / 2 + C sum of loss(wanted, score)
//
// where each text has a dual variable for each output. One text after another, in an order
// that is drawn anew each time, has its variables set to where they are best,
//
//     b' = b + (wanted - score - b / 2C) / (x.x + 1 / 2C)      for classes not across 0
//
// and w changes by (b' - b) x. A term's x is its weight times its ratio r. The
// coefficients are v = w r: a score is the sum of weights times v, and v changes by the
// weight times r^2. The intercept is the coefficient of a term that all texts have.

#include "engine/data/columns/linear_scores.hpp"

#include "genome/base/portable_math.hpp"
#include "genome/base/random.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace clade {
namespace {

constexpr int most_rounds = 60;
/// A round in which no score is further than this from where it should be is the last.
constexpr float tolerance = 0.1F;

class descent {
public:
  descent(const weighed_texts& texts, const score_targets& targets,
          std::span<const std::uint32_t> from, const score_fit& how)
      : texts_(texts),
        targets_(targets),
        from_(from),
        outputs_(targets.outputs()),
        slack_(static_cast<float>(1 / (2 * how.cost))),
        squares_(how.terms * outputs_, 1),
        variables_(from.size() * outputs_),
        step_(outputs_) {
    fitted_.coefficients.resize(how.terms * outputs_);
    fitted_.intercepts.resize(outputs_);
    if (targets.classes > 0)
      weigh_by_ratios(how.terms);
    measure_lengths();
  }

  linear_scores run(random_stream random) {
    std::vector<std::uint32_t> order(from_.size());
    std::iota(order.begin(), order.end(), 0);
    for (int round = 0; round < most_rounds; ++round) {
      for (std::size_t i = order.size(); i > 1; --i)
        std::swap(order[i - 1], order[random.below(i)]);
      float furthest = 0;
      for (const std::uint32_t i : order)
        furthest = std::max(furthest, visit(i));
      if (furthest < tolerance)
        break;
    }
    return std::move(fitted_);
  }

private:
  // r = log of (texts of the class with the term + 1) / (texts of the class + 2), without
  // the same of the other classes.
  void weigh_by_ratios(std::size_t terms) {
    std::vector<std::uint32_t> with(terms), of_class(terms * targets_.classes);
    std::vector<std::uint32_t> sizes(targets_.classes);
    for (const std::uint32_t i : from_) {
      const std::uint32_t label = targets_.labels[i];
      ++sizes[label];
      for (const term_weight& t : texts_.text(i)) {
        ++with[t.term];
        ++of_class[t.term * targets_.classes + label];
      }
    }
    std::vector<float> logs(from_.size() + 3);
    for (std::size_t n = 1; n < logs.size(); ++n)
      logs[n] = static_cast<float>(portable_log(static_cast<double>(n)));
    const std::size_t all = from_.size();
    for (std::size_t t = 0; t < terms; ++t)
      for (std::size_t c = 0; c < outputs_; ++c) {
        const std::size_t label = outputs_ == 1 ? targets_.classes - 1 : c;
        const std::size_t n = of_class[t * targets_.classes + label];
        const float ratio = logs[n + 1] - logs[sizes[label] + 2] - logs[with[t] - n + 1]
                            + logs[all - sizes[label] + 2];
        squares_[t * outputs_ + c] = ratio * ratio;
      }
  }

  void measure_lengths() {
    lengths_.assign(from_.size() * outputs_, 1 + slack_); // The intercept's term.
    for (std::size_t i = 0; i < from_.size(); ++i) {
      float* const length = lengths_.data() + i * outputs_;
      for (const term_weight& t : texts_.text(from_[i])) {
        const float* const square = squares_.data() + t.term * outputs_;
        for (std::size_t c = 0; c < outputs_; ++c)
          length[c] += t.weight * t.weight * square[c];
      }
    }
  }

  /// Returns how far the scores of the text were from where they should be.
  float visit(std::uint32_t i) {
    const auto text = texts_.text(from_[i]);
    std::ranges::copy(fitted_.intercepts, step_.begin());
    for (const term_weight& t : text) {
      const float* const v = fitted_.coefficients.data() + t.term * outputs_;
      for (std::size_t c = 0; c < outputs_; ++c)
        step_[c] += t.weight * v[c];
    }
    float furthest = 0;
    for (std::size_t c = 0; c < outputs_; ++c) {
      float& variable = variables_[i * outputs_ + c];
      const float wanted = targets_.wanted(from_[i], c);
      const float length = lengths_[i * outputs_ + c];
      float next = variable + (wanted - step_[c] - variable * slack_) / length;
      if (targets_.classes > 0 && next * wanted < 0)
        next = 0;
      step_[c] = next - variable;
      variable = next;
      furthest = std::max(furthest, std::abs(step_[c]) * length);
      fitted_.intercepts[c] += step_[c];
    }
    if (furthest > 0)
      for (const term_weight& t : text) {
        float* const v = fitted_.coefficients.data() + t.term * outputs_;
        const float* const square = squares_.data() + t.term * outputs_;
        for (std::size_t c = 0; c < outputs_; ++c)
          v[c] += step_[c] * t.weight * square[c];
      }
    return furthest;
  }

  const weighed_texts& texts_;
  const score_targets& targets_;
  std::span<const std::uint32_t> from_;
  std::size_t outputs_;
  float slack_;                            ///< 1 / 2C
  std::vector<float> squares_;             ///< r^2 by term and output.
  std::vector<float> lengths_, variables_; ///< By text and output.
  std::vector<float> step_;                ///< By output.
  linear_scores fitted_;
};

} // namespace

void weighed_texts::add(std::span<const term_weight> text) {
  terms.insert(terms.end(), text.begin(), text.end());
  ends.push_back(terms.size());
}

std::span<const term_weight> weighed_texts::text(std::size_t i) const {
  const std::size_t first = i == 0 ? 0 : ends[i - 1];
  return std::span(terms).subspan(first, ends[i] - first);
}

std::size_t score_targets::outputs() const {
  return classes == 0 ? values : classes > 2 ? classes : 1;
}

float score_targets::wanted(std::size_t text, std::size_t output) const {
  if (classes == 0)
    return numbers[text * values + output];
  return labels[text] == (classes > 2 ? output : 1) ? 1 : -1;
}

void linear_scores::append(std::span<const term_weight> text,
                           std::vector<double>& scores) const {
  const std::size_t outputs = intercepts.size(), first = scores.size();
  scores.insert(scores.end(), intercepts.begin(), intercepts.end());
  for (const term_weight& t : text)
    for (std::size_t c = 0; c < outputs; ++c)
      scores[first + c] += double{t.weight} * double{coefficients[t.term * outputs + c]};
}

linear_scores fit_linear_scores(const weighed_texts& texts, const score_targets& targets,
                                std::span<const std::uint32_t> from,
                                const score_fit& how) {
  return descent(texts, targets, from, how)
      .run(derive(how.seed, purpose::baseline, 0, 0, 2));
}

double told_by(std::span<const double> scores, const score_targets& targets,
               std::span<const std::uint32_t> from) {
  const std::size_t outputs = targets.outputs();
  const auto n = static_cast<double>(from.size());
  double told = 0;
  for (std::size_t c = 0; c < outputs; ++c) {
    double score_sum = 0, wanted_sum = 0;
    for (std::size_t i = 0; i < from.size(); ++i) {
      score_sum += scores[i * outputs + c];
      wanted_sum += targets.wanted(from[i], c);
    }
    double of_scores = 0, of_wanted = 0, of_both = 0;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const double score = scores[i * outputs + c] - score_sum / n;
      const double wanted = targets.wanted(from[i], c) - wanted_sum / n;
      of_scores += score * score;
      of_wanted += wanted * wanted;
      of_both += score * wanted;
    }
    if (of_scores * of_wanted > 0)
      told += of_both * of_both / (of_scores * of_wanted);
  }
  return told / static_cast<double>(outputs);
}

} // namespace clade
