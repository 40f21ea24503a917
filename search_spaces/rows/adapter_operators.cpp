// The rows that decode() puts where edges meet or shapes do not fit, and those at both
// ends of every network.
#include "search_spaces/operators/operator_rows.hpp"
#include "search_spaces/rows/operator_rules.hpp"
#include "search_spaces/rows/operator_settings.hpp"

#include <array>

namespace clade {

namespace {

using namespace operator_rules;
using namespace operator_settings;

/// No layer has more elements.
constexpr double longest = 1 << 28;

constexpr setting_entry height_entry{.name = "height",
                                     .low = 1,
                                     .high = widest,
                                     .fallback = 1,
                                     .sentence = "Rows that come out."};
constexpr setting_entry width_entry{.name = "width",
                                    .low = 1,
                                    .high = widest,
                                    .fallback = 1,
                                    .sentence = "Columns that come out."};

constexpr setting_entry steps_entry{.name = "steps",
                                    .low = 1,
                                    .high = longest,
                                    .fallback = 1,
                                    .sentence = "Steps that come out."};

constexpr std::array resize_settings{height_entry, width_entry};
constexpr std::array resize_steps_settings{steps_entry};

tensor_shape shape_of_last(shapes in, const settings_list&) {
  return in.back();
}

tensor_shape concat_shape(shapes in, const settings_list&) {
  std::int64_t units = 0;
  for (const tensor_shape& one : in)
    units += one.units();
  return in[0].with_units(units);
}

tensor_shape flat_shape(shapes in, const settings_list&) {
  return {{in[0].elements()}};
}

tensor_shape pixel_shape(shapes in, const settings_list&) {
  return {{in[0].elements(), 1, 1}};
}

tensor_shape one_step_shape(shapes in, const settings_list&) {
  return {{1, in[0].elements()}};
}

tensor_shape resize_steps_shape(shapes in, const settings_list& settings) {
  return {{integer_setting(settings, "steps"), in[0].units()}};
}

tensor_shape resize_shape(shapes in, const settings_list& settings) {
  return {{in[0].sizes[0], integer_setting(settings, "height"),
           integer_setting(settings, "width")}};
}

layer_cost free_of_charge(shapes, const tensor_shape&, const settings_list&) {
  return {};
}

layer_cost kept_twice(shapes, const tensor_shape& out, const settings_list&) {
  return {.activation_bytes = 2 * float_bytes * natural(out.elements())};
}

layer_cost mean_of_two_cost(shapes, const tensor_shape& out, const settings_list&) {
  const auto elements = natural(out.elements());
  return {.multiply_adds = elements, .activation_bytes = float_bytes * elements};
}

layer_cost add_cost(shapes in, const tensor_shape& out, const settings_list&) {
  const auto elements = natural(out.elements());
  return {.multiply_adds = elements * (in.size() - 1),
          .activation_bytes = float_bytes * elements};
}

constexpr operator_entry input_row{.name = "input",
                                   .summary = "the examples",
                                   .output = "the examples' shape",
                                   .costs = "4 bytes for each element",
                                   .role = operator_role::input,
                                   .shape = same,
                                   .cost = kept};

constexpr operator_entry output_row{
    .name = "output",
    .summary = "linear map to classes or targets",
    .details = "With a bias; it gives logits or standardized "
               "targets.",
    .output = "[outputs]",
    .costs = "(n + 1) * outputs parameters; n multiply-adds and 4 "
             "bytes for each output",
    .settings = outputs_settings,
    .role = operator_role::output,
    .units = unit_origin::made,
    .takes = vectors,
    .shape = outputs_shape,
    .cost = map_cost,
    .tensors = map_tensors};

constexpr std::array rows{
    operator_entry{.name = "add",
                   .summary = "sum",
                   .output = "the same shape",
                   .costs = "a multiply-add for each element of all inputs but "
                            "one; 4 bytes for each element that comes out",
                   .role = operator_role::adapter,
                   .merges = true,
                   .keeps_sign = true,
                   .shape = same,
                   .cost = add_cost},
    operator_entry{.name = "multiply",
                   .summary = "product",
                   .details = "All inputs but the last may have one pixel or step, which "
                              "stands for every one.",
                   .output = "the shape of the last input",
                   .costs = "a multiply-add for each element of all inputs but one; 4 "
                            "bytes for each element that comes out",
                   .role = operator_role::adapter,
                   .merges = true,
                   .keeps_sign = true,
                   .shape = shape_of_last,
                   .cost = add_cost},
    operator_entry{.name = "concat",
                   .summary = "joins along channels or features",
                   .output = "the same, with the sum of all c or n",
                   .costs = "4 bytes for each element",
                   .role = operator_role::adapter,
                   .units = unit_origin::joined,
                   .merges = true,
                   .keeps_sign = true,
                   .shape = concat_shape,
                   .cost = kept},
    operator_entry{.name = "flatten",
                   .summary = "image or sequence to vector",
                   .details = "Of an image row by row, channel after channel; of a "
                              "sequence step after step.",
                   .output = "[c * h * w] or [t * c]",
                   .costs = "nothing",
                   .role = operator_role::adapter,
                   .units = unit_origin::flattened,
                   .takes = images_and_sequences,
                   .gives = layout::vector,
                   .keeps_sign = true,
                   .shape = flat_shape,
                   .cost = free_of_charge},
    operator_entry{.name = "as_image",
                   .summary = "vector to image of one pixel",
                   .output = "[n, 1, 1]",
                   .costs = "nothing",
                   .role = operator_role::adapter,
                   .units = unit_origin::kept,
                   .takes = vectors,
                   .gives = layout::image,
                   .keeps_sign = true,
                   .shape = pixel_shape,
                   .cost = free_of_charge},
    operator_entry{.name = "as_sequence",
                   .summary = "vector to sequence of one step",
                   .output = "[1, n]",
                   .costs = "nothing",
                   .role = operator_role::adapter,
                   .units = unit_origin::kept,
                   .takes = vectors,
                   .gives = layout::sequence,
                   .keeps_sign = true,
                   .shape = one_step_shape,
                   .cost = free_of_charge},
    operator_entry{.name = "both_sides",
                   .summary = "images, and after them their mirror images",
                   .details = "In ensembles alone.",
                   .output = "the same shape, of twice as many examples",
                   .costs = "8 bytes for each element",
                   .role = operator_role::adapter,
                   .takes = images,
                   .shape = same,
                   .cost = kept_twice},
    operator_entry{.name = "mean_of_sides",
                   .summary = "the mean of what is said of images and of their mirror "
                              "images",
                   .details = "In ensembles alone.",
                   .output = "the same shape, of half as many examples",
                   .costs = "a multiply-add and 4 bytes for each element",
                   .role = operator_role::adapter,
                   .takes = vectors,
                   .shape = same,
                   .cost = mean_of_two_cost},
    operator_entry{.name = "resize",
                   .summary = "adaptive average pool",
                   .details = "Row i is the mean of the rows from floor(i * h / "
                              "height) to ceil((i + 1) * h / height) - 1; columns "
                              "likewise.",
                   .output = "[c, height, width]",
                   .costs = "a multiply-add for each element that enters, 4 bytes "
                            "for each that comes out",
                   .settings = resize_settings,
                   .role = operator_role::adapter,
                   .takes = images,
                   .keeps_sign = true,
                   .shape = resize_shape,
                   .cost = mean_cost},
    operator_entry{.name = "resize_steps",
                   .summary = "adaptive average pool over time",
                   .details = "Step i is the mean of the steps from floor(i * t / steps) "
                              "to ceil((i + 1) * t / steps) - 1.",
                   .output = "[steps, c]",
                   .costs = "a multiply-add for each element that enters, 4 bytes "
                            "for each that comes out",
                   .settings = resize_steps_settings,
                   .role = operator_role::adapter,
                   .takes = sequences,
                   .keeps_sign = true,
                   .shape = resize_steps_shape,
                   .cost = mean_cost},
    operator_entry{.name = "project",
                   .summary = "linear map of channels or features",
                   .details = "With a bias; of an image at each pixel, of a sequence at "
                              "each step.",
                   .output = "[outputs, h, w], [t, outputs] or [outputs]",
                   .costs = "(c + 1) * outputs parameters; c multiply-adds and 4 "
                            "bytes for each element that comes out; of a vector n "
                            "for c",
                   .settings = outputs_settings,
                   .role = operator_role::adapter,
                   .units = unit_origin::fitted,
                   .shape = outputs_shape,
                   .cost = map_cost,
                   .tensors = map_tensors},
};

} // namespace

std::span<const operator_entry> adapter_operators() {
  return rows;
}

const operator_entry& input_operator() {
  return input_row;
}

const operator_entry& output_operator() {
  return output_row;
}

} // namespace clade
