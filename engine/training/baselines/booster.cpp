// XGBoost gives its trees as JSON: for each tree a list of left and right children (-1 of
// a leaf), of features and of conditions, which are thresholds and, of leaves, what they
// say. An example goes left if its feature is below the threshold. Trees of several classes
// follow each other round by round. A leaf above the deepest level becomes a whole subtree
// whose leaves all say the same.
#include "engine/training/baselines/booster.hpp"

#include "engine/training/metrics/several_metrics.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <xgboost/c_api.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace clade {
namespace {

using steady_clock = std::chrono::steady_clock;
using json = nlohmann::json;
using handle = std::unique_ptr<void, int (*)(void*)>;

// 2^21 nodes are 8 MiB of thresholds.
constexpr std::int64_t most_nodes = std::int64_t{1} << 21;

expected<void> done(int status) {
  if (status == 0)
    return {};
  const std::string why = XGBGetLastError();
  return fail(error_kind::io, "XGBoost: " + why.substr(0, why.find('\n')));
}

std::string text(double v) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), v).ptr;
  return {digits.data(), end};
}

/// Hands over the targets, [examples, targets], by the array interface of NumPy.
expected<void> set_targets(DMatrixHandle to, const boosting_examples& e,
                           std::size_t each) {
  const auto described = fmt::format(
      R"({{"data": [{}, true], "shape": [{}, {}], "typestr": "<f4", "version": 3}})",
      reinterpret_cast<std::uintptr_t>(e.targets.data()), e.targets.size() / each, each);
  return done(XGDMatrixSetInfoFromInterface(to, "label", described.c_str()));
}

expected<handle> matrix_of(const boosting_examples& e, std::size_t targets) {
  DMatrixHandle made = nullptr;
  const auto rows = e.targets.size() / targets;
  return done(XGDMatrixCreateFromMat(e.features.data(), rows,
                                     e.features.size() / std::max<std::size_t>(1, rows),
                                     std::numeric_limits<float>::quiet_NaN(), &made))
      .and_then([&] {
        return targets == 1
                   ? done(XGDMatrixSetFloatInfo(made, "label", e.targets.data(), rows))
                   : set_targets(made, e, targets);
      })
      .and_then([&] {
        return e.weights.empty()
                   ? expected<void>()
                   : done(XGDMatrixSetFloatInfo(made, "weight", e.weights.data(), rows));
      })
      .map([&] { return handle(made, XGDMatrixFree); });
}

std::int64_t outputs_of(const boosting_params& p) {
  return p.classes > 2 ? p.classes : p.targets;
}

expected<void> set(BoosterHandle booster, const boosting_params& p) {
  const bool several = p.classes > 2, odds = p.classes == 2 || p.labels;
  std::vector<std::pair<const char*, std::string>> all{
      {"verbosity", "0"},
      {"nthread", "1"},
      {"tree_method", "hist"},
      {"seed", std::to_string(p.seed % (std::uint64_t{1} << 31))},
      {"max_depth", std::to_string(p.depth)},
      {"eta", text(p.learning_rate)},
      {"subsample", text(p.example_share)},
      {"colsample_bytree", text(p.feature_share)},
      {"min_child_weight", text(p.least_weight)},
      {"objective", several ? "multi:softprob"
                    : odds  ? "binary:logistic"
                            : "reg:squarederror"},
      {"eval_metric", several ? "mlogloss"
                      : odds  ? "logloss"
                              : "rmse"},
      // The value that trees are added to is then 0, or the same for all classes.
      {"base_score", p.classes == 0 && !p.labels ? "0" : "0.5"}};
  if (several)
    all.emplace_back("num_class", std::to_string(p.classes));
  for (const auto& [name, value] : all)
    if (auto set = done(XGBoosterSetParam(booster, name, value.c_str())); !set)
      return set;
  return {};
}

/// The number at the end of "[7]\tvalidation-rmse:0.25".
expected<double> loss_after(BoosterHandle booster, int round, DMatrixHandle validation) {
  const char* name = "validation";
  const char* said = nullptr;
  if (auto told =
          done(XGBoosterEvalOneIter(booster, round, &validation, &name, 1, &said));
      !told)
    return tl::unexpected(told.error());
  const std::string_view line(said);
  const auto number = line.substr(line.rfind(':') + 1);
  double loss = 0;
  const auto [end, status] =
      std::from_chars(number.data(), number.data() + number.size(), loss);
  if (status != std::errc{})
    return fail(error_kind::io, fmt::format("XGBoost: no loss in \"{}\"", line));
  return loss;
}

