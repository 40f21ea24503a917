#pragma once

#include "genome/genes/grammar.hpp"

#include <span>

namespace clade {

// The settings of a list of parameters as a point in the unit cube, one coordinate for
// each parameter in the order of the list, for what does arithmetic on them (differential
// evolution, CMA-ES, models). Equal steps along a coordinate are equally likely when a
// value is drawn, so that an even draw in the cube is one of the settings:
//
//   real, logarithmic or not    the way from low to high, of its logarithm where that is
//                               uniform; ends are exact, and the rest has the few digits
//                               that are drawn (real_domain)
//   whole number, list          a bin for each value, of even width (of a logarithmic one
//                               its share of the logarithm); a value's coordinate is the
//                               middle of its bin. An unordered list is laid out in this
//                               way too, as in DEHB (Awad, Mallik and Hutter, IJCAI
//                               2021).
//   derivation                  it has no place: 0.5, and all places are the least one
//
// A value that was drawn, moved or came out of the cube comes back exactly from its
// coordinate, as long as it is no derivation and a whole number has fewer than 2^50
// values.

/// Returns the place in [0, 1] at which the value lies; it is one of the domain's.
[[nodiscard]] double to_unit(const parameter& p, const value& v);

/// The domain's value there; below 0 (or not a number) counts as 0, above 1 as 1.
[[nodiscard]] value from_unit(const parameter& p, double place);

/// One coordinate for each parameter. If a parameter does not apply, or has no value of
/// its domain, its coordinate is `otherwise`.
[[nodiscard]] std::vector<double> to_unit(const std::vector<parameter>& parameters,
                                          const std::vector<setting>& settings,
                                          double otherwise = 0.5);

/// The same; what does not apply is drawn, so that a population does not gather where
/// nothing was ever tried.
[[nodiscard]] std::vector<double> to_unit(const std::vector<parameter>& parameters,
                                          const std::vector<setting>& settings,
                                          random_stream& random);

/// Values for all parameters that apply, sorted by name: conditions are judged by what
/// the coordinates before them gave. There are as many coordinates as parameters.
[[nodiscard]] std::vector<setting> from_unit(const std::vector<parameter>& parameters,
                                             std::span<const double> point);

} // namespace clade
