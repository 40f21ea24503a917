// The features are those of MiniRocket (Dempster, Schmidt and Webb, "MiniRocket: A Very
// Fast (Almost) Deterministic Transform for Time Series Classification", KDD 2021), on the
// sequences and, as in MultiRocket (Tan et al., "MultiRocket: multiple pooling operators
// and transformations for fast and effective time series classification", 2022), on their
// differences, and those of Hydra (Dempster, Schmidt and Webb, "Hydra: competing
// convolutional kernels for fast and accurate time series classification", 2023). Hydra
// counts how often a kernel is the lowest; here the lowest are measured as the highest are,
// since such counts follow rounding where a sequence is flat.
#include "engine/training/baselines/random_convolutions.hpp"

#include "engine/program/kernels/random_convolutions.hpp"
#include "engine/training/baselines/ridge.hpp"
#include "engine/training/network/data_folds.hpp"
#include "engine/training/network/network_module.hpp"
#include "engine/training/weights/tensor_copy.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace clade {
namespace {

using steady_clock = std::chrono::steady_clock;

/// Up to so many examples are fitted at once, and each is left out.
constexpr std::int64_t few_examples_of_ridge = 3000;
/// Features of few examples; there are half as many of more.
constexpr std::int64_t most_shares = 5000, most_groups = 128;
constexpr std::int64_t most_channels_of_threshold = 9, most_channels_of_group = 8;
/// The most that all examples may cost together, about a nanosecond each.
constexpr double most_work = 6e10;
constexpr std::int64_t most_weights = std::int64_t{1} << 24;

std::int64_t kernels_of(const convolution_sizes& sizes) {
  return threshold_kernels + kernels_of_group * sizes.groups;
}

std::int64_t weights_of(const convolution_sizes& sizes, std::int64_t channels) {
  return 2 * sizes.dilations * kernels_of(sizes) * channels * random_kernel_length;
}

// About the nanoseconds for one example; the factors are of one core.
double work_of(const convolution_sizes& sizes, const sequence_counts& c) {
  const double map = static_cast<double>(c.channels);
  const double shares =
      threshold_kernels * (map + 4.0 * static_cast<double>(sizes.thresholds));
  const double won = kernels_of_group * static_cast<double>(sizes.groups) * (map + 25.0);
  return 2.0 * static_cast<double>(sizes.dilations * c.steps) * (shares + won);
}

/// Kernels for all parts, [parts, kernels, channels, 9].
class kernel_draw {
public:
  kernel_draw(const convolution_sizes& sizes, std::int64_t channels,
              random_stream& random)
      : channels_(static_cast<std::size_t>(channels)),
        random_(random) {
    weight_.shape = {2 * sizes.dilations, kernels_of(sizes), channels,
                     random_kernel_length};
    weight_.values.reserve(static_cast<std::size_t>(weights_of(sizes, channels)));
    for (std::int64_t part = 0; part < 2 * sizes.dilations; ++part) {
      add_with_thresholds();
      for (std::int64_t group = 0; group < sizes.groups; ++group)
        add_group();
    }
  }

  [[nodiscard]] weight_tensor take() && { return std::move(weight_); }

private:
  using steps = std::array<float, random_kernel_length>;

  // Each of the channels, of which there are `taken`, sees the same kernel.
  void add(const steps& kernel, const std::vector<float>& taken) {
    for (const float times : taken)
      for (const float w : kernel)
        weight_.values.push_back(times * w);
  }

  void add_with_thresholds() {
    for (std::size_t a = 0; a < random_kernel_length; ++a)
      for (std::size_t b = a + 1; b < random_kernel_length; ++b)
        for (std::size_t c = b + 1; c < random_kernel_length; ++c) {
          steps kernel;
          kernel.fill(-1.0F / random_kernel_length);
          for (const auto i : {a, b, c})
            kernel[i] = 2.0F / random_kernel_length;
          add(kernel, some_channels());
        }
  }

  // Few channels more often than many, and none twice.
  std::vector<float> some_channels() {
    const auto most = std::min<std::size_t>(channels_, most_channels_of_threshold);
    const auto count = static_cast<std::size_t>(
        std::exp2(random_.uniform() * std::log2(static_cast<double>(most + 1))));
    std::vector<float> taken(channels_, 0);
    for (std::size_t left = std::clamp<std::size_t>(count, 1, most); left != 0;)
      if (auto& one = taken[random_.below(channels_)]; one == 0) {
        one = 1;
        --left;
      }
    return taken;
  }