/// Rounds of quantiles, by their gradients, since XGBoost knows their loss from version 2 on
/// alone. An example is moved as far as Newton's step would move it, if values were normal:
/// their density at a quantile q is about 2 q (1 - q).
class quantile_rounds {
public:
  quantile_rounds(const boosting_params& p, const boosting_examples& train,
                  const boosting_examples& validation)
      : quantiles_(p.quantiles),
        train_(train),
        validation_(validation) {
    std::vector<float> values;
    for (std::size_t k = 0; k < quantiles_.size(); ++k) {
      values.clear();
      for (std::size_t i = k; i < train.targets.size(); i += quantiles_.size())
        values.push_back(train.targets[i]);
      const auto rank = static_cast<std::ptrdiff_t>(
          static_cast<double>(quantiles_[k]) * static_cast<double>(values.size() - 1));
      std::ranges::nth_element(values, values.begin() + rank);
      start_.push_back(values[static_cast<std::size_t>(rank)]);
    }
  }

  /// The values that trees are added to: by quantile, that of all training examples.
  [[nodiscard]] std::span<const float> start() const { return start_; }

  expected<void> grow(BoosterHandle booster, DMatrixHandle train) {
    return said_by(booster, train).and_then([&](std::span<const float> said) {
      gradients_.resize(said.size());
      curvatures_.resize(said.size());
      for (std::size_t i = 0; i < said.size(); ++i) {
        const auto k = i % quantiles_.size();
        const float q = quantiles_[k];
        const float weight =
            train_.weights.empty() ? 1 : train_.weights[i / quantiles_.size()];
        const float slope = train_.targets[i] > said[i] + start_[k] ? -q : 1 - q;
        gradients_[i] = weight * slope / (2 * q * (1 - q));
        curvatures_[i] = weight;
      }
      return done(XGBoosterBoostOneIter(booster, train, gradients_.data(),
                                        curvatures_.data(), said.size()));
    });
  }

  /// The mean pinball loss of the validation examples.
  expected<double> loss(BoosterHandle booster, DMatrixHandle validation) const {
    return said_by(booster, validation).map([&](std::span<const float> said) {
      double sum = 0;
      for (std::size_t i = 0; i < said.size(); ++i) {
        const auto k = i % quantiles_.size();
        sum += pinball_loss(static_cast<double>(validation_.targets[i]) - said[i]
                                - start_[k],
                            quantiles_[k]);
      }
      return sum / static_cast<double>(std::max<std::size_t>(1, said.size()));
    });
  }

private:
  /// The sums of the trees so far, [examples, quantiles], which live until the next call.
  static expected<std::span<const float>> said_by(BoosterHandle booster,
                                                  DMatrixHandle examples) {
    constexpr int untransformed = 1;
    bst_ulong count = 0;
    const float* said = nullptr;
    return done(XGBoosterPredict(booster, examples, untransformed, /*ntree_limit=*/0,
                                 /*training=*/0, &count, &said))
        .map([&] { return std::span(said, count); });
  }

  std::span<const float> quantiles_;
  const boosting_examples& train_;
  const boosting_examples& validation_;
  std::vector<float> start_, gradients_, curvatures_;
};

struct boosted_rounds {
  std::int64_t best = 0;
  double loss = std::numeric_limits<double>::infinity();
  bool cut = false;
};

expected<boosted_rounds> grow(const boosting_params& p, BoosterHandle booster,
                              DMatrixHandle train, DMatrixHandle validation,
                              quantile_rounds* quantiles) {
  boosted_rounds found;
  const auto most =
      std::clamp<std::int64_t>(most_nodes / (outputs_of(p) << p.depth), 1, p.rounds);
  for (std::int64_t round = 0; round < most; ++round) {
    if (round > 0 && steady_clock::now() > p.deadline) {
      found.cut = true;
      break;
    }
    const auto number = static_cast<int>(round);
    const auto loss =
        quantiles != nullptr
            ? quantiles->grow(booster, train).and_then([&] {
                return quantiles->loss(booster, validation);
              })
            : done(XGBoosterUpdateOneIter(booster, number, train)).and_then([&] {
                return loss_after(booster, number, validation);
              });
    if (!loss)
      return tl::unexpected(loss.error());
    if (*loss < found.loss)
      found = {.best = round + 1, .loss = *loss};
    else if (round + 1 - found.best >= p.patience)
      break;
  }
  if (found.best == 0)
    return fail(error_kind::io, "XGBoost: the loss is no finite number");
  return found;
}

/// One of XGBoost's trees.
struct given_tree {
  std::vector<int> left, right, features;
  std::vector<float> conditions;
};

class forest_reader {
public:
  explicit forest_reader(forest& to) : to_(to) {}

