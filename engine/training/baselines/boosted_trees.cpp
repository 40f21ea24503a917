#include "engine/training/baselines/boosted_trees.hpp"

#include "engine/training/network/data_folds.hpp"

#include <ATen/ATen.h>

namespace clade {
namespace {

using steady_clock = std::chrono::steady_clock;

// Shallow trees for few examples, deep ones for many; which is better is measured.
constexpr std::int64_t many_examples = 2000;
// If there are fewer, a tree sees all, or it would not see what two of them say together.
constexpr std::int64_t many_features = 8;
// If they take more, the model is fitted to a part of them.
constexpr std::int64_t most_bytes = std::int64_t{512} << 20;
constexpr boosting_params usual{.depth = 6};
constexpr boosting_params middle{.depth = 4};
constexpr boosting_params shallow{.depth = 2, .example_share = 0.7, .feature_share = 0.5};
constexpr boosting_params deep{.depth = 8, .feature_share = 0.5, .least_weight = 10};

/// How much the examples of a part count by their classes and by themselves; undefined where
/// all count the same.
at::Tensor weights_of(const device_data& data, const at::Tensor& part) {
  at::Tensor weights;
  if (data.class_weights.defined())
    weights = data.class_weights.index_select(0, data.targets.index_select(0, part));
  if (!data.weights.defined())
    return weights;
  const auto own = data.weights.index_select(0, part);
  return weights.defined() ? weights * own : own;
}

/// Examples of a part as XGBoost reads them.
struct part_examples {
  part_examples(const device_data& data, const at::Tensor& part, bool weighed)
      : features(host(data.features.rows(part))),
        targets(host(data.targets.index_select(0, part).flatten())) {
    if (weighed)
      weights = weights_of(data, part);
    if (weights.defined())
      weights = host(weights);
  }

  static at::Tensor host(const at::Tensor& t) {
    return t.to(at::kFloat).cpu().contiguous();
  }
  static std::span<const float> values(const at::Tensor& t) {
    return t.defined()
               ? std::span(t.const_data_ptr<float>(), static_cast<std::size_t>(t.numel()))
               : std::span<const float>();
  }
  operator boosting_examples() const {
    return {.features = values(features),
            .targets = values(targets),
            .weights = values(weights)};
  }

  at::Tensor features, targets, weights;
};

class trees_fit {
public:
  trees_fit(const device_data& data, const boosted_trees_params& params)
      : data_(data),
        params_(params),
        outputs_(data.task.outputs(data.classes.size())) {}

  [[nodiscard]] expected<boosted_trees> fit();

private:
  [[nodiscard]] expected<forest> fit_fold(boosting_params p, std::uint32_t index,
                                          std::uint32_t folds) const;
  [[nodiscard]] expected<forest> fit_first(boosting_params& chosen) const;
  [[nodiscard]] fitted_trees as_network(const forest& f) const;
  [[nodiscard]] fitted_trees joined(const std::vector<fitted_trees>& folds) const;

  /// Returns when the next of so many fits of equal length must end.
  [[nodiscard]] steady_clock::time_point share_of_time(std::uint32_t fits) const {
    const auto now = steady_clock::now();
    return params_.deadline == steady_clock::time_point::max()
               ? params_.deadline
               : now + (params_.deadline - now) / fits;
  }

  const device_data& data_;
  const boosted_trees_params& params_;
  std::int64_t outputs_;
};

expected<forest> trees_fit::fit_fold(boosting_params p, std::uint32_t index,
                                     std::uint32_t folds) const {
  const auto data =
      data_within(data_of_fold(data_, {index, folds}, params_.seed), most_bytes);
  p.classes = data.task.has_classes() ? outputs_ : 0;
  p.targets = data.task.has_classes() ? 1 : outputs_;
  p.labels = data.task.has_labels();
  p.seed = derive(params_.seed, purpose::baseline, index, folds).next();
  return boost(p, part_examples(data, data.train, true),
               part_examples(data, data.validation, false));
}

expected<forest> trees_fit::fit_first(boosting_params& chosen) const {
  expected<forest> best;
  for (auto p : boosting_settings(data_)) {
    const auto start = steady_clock::now();
    p.deadline = share_of_time(params_.folds);
    auto fitted = fit_fold(p, 0, params_.folds);
    if (!fitted)
      return fitted;
    if (fitted->loss < best->loss) {
      best = std::move(fitted);
      chosen = p;
    }
    const auto took = steady_clock::now() - start;
    if (best->cut || start + took * (params_.folds + 2) > params_.deadline)
      break;
  }
  return best;
}

expected<boosted_trees> trees_fit::fit() {
  if (steady_clock::now() > params_.deadline)
    return fail(error_kind::io, "the boosted trees were not fitted within their time");
  boosting_params chosen;
  const auto first = fit_first(chosen);
  if (!first)
    return tl::unexpected(first.error());
  const auto folds = first->cut ? 1 : params_.folds;
  boosted_trees out;
  if (folds == params_.folds)
    out.folds.push_back(as_network(*first));
  while (out.folds.size() < folds) {
    const auto index = static_cast<std::uint32_t>(out.folds.size());
    chosen.deadline = share_of_time(folds - index);
    const auto next = fit_fold(chosen, index, folds);
    if (!next)
      return tl::unexpected(next.error());
    out.folds.push_back(as_network(*next));
  }
  out.whole = joined(out.folds);
  return out;
}

// The output adds up nothing: it passes on what the trees say, of two classes as the
// score of the second one beside 0.
fitted_trees trees_fit::as_network(const forest& f) const {
  const auto width = tree_outputs(
      {.input = {}, .outputs = outputs_, .apart = !data_.task.has_classes()});
  const auto trees = f.rounds * width, leaves = std::int64_t{1} << f.depth;
  weight_tensor weight{.name = "trees.output.weight", .shape = {outputs_, width}};
  weight.values.resize(static_cast<std::size_t>(outputs_ * width), 0);
  for (std::int64_t i = 0; i < width; ++i)
    weight.values[static_cast<std::size_t>((outputs_ - width + i) * width + i)] = 1;
  return {.sizes = {.trees = f.rounds, .depth = f.depth},
          .weights = {{"trees.leaves", {trees, leaves}, f.leaves},
                      {"trees.features", {trees, leaves - 1}, f.features},
                      {"trees.thresholds", {trees, leaves - 1}, f.thresholds},
                      std::move(weight),
                      {"trees.output.bias",
                       {outputs_},
                       std::vector<float>(static_cast<std::size_t>(outputs_), 0)}}};
}

fitted_trees trees_fit::joined(const std::vector<fitted_trees>& folds) const {
  auto out = folds.front();
  for (std::size_t i = 1; i < folds.size(); ++i) {
    out.sizes.trees += folds[i].sizes.trees;
    for (std::size_t t = 0; t < 3; ++t) { // All that trees are made of.
      const auto& from = folds[i].weights[t];
      out.weights[t].shape[0] += from.shape[0];
      out.weights[t].values.insert(out.weights[t].values.end(), from.values.begin(),
                                   from.values.end());
    }
  }
  for (auto& said : out.weights.front().values)
    said /= static_cast<float>(folds.size());
  return out;
}

} // namespace

std::array<boosting_params, 3> boosting_settings(const device_data& data) {
  std::array all{usual, data.train.size(0) >= many_examples ? deep : shallow, middle};
  if (data.features.size(1) < many_features)
    for (auto& p : all)
      p.feature_share = 1;
  return all;
}

expected<boosted_trees> fit_boosted_trees(const device_data& data,
                                          const boosted_trees_params& params) {
  return trees_fit(data, params).fit();
}

} // namespace clade
