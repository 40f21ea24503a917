#include "engine/training/metrics/reliability.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace clade {

reliability reliability_of(const class_predictions& p) {
  constexpr std::size_t tenths = 10;
  std::array<reliability_bin, tenths> sums{};
  for (std::size_t i = 0; i < p.labels.size(); ++i) {
    const auto scores = p.scores.subspan(i * p.classes, p.classes);
    const auto best = std::ranges::max_element(scores);
    double all = 0;
    for (const double s : scores)
      all += std::exp(s - static_cast<double>(*best));
    const double said = 1 / all;
    auto& bin = sums[std::min(tenths - 1, static_cast<std::size_t>(tenths * said))];
    ++bin.examples;
    bin.said += said;
    bin.right += best - scores.begin() == p.labels[i] ? 1 : 0;
  }
  reliability out;
  for (auto& bin : sums) {
    if (bin.examples == 0)
      continue;
    const auto n = static_cast<double>(bin.examples);
    out.error += std::abs(bin.said - bin.right) / static_cast<double>(p.labels.size());
    bin.said = std::min(1.0, bin.said / n);
    bin.right /= n;
    out.bins.push_back(bin);
  }
  return out;
}

} // namespace clade
