#pragma once

#include "genome/base/error.hpp"
#include "search_spaces/operators/shape.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace clade {

/// In which order an array holds the sizes of an image: [channels, height, width] or
/// [height, width, channels].
enum class array_layout : std::uint8_t { automatic, channels_first, channels_last };

/// Says how an array holds images. `sizes` are those of one example, without the first
/// dimension; `shape` is what the experiment says of an example, [channels, height,
/// width], or empty; `wanted` is `data.layout`. Facts that are not given are found by
/// evidence: the shape, one to four channels, and equal height and width. Returns
/// channels_first or channels_last, or an error that asks for the layout where the
/// evidence is not enough, or that says what contradicts what was written. An array of no
/// images is channels_first.
[[nodiscard]] expected<array_layout> find_layout(std::span<const std::int64_t> sizes,
                                                 const tensor_shape& shape,
                                                 array_layout wanted);

/// The sizes of an example of `shape`, [channels, height, width], in an array's order.
[[nodiscard]] tensor_shape in_file(const tensor_shape& shape, array_layout layout);

/// The shape, [channels, height, width], of an example that has these sizes in an array.
[[nodiscard]] tensor_shape as_image(const tensor_shape& sizes, array_layout layout);

/// Returns where each value of an example of `shape`, [channels, height, width], lies in
/// one of the order channels_last.
[[nodiscard]] std::vector<std::size_t> places_in_channels_last(const tensor_shape& shape);

} // namespace clade
