#pragma once

#include "search_spaces/network.hpp"

#include <span>
#include <string_view>

namespace clade {

/// A setting of an operator: its type, what it may be, and what it is where a search
/// space does not name it.
struct setting_entry {
  enum class kind : std::uint8_t { integer, real, text };

  std::string_view name;
  kind type = kind::integer;
  double low = 0; ///< Numbers lie in [low, high].
  double high = 0;
  double fallback = 0;
  std::span<const std::string_view> words =
      {};             ///< What text may be; the first is the fallback.
  bool odd = false;   ///< Odd numbers alone.
  bool width = false; ///< Channels or units of what comes out.
};

/// One operator: its shape rule and its cost rule. Its module is the row of the same name
/// in engine/training/operator_modules.cpp; a test holds the two tables to the same
/// names. Adding an operator is a row here and a row there.
///
/// What operators compute, N examples at a time, images being [N, channels, height,
/// width] and vectors [N, features]. A layer's `settings` are complete: what the genome
/// does not say has its fallback, so that modules find every setting of the row.
///
/// **Windows.** Convolutions and pools use `windows()` along height and width alike: the
/// output has ceil(size / stride) positions, and the window of position i starts at i *
/// stride - dilation * (kernel - 1) / 2 (integer division). Beyond the edge convolutions
/// see zeros; pools see nothing: a maximum or an average is over the pixels that exist
/// (there is always one). For odd kernels this is LibTorch's own padding of dilation *
/// (kernel - 1) / 2
/// (`count_include_pad` = false); convolution kernels are always odd. For even kernels
/// pad by `before` and `after` yourself.
///
/// **Blocks.** conv, separable_conv, depthwise_conv and dense are linear map, then norm,
/// then activation. The linear map has a bias exactly when norm is "none".
///
/// **norm** "none"; "batch": batch normalisation for each channel or feature, with weight
/// and bias, momentum 0.1, epsilon 1e-5; "layer": each example over all its elements
/// (channels and pixels), then a weight and a bias for each channel or feature, epsilon
/// 1e-5: group normalisation with one group. The operators batch_norm and layer_norm are
/// these alone.
///
/// **activation** "none", "relu", "leaky_relu" (slope 0.01), "elu" (alpha 1), "gelu"
/// (exact, by erf), "silu", "tanh", "sigmoid". The operator `activation` is one alone,
/// its setting being `function`.
///
/// | operator        | in -> out                        | computes
/// |-----------------|----------------------------------|---------
/// | input           | -> problem.input                 | the examples
/// | conv            | [c,h,w] -> [filters,h',w']       | kernel x kernel convolution,
/// block | separable_conv  | [c,h,w] -> [filters,h',w']       | depthwise kernel x kernel
/// with stride |                 |                                  | and dilation,
/// without bias; then |                 |                                  | 1x1 to
/// filters, block | depthwise_conv  | [c,h,w] -> [c,h',w']             | one kernel per
/// channel, block | max_pool        | [c,h,w] -> [c,h',w']             | maximum of each
/// window | avg_pool        | [c,h,w] -> [c,h',w']             | mean of each window |
/// global_avg_pool | [c,h,w] -> [c]                   | mean of each channel |
/// global_max_pool | [c,h,w] -> [c]                   | maximum of each channel | dense
/// | [n] -> [units]                   | linear, block | batch_norm      | any -> same |
/// see norm | layer_norm      | any -> same                      | see norm | activation
/// | any -> same                      | see activation | dropout         | any -> same |
/// in training, zeroes each element with |                 | | probability rate, scales
/// by 1/(1-rate) | add             | several equal -> same            | sum | concat |
/// several -> first sizes summed    | joined along channels or features | flatten |
/// [c,h,w] -> [c*h*w]               | row-major | as_image        | [n] -> [n,1,1] | a
/// view | resize          | [c,h,w] -> [c,height,width]      | adaptive average pool: row
/// i averages |                 |                                  | rows
/// floor(i*h/height) up to |                 |                                  |
/// ceil((i+1)*h/height) | project         | [c,h,w] -> [outputs,h,w]         | 1x1
/// convolution with bias |                 | [n] -> [outputs]                 | linear
/// with bias | output          | [n] -> [outputs]                 | linear with bias:
/// logits or targets
///
/// The last eight, add to output, and input are reserved: decode() inserts them, and
/// search-space files may not name them as operators.
struct operator_entry {
  std::string_view name;
  std::string_view summary;
  std::span<const setting_entry> settings; ///< Sorted by name.
  bool reserved = false;
  bool wants_image = false;  ///< Vectors come to it by way of as_image.
  bool wants_vector = false; ///< Images come to it by way of flatten.
  /// The output's shape for inputs already adapted: one, or several for add and concat.
  tensor_shape (*shape)(std::span<const tensor_shape> in,
                        const std::vector<setting>& settings);
  layer_cost (*cost)(std::span<const tensor_shape> in, const tensor_shape& out,
                     const std::vector<setting>& settings);
};

[[nodiscard]] std::span<const operator_entry> operators();
[[nodiscard]] const operator_entry* find_operator(std::string_view name);

/// Where the windows of a convolution or pool lie along one side.
struct window_places {
  std::int64_t out = 1;    ///< How many.
  std::int64_t before = 0; ///< How far the first one begins before the edge.
  std::int64_t after =
      0; ///< How far the last one ends beyond the other edge; never negative.
};

[[nodiscard]] window_places windows(std::int64_t size, std::int64_t kernel,
                                    std::int64_t stride, std::int64_t dilation = 1);

/// A complete layer's settings; one that is not there, or is of another type, ends the
/// program, since decode() never gives such a layer.
[[nodiscard]] std::int64_t integer_setting(const std::vector<setting>& settings,
                                           std::string_view name);
[[nodiscard]] double real_setting(const std::vector<setting>& settings,
                                  std::string_view name);
[[nodiscard]] const std::string& text_setting(const std::vector<setting>& settings,
                                              std::string_view name);

/// Says why a value is none for the setting: "is 4, but must be odd", "is 'rleu', did you
/// mean 'relu'?"; nothing if it may be that. A real setting takes no integer here.
[[nodiscard]] std::string objection(const setting_entry& entry, const value& v);

/// The settings of a layer: those given, in the table's order, and fallbacks for the
/// others. An error if one is not the operator's or must not have that value.
[[nodiscard]] expected<std::vector<setting>> complete(const operator_entry& entry,
                                                      const std::vector<setting>& given);

} // namespace clade
