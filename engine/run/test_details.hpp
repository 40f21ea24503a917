#pragma once

#include "engine/search/core/candidate.hpp"
#include "genome/codec.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace clade {

/// What a regression said of an example, in the target's own unit.
struct value_pair {
  double actual = 0, predicted = 0;

  friend bool operator==(const value_pair&, const value_pair&) = default;
};

/// How far predictions were off on examples that no weight was fitted to, as a few order
/// statistics: value j of m, from 1, is that of rank ceil(j n / m) among n absolute
/// errors in ascending order. The last is the largest.
struct error_quantiles {
  std::uint64_t examples = 0;
  std::vector<double> values;

  /// Of all errors; `errors` in any order. At most 500 values are kept.
  [[nodiscard]] static error_quantiles of(std::vector<double> errors);

  friend bool operator==(const error_quantiles&, const error_quantiles&) = default;
};

/// What the test of a network tells beside its metrics, for people and for `clade
/// predict`. It is an observation: it decides nothing and does not enter the digest.
struct test_details {
  /// Examples in each part of the data.
  std::uint64_t train = 0, validation = 0, test = 0;
  /// All metrics of the test part ("test.auc"), sorted by name.
  std::vector<metric> metrics;
  /// Of the objective's first metric on the validation part, from the sampling of its
  /// examples; 0: not known.
  double standard_error = 0;
  /// Classification, of at most `most_classes`: their names, and how many test examples
  /// of class i were taken for class j, at [i * classes + j].
  std::vector<std::string> classes;
  std::vector<std::uint64_t> confusion;
  /// Regression: at most `most_pairs` of the test part, evenly chosen in its order.
  std::vector<value_pair> pairs;
  /// Regression: of the validation part.
  error_quantiles validation_errors;

  static constexpr std::size_t most_classes = 100, most_pairs = 300;

  friend bool operator==(const test_details&, const test_details&) = default;
};

/// msgpack; grammar at the top of record.cpp.
void encode(encoder& out, const error_quantiles& q);
/// Reports through `d.finish()`.
[[nodiscard]] error_quantiles decode_error_quantiles(decoder& d);

} // namespace clade
