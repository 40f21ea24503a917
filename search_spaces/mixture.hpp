#pragma once

#include "search_spaces/network.hpp"

#include <optional>
#include <span>
#include <string>

namespace clade {

/// The linear model of a problem as a network: the input, flattened if it is an image,
/// and the output.
[[nodiscard]] network linear_network(const problem& p);

/// An ensemble mixes one of these.
enum class mixed : std::uint8_t {
  probabilities, ///< Scores of classes: the logarithms of mixed softmax probabilities.
  values         ///< Numbers: their mixed sum.
};

/// Joins networks for one problem to one whose last layer, "mixture", weighs what they
/// say by its tensor "shares" [members] and, of probabilities, divides the scores by its
/// tensor "temperature" [1]. The layers of member i, from 0, are named by
/// `member_prefix`.
[[nodiscard]] network mixture_of(std::span<const network> members, mixed what);

/// Decodes genomes and joins their networks; one that is none stands for the linear model.
[[nodiscard]] expected<network>
decode_mixture(const search_space& space, std::span<const std::optional<genome>> members,
               const problem& p, mixed what);

/// "m1_" for the first.
[[nodiscard]] std::string member_prefix(std::size_t i);

} // namespace clade
