#include "engine/training/baselines/boosted_trees.hpp"

#include "engine/training/network/data_folds.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <future>
#include <span>

namespace clade {
namespace {

using steady_clock = std::chrono::steady_clock;

// Shallow trees for few examples, deep ones for many; which is better is measured.
constexpr std::int64_t many_examples = 2000;
// If there are fewer, a tree sees all, or it would not see what two of them say together.
constexpr std::int64_t many_features = 8;
// If they take more, the model is fitted to a part of them.
constexpr std::int64_t most_bytes = std::int64_t{512} << 20;
// Without a limit of time only so many values are fitted to more often than is needed, so that
// the same run gives the same trees and nobody waits for hours.
constexpr std::int64_t most_values_without_limit = 10'000'000;
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

/// Forests of one setting, a fold each from the first on.
struct attempt {
  boosting_params how;
  std::vector<forest> folds{};
  steady_clock::duration took{}; ///< By the slowest.

  [[nodiscard]] double loss() const {
    double sum = 0;
    for (const forest& f : folds)
      sum += f.loss;
    return sum / static_cast<double>(folds.size());
  }
};

/// Returns those, of some that are sorted by their loss and fitted to as many folds, whose
/// loss is hardly more than that of the first. The mean of what such ones say is better than
/// what the luckiest of them says.
std::vector<attempt> about_as_good(std::vector<attempt> all) {
  constexpr double more = 1.0075;
  const double most = more * all.front().loss();
  std::erase_if(all, [&](const attempt& a) { return a.loss() > most; });
  return all;
}

double mean_loss(const std::vector<attempt>& all) {
  double sum = 0;
  for (const attempt& a : all)
    sum += a.loss();
  return sum / static_cast<double>(all.size());
}

/// Returns trees of that depth, the same or more, that say the same.
forest deepened(const forest& f, std::int64_t depth) {
  const auto inner = (std::size_t{1} << f.depth) - 1;
  const auto more = (std::size_t{1} << depth) - 1;
  const auto copies = std::size_t{1} << (depth - f.depth);
  forest out{.rounds = f.rounds, .depth = depth, .loss = f.loss, .cut = f.cut};
  for (std::size_t first = 0; first < f.features.size(); first += inner) {
    out.features.insert(out.features.end(), &f.features[first],
                        &f.features[first] + inner);
    out.features.resize(out.features.size() + more - inner);
    out.thresholds.insert(out.thresholds.end(), &f.thresholds[first],
                          &f.thresholds[first] + inner);
    out.thresholds.resize(out.features.size());
  }
  for (const float leaf : f.leaves)
    out.leaves.insert(out.leaves.end(), copies, leaf);
  return out;
}

/// A fold to which an attempt is not fitted yet.
struct open_fit {
  attempt* of = nullptr;
  std::uint32_t fold = 0;
};

class trees_fit {
public:
  trees_fit(const device_data& data, const boosted_trees_params& params)
      : data_(data),
        params_(params),
        outputs_(data.task.outputs(data.classes.size())) {
    if (data.quantiles.defined())
      quantiles_ = part_examples::host(data.quantiles);
  }

  [[nodiscard]] expected<boosted_trees> fit();

private:
  [[nodiscard]] expected<forest> fit_fold(boosting_params p, std::uint32_t index,
                                          std::uint32_t folds) const;
  /// Fits them at the same time.
  [[nodiscard]] expected<void> fit_at_once(std::span<const open_fit> fits) const;
  /// Fits each to its first so many folds.
  [[nodiscard]] expected<void> fit_up_to(std::span<attempt> all,
                                         std::uint32_t folds) const;
  /// Returns how many of these, the first ones, can be fitted to so many more folds each.
  [[nodiscard]] std::size_t affordable(std::span<const attempt> all,
                                       std::uint32_t folds) const;
  [[nodiscard]] expected<std::vector<attempt>> first_attempts() const;
  [[nodiscard]] expected<std::vector<attempt>> best_of(std::vector<attempt> all) const;
  [[nodiscard]] expected<std::vector<attempt>> improved(std::vector<attempt> best) const;
  [[nodiscard]] expected<std::vector<attempt>>
  on_training_part(boosting_params how) const;
  [[nodiscard]] fitted_trees as_network(const forest& f) const;
  [[nodiscard]] fitted_trees joined(const std::vector<fitted_trees>& folds) const;

