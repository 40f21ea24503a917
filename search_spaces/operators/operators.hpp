#pragma once

#include "genome/genes/derivation.hpp"
#include "search_spaces/operators/network.hpp"
#include "search_spaces/operators/tensors.hpp"

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
      {};             ///< The values that a text may have; the first is the
                      ///< fallback.
  bool odd = false;   ///< Odd numbers alone.
  bool width = false; ///< Channels or units of what comes out.
  /// The integer setting of the same operator that this one must divide; empty: none.
  std::string_view divides = {};
  std::string_view sentence = {}; ///< A sentence for people about what it decides.
  /// A text is one of these, and the only word is the least of them; null: it is a word.
  const derivation_domain* derivations = nullptr;
};

/// Who puts an operator into a network.
enum class operator_role : std::uint8_t {
  layer,   ///< A gene: search-space files name it.
  adapter, ///< decode(), where edges meet, shapes do not fit, or within composites.
  input,   ///< Every genome, at its beginning.
  output   ///< Every genome, at its end.
};

/// The place that the number of a layer's units, its channels or features, comes from.
enum class unit_origin : std::uint8_t {
  each,     ///< Each is computed from the unit in its place of every input.
  made,     ///< Each is made of all that enter, by weights.
  together, ///< The same; a child takes over all that makes them, or nothing.
  /// They are made as in `made`, and are as many as the units that they are to be added
  /// to.
  fitted,
  kept,      ///< They are those that enter, except while training.
  joined,    ///< They are those of one input after those of another.
  flattened, ///< They are the pixels of each channel that enters.
  selected,  ///< They are some of those that enter (layer::selected).
  spread     ///< Several are computed from each that enters, or from each group of them.
};

/// One layer of an operator that is several.
struct layer_part {
  std::string name; ///< Within the gene: "1.conv".
  std::string_view op;
  std::vector<setting> settings;   ///< The settings that are not the fallback.
  std::vector<std::size_t> inputs; ///< Parts, counted from 1; 0: what enters.
  /// It means the same as in `layer`, and likewise do the next three.
  bool starts_at_zero = false;
  bool joins_at_zero = false;
  bool adds_branch = false;
  std::vector<std::int64_t> selected = {};
};

/// A composite is decoded from what enters it.
struct composite_input {
  const tensor_shape& shape;
  /// `problem::numbers` where the examples themselves enter; else empty.
  const std::vector<bool>& numbers;
};

/// One operator: its traits, its shape rule, its cost rule, its tensors and what people are
/// told of it. `clade operators` prints all rows, which stand in search_spaces/rows. An
/// operator also has a kernel in engine/program/kernels, and lines for the exports in
/// engine/program/write; tests hold the three to the same names.
///
/// N examples are computed at a time, images being [N, channels, height, width], vectors
/// [N, features] and sequences [N, steps, features]. A layer's `settings` are complete:
/// what the genome does not say has its fallback, so that kernels find every setting of
/// the row.
///
/// **Windows.** Convolutions and pools use `windows()` along height and width alike, of a
/// sequence along its steps: the output has ceil(size / stride) positions, and the window
/// of position i starts at i * stride - dilation * (kernel - 1) / 2 (integer division).
/// Beyond the edge convolutions see zeros; pools see nothing: a maximum or an average is
/// over the pixels that exist (there is always one). For odd kernels this is LibTorch's
/// own padding of dilation * (kernel - 1) / 2 (`count_include_pad` = false); convolution
/// kernels are always odd. For even kernels pad by `before` and `after` yourself. The window
/// of a convolution over time that `sees` "before" ends at i * stride.
///
/// **attention** maps each step to a query, a key and a value for each head, which are
/// neighboring units. A step's answer is the sum of all values, by the softmax of its
/// query's products with their keys, divided by the root of a head's units; there is no map
/// behind it. **positions** adds a weight to each step of each feature. **patches** cuts
/// images into squares, row by row from the upper left corner, beyond the edges zeros, and
/// maps each to a step.
///
/// **piecewise** has edges e0 <= e1 <= ... <= eB for each feature x, quantiles of the
/// training part, and gives for each bin i clamp((x - e_i) / (e_i+1 - e_i), 0, 1), where
/// edges closer than `narrowest_bin` count as that far apart. **periodic** has frequencies
/// f for each feature and gives cos(2 pi f x) for each, then sin(2 pi f x). **map_each**
/// maps each group of neighboring features by weights of its own.
///
/// **boosted_trees** are complete binary trees. The inner nodes of a tree are numbered level
/// by level from 0, so that node i is followed by 2i + 1 where the feature of i is below the
/// threshold of i, else by 2i + 2; the leaves come after the inner nodes. Feature j of what
/// comes out is the sum of trees j, j + width, j + 2 width and so on.
///
/// **random_convolutions** has kernels in parts: part 2 i is of the sequence, part 2 i + 1
/// of its differences (each step less the one before it), and both see every (2^i)th step,
/// and zeros beyond the ends. From each part there come out first the shares of the
/// thresholds, those of all kernels for one threshold after another, then what kernels
/// say where they are the highest of their group, and where they are the lowest.
///
/// **recall** is a linear map without a bias of what a layer said `steps` steps of time
/// before, and **over_time** goes over the steps of a sequence (layer::body); decode() says
/// how.
///
/// **Composites** are operators that are several layers (operator_rows.hpp): they have
/// `parts` in place of `shape` and `cost`, and no kernel of their own.
///
/// **Blocks** are a linear map, then norm, then activation. The linear map has a bias
/// exactly when norm is "none" (and a setting `bias` does not say "no").
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
struct operator_entry {
  std::string_view name;
  std::string_view word = {}; ///< Exports call its layers so; empty: the name.
  std::string_view summary;
  std::string_view details = {}; ///< Sentences; may be empty.
  /// The output's sizes in words, by those of [c, h, w], [t, c] or [n] and the settings.
  std::string_view output;
  /// The cost in words, of a block that of its map.
  std::string_view costs;
  std::span<const setting_entry> settings = {}; ///< Sorted by name.
  operator_role role = operator_role::layer;
  unit_origin units = unit_origin::each;
  /// The layouts in which it works; an input of another one is adapted to that of the
  /// space's examples if it is among them, else to the first.
  std::span<const layout> takes = known_layouts;
  /// The layout of what comes out; none: that of what enters.
  std::optional<layout> gives = std::nullopt;
  bool merges = false;     ///< It takes several inputs; others take one.
  bool block = false;      ///< It has the settings norm and activation.
  bool by_step = false;    ///< It may stand in networks of steps over time.
  bool keeps_sign = false; ///< Nothing below 0 comes out where nothing below 0 enters.
  /// The output's shape for inputs already adapted: one, or several where it merges.
  tensor_shape (*shape)(std::span<const tensor_shape> in,
                        const std::vector<setting>& settings) = nullptr;
  /// The cost for one example, beside the parameters, which `tensors` has.
  layer_cost (*cost)(std::span<const tensor_shape> in, const tensor_shape& out,
                     const std::vector<setting>& settings) = nullptr;
  /// The tensors of a layer, in the order in which their initial values are drawn from the
  /// layer's stream; null: none. The stored weights of a layer have its trained tensors first.
  tensor_entries (*tensors)(const layer& l) = nullptr;
  /// The layers of a composite, the last of which gives what comes out; null: it is one.
  std::vector<layer_part> (*parts)(const composite_input& in,
                                   const std::vector<setting>& settings) = nullptr;

