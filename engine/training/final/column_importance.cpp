#include "engine/training/final/column_importance.hpp"

#include "engine/data/source/shuffled.hpp"
#include "engine/training/metrics/importance_intervals.hpp"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>

namespace clade {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::int64_t most_examples = 2'000, few_examples_asked = 200;
constexpr std::uint32_t most_times = 10, least_times = 3;

/// The columns that make inputs.
struct placed_column {
  std::string name;
  std::int64_t from = 0, inputs = 0;
};

std::vector<placed_column> placed(const device_data& data) {
  std::vector<placed_column> out;
  std::int64_t from = 0;
  for (const auto& c :
       named_columns(data.columns, static_cast<std::size_t>(data.features.size(1)))) {
    const auto inputs = static_cast<std::int64_t>(c.inputs);
    if (inputs > 0)
      out.push_back({c.name, from, inputs});
    from += inputs;
  }
  return out;
}

class dealing {
public:
  dealing(const device_data& data, const asked_model& says,
          const answers_measure& measure, std::uint64_t seed)
      : data_(data),
        says_(says),
        measure_(measure),
        seed_(seed),
        columns_(placed(data)) {
    take(std::min(most_examples, data.validation.size(0)));
  }

  /// Asks fewer examples where least_times would not be done by `deadline`.
  void fit_into(clock::time_point deadline) {
    while (true) {
      const auto before = clock::now();
      usual_ = measure_(says_(features_, which_), which_);
      const auto all = static_cast<std::int64_t>(columns_.size()) * least_times;
      if (before + (clock::now() - before) * all < deadline
          || which_.size(0) / 2 < few_examples_asked)
        return;
      take(which_.size(0) / 2);
    }
  }

  /// How much worse it is with the values of a column dealt for the n-th time.
  [[nodiscard]] double worse(std::size_t column, std::uint32_t n) const {
    const auto& c = columns_[column];
    auto random = derive(seed_, purpose::importance, column + 1, n);
    const auto order = drawn(which_.size(0), random);
    auto dealt = features_.clone();
    dealt.narrow(1, c.from, c.inputs)
        .copy_(features_.narrow(1, c.from, c.inputs).index_select(0, order));
    return measure_(says_(dealt, which_), which_) - usual_;
  }

  [[nodiscard]] const std::vector<placed_column>& columns() const { return columns_; }
  [[nodiscard]] std::int64_t examples() const { return which_.size(0); }

private:
  void take(std::int64_t examples) {
    auto random = derive(seed_, purpose::importance, 0, 0);
    which_ = data_.validation.index_select(
        0, drawn(data_.validation.size(0), random).narrow(0, 0, examples));
    features_ = data_.features.rows(which_);
  }

  [[nodiscard]] at::Tensor drawn(std::int64_t count, random_stream& random) const {
    const auto n = static_cast<std::size_t>(count);
    return at::tensor(shuffled(n, n, random), at::kLong).to(data_.validation.device());
  }

  const device_data& data_;
  const asked_model& says_;
  const answers_measure& measure_;
  std::uint64_t seed_;
  std::vector<placed_column> columns_;
  at::Tensor which_, features_;
  double usual_ = 0;
};

} // namespace

std::optional<column_importances>
importance_of_columns(const device_data& data, const asked_model& says,
                      const answers_measure& measure, std::string metric,
                      std::uint64_t seed, clock::time_point deadline) {
  const c10::InferenceMode inference;
  if (data.validation.size(0) < 2)
    return std::nullopt;
  dealing dealt(data, says, measure, seed);
  dealt.fit_into(deadline);
  std::vector<std::vector<double>> worse(dealt.columns().size());
  for (std::uint32_t n = 0; n < most_times && !worse.empty(); ++n)
    for (std::size_t c = 0; c < worse.size() && clock::now() < deadline; ++c)
      worse[c].push_back(dealt.worse(c, n));
  const auto times = worse.empty() ? 0 : worse.back().size();
  if (times < least_times)
    return std::nullopt;
  column_importances out{.metric = std::move(metric),
                         .examples = static_cast<std::uint64_t>(dealt.examples()),
                         .times = static_cast<std::uint32_t>(times)};
  for (std::size_t c = 0; c < worse.size(); ++c) {
    worse[c].resize(times);
    auto one = mean_importance(dealt.columns()[c].name, worse[c]);
    if (!std::isfinite(one.worse) || !std::isfinite(one.low) || !std::isfinite(one.high))
      return std::nullopt;
    out.columns.push_back(std::move(one));
  }
  std::ranges::stable_sort(out.columns, std::greater(), &column_importance::worse);
  return out;
}

} // namespace clade