  void add(const given_tree& t) {
    tree_ = &t;
    const auto inner = (std::size_t{1} << to_.depth) - 1;
    to_.features.resize(to_.features.size() + inner);
    to_.thresholds.resize(to_.features.size());
    to_.leaves.resize(to_.leaves.size() + inner + 1);
    first_node_ = to_.features.size() - inner;
    first_leaf_ = to_.leaves.size() - inner - 1;
    fill(0, 0, 0);
  }

private:
  /// Writes the subtree of `node`, which is on `level`, from `place` of the tree on.
  void fill(int node, std::size_t place, std::int64_t level) {
    const auto at = static_cast<std::size_t>(node);
    const auto left = tree_->left.at(at), right = tree_->right.at(at);
    const auto inner = (std::size_t{1} << to_.depth) - 1;
    if (level == to_.depth) {
      to_.leaves[first_leaf_ + place - inner] = tree_->conditions.at(at);
      return;
    }
    if (left >= 0) {
      to_.features[first_node_ + place] = static_cast<float>(tree_->features.at(at));
      to_.thresholds[first_node_ + place] = tree_->conditions.at(at);
    }
    fill(left < 0 ? node : left, 2 * place + 1, level + 1);
    fill(left < 0 ? node : right, 2 * place + 2, level + 1);
  }

  forest& to_;
  const given_tree* tree_ = nullptr;
  std::size_t first_node_ = 0, first_leaf_ = 0;
};

expected<forest> read_forest(const boosting_params& p, BoosterHandle booster,
                             const boosted_rounds& rounds) {
  bst_ulong size = 0;
  const char* model = nullptr;
  if (auto saved = done(
          XGBoosterSaveModelToBuffer(booster, R"({"format": "json"})", &size, &model));
      !saved)
    return tl::unexpected(saved.error());
  forest out{
      .rounds = rounds.best, .depth = p.depth, .loss = rounds.loss, .cut = rounds.cut};
  try {
    const auto whole = json::parse(model, model + size);
    const auto& trees =
        whole.at("learner").at("gradient_booster").at("model").at("trees");
    forest_reader reader(out);
    const auto count = static_cast<std::size_t>(rounds.best * outputs_of(p));
    for (std::size_t i = 0; i < count; ++i) {
      const auto& t = trees.at(i);
      reader.add({.left = t.at("left_children"),
                  .right = t.at("right_children"),
                  .features = t.at("split_indices"),
                  .conditions = t.at("split_conditions")});
    }
  } catch (const std::exception& e) {
    return fail(error_kind::io, std::string("XGBoost's trees: ") + e.what());
  }
  return out;
}

/// Moves each threshold, which is a value of an example, to the middle between it and the
/// next lower one: what another program computes to its last bits is then on the same side.
void centre_thresholds(forest& f, const boosting_examples& train, std::size_t rows) {
  const std::size_t width = train.features.size() / rows;
  std::map<std::size_t, std::map<float, float>> below; // By feature and threshold.
  constexpr float nothing = -std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < f.thresholds.size(); ++i)
    below[static_cast<std::size_t>(f.features[i])].emplace(f.thresholds[i], nothing);
  for (auto& [feature, thresholds] : below) {
    for (std::size_t row = 0; row < rows; ++row) {
      const float v = train.features[row * width + feature];
      if (const auto next = thresholds.upper_bound(v); next != thresholds.end())
        next->second = std::max(next->second, v);
    }
    float lower = nothing;
    for (auto& [threshold, value] : thresholds)
      lower = value = std::max(lower, value);
  }
  for (std::size_t i = 0; i < f.thresholds.size(); ++i) {
    const float threshold = f.thresholds[i];
    const float lower = below[static_cast<std::size_t>(f.features[i])][threshold];
    const float middle = lower + (threshold - lower) / 2;
    if (std::isfinite(lower) && lower < middle && middle < threshold)
      f.thresholds[i] = middle;
  }
}

/// Adds these to what the first tree of each output says.
void add_start(forest& f, std::span<const float> start) {
  const auto leaves = std::size_t{1} << f.depth;
  for (std::size_t i = 0; i < start.size() * leaves; ++i)
    f.leaves[i] += start[i / leaves];
}

} // namespace

expected<forest> boost(const boosting_params& params, const boosting_examples& train,
                       const boosting_examples& validation) {
  const auto targets = static_cast<std::size_t>(params.targets);
  const auto seen = matrix_of(train, targets), unseen = matrix_of(validation, targets);
  for (const auto* m : {&seen, &unseen})
    if (!*m)
      return tl::unexpected(m->error());
  const std::array<DMatrixHandle, 2> both{seen->get(), unseen->get()};
  BoosterHandle made = nullptr;
  if (auto created = done(XGBoosterCreate(both.data(), both.size(), &made)); !created)
    return tl::unexpected(created.error());
  const handle booster(made, XGBoosterFree);
  std::optional<quantile_rounds> quantiles;
  if (!params.quantiles.empty())
    quantiles.emplace(params, train, validation);
  return set(made, params)
      .and_then([&] {
        return grow(params, made, seen->get(), unseen->get(),
                    quantiles ? &*quantiles : nullptr);
      })
      .and_then(
          [&](const boosted_rounds& rounds) { return read_forest(params, made, rounds); })
      .map([&](forest&& f) {
        if (quantiles)
          add_start(f, quantiles->start());
        centre_thresholds(f, train, train.targets.size() / targets);
        return std::move(f);
      });
}

} // namespace clade
