#pragma once

#include "engine/program/lower/program.hpp"

#include <utility>
#include <vector>

/// Facts of convolutions, pools and attention that kernels and exports share
/// (search_spaces/operators/operators.hpp, Windows).
namespace clade {

/// A convolution's window, along height and width alike, or along the steps of a sequence.
struct convolution_window {
  std::int64_t kernel = 1, stride = 1, padding = 0, dilation = 1;
  std::int64_t groups = 1;
  bool before = false; ///< All padding is in front of the first step.
};
[[nodiscard]] convolution_window window_of(const program_step& s);

/// A pool's window, and what lies beyond the edges.
struct pool_window {
  std::int64_t kernel = 2, stride = 2;
  std::int64_t top = 0, left = 0, bottom = 0, right = 0;

  /// An odd window has as much beyond each edge.
  [[nodiscard]] bool odd() const { return kernel % 2 == 1; }
};
[[nodiscard]] pool_window pool_of(const program_step& s);

/// A pool's window along the steps of a sequence, and how far it reaches beyond the ends.
struct step_window {
  std::int64_t kernel = 2, stride = 2, before = 0, after = 0;

  /// An odd window has as much beyond each end.
  [[nodiscard]] bool odd() const { return kernel % 2 == 1; }
};
[[nodiscard]] step_window steps_of(const program_step& s);

/// The squares that `patches` cuts an image into, and what lies beyond its edges.
struct patch_window {
  std::int64_t size = 1, below = 0, right = 0;

  [[nodiscard]] bool padded() const { return below + right > 0; }
};
[[nodiscard]] patch_window patches_of(const program_step& s);

/// Returns [steps, steps], row-major: 0, and minus infinity where a column comes later than
/// its row.
[[nodiscard]] std::vector<float> later_steps(std::int64_t steps);

/// Whether the windows of a pool have as much beyond each edge, so that it is a step
/// "avg_pool"; else it is an "average" (of sequences "avg_pool1d" and "average1d").
[[nodiscard]] bool has_even_windows(const layer& l);

/// Row i of what an "average" gives is the mean of rows [first, second) of pair i of what
/// enters it, and so with columns.
struct averaged_spans {
  using span_list = std::vector<std::pair<std::int64_t, std::int64_t>>;
  span_list rows, columns;
};
[[nodiscard]] averaged_spans averaged(const program_step& s);
/// The spans of an "average1d".
[[nodiscard]] averaged_spans::span_list averaged_steps(const program_step& s);

/// Returns [spans, size], row-major: the matrix whose rows average a side of that size.
[[nodiscard]] std::vector<float> averaging_matrix(const averaged_spans::span_list& spans,
                                                  std::int64_t size);

} // namespace clade
