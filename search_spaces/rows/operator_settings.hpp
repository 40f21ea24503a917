#pragma once

#include "search_spaces/operators/operators.hpp"

#include <array>

/// The settings that several rows of `operators()` share.
namespace clade::operator_settings {

using kind = setting_entry::kind;

inline constexpr std::array<std::string_view, 8> activations{
    "none", "relu", "leaky_relu", "elu", "gelu", "silu", "tanh", "sigmoid"};
inline constexpr std::array<std::string_view, 3> norms{"none", "batch", "layer"};

inline constexpr double widest = 65536;

inline constexpr setting_entry activation_entry{
    .name = "activation",
    .type = kind::text,
    .words = activations,
    .sentence = "The function of each element, after the norm; the operator activation "
                "is it alone."};
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
    .sentence = "The distance of windows: h' = ceil(h / stride), and w' or t' likewise."};
inline constexpr setting_entry outputs_entry{.name = "outputs",
                                             .low = 1,
                                             .high = widest,
                                             .fallback = 1,
                                             .sentence = "As many as it must give."};
inline constexpr setting_entry units_entry{.name = "units",
                                           .low = 1,
                                           .high = widest,
                                           .fallback = 64,
                                           .width = true,
                                           .sentence = "Features that come out."};

inline constexpr setting_entry heads_entry{.name = "heads",
                                           .low = 1,
                                           .high = 64,
                                           .fallback = 4,
                                           .divides = "units",
                                           .sentence =
                                               "How many attend side by side, each with "
                                               "as many of the units."};
inline constexpr std::array<std::string_view, 2> attended_steps{"all", "before"};
inline constexpr setting_entry seen_entry{
    .name = "sees",
    .type = kind::text,
    .words = attended_steps,
    .sentence = "all: every step; before: itself and none that comes later."};

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

inline constexpr setting_entry block_filters_entry{
    .name = "filters",
    .low = 1,
    .high = widest_composite,
    .fallback = 16,
    .width = true,
    .sentence = "Channels that come out of each repetition."};
inline constexpr setting_entry sum_activation_entry{
    .name = "activation",
    .type = kind::text,
    .words = inner_activations,
    .sentence = "The function between convolutions and after the sum."};

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
inline constexpr setting_entry each_width_entry{.name = "width",
                                                .low = 1,
                                                .high = 64,
                                                .fallback = 8,
                                                .sentence =
                                                    "Features that come of each group."};

inline constexpr std::array outputs_settings{outputs_entry};

inline constexpr std::array images{layout::image};
inline constexpr std::array vectors{layout::vector};
inline constexpr std::array sequences{layout::sequence};
inline constexpr std::array images_and_sequences{layout::image, layout::sequence};

} // namespace clade::operator_settings
