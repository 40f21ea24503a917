// Fixed random convolutions of sequences and what is counted of them: the features of
// MiniRocket (Dempster, Schmidt and Webb, KDD 2021) and of Hydra (Dempster, Schmidt and
// Webb, 2023), on a sequence and on its differences.
#include "search_spaces/operators/operator_rows.hpp"
#include "search_spaces/rows/operator_rules.hpp"
#include "search_spaces/rows/operator_settings.hpp"

#include <array>

namespace clade {

namespace {

using namespace operator_rules;
using namespace operator_settings;

constexpr setting_entry dilations_entry{
    .name = "dilations",
    .low = 1,
    .high = 16,
    .fallback = 3,
    .sentence = "How many distances of the steps that a kernel sees: 1, 2, 4 and so on."};
constexpr setting_entry groups_entry{.name = "groups",
                                     .low = 1,
                                     .high = 256,
                                     .fallback = 4,
                                     .sentence =
                                         "How many groups of eight kernels compete."};
constexpr setting_entry kernels_entry{.name = "kernels",
                                      .low = 1,
                                      .high = 256,
                                      .fallback = 16,
                                      .sentence = "How many kernels have thresholds."};
constexpr setting_entry thresholds_entry{.name = "thresholds",
                                         .low = 1,
                                         .high = 64,
                                         .fallback = 2,
                                         .sentence =
                                             "How many thresholds each of them has."};

constexpr std::array convolutions_settings{dilations_entry, groups_entry, kernels_entry,
                                           thresholds_entry};

std::int64_t parts_of(const settings_list& settings) {
  return 2 * integer_setting(settings, "dilations");
}

// The sum of the kernels that have thresholds and of those that compete.
std::int64_t kernels_of(const settings_list& settings) {
  return integer_setting(settings, "kernels")
         + kernels_of_group * integer_setting(settings, "groups");
}

tensor_shape convolutions_shape(shapes, const settings_list& settings) {
  const auto shares =
      integer_setting(settings, "kernels") * integer_setting(settings, "thresholds");
  const auto won = 2 * kernels_of_group * integer_setting(settings, "groups");
  return {{parts_of(settings) * (shares + won)}};
}

// All that the kernels of one part say, and as much of what a pool makes of it, is in memory
// at a time.
layer_cost convolutions_cost(shapes in, const tensor_shape& out,
                             const settings_list& settings) {
  const auto values = natural(kernels_of(settings)) * natural(in[0].sizes[0]);
  const auto each = natural(random_kernel_length * in[0].sizes[1])
                    + natural(integer_setting(settings, "thresholds"));
  return {.multiply_adds = natural(parts_of(settings)) * values * each,
          .activation_bytes =
              2 * float_bytes * values + float_bytes * natural(out.elements())};
}

tensor_entries convolutions_tensors(const layer& l) {
  const auto parts = parts_of(l.settings);
  return {{"weight",
           {parts, kernels_of(l.settings), l.in[0].sizes[1], random_kernel_length},
           {initial_values::kind::normal, 1},
           false},
          {"thresholds",
           {parts, integer_setting(l.settings, "kernels"),
            integer_setting(l.settings, "thresholds")},
           {initial_values::kind::normal, 1},
           false}};
}

constexpr std::array rows{
    operator_entry{
        .name = "random_convolutions",
        .word = "convolutions",
        .summary = "what is counted of fixed random convolutions over time",
        .details = "Kernels of nine steps at each distance, on the sequence and on its "
                   "differences. Some have thresholds: the shares of steps at which they "
                   "are above them. The others compete in groups of eight: the root of "
                   "the mean, over time, of what each says where it is the highest, and "
                   "where it is the lowest. In ensembles alone.",
        .output = "[2 * dilations * (kernels * thresholds + 16 * groups)]",
        .costs = "9 * c + thresholds multiply-adds for each step, distance and kernel, "
                 "twice; 8 bytes for each step and kernel, 4 for each feature that comes "
                 "out",
        .settings = convolutions_settings,
        .role = operator_role::adapter,
        .units = unit_origin::together,
        .takes = sequences,
        .gives = layout::vector,
        .shape = convolutions_shape,
        .cost = convolutions_cost,
        .tensors = convolutions_tensors},
};

} // namespace

std::span<const operator_entry> random_convolution_operators() {
  return rows;
}

} // namespace clade