  void add_group() {
    std::vector<float> taken(channels_, channels_ == 1 ? 1.0F : 0.0F);
    if (channels_ > 1)
      for (auto left = std::clamp<std::size_t>(channels_ / 2, 2, most_channels_of_group);
           left != 0; --left)
        ++taken[random_.below(channels_)];
    for (std::int64_t i = 0; i < kernels_of_group; ++i)
      add(random_kernel(), taken);
  }

  // Its mean is 0 and its absolute sum 1.
  steps random_kernel() {
    std::array<double, random_kernel_length> drawn;
    double mean = 0, sum = 0;
    for (auto& v : drawn)
      mean += (v = random_.normal()) / random_kernel_length;
    for (auto& v : drawn)
      sum += std::abs(v -= mean);
    steps out;
    std::ranges::transform(drawn, out.begin(), [&](double v) {
      return static_cast<float>(v / std::max(sum, 1e-12));
    });
    return out;
  }

  std::size_t channels_;
  random_stream& random_;
  weight_tensor weight_{.name = "convolutions.weight"};
};

// Quantiles of what kernels [kernels, values] say, in the middle between two values that
// they take, so that no rounding decides on which side of it a value lies.
at::Tensor thresholds_of(const at::Tensor& said, std::int64_t count,
                         random_stream& random) {
  const auto sorted = std::get<0>(said.sort(1)).contiguous();
  const auto last = sorted.size(1) - 1;
  std::vector<std::int64_t> ranks;
  for (std::int64_t i = 0; i < sorted.size(0) * count; ++i)
    ranks.push_back(
        static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(last + 1))));
  const auto low = sorted.gather(1, at::tensor(ranks, at::kLong).view({-1, count}));
  const auto span = sorted.narrow(1, last, 1) - sorted.narrow(1, 0, 1);
  const auto apart = low + span * 1e-4;
  const auto next = at::searchsorted(sorted, apart.contiguous(), /*out_int32=*/false,
                                     /*right=*/true)
                        .clamp_max(last);
  return (low + at::maximum(sorted.gather(1, next), apart)) / 2;
}

class convolutions_fit {
public:
  convolutions_fit(const device_data& data, const random_convolutions_params& params)
      : data_(data),
        params_(params),
        problem_{{{data.features.size(1), data.features.size(2)}},
                 data.task.outputs(data.classes.size())},
        few_(data.parts_by_chance
             && data.train.size(0) + data.validation.size(0) <= few_examples_of_ridge) {}

  [[nodiscard]] expected<fitted_convolutions> fit();

private:
  [[nodiscard]] std::int64_t batch_size() const {
    constexpr auto most_numbers = std::int64_t{1} << 22;
    return std::clamp<std::int64_t>(most_numbers / problem_.input.elements(), 1, 256);
  }
  [[nodiscard]] weight_tensor draw_thresholds(const convolution_sizes& sizes,
                                              const weight_tensor& kernels,
                                              random_stream& random) const;
  [[nodiscard]] std::unique_ptr<network_module>
  features_network(const convolution_sizes& sizes,
                   const std::vector<weight_tensor>& weights) const;
  template<class Use>
  [[nodiscard]] bool each_batch(const at::Tensor& part, Use use) const;
  [[nodiscard]] ridge_examples as_examples(const at::Tensor& features,
                                           const at::Tensor& part) const;
  [[nodiscard]] at::Tensor targets_of_ridge(const at::Tensor& part) const;
  [[nodiscard]] double loss_of(const at::Tensor& said, const at::Tensor& part) const;
  [[nodiscard]] double scale_for(const at::Tensor& said, const at::Tensor& part) const;
  [[nodiscard]] bool fit_few(linear_map& map, at::Tensor& said) const;
  [[nodiscard]] bool fit_many(linear_map& map, at::Tensor& said, double work) const;

  const device_data& data_;
  const random_convolutions_params& params_;
  problem problem_;
  bool few_;
  std::unique_ptr<network_module> features_;
};

