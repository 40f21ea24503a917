#pragma once

#include "search_spaces/operators/network.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace clade {

/// The linear model of a problem as a network: the input, flattened if it is an image,
/// and the output.
[[nodiscard]] network linear_network(const problem& p);

/// The size of boosted trees.
struct tree_sizes {
  std::int64_t trees = 1; ///< For each of their outputs.
  std::int64_t depth = 1;

  friend bool operator==(const tree_sizes&, const tree_sizes&) = default;
};

/// Whether the operator boosted_trees may be of these sizes.
[[nodiscard]] bool are_possible(const tree_sizes& sizes);

/// Returns how many outputs trees have for a problem: one for two classes.
[[nodiscard]] std::int64_t tree_outputs(const problem& p);

/// Boosted trees of a table as a network: the input, the layer "trees" and the output
/// "trees.output".
[[nodiscard]] network tree_network(const problem& p, const tree_sizes& sizes);

/// The size of random convolutions of a sequence.
struct convolution_sizes {
  std::int64_t dilations = 1;
  std::int64_t groups = 1;
  std::int64_t thresholds = 1;

  friend bool operator==(const convolution_sizes&, const convolution_sizes&) = default;
};

/// Whether the operator random_convolutions may be of these sizes.
[[nodiscard]] bool are_possible(const convolution_sizes& sizes);
/// Whether examples of this shape have random convolutions: they are sequences of two
/// steps at least.
[[nodiscard]] bool has_convolutions(const tensor_shape& input);

/// The kernels with thresholds of a `convolution_network`: all of length 9 that have three
/// weights of 2 and six of -1.
inline constexpr std::int64_t threshold_kernels = 84;

/// A linear model of random convolutions of a sequence as a network: the input, the layer
/// "convolutions" and the output "convolutions.output".
[[nodiscard]] network convolution_network(const problem& p,
                                          const convolution_sizes& sizes);

/// Exponential smoothing, from which the forecasts of a problem count, as a network: the
/// input and the layer "smoothing.output", which says the same of all examples.
[[nodiscard]] network smoothing_network(const problem& p);

/// An ensemble mixes one of these.
enum class mixed_answers : std::uint8_t {
  probabilities, ///< Scores of classes: the logarithms of mixed softmax probabilities.
  /// Scores of classes: the mixed probabilities are mixed once more, with equal ones, so
  /// that none is below the tensor "least" [1].
  bounded_probabilities,
  values, ///< Numbers: their mixed sum.
  /// Log-odds of labels: those of their mixed sum, so that neither a label nor its absence is
  /// less likely than the tensor "least" [1].
  bounded_odds
};

/// Joins networks for one problem to one whose last layer, "mixture", weighs what they
/// say by its tensor "shares" [members] and, of probabilities, divides the scores by its
/// tensor "temperature" [1]. The layers of member i, from 0, are named by
/// `member_prefix`. A member whose place in `mirrored` is true says the mean of what it says
/// of an image and of its mirror image; places that are missing are false.
[[nodiscard]] network mixture_of(std::span<const network> members, mixed_answers what,
                                 const std::vector<bool>& mirrored = {});

struct linear_member {
  friend bool operator==(const linear_member&, const linear_member&) = default;
};

/// Exponential smoothing, from whose forecasts those of a problem count.
struct smoothing_member {
  friend bool operator==(const smoothing_member&, const smoothing_member&) = default;
};

struct candidate_member {
  genome genes{};
  bool mirrored = false; ///< It is of images, and so in `mixture_of`.
};

/// A member of an ensemble: the linear model, boosted trees, a candidate, a linear model
/// of random convolutions or exponential smoothing.
using mixture_member = std::variant<linear_member, tree_sizes, candidate_member,
                                    convolution_sizes, smoothing_member>;

/// Makes the networks of the members and joins them.
[[nodiscard]] expected<network> decode_mixture(const search_space& space,
                                               std::span<const mixture_member> members,
                                               const problem& p, mixed_answers what);

/// The kinds of members that are no genome's.
enum class fitted_kind : std::uint8_t { linear, trees, convolutions, smoothing };

/// Returns the kind of a member that has one of these sizes, or neither.
[[nodiscard]] inline fitted_kind
fitted_kind_of(const std::optional<tree_sizes>& trees,
               const std::optional<convolution_sizes>& convolutions) {
  return trees          ? fitted_kind::trees
         : convolutions ? fitted_kind::convolutions
                        : fitted_kind::linear;
}

/// "linear model", "boosted trees", "random convolutions", "exponential smoothing"
[[nodiscard]] std::string_view to_text(fitted_kind kind);

/// Returns the words for it within a sentence: "the linear model", "boosted trees".
[[nodiscard]] std::string in_sentence(fitted_kind kind);

/// Returns the kind of member whose tensor of `network_module::weights` has this name.
[[nodiscard]] fitted_kind fitted_kind_of(std::string_view tensor);

/// "m1_" for the first.
[[nodiscard]] std::string member_prefix(std::size_t i);

} // namespace clade