  [[nodiscard]] bool works_on(std::optional<layout> l) const;
  /// Without those that it shares with an earlier layer.
  [[nodiscard]] tensor_entries tensors_of(const layer& l) const;
  /// The whole cost of a layer whose shapes and settings are known.
  [[nodiscard]] layer_cost cost_of(const layer& l) const;
};

[[nodiscard]] std::span<const operator_entry> operators();
[[nodiscard]] const operator_entry* find_operator(std::string_view name);

/// The adapter that takes the layout `from` and gives `to`; null: there is none. Each
/// leads to vectors or from them.
[[nodiscard]] const operator_entry* find_adapter(layout from, layout to);

/// The row of a decoded layer; an operator that has none ends the program, since decode()
/// never gives such a layer.
[[nodiscard]] const operator_entry& operator_of(const layer& l);

inline constexpr double narrowest_bin = 1e-3;

/// The steps that a kernel of random_convolutions sees.
inline constexpr std::int64_t random_kernel_length = 9;
/// The kernels that compete in a group of random_convolutions.
inline constexpr std::int64_t kernels_of_group = 8;

/// The places of the windows of a convolution or pool along one side.
struct window_places {
  std::int64_t out = 1;    ///< How many.
  std::int64_t before = 0; ///< How far the first one begins before the edge.
  std::int64_t after =
      0; ///< How far the last one ends beyond the other edge; never negative.
};

[[nodiscard]] window_places windows(std::int64_t size, std::int64_t kernel,
                                    std::int64_t stride, std::int64_t dilation = 1);

/// Returns how many groups a grouped convolution has of those that its setting asks for:
/// the largest number up to it that divides the channels on both sides.
[[nodiscard]] std::int64_t groups_of(std::int64_t in, std::int64_t out,
                                     std::int64_t asked);

/// A complete layer's settings; one that is not there, or is of another type, ends the
/// program, since decode() never gives such a layer.
[[nodiscard]] std::int64_t integer_setting(const std::vector<setting>& settings,
                                           std::string_view name);
[[nodiscard]] double real_setting(const std::vector<setting>& settings,
                                  std::string_view name);
[[nodiscard]] const std::string& text_setting(const std::vector<setting>& settings,
                                              std::string_view name);

/// Says what is wrong where a setting must divide another one: "heads is 3, which does not
/// divide units, 64"; nothing if it does.
[[nodiscard]] std::string discord(const setting_entry& entry, std::int64_t v,
                                  std::int64_t whole);

/// Says why a value is none for the setting: "is 4, but must be odd", "is 'rleu', did you
/// mean 'relu'?"; nothing if it may be that. A real setting takes no integer here.
[[nodiscard]] std::string objection(const setting_entry& entry, const value& v);

/// The settings of a layer: those given, in the table's order, and fallbacks for the
/// others. An error if one is not the operator's or must not have that value.
[[nodiscard]] expected<std::vector<setting>> complete(const operator_entry& entry,
                                                      const std::vector<setting>& given);

} // namespace clade