weight_tensor convolutions_fit::draw_thresholds(const convolution_sizes& sizes,
                                                const weight_tensor& kernels,
                                                random_stream& random) const {
  // So many steps show what a kernel says, of 64 examples at most.
  constexpr std::int64_t most_steps = 65536, most_examples = 64;
  const auto all = data_.train.size(0);
  const auto count =
      std::min(all, std::clamp<std::int64_t>(most_steps / problem_.input.sizes[0], 1,
                                             most_examples));
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < count; ++i)
    places.push_back(
        static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(all))));
  const auto chosen =
      data_.train.index_select(0, at::tensor(places, at::kLong).to(data_.train.device()));
  const convolved_sequences sequences(data_.features.rows(chosen).cpu());
  const auto weight =
      at::from_blob(const_cast<float*>(kernels.values.data()), kernels.shape, at::kFloat)
          .narrow(1, 0, threshold_kernels);
  std::vector<at::Tensor> parts;
  for (std::int64_t part = 0; part < 2 * sizes.dilations; ++part) {
    const auto said = sequences.by_part(weight, part).transpose(0, 1).flatten(1);
    parts.push_back(thresholds_of(said, sizes.thresholds, random));
  }
  return to_host("convolutions.thresholds", at::stack(parts));
}

// The network without its output.
std::unique_ptr<network_module>
convolutions_fit::features_network(const convolution_sizes& sizes,
                                   const std::vector<weight_tensor>& weights) const {
  auto cut = convolution_network(problem_, sizes);
  cut.layers.pop_back();
  auto net =
      std::make_unique<network_module>(cut, training_key{}, data_.features.device());
  const auto loaded = net->load(weights);
  TORCH_CHECK(loaded.has_value(), loaded.error().message);
  net->eval();
  return net;
}

// Gives the features of the examples of each batch, and which they are. False: the deadline
// passed.
template<class Use>
bool convolutions_fit::each_batch(const at::Tensor& part, Use use) const {
  for (const auto& some : part.split(batch_size())) {
    if (steady_clock::now() > params_.deadline)
      return false;
    use(features_->forward(data_.features.rows(some)).cpu(), some);
  }
  return true;
}

at::Tensor convolutions_fit::targets_of_ridge(const at::Tensor& part) const {
  const auto targets = data_.targets.index_select(0, part).cpu();
  return (data_.task.has_classes() ? at::one_hot(targets, problem_.outputs) : targets)
      .to(at::kDouble);
}

ridge_examples convolutions_fit::as_examples(const at::Tensor& features,
                                             const at::Tensor& part) const {
  const auto weights =
      data_.class_weights.defined()
          ? data_.class_weights.index_select(0, data_.targets.index_select(0, part))
                .cpu()
                .to(at::kDouble)
          : at::ones({part.size(0)}, at::kDouble);
  return {.features = features, .targets = targets_of_ridge(part), .weights = weights};
}

// Counts one example more, which has any class: scores that make no mistake would have no
// end.
double convolutions_fit::loss_of(const at::Tensor& said, const at::Tensor& part) const {
  const auto targets = targets_of_ridge(part);
  if (!data_.task.has_classes())
    return (said - targets).square().mean().item<double>();
  const auto any = 1 / static_cast<double>(part.size(0) + 1);
  const auto expected = targets * (1 - any) + any / static_cast<double>(targets.size(1));
  return -(at::log_softmax(said, 1) * expected).sum(1).mean().item<double>();
}

double convolutions_fit::scale_for(const at::Tensor& said, const at::Tensor& part) const {
  if (!data_.task.has_classes())
    return 1;
  double best = 1, lowest = std::numeric_limits<double>::infinity();
  for (int i = 0; i <= 30; ++i) {
    const double scale = std::pow(10.0, i / 10.0);
    if (const double loss = loss_of(said * scale, part); loss < lowest) {
      lowest = loss;
      best = scale;
    }
  }
  return best;
}

bool convolutions_fit::fit_few(linear_map& map, at::Tensor& said) const {
  const auto all = both_parts(data_);
  std::vector<at::Tensor> features;
  if (!each_batch(all,
                  [&](const at::Tensor& f, const at::Tensor&) { features.push_back(f); }))
    return false;
  const auto fitted = fit_ridge(as_examples(at::cat(features), all));
  const double scale = scale_for(fitted.left_out, all);
  map = {fitted.map.weight * scale, fitted.map.bias * scale};
  said = fitted.left_out * scale;
  return true;
}

