#pragma once

#include "engine/data/reading/preprocessing.hpp"
#include "engine/run/records/test_details.hpp"
#include "engine/search/core/candidate.hpp"
#include "engine/training/weights/weights.hpp"
#include "search_spaces/operators/mixture.hpp"
#include "search_spaces/operators/network.hpp"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace clade {

/// Index into `exported_model::weights`.
using tensor_index = std::size_t;

// The computation of a step, N examples at a time: images [N, channels, height, width]
// and vectors [N, features]. Facts that follow from a weight's shape are not repeated.

struct input_step {};
struct convolution_step {
  std::int64_t stride = 1, padding = 0, dilation = 1, groups = 1;
  tensor_index weight = 0;
  std::optional<tensor_index> bias;
};
struct linear_step {
  tensor_index weight = 0;
  std::optional<tensor_index> bias;
};
/// By running mean and variance; epsilon as below.
struct batch_norm_step {
  tensor_index weight = 0, bias = 0, mean = 0, variance = 0;
};
/// Over all of an example, then a weight and a bias for each channel or feature.
struct layer_norm_step {
  tensor_index weight = 0, bias = 0;
};
/// Over the channels of each pixel, then a weight and a bias for each channel.
struct channel_norm_step {
  tensor_index weight = 0, bias = 0;
};
/// "relu", ...: as search_spaces/operators/operators.hpp has them, without "none".
struct activation_step {
  std::string function;
};
/// Windows see nothing beyond the edge.
struct max_pool_step {
  std::int64_t kernel = 2, stride = 2;
  std::int64_t top = 0, left = 0, bottom = 0, right = 0;
};
/// The same, with as much beyond each edge.
struct avg_pool_step {
  std::int64_t kernel = 2, stride = 2, padding = 0;
};
/// Row i of the result is the mean of rows [first, second) of pair i, and so with
/// columns.
struct average_step {
  std::vector<std::pair<std::int64_t, std::int64_t>> rows, columns;
};
struct global_avg_step {};
struct global_max_step {};
/// Does nothing but in training.
struct dropout_step {
  double rate = 0;
};
/// Computes s = log(max(sum of shares * softmax, 1e-12)) / temperature of scores, where
/// there is a `least` log((1 - classes * least) * softmax(s) + least), or the sum of
/// shares * values. `mixture_step::shares` has as many elements as the step has inputs.
struct mixture_step {
  bool of_probabilities = true;
  tensor_index shares = 0, temperature = 0;
  std::optional<tensor_index> least{};
};
/// Some features, by index.
struct select_step {
  std::vector<std::int64_t> columns;
};
/// search_spaces/operators/operators.hpp has what these compute. Edges are [features,
/// bins + 1], frequencies [features, frequencies], the weight [groups, in, out].
struct piecewise_step {
  tensor_index edges = 0;
};
struct periodic_step {
  tensor_index frequencies = 0;
};
struct map_each_step {
  tensor_index weight = 0, bias = 0;
};
/// `boosted_trees_step::leaves` is [trees, 2^depth], the other two are [trees, 2^depth - 1].
struct boosted_trees_step {
  tensor_index features = 0, thresholds = 0, leaves = 0;
};
struct add_step {};
/// Inputs but the last may have one pixel, which stands for every one.
struct multiply_step {};
struct concat_step {};
struct flatten_step {};
struct as_image_step {};

using operation =
    std::variant<input_step, convolution_step, linear_step, batch_norm_step,
                 layer_norm_step, channel_norm_step, activation_step, max_pool_step,
                 avg_pool_step, average_step, global_avg_step, global_max_step,
                 dropout_step, mixture_step, add_step, multiply_step, concat_step,
                 flatten_step, as_image_step, select_step, piecewise_step, periodic_step,
                 map_each_step, boosted_trees_step>;

inline constexpr double norm_epsilon = 1e-5;

struct export_step {
  /// A word, unique: the operator and its number, and within a block its part ("conv2",
  /// "conv2_norm", "conv2_activation").
  std::string name;
  std::string layer; ///< The decoded layer's name, the same for all steps of a block.
  std::string word;  ///< The block's own word, which the names of its steps begin with.
  operation computes;
  std::vector<std::size_t> inputs; ///< Indices of earlier steps.
  tensor_shape in;                 ///< The shape of the first input.
  tensor_shape out;
};

/// A tensor as the run has it.
struct run_tensor {
  std::string name; ///< "n3f2a1.weight"
  tensor_index index = 0;
};

/// The further parts that a file must hold for `clade predict` to need nothing beside it
/// (model_file.hpp).
struct model_origin {
  /// The genes of one network; an ensemble has none: those of its members count.
  genome genes;
  /// The members of an ensemble; one network has none.
  std::vector<mixture_member> members{};
  std::string search_space; ///< `to_toml` of it.
  /// The settings of `data_params` by which data files are read.
  std::string header, array, target;
  /// The errors of a regression's champion, for intervals (predictions.hpp); else empty.
  error_quantiles errors{};
};

/// A trained network and all that it takes to apply it to raw data: what every format is
/// written from.
struct exported_model {
  std::string run; ///< Its folder's name; empty before its training.
  candidate_id id = 0;
  std::vector<metric> metrics;
  std::string drawing; ///< The network for people, lines.
  preprocessing how;
  std::vector<export_step> steps;      ///< Topological; the input first, the output last.
  std::vector<weight_tensor> weights;  ///< Named "step.weight", "step.running_mean", ...
  std::vector<run_tensor> run_tensors; ///< The same, in the run's order.
  std::optional<model_origin> origin;  ///< None: nothing can be predicted from its file.

  [[nodiscard]] std::int64_t outputs() const { return steps.back().out.sizes.front(); }
};

/// Takes a network apart into steps and gives each its weights. An error of kind corrupt
/// names the first that is missing, left over or of another shape.
[[nodiscard]] expected<exported_model>
export_network(const network& n, std::span<const weight_tensor> weights);

/// Returns how an ensemble mixes its members' outputs for a task; `bounded`: no
/// probability is below a least one.
[[nodiscard]] mixed_answers mixed_for(const learning_task& task, bool bounded);

/// The names of the columns; empty where they have none.
[[nodiscard]] std::vector<std::string> names_of(const preprocessing& how);

/// "#231 of digits-20260131-140500: validation.accuracy 0.98"
[[nodiscard]] std::string title_of(const exported_model& m);

/// The shortest digits that give the number back, with a point or an exponent.
[[nodiscard]] std::string literal(double v);

} // namespace clade
