#pragma once

#include "search_spaces/operators/operators.hpp"

#include <array>

/// The settings that rows of `operators()` share.
namespace clade::operator_settings {

using kind = setting_entry::kind;

inline constexpr std::array<std::string_view, 8> activations{
    "none", "relu", "leaky_relu", "elu", "gelu", "silu", "tanh", "sigmoid"};
inline constexpr std::array<std::string_view, 7> functions{
    "relu", "leaky_relu", "elu", "gelu", "silu", "tanh", "sigmoid"};
inline constexpr std::array<std::string_view, 3> norms{"none", "batch", "layer"};

inline constexpr double widest = 65536;

inline constexpr setting_entry activation_entry{
    .name = "activation",
    .type = kind::text,
    .words = activations,
    .sentence = "The function of each element, after the norm; the operator activation "
                "is it alone."};
inline constexpr setting_entry dilation_entry{
    .name = "dilation",
    .low = 1,
    .high = 16,
    .fallback = 1,
    .sentence = "The distance of the pixels that a kernel sees."};
inline constexpr setting_entry filters_entry{.name = "filters",
                                             .low = 1,
                                             .high = widest,
                                             .fallback = 16,
                                             .width = true,
                                             .sentence = "Channels that come out."};
inline constexpr setting_entry kernel_entry{
    .name = "kernel",
    .low = 1,
    .high = 15,
    .fallback = 3,
    .odd = true,
    .sentence = "Its height and width, cut to the pixels that exist."};
inline constexpr setting_entry norm_entry{
    .name = "norm",
    .type = kind::text,
    .words = norms,
    .sentence =
        "What the operator batch_norm or layer_norm does, before the activation."};
inline constexpr setting_entry stride_entry{
    .name = "stride",
    .low = 1,
    .high = 8,
    .fallback = 1,
    .sentence = "The distance of windows: h' = ceil(h / stride), and w' likewise."};
inline constexpr setting_entry outputs_entry{.name = "outputs",
                                             .low = 1,
                                             .high = widest,
                                             .fallback = 1,
                                             .sentence = "As many as it must give."};
inline constexpr setting_entry pool_kernel_entry{.name = "kernel",
                                                 .low = 2,
                                                 .high = 15,
                                                 .fallback = 2,
                                                 .sentence =
                                                     "A window's height and width."};
inline constexpr setting_entry pool_stride_entry{.name = "stride",
                                                 .low = 1,
                                                 .high = 8,
                                                 .fallback = 2,
                                                 .sentence = stride_entry.sentence};
inline constexpr setting_entry units_entry{.name = "units",
                                           .low = 1,
                                           .high = widest,
                                           .fallback = 64,
                                           .width = true,
                                           .sentence = "Features that come out."};
inline constexpr setting_entry function_entry{
    .name = "function",
    .type = kind::text,
    .words = functions,
    .sentence = "leaky_relu has the slope 0.01, elu alpha 1; gelu is exact, by erf."};
inline constexpr setting_entry rate_entry{.name = "rate",
                                          .type = kind::real,
                                          .low = 0,
                                          .high = 0.95,
                                          .fallback = 0.2,
                                          .sentence = "The share that is forgotten."};
inline constexpr setting_entry height_entry{.name = "height",
                                            .low = 1,
                                            .high = widest,
                                            .fallback = 1,
                                            .sentence = "Rows that come out."};
inline constexpr setting_entry width_entry{.name = "width",
                                           .low = 1,
                                           .high = widest,
                                           .fallback = 1,
                                           .sentence = "Columns that come out."};

/// So that what is within them, up to eight times as wide, is no wider than `widest`.
inline constexpr double widest_composite = 4096;

inline constexpr setting_entry repeats_entry{
    .name = "repeats",
    .low = 1,
    .high = 4,
    .fallback = 1,
    .sentence = "How often the block is repeated; only the first has a stride."};
inline constexpr std::array<std::string_view, 8> inner_activations{
    "relu", "none", "leaky_relu", "elu", "gelu", "silu", "tanh", "sigmoid"};
inline constexpr setting_entry inner_activation_entry{
    .name = "activation",
    .type = kind::text,
    .words = inner_activations,
    .sentence = "The function between the layers of the block."};

inline constexpr setting_entry bins_entry{
    .name = "bins",
    .low = 1,
    .high = 64,
    .fallback = 8,
    .sentence = "Features that each number becomes where it is cut into pieces, which "
                "hold equally many examples of the training part."};
inline constexpr setting_entry frequencies_entry{
    .name = "frequencies",
    .low = 1,
    .high = 64,
    .fallback = 16,
    .sentence = "Sines and cosines of each number, by frequencies that are learnt."};
inline constexpr setting_entry sigma_entry{
    .name = "sigma",
    .type = kind::real,
    .low = 0.001,
    .high = 100,
    .fallback = 0.1,
    .sentence = "The deviation of the frequencies at first, in turns for each standard "
                "deviation of the number."};
inline constexpr setting_entry groups_entry{
    .name = "groups",
    .low = 1,
    .high = widest,
    .fallback = 1,
    .sentence = "How many groups of features, all of one size."};
inline constexpr setting_entry each_width_entry{.name = "width",
                                                .low = 1,
                                                .high = 64,
                                                .fallback = 8,
                                                .sentence =
                                                    "Features that come of each group."};

/// 2^8 leaves.
inline constexpr double deepest_tree = 8;

inline constexpr setting_entry depth_entry{
    .name = "depth",
    .low = 1,
    .high = deepest_tree,
    .fallback = 4,
    .sentence = "How many features a tree looks at before it says its number."};
inline constexpr setting_entry trees_entry{
    .name = "trees",
    .low = 1,
    .high = widest,
    .fallback = 16,
    .sentence = "How many trees are summed up for each feature that comes out."};
inline constexpr setting_entry summed_width_entry{.name = "width",
                                                  .low = 1,
                                                  .high = widest,
                                                  .fallback = 16,
                                                  .width = true,
                                                  .sentence = units_entry.sentence};

inline constexpr std::array conv_settings{activation_entry, dilation_entry, filters_entry,
                                          kernel_entry,     norm_entry,     stride_entry};
inline constexpr std::array depthwise_settings{activation_entry, dilation_entry,
                                               kernel_entry, norm_entry, stride_entry};
inline constexpr std::array pool_settings{pool_kernel_entry, pool_stride_entry};
inline constexpr std::array dense_settings{activation_entry, norm_entry, units_entry};
inline constexpr std::array activation_settings{function_entry};
inline constexpr std::array dropout_settings{rate_entry};
inline constexpr std::array resize_settings{height_entry, width_entry};
inline constexpr std::array outputs_settings{outputs_entry};

inline constexpr std::array piecewise_settings{bins_entry};
inline constexpr std::array periodic_settings{frequencies_entry, sigma_entry};
inline constexpr std::array map_each_settings{groups_entry, each_width_entry};

inline constexpr std::array boosted_trees_settings{depth_entry, trees_entry,
                                                   summed_width_entry};

inline constexpr std::array images{layout::image};
inline constexpr std::array vectors{layout::vector};

} // namespace clade::operator_settings