  /// Returns how many of so many fits come after each other.
  [[nodiscard]] std::uint32_t turns(std::uint32_t fits) const {
    const auto at_once = static_cast<std::uint32_t>(params_.threads);
    return (fits + at_once - 1) / at_once;
  }
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
  at::Tensor quantiles_; ///< The quantiles of the data, on the host.
};

expected<forest> trees_fit::fit_fold(boosting_params p, std::uint32_t index,
                                     std::uint32_t folds) const {
  const auto data =
      data_within(data_of_fold(data_, {index, folds}, params_.seed), most_bytes);
  p.classes = data.task.has_classes() ? outputs_ : 0;
  p.targets = data.task.has_classes() ? 1 : outputs_;
  p.labels = data.task.has_labels();
  p.quantiles = part_examples::values(quantiles_);
  p.seed = derive(params_.seed, purpose::baseline, index, folds).next();
  return boost(p, part_examples(data, data.train, true),
               part_examples(data, data.validation, false));
}

expected<void> trees_fit::fit_at_once(std::span<const open_fit> fits) const {
  const auto start = steady_clock::now();
  std::vector<std::future<expected<forest>>> all;
  for (const auto& [of, fold] : fits) {
    auto how = of->how;
    how.deadline = share_of_time(turns(params_.folds - fold));
    // A single thread is the caller's own.
    all.push_back(std::async(
        fits.size() > 1 ? std::launch::async : std::launch::deferred,
        [this, how, index = fold] { return fit_fold(how, index, params_.folds); }));
  }
  expected<void> done;
  for (std::size_t i = 0; i < fits.size(); ++i) {
    auto fitted = all[i].get();
    if (!fitted) {
      done = tl::unexpected(std::move(fitted).error());
      continue;
    }
    fits[i].of->folds.push_back(std::move(*fitted));
    fits[i].of->took = std::max(fits[i].of->took, steady_clock::now() - start);
  }
  return done;
}

expected<void> trees_fit::fit_up_to(std::span<attempt> all, std::uint32_t folds) const {
  std::vector<open_fit> open;
  for (attempt& a : all)
    for (auto i = static_cast<std::uint32_t>(a.folds.size()); i < folds; ++i)
      open.push_back({.of = &a, .fold = i});
  for (std::span<const open_fit> left(open); !left.empty();) {
    const auto now = left.first(std::min(left.size(), params_.threads));
    if (auto fitted = fit_at_once(now); !fitted)
      return fitted;
    left = left.subspan(now.size());
  }
  return {};
}

std::size_t trees_fit::affordable(std::span<const attempt> all,
                                  std::uint32_t folds) const {
  if (params_.deadline == steady_clock::time_point::max())
    return data_.features.size(0) * data_.features.size(1) <= most_values_without_limit
               ? all.size()
               : 0;
  auto end = steady_clock::now();
  std::size_t count = 0;
  while (count < all.size()) {
    end += all[count].took * turns(folds);
    if (end > params_.deadline)
      break;
    ++count;
  }
  return count;
}

// One whose first fold is cut has no time for others, and there are others only if the
// first could be fitted to all folds.
expected<std::vector<attempt>> trees_fit::first_attempts() const {
  std::vector<attempt> all;
  const auto settings = boosting_settings(data_);
  std::span<const boosting_params> left(settings);
  if (params_.quick)
    left = left.first(1);
  while (!left.empty()) {
    const auto now = left.first(std::min(left.size(), params_.threads));
    left = left.subspan(now.size());
    std::vector<attempt> more;
    for (const auto& how : now)
      more.push_back({.how = how});
    if (const auto fitted = fit_up_to(more, 1); !fitted)
      return tl::unexpected(fitted.error());
    bool cut = false;
    for (attempt& a : more) {
      cut = cut || a.folds.front().cut;
      if (!a.folds.front().cut || all.empty())
        all.push_back(std::move(a));
    }
    const auto another = all.front().took * (turns(params_.folds) + 1);
    if (cut || steady_clock::now() + another > params_.deadline)
      break;
  }
  return all;
}

// After each fold the best go on of which all that is left can be fitted in time: one at
// least.
expected<std::vector<attempt>> trees_fit::best_of(std::vector<attempt> all) const {
  for (std::uint32_t done = 1;; ++done) {
    std::ranges::stable_sort(all, {}, &attempt::loss);
    if (all.front().folds.front().cut || all.front().folds.size() == params_.folds)
      return about_as_good(std::move(all));
    const auto left = affordable(all, params_.folds - done);
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(1, left)),
              all.end());
    if (const auto fitted = fit_up_to(all, all.size() == 1 ? params_.folds : done + 1);
        !fitted)
      return tl::unexpected(fitted.error());
  }
}

// Trees that each say half as much are about twice as many.
expected<std::vector<attempt>> trees_fit::improved(std::vector<attempt> best) const {
  constexpr double least_rate = 0.02, least_gain = 0.002;
  while (!params_.quick && best.front().how.learning_rate / 2 > least_rate) {
    std::vector<attempt> slower;
    for (const attempt& a : best) {
      auto& half = slower.emplace_back(attempt{.how = a.how, .took = 2 * a.took});
      half.how.learning_rate /= 2;
      half.how.rounds *= 2;
      half.how.patience *= 2;
    }
    if (affordable(slower, params_.folds) < slower.size())
      break;
    if (const auto fitted = fit_up_to(slower, params_.folds); !fitted)
      return tl::unexpected(fitted.error());
    if (mean_loss(slower) > (1 - least_gain) * mean_loss(best))
      break;
    best = std::move(slower);
  }
  return best;
}

// This is done if there is no time for folds.
expected<std::vector<attempt>> trees_fit::on_training_part(boosting_params how) const {
  how.deadline = params_.deadline;
  return fit_fold(how, 0, 1).map([&](forest&& f) {
    return std::vector{attempt{.how = how, .folds = {std::move(f)}}};
  });
}

expected<boosted_trees> trees_fit::fit() {
  if (steady_clock::now() > params_.deadline)
    return fail(error_kind::io, "the boosted trees were not fitted within their time");
  const auto best = first_attempts()
                        .and_then([&](auto&& all) { return best_of(std::move(all)); })
                        .and_then([&](std::vector<attempt>&& those) {
                          const auto& first = those.front();
                          return first.folds.front().cut ? on_training_part(first.how)
                                                         : improved(std::move(those));
                        });
  if (!best)
    return tl::unexpected(best.error());
  boosted_trees out;
  for (std::size_t fold = 0; fold < best->front().folds.size(); ++fold) {
    std::int64_t depth = 0;
    for (const attempt& a : *best)
      depth = std::max(depth, a.folds[fold].depth);
    std::vector<fitted_trees> of_fold;
    for (const attempt& a : *best)
      of_fold.push_back(as_network(deepened(a.folds[fold], depth)));
    out.folds.push_back(joined(of_fold));
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