// Examples that there is no time for are left out, in even steps.
bool convolutions_fit::fit_many(linear_map& map, at::Tensor& said, double work) const {
  const auto all = data_.train.size(0);
  const auto count = std::clamp<std::int64_t>(static_cast<std::int64_t>(most_work / work),
                                              std::min(all, few_examples_of_ridge), all);
  const auto places = at::arange(count, data_.train.options()) * all;
  const auto part = data_.train.index_select(0, at::floor_divide(places, count));
  ridge_sums sums;
  if (!each_batch(part, [&](const at::Tensor& f, const at::Tensor& which) {
        sums.add(as_examples(f, which));
      }))
    return false;
  const auto maps = sums.solve();
  std::vector<std::vector<at::Tensor>> answers(maps.size());
  if (!each_batch(data_.validation, [&](const at::Tensor& f, const at::Tensor&) {
        const auto features = f.to(at::kDouble);
        for (std::size_t i = 0; i < maps.size(); ++i)
          answers[i].push_back(at::addmm(maps[i].bias, features, maps[i].weight));
      }))
    return false;
  double lowest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const auto answer = at::cat(answers[i]);
    const double scale = scale_for(answer, data_.validation);
    const double loss = loss_of(answer * scale, data_.validation);
    if (!(loss < lowest) && i != 0)
      continue;
    lowest = loss;
    map = {maps[i].weight * scale, maps[i].bias * scale};
    said = answer * scale;
  }
  return true;
}

expected<fitted_convolutions> convolutions_fit::fit() {
  const at::NoGradGuard no_grad;
  const auto known = data_.train.size(0) + data_.validation.size(0);
  const sequence_counts counts{.steps = problem_.input.sizes[0],
                               .channels = problem_.input.sizes[1],
                               .fitted = known,
                               .asked = known + data_.test.size(0)};
  const auto sizes = convolution_sizes_for(counts);
  if (!sizes)
    return tl::unexpected(sizes.error());
  fitted_convolutions out{.sizes = *sizes};
  // Attempt 1: boosted trees draw from attempt 0.
  auto random = derive(params_.seed, purpose::baseline, 0, 0, 1);
  out.weights.push_back(kernel_draw(*sizes, counts.channels, random).take());
  out.weights.push_back(draw_thresholds(*sizes, out.weights.front(), random));
  features_ = features_network(*sizes, out.weights);
  linear_map map;
  if (!(few_ ? fit_few(map, out.judged)
             : fit_many(map, out.judged, work_of(*sizes, counts))))
    return fail(error_kind::io,
                "the random convolutions were not fitted within their time");
  out.judged = out.judged.to(data_.features.options());
  out.judged_by = few_ ? both_parts(data_) : data_.validation;
  out.weights.push_back(
      to_host("convolutions.output.weight", map.weight.t().to(at::kFloat).contiguous()));
  out.weights.push_back(to_host("convolutions.output.bias", map.bias.to(at::kFloat)));
  return out;
}

} // namespace

expected<convolution_sizes> convolution_sizes_for(const sequence_counts& c) {
  // A kernel at the largest distance is no longer than the sequence.
  const auto reach = static_cast<std::uint64_t>(
      std::max<std::int64_t>(1, (c.steps - 1) / (random_kernel_length - 1)));
  convolution_sizes sizes{.dilations = std::min<std::int64_t>(16, std::bit_width(reach))};
  const auto share = c.fitted <= few_examples_of_ridge ? 1 : 2;
  sizes.thresholds = std::clamp<std::int64_t>(
      most_shares / share / (threshold_kernels * 2 * sizes.dilations), 1, 30);
  sizes.groups =
      std::clamp<std::int64_t>(most_groups / share / sizes.dilations, 8, 64 / share);
  const auto too_dear = [&] {
    return work_of(sizes, c) * static_cast<double>(c.asked) > most_work;
  };
  while (sizes.groups > 4 && too_dear())
    sizes.groups /= 2;
  while (sizes.thresholds > 1 && too_dear())
    sizes.thresholds /= 2;
  const auto too_large = [&] { return weights_of(sizes, c.channels) > most_weights; };
  while (sizes.groups > 1 && (too_dear() || too_large()))
    sizes.groups /= 2;
  while (sizes.dilations > 1 && too_large())
    --sizes.dilations;
  if (too_large())
    return fail(error_kind::invalid_input,
                "random convolutions: the examples have too many channels");
  return sizes;
}

expected<fitted_convolutions>
fit_random_convolutions(const device_data& data,
                        const random_convolutions_params& params) {
  return convolutions_fit(data, params).fit();
}

} // namespace clade
