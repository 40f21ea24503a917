#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace clade {

/// Shares of the three parts, relative to each other.
struct split_shares {
  double train = 0.6;
  double validation = 0.2;
  double test = 0.2;
};

/// Indices of examples, each part in rising order; together all of them, once each.
struct split_parts {
  std::vector<std::uint32_t> train, validation, test;
};

/// Deals examples out by the seed, so that each class has its share in each part as
/// nearly as whole numbers allow, over all classes too, and at least one example in the
/// train part. `labels` name the class of each example; regression gives all the same
/// label.
[[nodiscard]] split_parts split(std::span<const std::int64_t> labels,
                                const split_shares& shares, std::uint64_t seed);

/// In order of `times`, one for each example: the earliest are the train part, the latest
/// the test part. If times are equal, the first example is the earlier.
[[nodiscard]] split_parts split_by_time(std::span<const double> times,
                                        const split_shares& shares);

/// Examples of one group stay in one part. Each class has its share in each part as
/// nearly as the groups allow; who of equal groups goes where, the seed decides.
[[nodiscard]] split_parts split_by_group(std::span<const std::int64_t> labels,
                                         std::span<const std::uint32_t> groups,
                                         const split_shares& shares, std::uint64_t seed);

/// By example its part, 0, 1 or 2.
[[nodiscard]] split_parts split_as_given(std::span<const std::uint8_t> parts);

/// `count` of `of` indices, in rising order, drawn by the seed.
[[nodiscard]] std::vector<std::uint32_t> draw(std::size_t count, std::size_t of,
                                              std::uint64_t seed, std::uint64_t file);

} // namespace clade
